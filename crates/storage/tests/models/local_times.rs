//! Run times of unusual systems: at most the time their devices need.

use crate::running::{refusal, run};

/// Twelve pipelines on one small cache and one disk. Every transfer takes a seek, a revolution and
/// its bytes at most, and none waits for the disk's read-ahead of another place.
#[test]
fn streams_that_share_a_disk_take_seeks_and_not_the_way_between() {
    let outcome = run(
        r#"
        system = "ext4"
        [clients]
        processes = 12
        [machine.memory]
        size = "16 MiB"
        [machine.io_scheduler]
        kind = "cfq"
        [machine.device]
        kind = "disk"
        model = "ST3146707LC"
        [[workload]]
        kind = "pipeline"
        input = "20 MB"
        request = "300 kB"
        sync = true
        "#,
        &[],
    );
    // 2,703 transfers were counted; a full stroke and a turn are 16 ms.
    let seconds = outcome.report.simulated_seconds;
    assert!(seconds < 480e6 / 40e6 + 3000.0 * 16e-3, "{seconds}");
}

/// With low dirty limits, writers are throttled briefly: the device works all the time. (A tick of
/// the kernel's clock, 4 ms, is the least: with less than the device writes in that, it does idle.)
#[test]
fn small_dirty_limits_do_not_idle_the_device() {
    for limit in ["1 MiB", "4 MiB", "16 MiB"] {
        let outcome = run(
            r#"
            system = "ext4"
            [machine]
            device = { read_rate = "100 MB/s", write_rate = "100 MB/s" }
            [machine.write_back]
            bytes = "1 MiB"
            background_ratio = 0.0001
            [[workload]]
            block = "64 MiB"
            transfer = "64 KiB"
            phases = ["write", "sync"]
            "#,
            &[&format!("machine.write_back.bytes={limit}")],
        );
        let seconds = outcome.report.simulated_seconds;
        let least = 67_108_864.0 / 100e6;
        assert!(seconds < 1.1 * least, "{limit}: {seconds}");
    }
}

/// Extra time of a call that does not start where the last one ended. None of the sequential calls
/// and nearly all random ones have it, writes and reads.
#[test]
fn calls_at_random_places_take_their_time_besides() {
    for (phase, order, besides) in [
        ("read", "sequential", 0.0),
        ("write", "sequential", 0.0),
        ("read", "uniform", 1e-6),
        ("write", "uniform", 1e-6),
    ] {
        let sets = [
            format!("workload.0.phases=[\"{phase}\"]"),
            format!("workload.0.order={order}"),
        ];
        let outcome = run(
            r#"
            system = "ext4"
            [machine.cpu]
            discontiguous_call = "1 us"
            [machine.device]
            read_rate = "1 GB/s"
            write_rate = "1 GB/s"
            [[workload]]
            block = "256 MiB"
            transfer = "64 KiB"
            requests = 4096
            io = { existing = true, cached = true }
            "#,
            &[&sets[0], &sets[1]],
        );
        let mean = outcome.report.latency[phase].mean;
        // One of 4,096 places follows the last one by chance.
        assert!((mean - besides).abs() < 1e-9, "{phase}, {order}: {mean}");
    }
}

