//! The virtual disk with limits.

use crate::devices::{Ask, device, drive, drive_net, end, rate, read, sync, write};
use crate::running::close;
use headrace_storage::device::build;

fn limited(more: &str) -> headrace_spec::Device {
    device(&format!("kind = \"throttled\"\nrate = \"10 GB/s\"\n{more}"))
}

const SECOND: u64 = 1_000_000_000_000;

#[test]
fn the_rate_in_the_long_run_is_the_limit() {
    for (size, number) in [(4096, 50_000_u64), (131_072, 5000), (5 << 20, 100)] {
        let script: Vec<Ask> = (0..number).map(|n| write(n * size, size)).collect();
        for depth in [1, 64] {
            let log = drive(&limited("write_rate = \"60 MB/s\""), &script, depth);
            // A slice goes before its time, and the last may wait for its end.
            let seconds = (size * number) as f64 / 60e6;
            close(
                end(&log) as f64 / SECOND as f64,
                seconds,
                0.1 / seconds + 1e-6,
            );
            // Reads have no limit.
            let reads: Vec<Ask> = (0..100).map(|n| read(n * size, size)).collect();
            let log = drive(&limited("write_rate = \"60 MB/s\""), &reads, depth);
            assert!(rate(&reads, &log) > 9e9);
        }
    }
    let script: Vec<Ask> = (0..10_000).map(|n| read(n, 4096)).collect();
    let log = drive(&limited("read_operations = 400"), &script, 4);
    close(end(&log) as f64 / SECOND as f64, 25.0, 0.004);
}

/// A slice's bytes pass at its start: 100 ms at 60 MB/s are 6 MB. The next bytes
/// pass when the slice is over and the limit has made up for them.
#[test]
fn a_slice_goes_at_its_start() {
    let script: Vec<Ask> = (0..13).map(|n| read(n, 1_000_000)).collect();
    let log = drive(&limited("read_rate = \"60 MB/s\""), &script, 13);
    let at_start = log
        .iter()
        .filter(|took| took.time() < SECOND / 1000)
        .count();
    assert_eq!(at_start, 6);
    // 1 MB more than a slice takes its end and the time of that MB in whole
    // ticks, and its own time on the device. Then slice two allows the rest of
    // it.
    let seventh = SECOND / 10 + 4 * SECOND / 250 + 100_000_000;
    assert_eq!(log[6].time(), seventh);
    let more = log.iter().filter(|took| took.time() < SECOND / 5).count();
    assert_eq!(more, 12);
}

/// Both limits hold: 400 operations of 4 KiB, or 60 MB of large ones.
#[test]
fn both_limits_must_permit() {
    let both = limited("read_rate = \"60 MB/s\"\nread_operations = 400");
    for (size, expected) in [(4096, 400.0 * 4096.0), (1 << 20, 60e6)] {
        let script: Vec<Ask> = (0..4000).map(|n| read(n, size)).collect();
        close(rate(&script, &drive(&both, &script, 8)), expected, 0.02);
    }
}

#[test]
fn a_burst_is_saved_up_and_spent() {
    let credit = limited("write_rate = \"10 MB/s\"\nburst = \"100 MB\"\nslice = \"4 ms\"");
    let mut script: Vec<Ask> = (0..200).map(|n| write(n, 1_000_000).at(0)).collect();
    // After the burst of 100 MB the other 100 MB take 10 s; 20 s later there is
    // a new burst.
    script.extend((0..100).map(|n| write(n, 1_000_000).at(30 * SECOND)));
    let log = drive(&credit, &script, 1);
    assert!(log[99].time() < SECOND / 50, "{:?}", log[99]);
    close(log[199].done as f64 / SECOND as f64, 10.0, 0.001);
    assert!(log[299].time() < SECOND / 50, "{:?}", log[299]);
    // A second after the burst only 10 MB are saved up.
    let mut script: Vec<Ask> = (0..100).map(|n| write(n, 1_000_000).at(0)).collect();
    script.extend((0..20).map(|n| write(n, 1_000_000).at(SECOND)));
    let log = drive(&credit, &script, 1);
    assert!(
        log[109].time() < SECOND / 50 && log[112].time() > SECOND / 10,
        "{log:?}"
    );
}

#[test]
fn latency_is_added_and_overlaps() {
    let slow = limited("latency = \"1 ms\"");
    let script: Vec<Ask> = (0..10).map(|n| read(n, 0)).chain([sync()]).collect();
    let log = drive(&slow, &script, 11);
    assert!(log.iter().all(|took| took.time() == SECOND / 1000));
}

