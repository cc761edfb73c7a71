//! Requests of processes and their times.

use std::collections::{BTreeMap, BTreeSet};

use headrace_storage::Outcome;
use headrace_storage::measure::Completed;
use headrace_trace::Operation;

use crate::running::{MICROSECOND, SMALLEST, close, last, run};

/// 4 clients × 2 processes, 3 files of 2 segments of 4 transfers each.
const PATTERN: [&str; 7] = [
    "clients.count=4",
    "clients.processes=2",
    "servers.count=2",
    "workload.0.files=3",
    "workload.0.segments=2",
    "workload.0.block=40 kB",
    "workload.0.transfer=10 kB",
];

fn pattern(sets: &[&str]) -> Outcome {
    let sets: Vec<&str> = PATTERN.iter().chain(sets).copied().collect();
    run(SMALLEST, &sets)
}

fn of_rank(outcome: &Outcome, rank: u32) -> Vec<Completed> {
    let mut own: Vec<Completed> = outcome.requests.to_vec();
    own.retain(|it| it.request.process.rank == rank && it.request.process.workload == 0);
    own.sort_by_key(|it| it.request.issued);
    own
}

#[test]
fn files_of_its_own_or_a_part_of_shared_ones() {
    for (access, files) in [("file-per-process", 24), ("shared", 3)] {
        for order in ["sequential", "random"] {
            let access = format!("workload.0.access={access}");
            let order_set = format!("workload.0.order={order}");
            let outcome = pattern(&[&access, &order_set]);
            let requests = || outcome.requests.iter().map(|it| it.request);
            let places: BTreeSet<(u32, u64)> = requests().map(|it| (it.file, it.offset)).collect();
            assert_eq!(outcome.requests.len(), 8 * 3 * 2 * 4);
            assert_eq!(places.len(), outcome.requests.len());
            let mut sizes: BTreeMap<u32, u64> = BTreeMap::new();
            for it in requests() {
                *sizes.entry(it.file).or_default() += it.size;
            }
            assert_eq!(sizes.len(), files);
            let size = 8 * 3 * 80_000 / files as u64;
            assert!(sizes.values().all(|&it| it == size));
            assert!(requests().all(|it| it.offset + it.size <= size));
            for rank in 0..8 {
                let own = of_rank(&outcome, rank);
                let places: Vec<(u32, u64)> = own
                    .iter()
                    .map(|it| (it.request.file, it.request.offset))
                    .collect();
                assert_eq!(places.is_sorted(), order == "sequential");
                // Two processes a client, the next after all clients had one.
                assert!(own.iter().all(|it| it.request.process.client == rank % 4));
                // One request at a time.
                for pair in own.windows(2) {
                    assert!(pair[0].completed <= pair[1].request.issued);
                }
            }
        }
    }
}

#[test]
fn nobody_reads_before_all_have_written() {
    let phases = "workload.0.phases=[\"write\", \"read\"]";
    // Clients that think by chance come at different times.
    let sets = [
        phases,
        "workload.0.repeat=2",
        "workload.0.think=5 ms",
        "workload.0.think_distribution=exponential",
    ];
    let outcome = pattern(&sets);
    for phase in 0..4_u32 {
        let of = |phase: u32| {
            outcome
                .requests
                .iter()
                .filter(move |it| it.request.phase == phase)
        };
        assert_eq!(of(phase).count(), 8 * 3 * 2 * 4);
        let operation = [Operation::Write, Operation::Read][phase as usize % 2];
        assert!(of(phase).all(|it| it.request.operation == operation));
        let started = of(phase + 1).map(|it| it.request.issued).min();
        let ended = of(phase).map(|it| it.completed).max();
        assert!(started.is_none_or(|started| Some(started) > ended));
    }
}

