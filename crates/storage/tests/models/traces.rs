//! Recorded traces of real programs, replayed.

use headrace_storage::Outcome;
use headrace_trace::{Operation, Summary};

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
    // Stretched a thousandfold, nobody is late.
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

/// A client of NFS brings what it has written to the server when it syncs and when it closes.
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
    // All that was recorded is asked for or counted.
    let asked: u64 = report.operations.values().map(|it| it.count).sum();
    let replay = report.left_out.iter().filter(|it| it.by == "replay");
    assert_eq!(
        asked + replay.map(|it| it.count).sum::<u64>(),
        summary.records
    );
}
