//! Data servers that are machines. A local file system below a daemon behaves as by itself, and no
//! byte is lost between a client and the devices.

use headrace_storage::Outcome;
use headrace_trace::Operation;
use proptest::prelude::*;

use crate::running::{MICROSECOND, busy, latencies, run, station};

const NETWORK: &str = r#"
    [clients]
    count = 1
    [servers]
    count = 1
    [network]
    topology = "pairs"
    bandwidth = "1 GB/s"
    latency = "1311488 ns"
    [layout]
    unit = "64 KiB"
"#;

/// A machine, of which PATH is `machine` or `servers.machine`.
const MACHINE: &str = r#"
    [PATH]
    device = { read_rate = "100 MB/s", write_rate = "50 MB/s", time_per_request = "100 us" }
    cpu = { cores = 2, system_call = "1 us", transfer = "3 us" }
    copying = { page_in_l2 = "2 us", page_in_memory = "5 us" }
    memory = { size = "16 MiB" }
    write_back = { bytes = "4 MiB", background_bytes = "1 MiB" }
    io_scheduler = { kind = "SCHEDULER", depth = 4 }
    [PATH.file_system]
    new_page = "3 us"
    write_call = "2 us"
    flush_page = "1 us"
"#;

const WORKLOAD: &str = r#"
    [[workload]]
    block = "8 MiB"
    transfer = "64 KiB"
    think_distribution = "constant"
"#;

fn machine(path: &str, scheduler: &str) -> String {
    MACHINE
        .replace("PATH", path)
        .replace("SCHEDULER", scheduler)
}

/// With one client, one server and private links, a local file system differs by the time of the
/// network and the daemon, to the picosecond. A message takes 1 ns a byte and the latency each way.
/// The daemon's time comes before the call's, like a longer system call. A process on the machine
/// that thinks for as long as messages are on their way asks at the same moments. The first request
/// arrives after three latencies and its bytes. They are 4 ms together, a tick of the clock that
/// file times are taken from.
#[test]
fn one_server_behind_a_network_takes_a_local_file_system_and_the_way() {
    const LATENCY: u64 = 1_311_488_000;
    const BYTES: u64 = 65_536_000;
    let way = BYTES + 2 * LATENCY;
    let cases: [&[&str]; 7] = [
        &["workload.0.phases=[\"write\"]"],
        &["workload.0.phases=[\"write\"]", "workload.0.block=64 MiB"],
        &["workload.0.phases=[\"write\"]", "workload.0.order=random"],
        &[
            "workload.0.phases=[\"write\"]",
            "workload.0.io.synchronous=true",
        ],
        &["workload.0.phases=[\"read\"]"],
        &["workload.0.phases=[\"read\"]", "workload.0.io.cached=true"],
        &["workload.0.phases=[\"read\"]", "workload.0.order=random"],
    ];
    for system in ["ext2", "ext3", "ext4", "xfs"] {
        for (sets, scheduler) in cases.iter().zip(["none", "cfq", "deadline"].iter().cycle()) {
            let local = machine("machine", scheduler);
            let local = format!("system = {system:?}\n{local}{WORKLOAD}");
            let thinking = format!("workload.0.think={} ns", way / 1000);
            let own = ["machine.cpu.system_call=21 us", &thinking];
            let alone = run(&local, &[&own[..], sets].concat());

            let below = machine("servers.machine", scheduler);
            let parallel =
                format!("{NETWORK}{below}{WORKLOAD}\n[servers.daemon]\ntime_per_job = \"20 us\"\n");
            let system = format!("servers.machine.system={system}");
            let behind = run(&parallel, &[&[&*system][..], sets].concat());

            let mut expected: Vec<u64> = latencies(&alone).into_iter().map(|it| it + way).collect();
            // The client asks where the file is.
            expected[0] += 2 * LATENCY;
            assert_eq!(
                latencies(&behind),
                expected,
                "{system} {scheduler} {sets:?}"
            );
        }
    }
}

/// A byte takes 1 ps to read and 1 us to write: a device's time of work tells the
/// bytes of each. The files' own blocks take none.
const COUNTED: &str = r#"
    [network]
    bandwidth = "1 TB/s"
    latency = "1 us"
    [servers.machine]
    device = { read_rate = "1 TB/s", write_rate = "1 MB/s" }
    cpu = { cores = 2, system_call = "1 us" }
    read_ahead.window = "0 B"
    [servers.machine.memory]
    page = "16 B"
    size = "64 MB"
"#;

#[derive(Clone, Debug)]
struct Case {
    clients: u32,
    servers: u32,
    threads: u32,
    unit: u64,
    pages: u64,
    transfers: u64,
    limit: u64,
    shared: bool,
    random: bool,
    synchronous: bool,
}

