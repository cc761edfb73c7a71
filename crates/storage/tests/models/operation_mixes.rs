//! Operations drawn by weight: queues with known answers, and refused scenarios.

use headrace_storage::Outcome;

use crate::running::{close, latency, refusal, run, station};

/// One metadata server that takes 1 ms for an operation; the network takes no time.
const SYSTEM: &str = r#"
    [clients]
    count = 4
    processes = 200
    [servers]
    count = 1
    device = { read_rate = "100 MB/s", write_rate = "100 MB/s" }
    [network]
    bandwidth = "100 TB/s"
    latency = "0 s"
    [layout]
    unit = "64 KiB"
    [metadata]
    time_per_operation = "1 ms"
    [[workload]]
    kind = "operation-mix"
    weights = { stat = 1 }
    amount = 50000
"#;

fn mean_latency(outcome: &Outcome) -> f64 {
    let times: Vec<f64> = outcome
        .requests
        .iter()
        .map(|it| latency(it) as f64 * 1e-12)
        .collect();
    times.iter().sum::<f64>() / times.len() as f64
}

/// The mean stay is s + ρ s / (2 (1 - ρ)), Pollaczek and Khinchine.
#[test]
fn an_open_loop_at_a_server_of_constant_time_is_m_d_1() {
    for load in [0.5_f64, 0.8] {
        let rate = format!("workload.0.rate={}", 1000.0 * load);
        let outcome = run(SYSTEM, &[&rate]);
        let expected = 1e-3 * (1.0 + load / (2.0 * (1.0 - load)));
        close(mean_latency(&outcome), expected, 0.03);
        let processor = station(&outcome, "processor");
        close(processor.utilisation, load, 0.02);
    }
}

/// Two kinds of operations, one ten times as long: E[s²] decides.
#[test]
fn an_open_loop_of_two_kinds_is_m_g_1() {
    let outcome = run(
        SYSTEM,
        &[
            "workload.0.weights={ stat = 9, readdir = 1 }",
            "metadata.times.readdir=10 ms",
            "workload.0.rate=300",
        ],
    );
    // s = 1.9 ms, ρ = 0.57; E[s²] = 0.9 + 10 ms².
    let expected = 1.9e-3 + 300.0 * 10.9e-6 / (2.0 * 0.43);
    close(mean_latency(&outcome), expected, 0.05);
}

/// Too few processes: late requests count from their intended start.
#[test]
fn what_comes_while_all_processes_are_busy_is_late() {
    let outcome = run(
        SYSTEM,
        &[
            "clients.processes=1",
            "clients.count=1",
            "workload.0.rate=800",
        ],
    );
    let latency = &outcome.report.latency["stat"];
    close(latency.mean, 1e-3, 1e-3);
    let intended = &outcome.report.latency_from_intended["stat"];
    close(intended.mean, 1e-3 * (1.0 + 0.8 / 0.4), 0.06);
}

/// N processes that think Z against one that serves in s: N / (N s) at most.
#[test]
fn a_closed_loop_waits_for_answers() {
    let sets = ["clients.processes=2", "workload.0.amount=1000"];
    let outcome = run(SYSTEM, &sets);
    close(outcome.report.simulated_seconds, 4.0, 1e-3);
    let alone = ["clients.processes=1", "clients.count=1"];
    let thinks = ["workload.0.amount=1000", "workload.0.think=1 ms"];
    let outcome = run(SYSTEM, &[&alone[..], &thinks].concat());
    close(outcome.report.simulated_seconds, 2.0, 2e-3);
}

#[test]
fn the_same_operations_are_asked_of_every_system() {
    let what = |sets: &[&str]| {
        let sets = [
            &[
                "workload.0.weights={ read = 1, write = 2, stat = 3, create = 1 }",
                "workload.0.amount=500",
                "workload.0.rate=2000",
            ],
            sets,
        ]
        .concat();
        let mut all: Vec<String> = run(SYSTEM, &sets)
            .requests
            .iter()
            .map(|it| {
                let request = &it.request;
                format!(
                    "{} {:?} {} {} {}",
                    request.intended.as_seconds(),
                    request.operation,
                    request.file,
                    request.offset,
                    request.size
                )
            })
            .collect();
        all.sort();
        all
    };
    let usual = what(&[]);
    assert_eq!(usual, what(&[]));
    assert_eq!(usual, what(&["metadata.time_per_operation=0.1 ms"]));
    assert_eq!(usual, what(&["clients.processes=2"]));
    assert_ne!(usual, what(&["run.seed=2"]));
}

