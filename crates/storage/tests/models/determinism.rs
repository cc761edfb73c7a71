//! The same scenario and seed give the same result to the bit.

use crate::running::{load, run_scenario};

const RANDOM: &str = r#"
    [clients]
    count = 7
    groups = ["a", "b"]
    [servers]
    count = 3
    device = { read_rate = "100 MB/s", write_rate = "50 MB/s" }
    memory = { cache = "1 MiB", dirty_limit = "500 kB" }
    [network]
    bandwidth = "1 GB/s"
    latency = "10 us"
    [layout]
    unit = "16 KiB"
    first = "random"
    [scheduler]
    kind = "sfq"
    depth = 2
    weights = { a = 2 }
    [[workload]]
    group = "a"
    block = "1 MB"
    transfer = "50 kB"
    order = "random"
    phases = ["write", "read"]
    think = "1 ms"
    think_distribution = "exponential"
    [[workload]]
    group = "b"
    block = "3 MB"
    transfer = "30 kB"
    phases = ["read"]
"#;

fn json(text: &str, sets: &[&str]) -> String {
    let outcome = run_scenario(&load(text, sets).unwrap());
    let mut report = serde_json::to_value(&outcome.report).unwrap();
    report["wall_seconds"] = 0.into();
    // Where the numbers come from, not what came of them.
    report["scenario"] = 0.into();
    report["seed"] = 0.into();
    let requests: Vec<String> = outcome
        .requests
        .iter()
        .map(|it| format!("{it:?}"))
        .collect();
    report.to_string() + &requests.concat()
}

#[test]
fn same_seed_same_bits() {
    for topology in ["network.topology=star", "network.topology=pairs"] {
        assert_eq!(json(RANDOM, &[topology]), json(RANDOM, &[topology]));
        let seeded = json(RANDOM, &[topology, "run.seed=2"]);
        assert_eq!(seeded, json(RANDOM, &[topology, "run.seed=2"]));
        assert_ne!(seeded, json(RANDOM, &[topology]));
    }
}

#[test]
fn the_seed_changes_nothing_where_nothing_is_random() {
    let calm = [
        "layout.first=zero",
        "workload.0.order=sequential",
        "workload.0.think_distribution=constant",
    ];
    let with = |seed: &'static str| {
        let sets: Vec<&str> = calm.iter().copied().chain([seed]).collect();
        json(RANDOM, &sets)
    };
    assert_eq!(with("run.seed=1"), with("run.seed=99"));
}

/// A result holds the scenario that it can be run again from.
#[test]
fn a_result_can_be_run_again_from_itself() {
    let first = run_scenario(&load(RANDOM, &["clients.count=9"]).unwrap());
    let again = json(&first.report.scenario.toml, &[]);
    assert_eq!(again, json(RANDOM, &["clients.count=9"]));
}

/// Workloads of different groups meet at servers and network only; which is
/// written first matters only where two things happen at the same instant.
#[test]
fn the_order_of_workloads_does_not_matter_where_they_do_not_meet() {
    let apart = |first: &str, second: &str| {
        let text = format!(
            r#"
            [clients]
            count = 2
            groups = ["a", "b"]
            [servers]
            count = 2
            device = {{ read_rate = "100 MB/s", write_rate = "50 MB/s" }}
            [network]
            topology = "pairs"
            bandwidth = "1 GB/s"
            latency = "10 us"
            [layout]
            unit = "1 MB"
            servers = 1
            {first}
            {second}
            "#
        );
        let outcome = run_scenario(&load(&text, &[]).unwrap());
        let report = serde_json::to_value(&outcome.report).unwrap();
        report["groups"].to_string()
    };
    let a = "[[workload]]\ngroup = \"a\"\nblock = \"3 MB\"\ntransfer = \"1 MB\"\nphases = [\"write\"]\n";
    let b = "[[workload]]\ngroup = \"b\"\nblock = \"2 MB\"\nphases = [\"read\"]\n";
    assert_eq!(apart(a, b), apart(b, a));
}