#[test]
fn think_times_pass_between_requests() {
    let think = 5_000 * MICROSECOND;
    let outcome = pattern(&["workload.0.think=5 ms"]);
    for rank in 0..8 {
        let own = of_rank(&outcome, rank);
        assert_eq!(own[0].request.issued.0, 0);
        for pair in own.windows(2) {
            assert_eq!(pair[1].request.issued.since(pair[0].completed).0, think);
        }
    }
}

#[test]
fn exponential_think_times_have_the_mean() {
    let sets = [
        "workload.0.think=5 ms",
        "workload.0.think_distribution=exponential",
        "workload.0.segments=200",
    ];
    let outcome = pattern(&sets);
    let mut thinks = Vec::new();
    for rank in 0..8 {
        for pair in of_rank(&outcome, rank).windows(2) {
            thinks.push(pair[1].request.issued.since(pair[0].completed).as_seconds());
        }
    }
    let count = thinks.len() as f64;
    let mean = thinks.iter().sum::<f64>() / count;
    // Mean and deviation are equal; four standard errors.
    close(mean, 5e-3, 4.0 / count.sqrt());
    let squares: f64 = thinks.iter().map(|it| (it - mean).powi(2)).sum();
    close((squares / count).sqrt(), 5e-3, 0.06);
}

/// Groups with workloads of their own, side by side.
const TWO: &str = r#"
    [clients]
    count = 6
    groups = { writers = 2, readers = 1 }
    [servers]
    count = 2
    device = { read_rate = "100 MB/s", write_rate = "50 MB/s" }
    [network]
    bandwidth = "1 GB/s"
    latency = "10 us"
    [layout]
    unit = "64 KiB"
    [[workload]]
    group = "writers"
    block = "1 MB"
    files = 5
    phases = ["write"]
    [[workload]]
    group = "readers"
    block = "500 kB"
    transfer = "100 kB"
    phases = ["read", "read"]
    [[workload]]
    block = "7 B"
    phases = ["write"]
"#;

#[test]
fn workloads_run_side_by_side_on_their_groups() {
    let outcome = run(TWO, &[]);
    let groups = &outcome.report.groups;
    assert_eq!(groups["writers"].clients, 4);
    assert_eq!(groups["writers"].operations["write"].count, 4 * 5 + 4);
    assert_eq!(groups["writers"].operations["write"].bytes, 20_000_000 + 28);
    assert!(!groups["writers"].operations.contains_key("read"));
    assert_eq!(groups["readers"].clients, 2);
    assert_eq!(groups["readers"].operations["read"].count, 2 * 5 * 2);
    assert_eq!(groups["readers"].operations["read"].bytes, 2_000_000);
    assert_eq!(groups["readers"].operations["write"].count, 2);
    assert_eq!(outcome.report.operations["write"].count, 4 * 5 + 4 + 2);
    // All began at once, and no two workloads share a file.
    let mut files: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for it in &outcome.requests {
        let workload = it.request.process.workload;
        files.entry(workload).or_default().insert(it.request.file);
        let clients = [0..4, 4..6, 0..6][workload as usize].clone();
        assert!(clients.contains(&it.request.process.client));
    }
    let counts: Vec<usize> = files.values().map(BTreeSet::len).collect();
    assert_eq!(counts, [20, 2, 6]);
    assert_eq!(files.values().flatten().collect::<BTreeSet<_>>().len(), 28);
    for workload in 0..3 {
        let own = outcome
            .requests
            .iter()
            .filter(|it| it.request.process.workload == workload);
        assert_eq!(own.map(|it| it.request.issued.0).min(), Some(0));
    }
}

const ENDLESS: [&str; 3] = [
    "workload.0.block=1 GB",
    "workload.0.transfer=100 kB",
    "workload.0.repeat=forever",
];

fn endless(sets: &[&str]) -> Outcome {
    let sets: Vec<&str> = ENDLESS.iter().chain(sets).copied().collect();
    run(SMALLEST, &sets)
}