/// Twelve transfers of 1 ms and 10 µs alone, four of them at a time. The second four begin when the
/// first are done, which the device's work has 10 µs apart.
#[test]
fn no_more_than_the_queue_depth_are_under_way() {
    let ms = SECOND / 1000;
    let us = ms / 1000;
    let more = "latency = \"1 ms\"\ntime_per_transfer = \"10 us\"\nqueue_depth = 4";
    let script: Vec<Ask> = (0..12).map(|n| read(n, 0)).collect();
    let log = drive(&limited(more), &script, 12);
    for (number, took) in log.iter().enumerate() {
        let (turn, of_it) = (number as u64 / 4, number as u64 % 4);
        assert_eq!(took.done, (turn + 1) * (ms + 10 * us) + of_it * 10 * us);
    }
    // A journal's flush takes no room, and gives none away.
    let flush = sync().metadata();
    let script = [read(0, 0).at(0), flush.at(0), read(1, 0).at(0)];
    let more = "latency = \"1 ms\"\nflush = \"100 us\"\nqueue_depth = 1";
    let log = drive(&limited(more), &script, 3);
    assert_eq!(
        [log[0].done, log[1].done, log[2].done],
        [ms, ms / 10, 2 * ms]
    );
}

/// 1 ms after the first arrival the device begins. Each takes 10 us, and those that arrive before
/// it is done with the others are served with them. All are done at once.
#[test]
fn those_served_in_bulk_are_done_together() {
    let us = SECOND / 1_000_000;
    let bulk = |more: &str| {
        let text =
            "hypervisor.bulk_service = true\nlatency = \"1 ms\"\ntime_per_transfer = \"10 us\"";
        limited(&format!("{text}\n{more}"))
    };
    let done = |disk: &headrace_spec::Device, script: &[Ask]| -> Vec<u64> {
        let log = drive(disk, script, script.len());
        log.iter().map(|took| took.done / us).collect()
    };
    let at = |microseconds: u64| read(0, 0).at(microseconds * us);
    assert_eq!(done(&bulk(""), &[at(0), at(0), at(500)]), [1030; 3]);
    // The fourth comes while the third is worked on, the fifth when all are done.
    let script = [at(0), at(0), at(500), at(1025), at(1500)];
    assert_eq!(done(&bulk(""), &script), [1040, 1040, 1040, 1040, 2510]);
    // The first decides after what the device begins: a write here, after 200 us.
    let writes = bulk("write_latency = \"200 us\"");
    assert_eq!(done(&writes, &[write(0, 0).at(0), at(100)]), [220; 2]);
    // A flush is work as well, a journal's own too.
    let flushes = bulk("flush = \"300 us\"");
    let script = [at(0), sync().at(0), sync().metadata().at(0), at(0)];
    assert_eq!(done(&flushes, &script), [1640; 4]);
    // No more than two are there.
    let two = bulk("queue_depth = 2");
    assert_eq!(done(&two, &[at(0); 3]), [1020, 1020, 2030]);
}

/// Transfers of n that are repeated as soon as they are done. All wait for the work of all, and
/// nothing overlaps the latency. Throughput is n / (latency + n · work), Amdahl's law, which is the
/// lower bound of a closed system (Lazowska et al. 1984, section 5.2).
#[test]
fn bulk_service_reaches_the_lower_bound_of_a_closed_system() {
    let text = "latency = \"40 us\"\ntime_per_transfer = \"8 us\"";
    let (latency, work) = (40e-6, 8e-6 + 4096.0 / 10e9);
    for depth in [1, 2, 4, 8, 32] {
        let script: Vec<Ask> = (0..64 * depth as u64)
            .map(|n| read(n * 4096, 4096))
            .collect();
        let apart = |more: &str| {
            let log = drive(&limited(&format!("{text}\n{more}")), &script, depth);
            end(&log) as f64 / SECOND as f64 / script.len() as f64
        };
        let each = depth as f64;
        close(
            apart("hypervisor.bulk_service = true"),
            work + latency / each,
            1e-3,
        );
        // If they complete one by one, they overlap: the upper bound.
        close(apart(""), ((work + latency) / each).max(work), 0.02);
    }
}

