//! Clients that think and ask again: bounds from operational analysis (Denning
//! and Buzen 1978), which deterministic stations reach.

use crate::running::{close, run, station};

/// Each process reads 1 MB from one device repeatedly; a round trip takes 40 us
/// of network, and the disk takes 10 ms.
const CLOSED: &str = r#"
    [servers]
    count = 1
    device = { read_rate = "100 MB/s", write_rate = "50 MB/s" }
    [network]
    topology = "pairs"
    bandwidth = "1 GB/s"
    latency = "10 us"
    [layout]
    unit = "2 TB"
    [[workload]]
    block = "1 TB"
    transfer = "1 MB"
    phases = ["read"]
    think = "30 ms"
    repeat = "forever"
    [run]
    warm_up = "10 s"
    stop = { time = "110 s" }
"#;

/// Time at the device and around a request in seconds.
const DEMAND: f64 = 0.01;
const ROUND: f64 = 0.03 + 0.01 + 20e-6 + 1e-3;

fn throughput(clients: u32, more: &[&str]) -> f64 {
    let clients = format!("clients.count={clients}");
    let sets: Vec<&str> = more.iter().copied().chain([clients.as_str()]).collect();
    let outcome = run(CLOSED, &sets);
    outcome.report.operations["read"].count as f64 / 100.0
}

/// Without chance, N clients get min(N / round, 1 / demand): after the first
/// round they do not meet until the device is full.
#[test]
fn deterministic_clients_reach_both_bounds() {
    for clients in [1, 2, 3, 4, 5, 8, 50] {
        let bound = (f64::from(clients) / ROUND).min(1.0 / DEMAND);
        close(throughput(clients, &[]), bound, 2e-3);
    }
}

/// With exponential think times some meet: below the bounds, above what
/// clients would get that always waited for all others, equal at both ends.
#[test]
fn exponential_clients_stay_within_the_bounds() {
    let think = "workload.0.think_distribution=exponential";
    let mut before = 0.0;
    for clients in [1, 2, 4, 6, 12, 50] {
        let got = throughput(clients, &[think]);
        let all = f64::from(clients);
        let upper = (all / ROUND).min(1.0 / DEMAND);
        let lower = all / (ROUND + (all - 1.0) * DEMAND);
        assert!(got <= upper * 1.02, "{clients}: {got} > {upper}");
        assert!(got >= lower * 0.98, "{clients}: {got} < {lower}");
        assert!(got >= before * 0.99);
        before = got;
    }
    close(throughput(1, &[think]), 1.0 / ROUND, 0.03);
    close(throughput(50, &[think]), 1.0 / DEMAND, 1e-3);
}

/// Constant service and exponential think times: the machine-repair model with
/// one repairman. Machines that never wait are busy N·Z/(Z+S) of the time, and
/// the utilisation law holds: throughput × demand.
#[test]
fn utilisation_is_throughput_times_demand() {
    for clients in [1, 3, 6] {
        let count = format!("clients.count={clients}");
        let outcome = run(
            CLOSED,
            &["workload.0.think_distribution=exponential", &count],
        );
        let report = &outcome.report;
        let throughput = report.operations["read"].count as f64 / 100.0;
        let device = station(&outcome, "server/device");
        close(device.utilisation, throughput * DEMAND, 2e-3);
        // Little's law at the device.
        close(
            device.queue + device.utilisation,
            throughput * device.residence.unwrap_or(0.0),
            5e-3,
        );
        // The interactive response time law.
        let mean = report.latency["read"].mean;
        let think = f64::from(clients) / throughput - mean;
        close(think, 0.03, 0.03);
    }
}
