//! Recorded traces of real programs, replayed.

use headrace_storage::Outcome;
use headrace_trace::{Group, Operation, Summary};
use proptest::prelude::*;

use crate::running::{in_repository, run, run_scenario, shipped};

fn scenario(trace: &str) -> String {
    let file = in_repository("tests/data/traces").join(trace);
    format!(
        r#"
        system = "pvfs2"
        [clients]
        count = 2
        groups = ["first", "second"]
        [servers]
        count = 4
        device = {{ read_rate = "100 MB/s", write_rate = "50 MB/s", time_per_request = "0.1 ms" }}
        [metadata]
        time_per_operation = "0.2 ms"
        [network]
        bandwidth = "1 Gbit/s"
        latency = "0.1 ms"
        [[workload]]
        kind = "trace"
        file = {file:?}
        "#
    )
}

fn summary(trace: &str) -> Summary {
    let file = in_repository("tests/data/traces").join(trace);
    Summary::of(&mut *headrace_trace::open(&file, None).unwrap()).unwrap()
}

fn bytes(outcome: &Outcome, operation: &str) -> u64 {
    outcome
        .report
        .operations
        .get(operation)
        .map_or(0, |it| it.bytes)
}

const TRACES: [&str; 2] = ["tar.strace", "build.strace"];

#[test]
fn every_byte_of_a_trace_is_moved() {
    for trace in TRACES {
        let summary = summary(trace);
        for replay in ["closed", "timed"] {
            let outcome = run(&scenario(trace), &[&format!("workload.0.replay={replay}")]);
            assert_eq!(bytes(&outcome, "read"), summary.bytes_read);
            assert_eq!(bytes(&outcome, "write"), summary.bytes_written);
            assert!(summary.bytes_written > 0);
            for total in &summary.operations {
                let done = outcome.report.operations.get(total.operation.name());
                let done = done.map_or(0, |it| it.count);
                let metadata = [
                    Operation::Open,
                    Operation::Create,
                    Operation::Stat,
                    Operation::Unlink,
                ];
                if metadata.contains(&total.operation) {
                    assert_eq!(done, total.count, "{trace}: {}", total.operation.name());
                }
            }
            assert!(outcome.report.operations["stat"].count > 0);
            let closed = summary.operations.iter();
            let closed = closed.filter(|it| it.operation == Operation::Close);
            let closed: u64 = closed.map(|it| it.count).sum();
            assert_eq!(outcome.report.operations["close"].count, closed);
        }
    }
}

/// Processes are dealt out to the clients, and each keeps its order.
#[test]
fn processes_keep_their_order() {
    for trace in TRACES {
        let outcome = run(&scenario(trace), &[]);
        let file = in_repository("tests/data/traces").join(trace);
        let mut reader = headrace_trace::open(&file, None).unwrap();
        let mut records = Vec::new();
        while reader.next_batch(1000, &mut records).unwrap() > 0 {}
        let processes = reader.processes().len() as u32;
        for process in 0..processes {
            let recorded: Vec<(Operation, u64, u64)> = records
                .iter()
                .filter(|it| it.process == process && it.operation.carries_bytes() && it.size > 0)
                .map(|it| (it.operation, it.offset, it.size))
                .collect();
            let mut replayed: Vec<_> = outcome.requests.iter().collect();
            replayed.retain(|it| it.request.process.rank == process && it.request.size > 0);
            replayed.sort_by_key(|it| (it.request.issued, it.completed));
            let replayed: Vec<(Operation, u64, u64)> = replayed
                .iter()
                .map(|it| (it.request.operation, it.request.offset, it.request.size))
                .collect();
            assert_eq!(replayed, recorded);
        }
    }
}