fn cases() -> impl Strategy<Value = Case> {
    let sizes = (
        1_u32..4,
        1_u32..4,
        1_u32..4,
        1_u64..4,
        1_u64..6,
        1_u64..12,
        1_u64..40,
    );
    (sizes, any::<(bool, bool, bool)>()).prop_map(
        |(
            (clients, servers, threads, unit, pages, transfers, limit),
            (shared, random, synchronous),
        )| {
            Case {
                clients,
                servers,
                threads,
                unit,
                pages,
                transfers,
                limit,
                shared,
                random,
                synchronous,
            }
        },
    )
}

const PAGE: u64 = 16;

fn run_case(case: &Case, phases: &str) -> Outcome {
    let access = if case.shared {
        "shared"
    } else {
        "file-per-process"
    };
    let order = if case.random { "random" } else { "sequential" };
    let text = format!(
        "[clients]\ncount = {}\n[servers]\ncount = {}\ndaemon.threads = {}\n[layout]\nunit = \"{} \
         B\"\n{COUNTED}\n[servers.machine.write_back]\nbytes = \"{} B\"\nbackground_bytes = \"{} \
         B\"\n[[workload]]\nblock = \"{} B\"\ntransfer = \"{} B\"\naccess = {access:?}\norder = \
         {order:?}\nphases = {phases}\nio.synchronous = {}\n",
        case.clients,
        case.servers,
        case.threads,
        case.unit * PAGE,
        16 * case.limit * PAGE,
        case.limit * PAGE,
        case.transfers * case.pages * PAGE,
        case.pages * PAGE,
        case.synchronous,
    );
    run(&text, &[])
}

/// Bytes that the devices read and wrote.
fn device_bytes(outcome: &Outcome) -> (u64, u64) {
    let picoseconds = busy(outcome, "server/machine/device").round() as u64;
    (picoseconds % MICROSECOND, picoseconds / MICROSECOND)
}