/// Copies of several cores take as long as those of one. Processes beyond the cores wait for them.
#[test]
fn copies_and_calls_contend_for_cores_alone() {
    for (order, transfer, cores, processes, expected) in [
        ("sequential", 4096, 4, 1, 3e-6 + 1e-6),
        ("sequential", 512, 4, 1, 3e-6 + 1e-6 / 8.0),
        ("strided", 512, 4, 1, 3e-6 + 1e-6 / 8.0),
        ("sequential", 4096, 4, 4, 3e-6 + 1e-6),
        ("sequential", 4096, 4, 2, 3e-6 + 1e-6),
        // Two of four processes wait for the cores.
        ("sequential", 4096, 2, 4, 2.0 * (3e-6 + 1e-6)),
    ] {
        let mut more = vec![
            format!("workload.0.transfer={transfer} B"),
            format!("workload.0.order={order}"),
            format!("clients.processes={processes}"),
            format!("machine.cpu.cores={cores}"),
        ];
        if order == "strided" {
            more.push("workload.0.stride=512".to_owned());
        }
        let more: Vec<&str> = more.iter().map(String::as_str).collect();
        let outcome = run(
            r#"
            system = "ext4"
            [clients]
            count = 1
            [machine]
            cpu = { system_call = "3 us" }
            copying = { page_in_l2 = "1 us", }
            [machine.device]
            read_rate = "1 GB/s"
            write_rate = "1 GB/s"
            [[workload]]
            block = "16 MiB"
            phases = ["read"]
            access = "file-per-process"
            io = { existing = true, cached = true }
            "#,
            &more,
        );
        let mean = outcome.report.latency["read"].mean;
        let error = mean / expected - 1.0;
        assert!(
            error.abs() < 2e-3,
            "{order}, {transfer}, {processes}: {mean}"
        );
    }
}

/// Reference model of the last-level cache with random replacement.
#[derive(Default)]
struct LastLevelCache {
    effective_size: f64,
    bytes_inserted: f64,
    used: std::collections::HashMap<u64, f64>,
}

impl LastLevelCache {
    fn new(mebibytes: f64) -> LastLevelCache {
        LastLevelCache {
            effective_size: mebibytes * 1024.0 * 1024.0,
            ..LastLevelCache::default()
        }
    }

    /// Returns the cached fraction of an object; afterwards all of it is cached.
    fn uses(&mut self, thing: u64, bytes: f64) -> f64 {
        let before = self.used.get(&thing);
        let there = before.map_or(0.0, |at| {
            ((at - self.bytes_inserted) / self.effective_size).exp()
        });
        self.bytes_inserted += bytes * (1.0 - there);
        self.used.insert(thing, self.bytes_inserted);
        there
    }
}

/// Bytes that the last level of the processor's caches has yet are copied in less time, and a call
/// on them need not follow another.
#[test]
fn what_was_copied_lately_is_copied_again_in_less_time() {
    for (phase, order, block, cached) in [
        ("read", "sequential", 4, true),
        ("read", "sequential", 4, false),
        ("write", "sequential", 4, true),
        ("read", "sequential", 12, true),
        ("read", "backward", 4, true),
        ("read", "backward", 12, true),
    ] {
        // Three times each: for existing data, the first time is that of memory.
        let mut last = LastLevelCache::new(8.0);
        let calls = (0..3).flat_map(|_| 0..block * 16);
        let found: f64 = calls.map(|call| last.uses(call, 65_536.0)).sum();
        let there = found / (3 * block * 16) as f64;
        let apart = if order == "backward" { 3e-6 } else { 0.0 };
        let expected = 16e-6 * (1.0 - 0.6 * there) + apart * (1.0 - there);
        let sets = [
            format!("workload.0.phases=[\"{phase}\", \"{phase}\", \"{phase}\"]"),
            format!("workload.0.order={order}"),
            format!("workload.0.block={block} MiB"),
            format!("workload.0.io.cached={cached}"),
        ];
        let outcome = run(
            r#"
            system = "ext4"
            [machine]
            cpu = { discontiguous_call = "3 us" }
            copying = { page_in_l2 = "1 us", l3_reach = "8 MiB", reuse_share = 0.4 }
            [machine.device]
            read_rate = "1000 TB/s"
            write_rate = "1000 TB/s"
            [[workload]]
            transfer = "64 KiB"
            io = { existing = true }
            "#,
            &sets.each_ref().map(String::as_str),
        );
        let mean = outcome.report.latency[phase].mean;
        assert!(
            (mean / expected - 1.0).abs() < 0.01,
            "{phase}, {order}, {block}, {cached}: {mean}"
        );
    }
}