#[test]
fn timed_requests_come_at_their_recorded_times() {
    let slow = [
        "workload.0.replay=timed",
        "workload.0.scale=1000",
        "workload.0.shift=5 s",
    ];
    let outcome = run(&scenario("tar.strace"), &slow);
    let file = in_repository("tests/data/traces/tar.strace");
    let mut reader = headrace_trace::open(&file, None).unwrap();
    let mut records = Vec::new();
    while reader.next_batch(1000, &mut records).unwrap() > 0 {}
    // Stretched a thousandfold, no request is late.
    assert!(outcome.report.latency_from_intended.is_empty());
    let times = records
        .iter()
        .filter(|it| it.operation == Operation::Write && it.size > 0);
    let times: Vec<f64> = times.map(|it| it.time_ns as f64 * 1e-6 + 5.0).collect();
    let mut issued: Vec<f64> = outcome
        .requests
        .iter()
        .filter(|it| it.request.operation == Operation::Write)
        .map(|it| it.request.issued.as_seconds())
        .collect();
    issued.sort_by(f64::total_cmp);
    assert_eq!(issued.len(), times.len());
    for (issued, time) in issued.iter().zip(times) {
        assert!((issued - time).abs() < 1e-9, "{issued} instead of {time}");
    }
}

/// Squeezed a thousandfold, requests wait for those before them: latency from
/// the intended start says so, that from the actual start does not.
#[test]
fn a_timed_replay_tells_that_it_is_late() {
    for trace in TRACES {
        let outcome = run(
            &scenario(trace),
            &["workload.0.replay=timed", "workload.0.scale=0.001"],
        );
        let report = &outcome.report;
        let (actual, intended) = (&report.latency["all"], &report.latency_from_intended["all"]);
        assert_eq!(actual.count, intended.count);
        assert!(intended.mean > 10.0 * actual.mean);
        assert!(intended.max > actual.max);
        // To a part in a thousand, which is what the histogram resolves.
        let mean = |of: fn(&headrace_storage::measure::Completed) -> f64| {
            outcome.requests.iter().map(of).sum::<f64>() / outcome.requests.len() as f64
        };
        let exact = mean(|it| it.completed.since(it.request.intended).as_seconds());
        crate::running::close(intended.mean, exact, 1e-3);
        let exact = mean(|it| it.completed.since(it.request.issued).as_seconds());
        crate::running::close(actual.mean, exact, 1e-3);
    }
}

#[test]
fn a_closed_replay_starts_after_its_shift() {
    let at = |shift: &str| {
        let outcome = run(&scenario("tar.strace"), &[shift]);
        let first = outcome
            .requests
            .iter()
            .map(|it| it.request.issued)
            .min()
            .unwrap();
        (first.as_seconds(), outcome.report.simulated_seconds)
    };
    let (first, end) = at("workload.0.shift=0 s");
    let (shifted, later) = at("workload.0.shift=5 s");
    assert_eq!((first, shifted), (0.0, 5.0));
    assert!((later - end - 5.0).abs() < 1e-9);
}

#[test]
fn a_trace_is_replayed_by_its_group_beside_others() {
    let text = scenario("build.strace")
        + "group = \"second\"\n[[workload]]\nblock = \"1 MB\"\nphases = [\"write\"]\ngroup = \"first\"\n";
    let outcome = run(&text, &[]);
    let groups = &outcome.report.groups;
    assert_eq!(
        groups["first"]
            .operations
            .keys()
            .copied()
            .collect::<Vec<_>>(),
        ["write"]
    );
    assert_eq!(groups["first"].operations["write"].bytes, 1_000_000);
    let summary = summary("build.strace");
    assert_eq!(
        groups["second"].operations["read"].bytes,
        summary.bytes_read
    );
    assert_eq!(
        groups["second"].operations["write"].bytes,
        summary.bytes_written
    );
}

#[test]
fn the_shipped_scenario_replays_its_trace() {
    let summary = summary("build.strace");
    for sets in [
        &[][..],
        &["clients.count=1"],
        &["clients.count=64"],
        &["workload.0.replay=timed"],
    ] {
        let outcome = run_scenario(&shipped("replayed-trace.toml", sets));
        assert_eq!(bytes(&outcome, "read"), summary.bytes_read);
        assert_eq!(bytes(&outcome, "write"), summary.bytes_written);
    }
}

/// A log that is written and synced twice, on a disk of 8 ms a request.
fn log(system: &str) -> String {
    let file = in_repository("tests/data/traces/log.csv");
    format!(
        r#"
        {system}
        [[workload]]
        kind = "trace"
        file = {file:?}
        "#
    )
}

const DISK: &str = r#"
    kind = "local"
    system = "ext4"
    [clients]
    count = 1
    [machine.device]
    kind = "simple"
    read_rate = "100 MB/s"
    write_rate = "100 MB/s"
    time_per_request = "8 ms"
"#;

