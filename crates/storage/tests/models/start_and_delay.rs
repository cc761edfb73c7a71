//! Start, pauses and sizes that every kind of workload has.

use headrace_net::Time;
use headrace_storage::Outcome;

use crate::running::{close, in_repository, load, refusal, run};

/// Every transfer takes 10 ms, and the network next to nothing.
const SYSTEM: &str = r#"
    [clients]
    count = 1
    [servers]
    count = 1
    device = { read_rate = "1000 TB/s", write_rate = "1000 TB/s", time_per_request = "10 ms" }
    [metadata]
    time_per_operation = "1 ms"
    [network]
    bandwidth = "100 TB/s"
    latency = "0 s"
    [layout]
    unit = "1 GiB"
    [[workload]]
"#;

const IOR: &str = "block = \"640 KiB\"\ntransfer = \"64 KiB\"\n";

/// The kinds of workloads, each in few requests.
fn kinds() -> Vec<String> {
    let trace = in_repository("tests/data/traces/tar.strace");
    vec![
        IOR.to_owned(),
        "kind = \"mdtest\"\nfiles = 3\nbytes = \"1 KiB\"\n".to_owned(),
        "kind = \"pipeline\"\ninput = \"4 KiB\"\nrequest = \"1 KiB\"\n".to_owned(),
        "kind = \"tree-copy\"\ndirectories = 1\nfiles = 2\n".to_owned(),
        "kind = \"operation-mix\"\nweights = { read = 1 }\namount = 5\n".to_owned(),
        "kind = \"operation-mix\"\nweights = { read = 1 }\namount = 5\nrate = 10\n".to_owned(),
        format!("kind = \"trace\"\nfile = {trace:?}\n"),
        format!("kind = \"trace\"\nfile = {trace:?}\nreplay = \"timed\"\n"),
        format!("kind = \"trace\"\nfile = {trace:?}\nreplay = \"paced\"\n"),
    ]
}

fn intended(outcome: &Outcome) -> Vec<Time> {
    let mut times: Vec<Time> = outcome
        .requests
        .iter()
        .map(|it| it.request.intended)
        .collect();
    times.sort();
    times
}

#[test]
fn every_kind_starts_when_it_is_told_to() {
    for kind in kinds() {
        let text = format!("{SYSTEM}{kind}");
        let (plain, later) = (run(&text, &[]), run(&text, &["workload.0.start=2 s"]));
        let (first, shifted) = (intended(&plain)[0], intended(&later)[0]);
        close(shifted.as_seconds() - first.as_seconds(), 2.0, 1e-9);
        assert_eq!(plain.requests.len(), later.requests.len(), "{kind}");
        // All else comes as much later.
        let [plain, later] = [plain, later].map(|it| it.report.simulated_seconds);
        close(later - plain, 2.0, 1e-6);
    }
}

#[test]
fn every_closed_kind_pauses_between_its_requests() {
    for kind in kinds() {
        let text = format!("{SYSTEM}{kind}");
        if kind.contains("rate =") || kind.contains("\"timed\"") {
            let why = refusal(&text, &["workload.0.delay=1 s"]);
            assert!(why.contains("requests come at times of their own"), "{why}");
            continue;
        }
        let (plain, slower) = (run(&text, &[]), run(&text, &["workload.0.delay=1 s"]));
        let processes: std::collections::BTreeSet<_> = (plain.requests.iter())
            .map(|it| it.request.process.rank)
            .collect();
        if processes.len() > 1 {
            continue;
        }
        let pauses = (plain.requests.len() - 1) as f64;
        let [plain, slower] = [plain, slower].map(|it| it.report.simulated_seconds);
        close(slower - plain, pauses, 1e-6);
    }
}

/// The file's layout takes 1 ms; ten transfers of 10 ms with nine pauses between them, from 2 s on.
#[test]
fn start_and_pauses_add_up() {
    let text = format!("{SYSTEM}{IOR}start = \"2 s\"\ndelay = \"30 ms\"\n");
    let outcome = run(&text, &[]);
    close(
        outcome.report.simulated_seconds,
        2.001 + 10.0 * 0.01 + 9.0 * 0.03,
        1e-6,
    );
    let second = intended(&outcome)[1].as_seconds();
    close(second, 2.001 + 0.01 + 0.03, 1e-6);
}

#[test]
fn processes_start_one_after_the_other() {
    let text = format!("{SYSTEM}{IOR}");
    let sets = [
        "clients.processes=4",
        "workload.0.start=1 s",
        "workload.0.stagger=500 ms",
    ];
    let outcome = run(&text, &sets);
    for rank in 0..4 {
        let own = outcome
            .requests
            .iter()
            .filter(|it| it.request.process.rank == rank);
        let first = own.map(|it| it.request.issued).min().unwrap();
        close(first.as_seconds(), 1.0 + 0.5 * f64::from(rank), 1e-9);
    }
}

/// The mean of 999 exponential pauses is within four standard deviations, and the same seed
/// gives the same ones.
#[test]
fn pauses_can_be_exponential() {
    let text = format!("{SYSTEM}block = \"1000 KiB\"\ntransfer = \"1 KiB\"\n");
    let sets = [
        "workload.0.delay=1 s",
        "workload.0.delay_distribution=exponential",
    ];
    let seconds = || run(&text, &sets).report.simulated_seconds;
    let mean = (seconds() - 10.0) / 999.0;
    assert!((mean - 1.0).abs() < 4.0 / 999_f64.sqrt(), "{mean}");
    assert!((seconds() - seconds()).abs() < 1e-12);
}