/// An append within a page that others wrote leaves their copied data where it is.
#[test]
fn what_was_appended_lately_is_read_in_less_time() {
    for call in [1000, 4096, 47_008] {
        let sets = [
            format!("workload.0.transfer={call} B"),
            format!("workload.0.block={} B", 40 * call),
        ];
        let outcome = run(
            r#"
            system = "ext4"
            [machine]
            copying = { page_in_l2 = "1 us", l3_reach = "8 MiB", reuse_share = 0.4 }
            [machine.device]
            read_rate = "1000 TB/s"
            write_rate = "1000 TB/s"
            [[workload]]
            phases = ["write", "read"]
            "#,
            &sets.each_ref().map(String::as_str),
        );
        let mean = outcome.report.latency["read"].mean;
        // Later lines have evicted some of it.
        let mut last = LastLevelCache::new(8.0);
        let calls = (0..2).flat_map(|_| 0..40);
        let found: f64 = calls.map(|at| last.uses(at, f64::from(call))).sum();
        let expected = f64::from(call) / 4096.0 * 1e-6 * (1.0 - 0.6 * found / 40.0);
        assert!((mean / expected - 1.0).abs() < 0.01, "{call}: {mean}");
    }
}

/// A mapping needs no call: a fault for each 64 KiB, and its bytes are loaded as they are
/// copied.
#[test]
fn mapped_reads_take_faults_and_their_bytes() {
    for (order, transfer, faults) in [
        ("sequential", 65_536, 1.0),
        ("sequential", 4096, 1.0 / 16.0),
        ("uniform", 4096, 1.0),
    ] {
        let outcome = run(
            r#"
            system = "ext4"
            [machine]
            cpu = { system_call = "1 us", page_fault = "5 us" }
            copying = { page_in_l2 = "200 ns" }
            [machine.device]
            read_rate = "1 GB/s"
            write_rate = "1 GB/s"
            [[workload]]
            block = "16 MiB"
            phases = ["read"]
            requests = 256
            io = { interface = "mapped", existing = true, cached = true }
            "#,
            &[
                &format!("workload.0.order={order}"),
                &format!("workload.0.transfer={transfer} B"),
            ],
        );
        let mean = outcome.report.latency["read"].mean;
        let expected = faults * 5e-6 + f64::from(transfer) / 4096.0 * 200e-9;
        // At random some go on where the last one ended.
        let error = mean / expected - 1.0;
        assert!(
            error.abs() < 0.02,
            "{order}, {transfer}: {mean}, {expected}"
        );
    }
}

/// An fsync prepares pages on its own processor time while the device writes those before them. It
/// takes as long as the slower of the two, and a part of the other at one end.
#[test]
fn a_sync_takes_the_longer_of_preparing_and_writing() {
    // 64 MiB at 1 GB/s are 67.1 ms; 16,384 pages at 1 us 16.4 ms, at 20 us 327.7 ms.
    for (page, least, most) in [
        ("0 s", 0.0671, 0.0674),
        ("1 us", 0.0671, 0.0674),
        ("20 us", 0.3276, 0.3319),
    ] {
        let outcome = run(
            r#"
            system = "ext2"
            [machine.device]
            read_rate = "1 GB/s"
            write_rate = "1 GB/s"
            [[workload]]
            block = "64 MiB"
            transfer = "1 MiB"
            phases = ["write", "sync"]
            "#,
            &[&format!("machine.file_system.flush_page={page}")],
        );
        let sync = outcome.report.latency["sync"].mean;
        assert!((least..most).contains(&sync), "{page}: {sync}");
    }
}