/// The same calls by `ior` take the same requests to the device, and the same time.
#[test]
fn a_replayed_log_reaches_the_device_when_it_is_synced() {
    let replayed = run(&log(DISK), &[]);
    let report = &replayed.report;
    assert_eq!(report.operations["sync"].count, 2);
    assert_eq!(report.operations["close"].count, 1);
    let ior = format!(
        r#"
        {DISK}
        [[workload]]
        kind = "ior"
        block = "8 KiB"
        transfer = "4 KiB"
        phases = ["write"]
        sync_per_write = true
        "#
    );
    let same = run(&ior, &[]);
    let device = |outcome: &Outcome| {
        let stations = &outcome.report.stations;
        let device = stations.iter().find(|it| it.station.ends_with("device"));
        device.expect("a device").visits
    };
    assert_eq!((device(&replayed), device(&same)), (8, 8));
    crate::running::close(report.simulated_seconds, 0.0645, 5e-3);
    crate::running::close(
        report.simulated_seconds,
        same.report.simulated_seconds,
        5e-3,
    );
}

/// A client of NFS brings its written data to the server when it syncs and when it closes.
#[test]
fn a_replayed_log_is_synced_over_the_network() {
    let text = log(r#"
        system = "nfs"
        [clients]
        count = 1
        [servers]
        count = 1
        device = { read_rate = "100 MB/s", write_rate = "100 MB/s", time_per_request = "8 ms" }
        [network]
        bandwidth = "1 Gbit/s"
        latency = "0.1 ms"
        "#);
    let report = run(&text, &[]).report;
    assert_eq!(report.operations["sync"].count, 2);
    assert_eq!(report.operations["close"].count, 1);
    assert!(
        report.latency["sync"].mean > 8e-3,
        "{:?}",
        report.latency["sync"]
    );
}

#[test]
fn what_no_process_asks_for_is_counted_and_named() {
    let mut reader =
        headrace_trace::open(&in_repository("tests/data/traces/build.strace"), None).unwrap();
    reader.keep_messages();
    let summary = Summary::of(&mut *reader).unwrap();
    let report = run(&scenario("build.strace"), &[]).report;
    let left = |by: &str, what: &str| {
        let found = report.left_out.iter();
        let found = found.filter(|it| it.by == by && it.what == what);
        found.map(|it| it.count).sum::<u64>()
    };
    let seeks = summary.operations.iter();
    let seeks = seeks.filter(|it| it.operation == Operation::Seek);
    assert_eq!(
        left("replay", "seek"),
        seeks.map(|it| it.count).sum::<u64>()
    );
    assert!(left("replay", "seek") > 0);
    assert_eq!(left("trace reader", "mmap"), reader.skipped().of("mmap"));
    assert_eq!(left("trace reader", "pipe"), reader.skipped().of("pipe"));
    assert_eq!(
        left("model", "close"),
        report.operations["close"].count,
        "a client without a cache sends no message"
    );
    // All recorded requests are issued or counted.
    let asked: u64 = report.operations.values().map(|it| it.count).sum();
    let replay = report.left_out.iter().filter(|it| it.by == "replay");
    let messages = summary.operations.iter();
    let messages = messages.filter(|entry| entry.operation.group() == Group::Process);
    let messages: u64 = messages.map(|entry| entry.count).sum();
    assert!(messages > 0);
    assert_eq!(
        asked + messages + replay.map(|it| it.count).sum::<u64>(),
        summary.records
    );
}

/// A local machine whose device writes a megabyte in 20 ms and reads one in 10 ms.
const MACHINE: &str = r#"
    kind = "local"
    [clients]
    count = 1
    [machine.memory]
    size = "1 GiB"
    [machine.device]
    read_rate = "100 MB/s"
    write_rate = "50 MB/s"
"#;

/// Clients with page caches, and servers that have a file system each.
const CACHED: &str = r#"
    [clients]
    count = 2
    [clients.machine.memory]
    size = "1 GiB"
    [servers]
    count = 2
    [servers.machine.memory]
    size = "1 GiB"
    [servers.machine.device]
    read_rate = "100 MB/s"
    write_rate = "50 MB/s"
    [network]
    bandwidth = "1 GB/s"
    latency = "10 us"
    [layout]
    unit = "64 KiB"
"#;

/// Clients without a cache.
const UNCACHED: &str = r#"
    [clients]
    count = 2
    [servers]
    count = 2
    [servers.machine.memory]
    size = "1 GiB"
    [servers.machine.device]
    read_rate = "100 MB/s"
    write_rate = "50 MB/s"
    [network]
    bandwidth = "1 GB/s"
    latency = "10 us"
    [layout]
    unit = "64 KiB"
"#;

/// Servers with a write-back cache and no file system.
const SIMPLE: &str = r#"
    [clients]
    count = 2
    [servers]
    count = 2
    device = { read_rate = "100 MB/s", write_rate = "50 MB/s" }
    memory = { cache = "64 MiB", dirty_limit = "32 MiB" }
    [network]
    bandwidth = "1 GB/s"
    latency = "10 us"
    [layout]
    unit = "64 KiB"
"#;

const COLUMNS: &str = "time,process,operation,file,offset,size,duration,flags,other\n";

fn trace_file(lines: &str, suffix: &str) -> tempfile::NamedTempFile {
    let file = tempfile::Builder::new().suffix(suffix).tempfile().unwrap();
    std::fs::write(file.path(), lines).unwrap();
    file
}

/// Replays lines of a trace in CSV.
fn replayed(system: &str, lines: &str, sets: &[&str]) -> Outcome {
    let file = trace_file(&format!("{COLUMNS}{lines}"), ".csv");
    let path = file.path();
    let workload = format!("[[workload]]\nkind = \"trace\"\nfile = {path:?}\n");
    run(&format!("{system}\n{workload}"), sets)
}

/// A file of 10 MB in writes of 1 MB by a process that opened it so, and its close.
fn ten_writes(flags: &str) -> String {
    let mut lines = format!("0,1,create,/f,0,0,0,{flags},\n");
    for at in 0..10 {
        lines += &format!("{at},1,write,/f,{},1000000,0,,\n", at * 1_000_000);
    }
    lines + "11,1,close,/f,0,0,0,,\n"
}

/// Ten writes of 1 MB at 50 MB/s: each waits 20 ms for the device, which has all of them.
#[test]
fn writes_to_a_file_opened_with_o_sync_wait_for_the_device() {
    for flags in ["write|synchronous", "write|synchronous|direct"] {
        let report = replayed(MACHINE, &ten_writes(flags), &[]).report;
        crate::running::close(report.simulated_seconds, 0.2, 0.02);
        crate::running::close(report.latency["write"].mean, 0.02, 0.02);
        assert!(report.left_out.is_empty(), "{:?}", report.left_out);
        assert_eq!(report.replays[0].flags.synchronous, 10);
    }
    for (system, least) in [(CACHED, 0.1), (UNCACHED, 0.1)] {
        let report = replayed(system, &ten_writes("write|synchronous"), &[]).report;
        // The stripes of a file lie on both servers.
        assert!(
            report.simulated_seconds > least,
            "{}",
            report.simulated_seconds
        );
        let plain = replayed(system, &ten_writes("write"), &[]).report;
        assert!(plain.simulated_seconds < 0.5 * report.simulated_seconds);
    }
}

/// The same as a workload whose files are all opened so.
#[test]
fn open_flags_of_records_are_those_of_the_scenario() {
    let lines = ten_writes("write") + "12,1,open,/f,0,0,0,read,\n13,1,read,/f,0,4000000,0,read,\n";
    for (flag, set) in [("direct", "direct"), ("synchronous", "synchronous")] {
        let with = lines.replace(",read,\n", &format!(",read|{flag},\n"));
        let with = with.replace(",write,\n", &format!(",write|{flag},\n"));
        let recorded = replayed(MACHINE, &with, &[]).report;
        let given = replayed(MACHINE, &lines, &[&format!("workload.0.io.{set}=true")]).report;
        assert_eq!(
            recorded.simulated_seconds, given.simulated_seconds,
            "{flag}"
        );
        assert_eq!(
            recorded.latency["write"].mean, given.latency["write"].mean,
            "{flag}"
        );
        let ignored = replayed(MACHINE, &with, &["workload.0.flags=ignored"]).report;
        let plain = replayed(MACHINE, &lines, &[]).report;
        assert_eq!(ignored.simulated_seconds, plain.simulated_seconds);
        let left: u64 = ignored.left_out.iter().map(|it| it.count).sum();
        assert_eq!(left, if flag == "direct" { 11 } else { 10 });
    }
}

/// `fdatasync` and O_DSYNC commit the journal for a new size, and not for times (fs/ext4/fsync.c).
/// On XFS it commits changed attributes too (fs/xfs/xfs_file.c). A page takes 104 us and a flush
/// 100 us; a commit has a flush and one or two requests more.
#[test]
fn a_sync_of_the_data_commits_no_times() {
    const DEVICE: [&str; 3] = [
        "machine.device.read_rate=1 GB/s",
        "machine.device.write_rate=1 GB/s",
        "machine.device.time_per_request=100 us",
    ];
    let last = |system: &str, call: &str, lines: &str| {
        let before = "0,1,create,/f,0,0,0,write,\n1,1,write,/f,0,4096,0,,\n2,1,sync,/f,0,0,0,,\n";
        let system = format!("system={system}");
        let sets = [&DEVICE[..], &[&system, "workload.0.replay=timed"]].concat();
        let outcome = replayed(MACHINE, &format!("{before}{lines}"), &sets);
        assert!(outcome.report.left_out.is_empty());
        let asked = outcome.requests.iter().rev();
        let mut asked = asked.filter(|it| it.request.operation.name() == call);
        let request = asked.next().expect("it was asked");
        request.completed.since(request.request.issued).as_seconds()
    };
    for system in ["ext4", "xfs"] {
        for (change, needs) in [
            ("write,/f,0,4096", false),
            ("write,/f,4096,4096", true),
            ("setattr,/f,0,0", system == "xfs"),
        ] {
            let data = if change.starts_with("write") {
                104e-6
            } else {
                0.0
            };
            let sync = |flags| {
                let lines = format!("3,1,{change},0,,\n3.1,1,sync,/f,0,0,0,{flags},\n");
                last(system, "sync", &lines)
            };
            let (whole, of_data) = (sync(""), sync("data-only"));
            assert!(whole > data + 200e-6, "{system}, {change}: {whole}");
            if needs {
                assert_eq!(of_data, whole, "{system}, {change}");
            } else {
                crate::running::close(of_data, data + 100e-6, 0.01);
            }
            if data > 0.0 {
                let write = |flags| {
                    let lines = format!("3,1,open,/f,0,0,0,{flags},\n4,1,{change},0,,\n");
                    last(system, "write", &lines)
                };
                crate::running::close(write("write|synchronous"), whole, 0.02);
                crate::running::close(write("write|synchronous|data-only"), of_data, 0.02);
            }
        }
    }
}

/// A parallel system's sync of the data alone is counted: it takes what that of all does.
#[test]
fn a_sync_of_the_data_is_counted_where_servers_sync() {
    let lines = "0,1,create,/f,0,0,0,write,\n1,1,write,/f,0,4096,0,,\n\
        2,1,sync,/f,0,0,0,data-only,\n";
    let left = replayed(CACHED, lines, &[]).report.left_out;
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(
        (&*left[0].what, &*left[0].reason, left[0].count),
        ("sync", "fdatasync takes what fsync does", 1)
    );
}

/// A direct read of cached data comes from the device: 4 MB at 100 MB/s.
#[test]
fn reads_of_a_file_opened_with_o_direct_bypass_the_cache() {
    let lines = "0,1,create,/f,0,0,0,write,\n\
        1,1,write,/f,0,4000000,0,,\n\
        2,1,sync,/f,0,0,0,,\n\
        3,1,open,/f,0,0,0,read|direct,\n\
        4,1,read,/f,0,4000000,0,,\n\
        5,2,open,/f,0,0,0,read,\n\
        6,2,read,/f,0,1000000,0,,\n";
    let outcome = replayed(MACHINE, lines, &["workload.0.replay=timed"]);
    let reads = outcome.requests.iter();
    let reads = reads.filter(|it| it.request.operation == Operation::Read);
    let times: Vec<f64> = reads
        .map(|it| it.completed.since(it.request.issued).as_seconds())
        .collect();
    assert_eq!(times.len(), 2);
    crate::running::close(times[0], 0.04, 1e-3);
    assert!(
        times[1] < 1e-3,
        "another process reads from the cache: {}",
        times[1]
    );
}

/// A block trace has requests below the page cache; those with FUA wait for the medium.
#[test]
fn requests_of_a_block_trace_are_direct() {
    let lines = "128166372003061629,usr,0,Write,0,1000000,1\n\
        128166372013061629,usr,0,Read,0,1000000,1\n";
    let file = trace_file(lines, ".csv");
    let path = file.path();
    let text = format!("{MACHINE}\n[[workload]]\nkind = \"trace\"\nfile = {path:?}\n");
    let report = run(&text, &[]).report;
    crate::running::close(report.simulated_seconds, 0.03, 1e-3);
    let flags = report.replays[0].flags;
    assert_eq!((flags.requests, flags.direct, flags.synchronous), (2, 2, 0));
    let cached = run(&text, &["workload.0.flags=ignored"]).report;
    assert!(cached.simulated_seconds < 1e-3);
    assert_eq!(cached.left_out.len(), 2, "{:?}", cached.left_out);
}

#[test]
fn synchronous_writes_that_a_model_answers_early_are_left_out() {
    let report = replayed(SIMPLE, &ten_writes("write|synchronous"), &[]).report;
    let left: Vec<_> = report
        .left_out
        .iter()
        .filter(|it| it.what == "write")
        .collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(
        (left[0].by.as_str(), left[0].count, left[0].bytes),
        ("model", 10, 0)
    );
    // Without write-back each write is on the device.
    let through = replayed(
        SIMPLE,
        &ten_writes("write|synchronous"),
        &["servers.memory.dirty_limit=0 B"],
    );
    assert!(through.report.left_out.iter().all(|it| it.what != "write"));
    assert_eq!(through.report.replays[0].flags.synchronous, 10);
}

/// A file keeps its cached bytes under its new name.
#[test]
fn a_renamed_file_is_the_same_file() {
    let lines = "0,1,create,/a,0,0,0,write,\n\
        1,1,write,/a,0,4000000,0,,\n\
        2,1,close,/a,0,0,0,,\n\
        3,1,rename,/a,0,0,0,,/b\n\
        4,1,open,/b,0,0,0,read,\n\
        5,1,read,/b,0,4000000,0,,\n";
    let report = replayed(MACHINE, lines, &[]).report;
    assert!(
        report.latency["read"].mean < 1e-3,
        "{:?}",
        report.latency["read"]
    );
}

/// Records of any kind, by up to three processes on up to three files.
fn any_lines() -> impl Strategy<Value = Vec<String>> {
    let flags = [
        "",
        "direct",
        "synchronous",
        "direct|synchronous",
        "failed",
        "truncate",
        "data-only",
    ];
    let line = (
        0..Operation::ALL.len(),
        0_u32..3,
        0_u32..3,
        prop::sample::select(flags.to_vec()),
        0_u64..40,
        prop::sample::select(vec![0_u64, 1, 4096, 5000, 65_536, 1_000_000]),
    );
    let lines = prop::collection::vec(line, 1..60);
    lines.prop_map(|lines| {
        let lines = lines.into_iter().enumerate();
        lines
            .map(|(time, (operation, process, file, flags, page, size))| {
                let operation = Operation::ALL[operation];
                let other = match operation {
                    Operation::Rename | Operation::Link => format!("/f{}", (file + 1) % 3),
                    _ => String::new(),
                };
                let (name, offset) = (operation.name(), page * 4096);
                format!("{time},{process},{name},/f{file},{offset},{size},0.1,{flags},{other}\n")
            })
            .collect()
    })
}

/// A truncation inside a file's cached data is an access to no bytes: no page is read for it, and
/// an fsync after it ends.
#[test]
fn an_access_to_no_bytes_leaves_a_servers_cache_whole() {
    let write = "0,1,write,/f,0,1000000,0,,\n";
    let sync = "2,1,sync,/f,0,0,0,,\n";
    for operation in ["truncate", "allocate"] {
        for offset in [28_672, 30_000] {
            let lines = format!("{write}1,1,{operation},/f,{offset},1,0,,\n{sync}");
            let report = replayed(SIMPLE, &lines, &[]).report;
            assert_eq!(report.operations["sync"].count, 1);
            let mut caches = report.caches.iter();
            let server = caches.find(|it| it.cache.ends_with("server/page cache"));
            let asked = server.map(|it| (it.hits, it.misses));
            assert_eq!(asked, Some((0, 0)), "{operation} at {offset}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Every byte of a trace is moved, or counted with its reason; so is every record.
    #[test]
    fn bytes_of_a_trace_are_replayed_or_left_out(
        lines in any_lines(),
        system in prop::sample::select(vec![MACHINE, CACHED, UNCACHED, SIMPLE]),
        replay in prop::sample::select(vec!["closed", "timed", "paced"]),
        flags in prop::sample::select(vec!["kept", "ignored"]),
    ) {
        let text: String = lines.concat();
        let file = trace_file(&format!("{COLUMNS}{text}"), ".csv");
        let mut reader = headrace_trace::open(file.path(), None).unwrap();
        let mut records = Vec::new();
        while reader.next_batch(100, &mut records).unwrap() > 0 {}
        let is_asked = |it: &headrace_trace::Record| {
            let groups = [Group::Local, Group::Process];
            let group = it.operation.group();
            let is_failed = group == Group::Data && it.failed();
            let is_empty = it.operation.carries_bytes() && it.size == 0;
            !groups.contains(&group) && !is_failed && !is_empty
        };
        prop_assume!(records.iter().any(is_asked));
        let sets = [&*format!("workload.0.replay={replay}"), &*format!("workload.0.flags={flags}")];
        let report = replayed(system, &text, &sets).report;
        let moved: u64 = report.operations.values().map(|it| it.bytes).sum();
        let left: u64 = report.left_out.iter().map(|it| it.bytes).sum();
        let carried = records.iter().filter(|it| it.operation.carries_bytes());
        prop_assert_eq!(moved + left, carried.map(|it| it.size).sum::<u64>());
        let asked: u64 = report.operations.values().map(|it| it.count).sum();
        let left_out = report.left_out.iter().filter(|it| it.by == "replay");
        let is_message = |record: &&headrace_trace::Record| {
            record.operation.group() == Group::Process && replay != "timed"
        };
        let messages = records.iter().filter(is_message).count() as u64;
        let counted = asked + left_out.map(|it| it.count).sum::<u64>() + messages;
        prop_assert_eq!(counted, records.len() as u64);
    }
}

/// A parent writes, starts a child and waits for it; then it computes. The run ends with its exit.
#[test]
fn a_paced_replay_ends_with_its_processes() {
    let trace = "\
        1 100.000000 openat(AT_FDCWD</d>, \"f\", O_WRONLY|O_CREAT, 0666) = 3</d/f> <0.000001>\n\
        1 100.000100 write(3</d/f>, \"\"..., 10) = 10 <0.000001>\n\
        1 100.000200 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000001>\n\
        1 100.300000 wait4(-1,  <unfinished ...>\n\
        2 100.000300 getpid() = 2 <0.000001>\n\
        2 100.500300 clock_nanosleep(CLOCK_REALTIME, 0, {}, NULL) = 0 <0.250000>\n\
        2 100.750300 +++ exited with 0 +++\n\
        1 100.750400 <... wait4 resumed>[{}], 0, NULL) = 2 <0.450400>\n\
        1 101.750400 +++ exited with 0 +++\n";
    let file = trace_file(trace, ".strace");
    let text = format!(
        "{MACHINE}\n[[workload]]\nkind = \"trace\"\nfile = \"{}\"\nreplay = \"paced\"\n\
         gaps = \"compute\"\n",
        file.path().display()
    );
    // By hand, on one core: 0.3 s of the parent to its wait and 0.5 s of the child. The child's
    // pause of 0.25 s and the parent's second follow.
    let report = run(&text, &[]).report;
    crate::running::close(report.simulated_seconds, 2.05, 2e-3);
    assert_eq!(report.operations["write"].count, 1);
}

/// Both processes receive first what the other sends last: one goes on, which is counted.
#[test]
fn messages_that_cross_are_counted() {
    let text = "0,a,receive,x,0,1,0.1,,\n1,a,send,y,0,1,0,,\n0,b,receive,y,0,1,0.1,,\n\
                1,b,send,x,0,1,0,,\n2,b,close,/f0,0,0,0,,\n";
    let report = replayed(MACHINE, text, &[]).report;
    let mut left_out = report
        .left_out
        .iter()
        .filter(|entry| entry.what == "receive");
    assert_eq!(left_out.next().map(|entry| entry.count), Some(1));
}