#[test]
fn runs_stop_when_they_are_told_to() {
    let requests = endless(&["run.stop.requests=37", "clients.count=5"]);
    assert_eq!(requests.requests.len(), 37);
    assert_eq!(requests.report.operations["read"].count, 37);
    let time = endless(&["run.stop.time=250 ms"]);
    assert_eq!(time.report.simulated_seconds, 0.25);
    assert!(last(&time).0 <= 250_000 * MICROSECOND);
    let first_of_both = endless(&["run.stop.time=250 ms", "run.stop.requests=10"]);
    assert_eq!(first_of_both.requests.len(), 10);
    let one = endless(&["run.stop.requests=1"]);
    assert_eq!(one.requests.len(), 1);
}

/// Random think times and waiting: the mean is known to 1 % long before the end.
#[test]
fn runs_stop_when_the_mean_is_known() {
    let sets = [
        "clients.count=3",
        "workload.0.think=1 ms",
        "workload.0.think_distribution=exponential",
        "run.stop.precision=0.02",
    ];
    let outcome = endless(&sets);
    let got = &outcome.report.latency["read"];
    let long = endless(&[sets[0], sets[1], sets[2], "run.stop.requests=400000"]);
    assert!(got.count < 400_000, "{} requests", got.count);
    close(got.mean, long.report.latency["read"].mean, 0.03);
}

#[test]
fn the_warm_up_does_not_count() {
    // The first of the requests asks where the data is; 1.12 ms each otherwise.
    let sets = ["run.stop.time=1 s", "network.topology=pairs"];
    let all = endless(&sets);
    let warm = endless(&[sets[0], sets[1], "run.warm_up=0.5 s"]);
    let count = |outcome: &Outcome| outcome.report.operations["read"].count;
    assert_eq!(count(&all), 892);
    assert!(count(&warm).abs_diff(446) <= 1);
    assert_eq!(warm.report.simulated_seconds, 1.0);
    assert_eq!(warm.requests.len() as u64, count(&warm));
    assert!(
        warm.requests
            .iter()
            .all(|it| it.completed.as_seconds() >= 0.5)
    );
    close(warm.report.throughput["read"], 100e3 / 1.12e-3, 5e-3);
    close(warm.report.latency["read"].mean, 1.12e-3, 1e-3);
    let by_requests = endless(&["run.warm_up=0.5 s", "run.stop.requests=100"]);
    assert_eq!(by_requests.requests.len(), 100);
    assert!(
        by_requests
            .requests
            .iter()
            .all(|it| it.completed.as_seconds() >= 0.5)
    );
}

/// A transfer takes 20 ms to write: after 95 ms the fifth is the last that has begun. All of it,
/// and no more, is read afterwards.
#[test]
fn a_stonewall_ends_the_writing_and_limits_the_reading() {
    let sets = [
        "workload.0.block=100 MB",
        "workload.0.transfer=1 MB",
        "layout.unit=1 MB",
        "workload.0.phases=[\"write\", \"read\"]",
        "workload.0.stonewall=95 ms",
    ];
    let report = run(SMALLEST, &sets).report;
    for operation in ["write", "read"] {
        assert_eq!(report.operations[operation].bytes, 5_000_000, "{operation}");
    }
    assert_eq!(report.warnings, []);
    let early: Vec<&str> = sets[1..4]
        .iter()
        .copied()
        .chain(["workload.0.block=3 MB", "workload.0.stonewall=95 ms"])
        .collect();
    let report = run(SMALLEST, &early).report;
    assert_eq!(report.operations["write"].bytes, 3_000_000);
    let conditions: Vec<&str> = report.warnings.iter().map(|it| it.condition).collect();
    assert_eq!(conditions, ["stonewall-not-reached"]);
}