/// A sync submits large pieces to a limit of bytes, each of which goes whole or waits until it may.
/// 64 MiB at 150 MB/s are 447 ms, of which the first slice of 100 ms may go at once. The rest of a
/// slice that is too small for the next piece is not used. After calls of 4 and of 128 KiB, Linux
/// 6.18 took 430 and 450 ms (ext4), 430 and 462 (XFS), 419 and 455 (ext2).
#[test]
fn a_limit_lets_a_sync_go_in_large_pieces() {
    for (system, transfer, measured) in [
        ("ext4", "4 KiB", 0.430),
        ("ext4", "128 KiB", 0.450),
        ("xfs", "4 KiB", 0.430),
        ("xfs", "128 KiB", 0.462),
        ("ext2", "4 KiB", 0.419),
        ("ext2", "128 KiB", 0.455),
    ] {
        let outcome = run(
            r#"
            [machine.memory]
            size = "4 GiB"
            largest_folio = "1 MiB"
            [machine.device]
            kind = "throttled"
            rate = "2 GB/s"
            write_rate = "150 MB/s"
            write_operations = 2000
            [[workload]]
            block = "64 MiB"
            phases = ["write", "sync"]
            "#,
            &[
                &format!("system={system}"),
                &format!("workload.0.transfer={transfer}"),
            ],
        );
        let sync = outcome.report.latency["sync"].mean;
        let error = sync / measured - 1.0;
        assert!(error.abs() < 0.04, "{system}, {transfer}: {sync}");
    }
}

/// Without a journal, a synchronous overwrite writes the inode too only when the clock has
/// ticked, every 4 ms, since the last.
#[test]
fn an_overwrite_changes_the_inode_once_a_tick() {
    for system in ["ext2", "ext4"] {
        let outcome = run(
            r#"
            [machine.device]
            read_rate = "1 GB/s"
            write_rate = "1 GB/s"
            time_per_request = "100 us"
            [machine.file_system.journal]
            mode = "none"
            [[workload]]
            block = "16 MiB"
            transfer = "4 KiB"
            order = "uniform"
            requests = 1000
            phases = ["write"]
            io = { existing = true, cached = true, synchronous = true }
            "#,
            &[&format!("system={system}")],
        );
        // 104 us of data and 100 us of a flush are 204 ms in all: 51 ticks, and 104 us each for the
        // inode.
        let seconds = outcome.report.simulated_seconds;
        assert!((0.209..0.212).contains(&seconds), "{system}: {seconds}");
    }
}

/// Without a journal, each fsync of a file that grows writes its inode besides.
#[test]
fn an_append_changes_the_inode() {
    let outcome = run(
        r#"
        system = "ext4"
        [machine.device]
        read_rate = "1 GB/s"
        write_rate = "1 GB/s"
        time_per_request = "100 us"
        [machine.file_system.journal]
        mode = "none"
        [[workload]]
        block = "400 KiB"
        transfer = "4 KiB"
        sync_per_write = true
        phases = ["write"]
        io = { existing = false }
        "#,
        &[],
    );
    // A hundred times 104 us of data, 104 us of the inode and 100 us of a flush.
    let seconds = outcome.report.simulated_seconds;
    assert!((0.0308..0.0309).contains(&seconds), "{seconds}");
}

/// New data costs by the page and by the folio; a call creates folios of its own length.
#[test]
fn a_new_folio_costs_besides_its_pages() {
    // 4,096 pages at 1 us; as many folios at 10 us, 256 of 64 KiB, or 64 of 256 KiB.
    for (transfer, largest, expected) in [
        ("4 KiB", "1 MiB", 0.004096 + 0.04096),
        ("64 KiB", "1 MiB", 0.004096 + 256.0 * 10e-6),
        ("256 KiB", "1 MiB", 0.004096 + 64.0 * 10e-6),
        ("256 KiB", "64 KiB", 0.004096 + 256.0 * 10e-6),
        ("64 KiB", "4 KiB", 0.004096 + 0.04096),
    ] {
        let outcome = run(
            r#"
            system = "ext4"
            [machine.device]
            read_rate = "1 GB/s"
            write_rate = "1 GB/s"
            [machine.file_system]
            new_page = "1 us"
            new_folio = "10 us"
            [[workload]]
            block = "16 MiB"
            phases = ["write"]
            "#,
            &[
                &format!("workload.0.transfer={transfer}"),
                &format!("machine.memory.largest_folio={largest}"),
            ],
        );
        let seconds = outcome.report.simulated_seconds;
        let error = (seconds / expected - 1.0).abs();
        assert!(error < 1e-3, "{transfer}, {largest}: {seconds}");
    }
}