#[test]
fn every_operation_of_a_mix_can_be_asked_of_every_kind_of_server() {
    let weights = "workload.0.weights={ read = 1, write = 1, sync = 1, open = 1, stat = 1, \
                   setattr = 1, readlink = 1, readdir = 1, statfs = 1, create = 1, unlink = 1, \
                   rename = 1, mkdir = 1, rmdir = 1, symlink = 1 }";
    let few = ["workload.0.amount=400", "workload.0.files=100", weights];
    assert_eq!(run(SYSTEM, &few).report.operations.len(), 15);
    let local = r#"
        system = "ext4"
        [clients]
        count = 1
        processes = 3
        [machine]
        memory = { size = "1 GiB" }
        device = { kind = "simple", read_rate = "1 GB/s", write_rate = "1 GB/s" }
        [[workload]]
        kind = "operation-mix"
        weights = { stat = 1 }
    "#;
    let appends = "workload.0.append_share=0.5";
    let outcome = run(local, &[&few[..], &[appends]].concat());
    assert_eq!(outcome.report.operations.len(), 15);
    assert_eq!(outcome.requests.len(), 400);
}

#[test]
fn what_cannot_be_is_refused() {
    for (sets, says) in [
        (&["workload.0.weights={ look = 1 }"][..], "\"look\" is none"),
        (&["workload.0.weights={}"], "it is empty"),
        (&["workload.0.weights={ read = 0 }"], "more than 0"),
        (&["workload.0.read_sizes={ 8 = 1 }"], "\"8\" is none"),
        (
            &["workload.0.file_sizes={ \"0 B\" = 1 }"],
            "from 1 B to 1 EiB",
        ),
        (
            &["workload.0.file_sizes={ \"8 KiB\" = 1, \"4 KiB\" = 1 }"],
            "the smallest first",
        ),
        (
            &["workload.0.read_sizes={ \"1 KiB\" = 1, \"1024 B\" = 1 }"],
            "twice",
        ),
        (&["workload.0.rate=0"], "more than 0"),
        (&["workload.0.rate=5", "workload.0.think=1 s"], "leave one"),
        (&["workload.0.hot_share=0.5"], "less than 1"),
        (&["workload.0.amount=forever"], "would never stop"),
        (&["workload.0.rate=1e-9"], "213 days"),
        (&["workload.0.files=3000000000"], "fewer than 2^30"),
    ] {
        let message = refusal(SYSTEM, sets);
        assert!(message.contains(says), "{sets:?}: {message}");
    }
}

/// Returns the start of each operation on the common file, and the number that began then.
fn moments(outcome: &Outcome) -> Vec<(u64, Vec<u32>)> {
    let mut moments = std::collections::BTreeMap::new();
    for it in &outcome.requests {
        if it.request.operation == headrace_trace::Operation::Read {
            let clients: &mut Vec<u32> = moments.entry(it.request.issued.0).or_default();
            clients.push(it.request.process.client);
        }
    }
    moments.into_iter().collect()
}

#[test]
fn what_processes_share_begins_at_one_moment() {
    let sets = |sharing| {
        [
            "clients.count=3".to_owned(),
            "clients.processes=4".to_owned(),
            "workload.0.weights={ shared-read = 1, stat = 4 }".to_owned(),
            "workload.0.amount=500".to_owned(),
            format!("workload.0.sharing={sharing}"),
        ]
    };
    let outcome = |sharing| {
        let sets = sets(sharing);
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        run(SYSTEM, &sets)
    };
    let within = moments(&outcome("client"));
    assert!(within.len() > 30, "{}", within.len());
    for (_, clients) in &within {
        assert_eq!(clients.len() % 4, 0, "{clients:?}");
    }
    let across = moments(&outcome("clients"));
    let whole = across.iter().filter(|(_, clients)| clients.len() == 3);
    // Until the first client has come to its end.
    assert!(whole.count() * 10 > across.len() * 8);
    for (_, clients) in &across {
        let mut each = clients.clone();
        each.sort_unstable();
        each.dedup();
        assert!(
            each.len() == clients.len() || clients.len() > 3,
            "{clients:?}"
        );
    }
}

#[test]
fn requests_that_are_due_before_the_end_are_done_or_counted_as_unfinished() {
    // One process is given twice as much as the server does, for two seconds.
    let outcome = run(
        SYSTEM,
        &[
            "clients.processes=1",
            "clients.count=1",
            "workload.0.rate=2000",
            "run.stop.time=2 s",
        ],
    );
    let report = &outcome.report;
    let unfinished = report.unfinished.as_ref().expect("it is an open loop");
    // In 2 s the server does 2,000 of 4,000; one of the rest is in progress.
    // Poisson: a standard deviation of 63.
    assert!((1750..2250).contains(&unfinished.count), "{unfinished:?}");
    assert_eq!(unfinished.in_flight, 1);
    assert_eq!(unfinished.operations["stat"], unfinished.count);
    let done = report.operations["stat"].count;
    let intended = &report.latency_from_intended["stat"];
    assert_eq!(intended.count, done + unfinished.count);
    // A stay grows by 1 ms with each 1 ms of the second half: up to 1 s at the end.
    let longest = unfinished.max.expect("some");
    close(longest, 1.0, 0.1);
    close(unfinished.mean.expect("some"), 0.5, 0.1);
    assert!(intended.max >= longest * 0.999);
}

#[test]
fn a_closed_loop_leaves_nothing_unfinished() {
    let report = run(SYSTEM, &["workload.0.amount=10"]).report;
    assert!(report.unfinished.is_none());
}