/// A writes 10 and 2 MB at 50 MB/s, and reads as much; B, of another group's client, comes between.
#[test]
fn phases_of_workloads_come_in_turn() {
    let text = SMALLEST.replace(
        "block = \"1 MB\"\n    phases = [\"read\"]",
        "block = \"10 MB\"\n    phases = [\"write\", \"read\"]\n    turns = [1, 4]\n    \
         [[workload]]\n    block = \"2 MB\"\n    phases = [\"write\", \"read\"]\n    \
         turns = [2, 3]",
    );
    let report = run(&text, &["clients.count=2"]).report;
    let seen: Vec<_> = report.phases.iter().collect();
    let names: Vec<_> = seen
        .iter()
        .map(|it| (it.workload, it.operation, it.bytes))
        .collect();
    assert_eq!(
        names,
        [
            (0, "write", 20_000_000),
            (0, "read", 20_000_000),
            (1, "write", 4_000_000),
            (1, "read", 4_000_000)
        ]
    );
    // In the order of turns, each begins when the last one has ended.
    for (before, after) in [(0, 2), (2, 3), (3, 1)] {
        assert!(seen[before].to_s <= seen[after].from_s, "{before} {after}");
        assert!(seen[after].from_s - seen[before].to_s < 1e-3);
    }
    // A workload without turns runs beside them.
    let without = text.replace("turns = [2, 3]", "");
    let report = run(&without, &["clients.count=2"]).report;
    assert_eq!(report.phases.len(), 2);
}

/// Ranks are on the clients in turn, so that with a shift of 1 every read is another client's data.
#[test]
fn io500_reads_what_another_client_wrote() {
    for preset in ["ior-easy", "ior-hard"] {
        let workload = format!("preset = \"{preset}\"");
        let text = SMALLEST.replace("block = \"1 MB\"\n    phases = [\"read\"]", &workload);
        let small = match preset {
            "ior-easy" => "workload.0.block=4 MiB",
            _ => "workload.0.segments=4",
        };
        let sets = ["clients.count=3", "clients.processes=2", small];
        let outcome = run(&text, &sets);
        let places = |operation| {
            let all = outcome.requests.iter().map(|it| &it.request);
            let own = all.filter(move |it| it.operation == operation);
            own.map(|it| ((it.file, it.offset), it.process.client))
                .collect::<BTreeMap<_, _>>()
        };
        let (written, read) = (places(Operation::Write), places(Operation::Read));
        assert_eq!(written.len(), read.len());
        for (place, client) in &written {
            assert_eq!((read[place] + 1) % 3, *client, "{preset}");
        }
    }
}

/// Four directories of two files of two chunks: four processes have a directory, two files and four
/// chunks each. Nothing but names takes time, 1 ms on one of four threads. One process does it all.
#[test]
fn a_tree_is_copied_in_a_quarter_of_the_time_by_four_processes() {
    let text = r#"
        [clients]
        count = 4
        [servers]
        count = 1
        device = { read_rate = "100 TB/s", write_rate = "100 TB/s" }
        [network]
        bandwidth = "100 TB/s"
        latency = "0 s"
        [layout]
        unit = "64 KiB"
        [metadata]
        time_per_operation = "1 ms"
        threads = 4
        [[workload]]
        kind = "tree-copy"
        trees = "common"
        directories = 4
        files = 2
        file_sizes = { "8 KiB" = 1 }
        chunk = "4 KiB"
        request = "4 KiB"
    "#;
    let (four, one) = (run(text, &[]), run(text, &["clients.count=1"]));
    let count = |outcome: &Outcome, operation: &str| outcome.report.operations[operation].count;
    for outcome in [&four, &one] {
        for (operation, expected) in [("mkdir", 4), ("create", 8), ("stat", 8), ("open", 16)] {
            assert_eq!(count(outcome, operation), expected, "{operation}");
        }
        assert_eq!(outcome.report.operations["write"].bytes, 8 << 13);
    }
    close(
        4.0 * four.report.simulated_seconds,
        one.report.simulated_seconds,
        1e-3,
    );
}