/// A page that is not cached costs less than a new one if it has its blocks.
#[test]
fn an_uncached_page_that_has_its_blocks_costs_less_than_a_new_one() {
    for (system, cached, existing, expected) in [
        // 4,096 pages: new ones at 10 us, uncached ones at 3, others at 1; folios of 16 at 2 us.
        ("ext4", false, false, 0.040_96 + 0.000_512),
        ("ext4", false, true, 0.012_288 + 0.000_512),
        ("ext4", true, true, 0.004_096),
        ("xfs", false, true, 0.012_288 + 0.000_512),
        ("ext2", false, true, 0.012_288 + 0.000_512),
    ] {
        let outcome = run(
            r#"
            [machine.device]
            read_rate = "1 GB/s"
            write_rate = "1 GB/s"
            [machine.file_system]
            write_page = "1 us"
            new_page = "10 us"
            uncached_page = "3 us"
            new_folio = "2 us"
            [[workload]]
            block = "16 MiB"
            transfer = "64 KiB"
            phases = ["write"]
            "#,
            &[
                &format!("system={system}"),
                &format!("workload.0.io.existing={existing}"),
                &format!("workload.0.io.cached={cached}"),
                "machine.memory.largest_folio=1 MiB",
            ],
        );
        let seconds = outcome.report.simulated_seconds;
        let error = (seconds / expected - 1.0).abs();
        assert!(error < 1e-3, "{system}, {cached}, {existing}: {seconds}");
    }
}