#[test]
fn wrong_times_are_named() {
    let text = format!("{SYSTEM}{IOR}");
    let why = refusal(&text, &["workload.0.delay_distribution=exponential"]);
    assert!(
        why.contains("there is no pause: give workload.0.delay"),
        "{why}"
    );
    let mix = "kind = \"operation-mix\"\nweights = { read = 1 }\nrate = 10\n";
    let why = refusal(&format!("{SYSTEM}{mix}"), &["workload.0.stagger=1 s"]);
    assert!(why.contains("take what comes at the rate"), "{why}");
    let why = refusal(&text, &["workload.0.stagger=213 d", "clients.processes=4"]);
    assert!(why.contains("213 days"), "{why}");
}

/// Rank n of four writes a block of (n + 1) MiB; the shared file has them one after the other in
/// each of two segments.
#[test]
fn blocks_can_depend_on_the_rank() {
    const MIB: u64 = 1 << 20;
    for (block, bytes) in [
        (r#"["1 MiB", "2 MiB"]"#, (1 + 2 + 1 + 2) * MIB),
        (
            r#"{ first = "1 MiB", step = "1 MiB" }"#,
            (1 + 2 + 3 + 4) * MIB,
        ),
        (r#"["1 MiB", "2 MiB", "3 MiB", "4 MiB", "9 MiB"]"#, 10 * MIB),
    ] {
        for access in ["file-per-process", "shared"] {
            let text = format!(
                "{SYSTEM}block = {block}\ntransfer = \"256 KiB\"\nsegments = 2\n\
                 access = {access:?}\nphases = [\"write\", \"read\"]\n"
            );
            let outcome = run(&text, &["clients.count=2", "clients.processes=2"]);
            for operation in ["write", "read"] {
                let done = &outcome.report.operations[operation];
                assert_eq!(done.bytes, 2 * bytes, "{block}, {access}");
                assert_eq!(done.count, 2 * bytes / (256 << 10));
            }
            // Every byte of a file is written once.
            let mut parts: Vec<(u32, u64, u64)> = (outcome.requests.iter())
                .filter(|it| it.request.operation.name() == "write")
                .map(|it| (it.request.file, it.request.offset, it.request.size))
                .collect();
            parts.sort_unstable();
            for pair in parts.windows(2) {
                let ((file, at, size), (next, from, _)) = (pair[0], pair[1]);
                assert!(if file == next {
                    at + size == from
                } else {
                    from == 0
                });
            }
        }
    }
}

/// Transfers by rank: each process makes as many requests, of its own size.
#[test]
fn transfers_and_files_can_depend_on_the_rank() {
    let text =
        format!("{SYSTEM}block = [\"1 MiB\", \"4 MiB\"]\ntransfer = [\"256 KiB\", \"1 MiB\"]\n");
    let outcome = run(&text, &["clients.processes=2"]);
    for (rank, size) in [(0, 256 << 10), (1, 1 << 20)] {
        let own = outcome
            .requests
            .iter()
            .filter(|it| it.request.process.rank == rank);
        let sizes: Vec<u64> = own.map(|it| it.request.size).collect();
        assert_eq!(sizes, [size; 4]);
    }
    let mdtest = "kind = \"mdtest\"\nfiles = 10\nbytes = { first = \"1 KiB\", step = \"1 KiB\" }\n\
                  phases = [\"create\", \"read\"]\n";
    let outcome = run(&format!("{SYSTEM}{mdtest}"), &["clients.processes=3"]);
    for operation in ["write", "read"] {
        assert_eq!(
            outcome.report.operations[operation].bytes,
            10 * (1 + 2 + 3) * 1024
        );
    }
}

#[test]
fn sizes_by_rank_that_do_not_fit_are_named() {
    let text = |more: &str| format!("{SYSTEM}block = [\"1 MiB\", \"3 MiB\"]\n{more}");
    let two = ["clients.processes=2"];
    let why = refusal(&text("transfer = \"2 MiB\"\n"), &two);
    assert!(
        why.contains("must divide the block of rank 0: workload.0.block = \"1 MiB\""),
        "{why}"
    );
    let why = refusal(&format!("{SYSTEM}block = [\"1 MiB\", \"0 B\"]\n"), &two);
    assert!(why.contains("the block of rank 1 is empty"), "{why}");
    let why = refusal(&format!("{SYSTEM}block = []\n"), &[]);
    assert!(
        why.contains("expected a size such as \"64 KiB\", or by rank"),
        "{why}"
    );
    let why = refusal(
        &format!("{SYSTEM}block = {{ first = \"1 MiB\", steps = \"1 B\" }}\n"),
        &[],
    );
    assert!(why.contains("the table has \"steps\""), "{why}");
    let collective = "access = \"shared\"\ncollective = { kind = \"two-phase\" }\n";
    let why = refusal(&text(collective), &two);
    assert!(why.contains("block or transfer is by rank"), "{why}");
    // The data read back is the data written.
    let scenario = load(&text(""), &two).unwrap();
    let again = load(&scenario.to_canonical_toml(), &[]).unwrap();
    assert_eq!(scenario, again);
}

#[test]
fn loaders_start_with_their_accelerator() {
    let training = r#"
        kind = "local"
        [clients]
        count = 1
        [machine.device]
        read_rate = "1 GB/s"
        write_rate = "1 GB/s"
        [[workload]]
        kind = "training"
        files = 40
        sample = "1 MB"
        batch = 1
        computation = "10 ms"
        loaders = 4
    "#;
    let seconds = |sets: &[&str]| run(training, sets).report.simulated_seconds;
    let at_once = seconds(&[]);
    // One accelerator begins at once, and so do its four loaders.
    close(seconds(&["workload.0.stagger=1 s"]), at_once, 1e-9);
    close(seconds(&["workload.0.start=1 s"]), at_once + 1.0, 1e-9);
}