fn moved(outcome: &Outcome, operation: Operation) -> u64 {
    let own = outcome.requests.iter().map(|it| it.request);
    own.filter(|it| it.operation == operation)
        .map(|it| it.size)
        .sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Also on those servers that hold none of the bytes after which a client syncs.
    #[test]
    fn after_a_sync_the_devices_have_what_was_written_once(case in cases()) {
        let outcome = run_case(&case, r#"["write", "sync"]"#);
        let asked = case.transfers * case.pages * PAGE * u64::from(case.clients);
        prop_assert_eq!(moved(&outcome, Operation::Write), asked);
        prop_assert_eq!(device_bytes(&outcome), (0, asked));
    }

    #[test]
    fn files_that_are_only_read_are_read_from_the_devices_once(case in cases()) {
        let outcome = run_case(&case, r#"["read", "read"]"#);
        let asked = case.transfers * case.pages * PAGE * u64::from(case.clients);
        prop_assert_eq!(moved(&outcome, Operation::Read), 2 * asked);
        prop_assert_eq!(device_bytes(&outcome), (asked, 0));
    }
}

/// One client and one server whose disk is twenty times slower than the network.
const BURST: &str = r#"
    [clients]
    count = 1
    [servers]
    count = 1
    daemon.threads = 8
    [network]
    bandwidth = "1 GB/s"
    latency = "1 us"
    [layout]
    unit = "64 KiB"
    [servers.machine]
    device = { read_rate = "50 MB/s", write_rate = "50 MB/s" }
    memory = { size = "1 GiB" }
    write_back = { bytes = "64 MiB", background_bytes = "32 MiB" }
    [[workload]]
    block = "32 MiB"
    transfer = "1 MiB"
"#;

fn written(outcome: &Outcome) -> f64 {
    outcome.report.throughput["write"]
}

#[test]
fn a_burst_is_as_fast_as_the_network_until_the_dirty_limit_and_then_as_the_disk() {
    let short = written(&run(BURST, &[]));
    assert!(short > 0.9e9, "{short}");
    // All but what may stay dirty passes the disk.
    let block = 1024.0 * 1_048_576.0;
    let long = written(&run(BURST, &["workload.0.block=1 GiB"]));
    let most = 50e6 * block / (block - 64.0 * 1_048_576.0);
    assert!(long > 50e6 && long < 1.02 * most, "{long}");
    // With O_SYNC or a daemon that syncs there is no burst.
    for set in [
        "workload.0.io.synchronous=true",
        "servers.daemon.synchronous=true",
    ] {
        let slow = written(&run(BURST, &[set]));
        assert!(slow < 50e6, "{set}: {slow}");
    }
}

#[test]
fn a_file_is_cached_where_its_parts_are() {
    let read = ["workload.0.phases=[\"read\"]", "servers.count=4"];
    let cold = run(BURST, &read);
    let warm = run(BURST, &[&read[..], &["workload.0.io.cached=true"]].concat());
    let bytes = |outcome: &Outcome| busy(outcome, "server/machine/device") * 1e-12 * 50e6;
    assert!(
        (bytes(&cold) - 33_554_432.0).abs() < 1.0,
        "{}",
        bytes(&cold)
    );
    assert!(bytes(&warm) < 1.0);
    let busiest = station(&cold, "server/machine/device").most_utilisation;
    let mean = station(&cold, "server/machine/device").utilisation;
    assert!(busiest < 1.01 * mean, "a quarter on each");
}

/// Processor time of the daemon is the machine's: with two cores, two jobs at once.
#[test]
fn the_daemon_works_on_the_machines_cores() {
    for (cores, threads, at_once) in [(1, 8, 1.0), (2, 8, 2.0), (4, 8, 4.0), (8, 2, 2.0)] {
        let outcome = run(
            BURST,
            &[
                "clients.count=64",
                "workload.0.block=64 KiB",
                "workload.0.transfer=4 KiB",
                "servers.daemon.time_per_job=1 ms",
                &format!("servers.machine.cpu.cores={cores}"),
                &format!("servers.daemon.threads={threads}"),
            ],
        );
        let jobs = 64.0 * 16.0;
        let least = jobs * 1e-3 / at_once;
        let seconds = outcome.report.simulated_seconds;
        assert!(
            seconds > least && seconds < 1.02 * least,
            "{cores}: {seconds}"
        );
    }
}

#[derive(Clone, Debug)]
struct Anything {
    sets: Vec<String>,
    clients: u64,
    requests: u64,
}

fn anything() -> impl Strategy<Value = Anything> {
    let machine = (
        prop::sample::select(&["ext2", "ext3", "ext4", "xfs"][..]),
        prop::sample::select(&["none", "noop", "deadline", "cfq", "anticipatory", "bfq"][..]),
        prop::sample::select(&["1 MiB", "4 MiB", "64 MiB"][..]),
        prop::sample::select(&["256 KiB", "2 MiB"][..]),
        prop::sample::select(&["ordered", "journal", "none"][..]),
    );
    let system = (
        1_u64..4,
        1_u32..4,
        1_u32..5,
        prop::sample::select(&["none", "fifo", "sfq"][..]),
        prop::sample::select(&["server", "client", "gateway"][..]),
        any::<bool>(),
    );
    let work = (
        1_u64..20,
        prop::sample::select(&["4 KiB", "30 kB", "200 KiB"][..]),
        any::<(bool, bool, bool)>(),
        prop::sample::select(
            &[
                "[\"write\"]",
                "[\"write\", \"read\"]",
                "[\"read\", \"write\"]",
            ][..],
        ),
    );
    (machine, system, work).prop_map(
        |(
            (preset, elevator, memory, limit, mode),
            (clients, servers, threads, scheduler, position, syncs),
            (transfers, size, (random, shared, synchronous), phases),
        )| {
            let bytes = match size {
                "4 KiB" => 4096,
                "30 kB" => 30_000,
                _ => 204_800,
            };
            let per_write = if synchronous { 2 } else { 1 };
            let writes = phases.matches("write").count() as u64 * per_write;
            let reads = phases.matches("read").count() as u64;
            let mode = match preset {
                "xfs" => "log",
                _ => mode,
            };
            let position = match scheduler {
                "none" => "server",
                _ => position,
            };
            let sets = [
                format!("servers.machine.system={preset}"),
                format!("servers.machine.io_scheduler.kind={elevator}"),
                format!("servers.machine.memory.size={memory}"),
                format!("servers.machine.write_back.bytes={limit}"),
                format!("servers.machine.file_system.journal.mode={mode}"),
                format!("clients.count={clients}"),
                format!("servers.count={servers}"),
                format!("servers.daemon.threads={threads}"),
                format!("servers.daemon.synchronous={syncs}"),
                format!("scheduler.kind={scheduler}"),
                format!("scheduler.position={position}"),
                format!("workload.0.block={} B", transfers * bytes),
                format!("workload.0.transfer={bytes} B"),
                format!(
                    "workload.0.order={}",
                    if random { "random" } else { "sequential" }
                ),
                format!(
                    "workload.0.access={}",
                    if shared { "shared" } else { "file-per-process" }
                ),
                format!("workload.0.sync_per_write={synchronous}"),
                format!("workload.0.phases={phases}"),
            ];
            Anything {
                sets: sets.to_vec(),
                clients,
                requests: transfers * (writes + reads),
            }
        },
    )
}

const ANYTHING: &str = r#"
    system = "pvfs2"
    [clients]
    count = 1
    [servers]
    count = 1
    [servers.daemon]
    time_per_job = "10 us"
    [network]
    bandwidth = "1 Gbit/s"
    latency = "0.1 ms"
    [servers.machine.write_back]
    background_bytes = "128 KiB"
    [servers.machine.io_scheduler]
    depth = 8
    [servers.machine.device]
    kind = "disk"
    model = "ST3146707LC"
    [scheduler]
    depth = 2
    [[workload]]
    block = "1 MiB"
"#;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn all_requests_end(case in anything()) {
        let text = match case.sets.iter().any(|set| set == "scheduler.kind=none") {
            true => ANYTHING.replace("[scheduler]\n    depth = 2\n", ""),
            false => ANYTHING.to_owned(),
        };
        let mut sets: Vec<&str> = case.sets.iter().map(String::as_str).collect();
        // The kind comes before what belongs to it.
        sets.sort_by_key(|set| !set.contains(".kind="));
        let outcome = run(&text, &sets);
        prop_assert_eq!(outcome.requests.len() as u64, case.clients * case.requests);
        let shares: f64 = outcome.report.breakdown.iter().map(|it| it.share).sum();
        prop_assert!((shares - 1.0).abs() < 1e-6, "{}", shares);
    }
}