/// A device may take longer to read into memory that was not used yet: what the cache never held
/// at once. 16 MiB at 1 GB/s are 16.777 ms, and 4,096 pages at 2 us 8.192 ms.
#[test]
fn a_device_reads_longer_into_memory_that_was_not_used_yet() {
    let times = |phases: &str, more: &[&str]| {
        let scenario = format!(
            r#"
            system = "ext4"
            [machine.device]
            kind = "throttled"
            rate = "1 GB/s"
            hypervisor.fresh_page = "2 us"
            [[workload]]
            block = "16 MiB"
            transfer = "1 MiB"
            phases = [{phases}]
            "#
        );
        run(&scenario, more).report.simulated_seconds
    };
    let (device, fresh) = (0.016_777, 0.008_192);
    let existing = "workload.0.io.existing=true";
    for (phases, more, expected) in [
        // Cold, past the page cache, and again cached.
        (r#""read""#, &[existing][..], device + fresh),
        (
            r#""read""#,
            &[existing, "workload.0.io.direct=true"],
            device,
        ),
        (r#""read", "read""#, &[existing], device + fresh),
        (r#""read""#, &[existing, "workload.0.io.cached=true"], 0.0),
        // A cache of 4 MiB is used over and over.
        (
            r#""read""#,
            &[
                existing,
                "machine.memory.size=4 MiB",
                "machine.memory.used=0 B",
            ],
            device + fresh / 4.0,
        ),
    ] {
        let seconds = times(phases, more);
        assert!(
            (seconds - expected).abs() < 3e-4,
            "{phases}, {more:?}: {seconds}"
        );
    }
}

/// A read from the device costs processor time for each page, while the device reads ahead.
#[test]
fn a_page_that_is_read_takes_its_time_on_the_processor() {
    // 64 MiB at 1 GB/s are 67.1 ms; 16,384 pages at 20 us 327.7 ms.
    for (system, page, least, most) in [
        ("ext4", "0 s", 0.0671, 0.0672),
        ("ext4", "20 us", 0.3276, 0.3310),
        ("ext2", "20 us", 0.3276, 0.3310),
    ] {
        let outcome = run(
            r#"
            [machine.device]
            read_rate = "1 GB/s"
            write_rate = "1 GB/s"
            [[workload]]
            block = "64 MiB"
            transfer = "64 KiB"
            phases = ["read"]
            io = { existing = true }
            "#,
            &[
                &format!("system={system}"),
                &format!("machine.file_system.read_page={page}"),
            ],
        );
        let seconds = outcome.report.simulated_seconds;
        assert!(
            (least..most).contains(&seconds),
            "{system}, {page}: {seconds}"
        );
    }
}

/// A file of 64 MiB has 16 blocks of pointers, the first for the data beyond its first 48 KiB. They
/// are read before their data, unless they are cached.
#[test]
fn blocks_of_pointers_are_read_unless_they_are_cached() {
    let visits = [true, false].map(|known| {
        let outcome = run(
            r#"
            system = "ext2"
            [machine.device]
            read_rate = "1 GB/s"
            write_rate = "1 GB/s"
            [[workload]]
            block = "64 MiB"
            transfer = "1 MiB"
            phases = ["read"]
            io = { existing = true }
            "#,
            &[&format!("workload.0.io.pointers_cached={known}")],
        );
        let stations = &outcome.report.stations;
        let device = stations.iter().find(|it| it.station.ends_with("/device"));
        device.expect("a device").visits
    });
    assert_eq!(visits[1] - visits[0], 16);
}

/// A write to a large folio traverses all of the folio's list of blocks, unless it did so lately. A
/// folio of a page has no list.
#[test]
fn a_rewrite_follows_the_list_of_its_folio() {
    // 128 writes of two pages at 1 us, each in a folio of its own of 256 blocks. All 128 lists are
    // 32,768 blocks of 1 us and 3.4 MB, with the pages 4.5 MB. The last level still holds a part of
    // them when they are used again: that part costs nothing. The next write finds its list.
    let again = |effective_size: f64| {
        let mut last = LastLevelCache::new(effective_size);
        let mut lists = 0.0;
        for call in (0..2).flat_map(|_| 0..128) {
            lists += 256.0 * (1.0 - last.uses(call, 26_624.0));
            last.uses(128 + call, 8192.0);
        }
        lists.round() as u32
    };
    for (order, folio, last, lists, pages) in [
        ("strided", "1 MiB", "8 MiB", 32_768, 256),
        ("sequential", "1 MiB", "8 MiB", 256, 256),
        ("sequential", "1 MiB", "0 B", 256, 256),
        ("strided", "4 KiB", "0 B", 0, 256),
        ("strided, again", "1 MiB", "0 B", 2 * 32_768, 512),
        ("strided, again", "1 MiB", "8 MiB", again(8.0), 512),
        ("strided, again", "1 MiB", "4 MiB", again(4.0), 512),
    ] {
        let phases = match order.ends_with("again") {
            true => r#"["write", "write"]"#,
            false => r#"["write"]"#,
        };
        let mut more = vec![
            format!("machine.memory.largest_folio={folio}"),
            format!("machine.copying.l3_reach={last}"),
            format!("workload.0.phases={phases}"),
        ];
        if order.starts_with("strided") {
            more.push("workload.0.order=strided".to_owned());
            more.push("workload.0.stride=128".to_owned());
        }
        let more: Vec<&str> = more.iter().map(String::as_str).collect();
        let outcome = run(
            r#"
            system = "ext4"
            [machine]
            device = { read_rate = "1 GB/s", write_rate = "1 GB/s" }

            [machine.file_system]
            write_page = "1 us"
            buffer_head = "1 us"
            [[workload]]
            block = "128 MiB"
            transfer = "8 KiB"
            requests = 128
            io = { existing = true, cached = true }
            "#,
            &more,
        );
        let microseconds = outcome.report.simulated_seconds * 1e6;
        let error = (microseconds / f64::from(lists + pages) - 1.0).abs();
        assert!(error < 1e-3, "{order}, {folio}, {last}: {microseconds}");
    }
}

/// A call that waits for transfers has made them, on its processor: for its data, its inode, and
/// the flush.
#[test]
fn an_fsync_makes_its_transfers() {
    for (existing, journal, flush_page, waits) in [
        (true, "none", "0 s", 2.0),
        (true, "none", "1 us", 2.0),
        (false, "none", "0 s", 3.0),
        (false, "none", "1 us", 3.0),
        // The device is done before the call is.
        (false, "none", "60 us", 3.0),
        (true, "none", "60 us", 2.0),
        // The journal's thread makes the rest.
        (false, "ordered", "0 s", 1.0),
        (false, "ordered", "1 us", 1.0),
    ] {
        let mean = |transfer: &str| {
            let sets = [
                format!("workload.0.io.existing={existing}"),
                format!("machine.file_system.journal.mode={journal}"),
                format!("machine.file_system.flush_page={flush_page}"),
                format!("machine.cpu.transfer={transfer}"),
            ];
            let outcome = run(
                r#"
                system = "ext4"
                [machine.device]
                kind = "throttled"
                rate = "1 GB/s"
                latency = "40 us"
                flush = "30 us"
                [[workload]]
                block = "80 KiB"
                transfer = "4 KiB"
                phases = ["write"]
                sync_per_write = true
                "#,
                &sets.each_ref().map(String::as_str),
            );
            outcome.report.latency["sync"].mean
        };
        let more = (mean("10 us") - mean("0 s")) / 10e-6;
        // A file's first fsync of blocks that are there, or one in some milliseconds, has an inode.
        assert!(
            (more - waits).abs() < 0.2,
            "{existing}, {journal}, {flush_page}: {more}"
        );
    }
}

/// Each of the calls ends within a page, which the next one writes again.
#[test]
fn a_synchronous_write_prepares_its_pages_once() {
    let outcome = run(
        r#"
        system = "ext4"
        [machine]
        file_system = { flush_page = "10 us", journal = { mode = "none" } }
        [machine.device]
        kind = "throttled"
        rate = "1 TB/s"
        latency = "40 us"
        [[workload]]
        block = "400 kB"
        transfer = "1 kB"
        phases = ["write"]
        io = { existing = true, cached = true, synchronous = true }
        "#,
        &[],
    );
    // A page is written, then the cache is flushed; preparing it goes on beside the device. One
    // in some milliseconds writes the inode too.
    let mean = outcome.report.latency["write"].mean;
    assert!((80e-6..84e-6).contains(&mean), "{mean}");
}

/// The total time of many pages may exceed the range of the clock: an error, no wrapped number.
#[test]
fn more_time_than_there_is_is_refused() {
    for (phases, field) in [
        ("\"write\"", "machine.file_system.new_page"),
        ("\"write\"", "machine.file_system.new_folio"),
        ("\"read\"", "machine.file_system.read_page"),
        ("\"write\", \"sync\"", "machine.file_system.flush_page"),
        ("\"write\", \"sync\"", "machine.device.hypervisor.new_block"),
        ("\"read\"", "machine.device.hypervisor.fresh_page"),
    ] {
        let message = refusal(
            r#"
            system = "ext4"
            [machine.device]
            kind = "throttled"
            rate = "1 GB/s"
            [[workload]]
            block = "256 MiB"
            transfer = "128 MiB"
            "#,
            &[
                &format!("workload.0.phases=[{phases}]"),
                // 116 days each.
                &format!("{field}=10000000 s"),
            ],
        );
        assert!(message.contains("213 days"), "{field}: {message}");
    }
}