/// At 400 operations a second a tick allows 1.6. 5440 blocks of a journal's
/// transaction go at once. The next write lacks 5441 operations, which 3401
/// ticks allow, and the window of 3425 that they are in begins at tick 3400.
#[test]
fn metadata_goes_at_once_and_others_pay_its_operations() {
    let disk = limited("write_operations = 400");
    let transaction = write(0, 5440 * 4096).metadata();
    for next in [write(0, 4096), sync()] {
        // More metadata passes those that wait, at its own cost; so do reads.
        let log = drive(
            &disk,
            &[
                transaction.at(0),
                next.at(0),
                write(0, 4096).metadata().at(SECOND),
                read(0, 4096).at(SECOND),
                sync().metadata().at(SECOND),
            ],
            1,
        );
        let transferred = 5440 * 4096 * 100;
        assert_eq!(log[0].time(), transferred);
        let alone = next.size * 100;
        assert_eq!(log[1].done, 13_600 * SECOND / 1000 + alone);
        assert_eq!(log[2].time(), 4096 * 100);
        assert_eq!(log[3].time(), 2 * 4096 * 100);
        assert_eq!(log[4].time(), 0);
    }
    // While no transfer waits, the limit of operations remembers one slice. A write before the
    // slice's end waits for all earlier operations, a later one for none.
    let of = |milliseconds: u64| {
        let after = milliseconds * SECOND / 1000;
        let script = [transaction.at(0), write(0, 4096).at(after)];
        drive(&disk, &script, 1)[1].done / (SECOND / 1000)
    };
    assert_eq!(of(80), 13_600);
    assert_eq!(of(104), 104);
}

/// At 60 MB/s a tick allows 240 kB. 15,000 blocks exceed their slice by 55.44
/// MB, which takes 231 ticks after it. Until then it is owed, also by a flush
/// that moves nothing, at any time.
#[test]
fn metadata_goes_at_once_and_others_pay_its_bytes() {
    let disk = limited("write_rate = \"60 MB/s\"");
    for later in [0, 500, 1000] {
        let after = later * SECOND / 1000;
        let transaction = write(0, 15_000 * 4096).metadata().at(0);
        let log = drive(&disk, &[transaction, sync().at(after)], 1);
        assert_eq!(log[0].time(), 15_000 * 4096 * 100);
        assert_eq!(log[1].done, 256 * SECOND / 250, "after {later} ms");
    }
}

/// Direct I/O on a loop device with these limits, measured on Linux 6.18. Transfers
/// are 48 of 1 MiB (cut at 512 KiB), 256 of 64 KiB, 400 of 4 KiB and 200 of 64 KiB.
#[test]
fn phases_take_what_they_take_on_linux() {
    let (slow, fast) = (
        "read_rate = \"60 MB/s\"",
        "read_rate = \"150 MB/s\"\nread_operations = 400",
    );
    for (limits, measured) in [
        (slow, [0.806, 0.300, 0.015, 0.188]),
        (fast, [0.307, 0.504, 0.991, 0.504]),
    ] {
        let disk = limited(&format!("largest_request = \"512 KiB\"\n{limits}"));
        let phases = [(48, 1 << 20), (256, 65_536), (400, 4096), (200, 65_536)];
        let script: Vec<Ask> = phases
            .iter()
            .flat_map(|&(number, size)| (0..number).map(move |n| read(n, size)))
            .collect();
        let log = drive(&disk, &script, 1);
        let (mut from, mut first) = (0, 0);
        for ((number, _), measured) in phases.into_iter().zip(measured) {
            let last = first + number as usize;
            let took = (log[last - 1].done - from) as f64 / SECOND as f64;
            assert!(
                (took - measured).abs() < 0.02,
                "{took} s, measured {measured} s"
            );
            (from, first) = (log[last - 1].done, last);
        }
    }
}

/// Operations are whole, so limits of few a second are missed, up and down. Measured on Linux 6.18
/// with 250 ticks a second: direct reads of 4 KiB from a loop device for 6 s, one after the other.
/// `blkio.throttle.read_iops_device` was at each limit.
#[test]
fn few_operations_a_second_are_as_many_as_on_linux() {
    for (limit, measured) in [
        (3, 2.85),
        (5, 4.97),
        (7, 10.37),
        (12, 10.16),
        (15, 10.32),
        (19, 10.33),
        (25, 20.29),
        (33, 30.15),
        (45, 40.28),
        (95, 90.28),
    ] {
        let script: Vec<Ask> = (0..6 * measured as u64)
            .map(|n| read(n * 4096, 4096))
            .collect();
        let disk = limited(&format!("read_operations = {limit}"));
        let operations = rate(&script, &drive(&disk, &script, 1)) / 4096.0;
        close(operations, measured, 0.05);
    }
}