/// Ten jobs of one client are in its list at once. The first takes the time of one entry, the last
/// that of ten; another client's list is its own.
#[test]
fn lists_that_are_gone_through_take_longer_the_more_they_hold() {
    let text = |clients: u32, processes: u32| {
        format!(
            r#"
            [clients]
            count = {clients}
            processes = {processes}
            [servers]
            count = 1
            device = {{ read_rate = "1 TB/s", write_rate = "1 TB/s" }}
            receive_buffer = {{ time_per_job = "5 ms", time_per_entry = "100 ms" }}
            [network]
            bandwidth = "100 Gbit/s"
            latency = "1 us"
            [layout]
            unit = "1 MiB"
            [[workload]]
            block = "1 kB"
            phases = ["read"]
        "#
        )
    };
    let busy = |clients, processes| {
        let outcome = crate::running::run(&text(clients, processes), &[]);
        crate::running::busy(&outcome, "server/receive buffers") / 1e12
    };
    // The first is alone when it begins. When the k-th begins, the one before it is not
    // yet answered: 10, 9, … 2 entries.
    let expected = 10.0 * 0.005 + 0.1 * f64::from(1 + (2..=10).sum::<u32>());
    crate::running::close(busy(1, 10), expected, 1e-6);
    let two = busy(2, 5);
    assert!(two < 0.7 * busy(1, 10), "{two}");
}

/// A read of N chunks is N calls one after the other on the same thread; a write is one call.
#[test]
fn reads_go_in_chunks() {
    let text = format!("{NETWORK}{}{WORKLOAD}", machine("servers.machine", "noop"));
    let one = |phase: &str, chunk: &str| {
        let chunk = format!("servers.daemon.chunk={chunk}");
        let phase = format!("workload.0.phases=[\"{phase}\"]");
        let sets = [
            phase.as_str(),
            chunk.as_str(),
            "workload.0.transfer=1 MiB",
            "workload.0.io.cached=true",
            "workload.0.io.existing=true",
            "servers.machine.cpu.system_call=100 us",
            "servers.machine.memory.size=64 MiB",
            "servers.machine.copying.page_in_memory=2 us",
        ];
        latencies(&run(&text, &sets))[1]
    };
    // Sixteen calls in place of one.
    let more = one("read", "64 KiB") - one("read", "0 B");
    assert_eq!(more, 15 * 100 * MICROSECOND);
    assert_eq!(one("write", "64 KiB"), one("write", "0 B"));
}

/// The page cache is full of dirty pages, far below the limits. Reclaim has them written (Linux
/// 6.18, mm/vmscan.c, WB_REASON_VMSCAN), so that read-ahead pages stay cached. Then 32 MiB are
/// written and read once each, at 10 MB/s.
#[test]
fn reads_are_not_starved_by_dirty_pages_that_may_stay() {
    for expiry in ["3 s", "300 s"] {
        let outcome = run(
            r#"
            [clients]
            count = 8
            [network]
            bandwidth = "100 MB/s"
            latency = "20 us"
            [layout]
            unit = "64 KiB"
            [servers]
            count = 1
            daemon.threads = 16
            [servers.machine]
            system = "ext4"
            [servers.machine.memory]
            size = "16 MiB"
            [servers.machine.write_back]
            background_bytes = "1 GB"
            bytes = "2 GB"
            [servers.machine.device]
            read_rate = "10 MB/s"
            write_rate = "10 MB/s"
            [[workload]]
            files = 4
            block = "1 MiB"
            transfer = "128 KiB"
            phases = ["write", "read"]
            "#,
            &[&format!("servers.machine.write_back.expiry={expiry}")],
        );
        let once_each = 2.0 * 32.0 * 1_048_576.0 / 10e6;
        let seconds = outcome.report.simulated_seconds;
        assert!(seconds < 1.05 * once_each, "{expiry}: {seconds}");
    }
}