/// The device is hardly busy; it is the limit that is used up, or a part of it.
#[test]
fn a_limit_that_is_used_up_counts_as_busy() {
    let share = |more: &str, script: &[Ask], depth: usize| {
        let it = limited(more);
        let (_, net) = drive_net(script, depth, |page| build(page, &it));
        let reports = net.reports();
        let station = reports.iter().find(|it| it.path.ends_with("/device"));
        station.unwrap().utilisation
    };
    let reads: Vec<Ask> = (0..1000).map(|n| read(n << 17, 1 << 17)).collect();
    close(share("read_rate = \"60 MB/s\"", &reads, 8), 1.0, 0.05);
    close(share("read_operations = 400", &reads, 8), 1.0, 0.05);
    // The larger share counts: 400 operations a second are 52 MB/s.
    let both = "read_rate = \"600 MB/s\"\nread_operations = 400";
    close(share(both, &reads, 8), 1.0, 0.05);
    close(share("write_rate = \"60 MB/s\"", &reads, 8), 1.0, 1e-3);
    // Few that wait long: from the first on they wait for the limit.
    for number in 1..4 {
        let few: Vec<Ask> = (0..number).map(|n| read(n * 4096, 4096)).collect();
        close(share("read_rate = \"1 B/s\"", &few, 2), 1.0, 1e-3);
    }
    // Asked for less than a limit allows: 0.1 MB each 10 ms, of 40 MB/s.
    let slow: Vec<Ask> = (0..1000)
        .map(|n| read(n << 17, 100_000).at(n * SECOND / 100))
        .collect();
    close(share("read_rate = \"40 MB/s\"", &slow, 8), 0.25, 0.02);
}

/// 1 MB at 10 GB/s take 100 us and at 2 GB/s 500 us; reads 60 us besides, writes 90.
#[test]
fn reads_and_writes_may_take_different_times() {
    let differs =
        limited("latency = \"60 us\"\ndevice_write_rate = \"2 GB/s\"\nwrite_latency = \"90 us\"");
    let log = drive(&differs, &[read(0, 1_000_000), write(0, 1_000_000)], 1);
    let times: Vec<u64> = log.iter().map(|took| took.time()).collect();
    assert_eq!(times, [160_000_000, 590_000_000]);
}

/// 64 blocks of 4 KiB at 10 GB/s take 26.2144 us, and new ones 1 us each more, all of them or
/// one.
#[test]
fn blocks_just_allocated_may_take_longer() {
    let us = SECOND / 1_000_000;
    for more in ["", "\nhypervisor.bulk_service = true"] {
        let disk = limited(&format!("hypervisor.new_block = \"1 us\"{more}"));
        let script = [0, 64, 1].map(|new| write(0, 64 * 4096).allocated(new));
        let log = drive(&disk, &script, 1);
        let times: Vec<u64> = log.iter().map(|took| took.time()).collect();
        assert_eq!(times, [0, 64, 1].map(|new| 26_214_400 + new * us));
    }
}

/// The same of reads into memory that has never been used; neither time is the other's.
#[test]
fn memory_that_was_not_used_yet_may_take_longer() {
    let us = SECOND / 1_000_000;
    let disk = limited("hypervisor.fresh_page = \"2 us\"\nhypervisor.new_block = \"1 us\"");
    for (ask, each) in [(read as fn(u64, u64) -> Ask, 2), (write, 1)] {
        let script = [0, 64, 1].map(|new| ask(0, 64 * 4096).allocated(new));
        let log = drive(&disk, &script, 1);
        let times: Vec<u64> = log.iter().map(|took| took.time()).collect();
        assert_eq!(times, [0, 64, 1].map(|new| 26_214_400 + new * each * us));
    }
}

/// Two reads at once of 1 MB at 10 GB/s, 100 us. Each takes the device 150 us more alone, and 60 us
/// besides, which the second has while no other waits.
#[test]
fn a_transfer_may_take_the_device_alone() {
    let one = limited("latency = \"60 us\"\ntime_per_transfer = \"150 us\"");
    let log = drive(&one, &[read(0, 1_000_000), read(1_000_000, 1_000_000)], 2);
    let times: Vec<u64> = log.iter().map(|took| took.time()).collect();
    assert_eq!(times, [310_000_000, 560_000_000]);
}
