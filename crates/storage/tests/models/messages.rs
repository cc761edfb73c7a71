//! Jobs that are more than a message each way, and the processors that send and
//! receive messages.

use headrace_trace::Operation;
use proptest::prelude::*;

use crate::running::{
    MICROSECOND, NANOSECOND, SMALLEST, close, last, latencies, refusal, run, run_scenario, shipped,
    station,
};

pub const LATENCY: u64 = 10 * MICROSECOND;
/// A packet of 1,500 B that fills the first card before it goes on.
const FIRST: u64 = 1500 * NANOSECOND;

/// Nothing on the wire but data, which goes in one buffer unless said otherwise.
const RENDEZVOUS: [&str; 2] = ["messages.kind=rendezvous", "messages.buffer=1 MB"];
pub const WRITE: &str = "workload.0.phases=[\"write\"]";

/// One request on an empty system, after the layout has been asked for.
pub fn alone(kind: &[&str], sets: &[&str]) -> u64 {
    let latencies = latencies(&run(SMALLEST, &[kind, sets].concat()));
    assert_eq!(latencies.len(), 1);
    latencies[0] - 2 * LATENCY
}

fn one(sets: &[&str]) -> u64 {
    alone(&RENDEZVOUS, sets)
}

/// Returns the transmission time of a message with data.
pub fn data(bytes: u64) -> u64 {
    bytes * NANOSECOND + FIRST.min(bytes * NANOSECOND) + LATENCY
}

pub fn read(bytes: u64) -> u64 {
    10 * bytes * NANOSECOND
}

pub fn written(bytes: u64) -> u64 {
    20 * bytes * NANOSECOND
}

#[test]
fn a_read_is_asked_for_and_a_write_shakes_hands_twice() {
    let all = 1_000_000;
    // The word that the server is ready arrives before the data.
    assert_eq!(one(&[]), LATENCY + read(all) + data(all));
    assert_eq!(
        one(&[WRITE]),
        2 * LATENCY + data(all) + written(all) + LATENCY
    );
}

#[test]
fn small_jobs_go_at_once() {
    let eager = |limit| format!("messages.eager_limit={limit} B");
    let header = ["network.message=100 B", "network.bandwidth=1 TB/s"];
    let of = |limit: u64, phase: &str| {
        let eager = eager(limit);
        let mut sets = vec![header[0], header[1], eager.as_str(), phase];
        sets.retain(|set| !set.is_empty());
        one(&sets)
    };
    let whole = of(1_000_100, WRITE);
    let asked = of(1_000_099, WRITE);
    // Two messages more.
    close((asked - whole) as f64, 2.0 * LATENCY as f64, 1e-3);
    assert_eq!(of(1_000_100, ""), of(1_000_099, ""));
}

/// With one buffer, each goes when the one before has been put away.
#[test]
fn buffers_wait_for_room() {
    let sets = ["messages.buffer=250 kB", "messages.buffers=1"];
    let part = 250_000;
    let turn = data(part) + LATENCY;
    let reads = LATENCY + 4 * (read(part) + turn) - LATENCY;
    assert_eq!(one(&sets), reads);
    let sets = [sets[0], sets[1], WRITE];
    assert_eq!(one(&sets), 2 * LATENCY + 4 * (written(part) + turn));
}

/// With as many buffers as there are parts, network and device work at once.
#[test]
fn buffers_overlap_network_and_device() {
    let sets = ["messages.buffer=250 kB", "messages.buffers=4"];
    let part = 250_000;
    assert_eq!(one(&sets), LATENCY + 4 * read(part) + data(part));
    let sets = [sets[0], sets[1], WRITE];
    let expected = 2 * LATENCY + data(part) + 4 * written(part) + LATENCY;
    assert_eq!(one(&sets), expected);
}

#[test]
fn a_message_takes_processor_time_at_both_ends() {
    let time = ["hosts.cpu.send=3 us", "hosts.cpu.receive=4 us"];
    let whole = |sets: &[&str]| latencies(&run(SMALLEST, sets))[0];
    // The layout is requested and the data read: four messages.
    let four = 4 * 7 * MICROSECOND;
    assert_eq!(whole(&time), whole(&[]) + four);
    // A byte takes 2 ns to send and 4 to receive, before and after the network.
    let rates = [
        "hosts.cpu.send_rate=500 MB/s",
        "hosts.cpu.receive_rate=250 MB/s",
    ];
    assert_eq!(whole(&rates), whole(&[]) + 6_000_000 * NANOSECOND);
    // One core for all takes the two ends of an exchange one after the other anyway.
    for shared in ["all", "clients", "servers", "none"] {
        let shared = format!("hosts.cpu.shared_by={shared}");
        assert_eq!(whole(&[time[0], time[1], &shared]), whole(&[]) + four);
    }
}

/// A job is one access if it goes as one message; if it is requested first, each buffer is.
#[test]
fn what_a_server_computes_is_its_own_for_each_job_and_access() {
    let of = |sets: &[&str]| latencies(&run(SMALLEST, sets))[0] / MICROSECOND;
    let times = [
        "hosts.cpu.serve_read=1 ms",
        "hosts.cpu.serve_write=20 ms",
        "hosts.cpu.access=300 ms",
    ];
    let with = |sets: &[&str]| {
        let all: Vec<&str> = times.iter().chain(sets).copied().collect();
        of(&all) - of(sets)
    };
    assert_eq!(with(&[]), 301_000);
    assert_eq!(with(&[WRITE]), 320_000);
    // Four buffers of which each waits for the one before.
    let asked = [
        RENDEZVOUS[0],
        "messages.buffer=250 kB",
        "messages.buffers=1",
    ];
    assert_eq!(with(&asked), 1_201_000);
    assert_eq!(with(&[asked[0], asked[1], asked[2], WRITE]), 1_220_000);
}

/// Eight clients with little to do for network and device: the core that they share
/// with the servers is busy all the time, and decides.
#[test]
fn a_shared_processor_is_the_limit() {
    let sets = |shared: &'static str, cores: &'static str| {
        [
            "clients.count=8",
            "servers.count=2",
            "servers.device.read_rate=1 TB/s",
            "network.latency=1 us",
            "workload.0.transfer=1 kB",
            "hosts.cpu.send=30 us",
            "hosts.cpu.receive=10 us",
            shared,
            cores,
        ]
    };
    // Eight thousand reads of two messages, and the layouts.
    let work = 2 * (8000 + 8) * 40 * MICROSECOND;
    for (cores, number) in [("hosts.cpu.cores=1", 1), ("hosts.cpu.cores=2", 2)] {
        let outcome = run(SMALLEST, &sets("hosts.cpu.shared_by=all", cores));
        close(
            last(&outcome).0 as f64,
            work as f64 / f64::from(number),
            0.01,
        );
        assert!(station(&outcome, "hosts/cpu").utilisation > 0.98);
        assert!(outcome.report.bottleneck.sentence.contains("hosts/cpu"));
    }
    // Half of it is the clients'.
    for shared in ["hosts.cpu.shared_by=clients", "hosts.cpu.shared_by=servers"] {
        let outcome = run(SMALLEST, &sets(shared, "hosts.cpu.cores=1"));
        close(last(&outcome).0 as f64, work as f64 / 2.0, 0.01);
    }
    // Two servers have two, and eight clients eight.
    let outcome = run(
        SMALLEST,
        &sets("hosts.cpu.shared_by=none", "hosts.cpu.cores=1"),
    );
    close(last(&outcome).0 as f64, work as f64 / 4.0, 0.05);
}

#[test]
fn what_does_not_fit_is_refused() {
    let refused = |sets: &[&str], words: &[&str]| {
        let message = refusal(SMALLEST, sets);
        for word in words {
            assert!(message.contains(word), "{message}");
        }
    };
    refused(
        &[RENDEZVOUS[0], "messages.buffer=0 B"],
        &["messages.buffer", "256 KiB"],
    );
    refused(
        &["hosts.cpu.shared_by=all"],
        &["hosts.cpu.shared_by", "send"],
    );
    let gateway = ["scheduler.kind=fifo", "scheduler.position=gateway"];
    refused(
        &[RENDEZVOUS[0], gateway[0], gateway[1]],
        &["messages.kind", "gateway"],
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// For any buffers, every request ends, the devices move each byte once, and nothing is left on
    /// the way.
    #[test]
    fn every_byte_arrives_once(
        clients in 1..4_u32, servers in 1..4_u32, unit in 1..50_u64, transfer in 1..200_u64,
        transfers in 1..6_u64, eager in 0..100_u64, buffer in 1..60_u64, buffers in 1..4_u32,
        writes: bool, grain in prop::sample::select(&["message", "flow", "packet"]),
        scheduler in prop::sample::select(&["client", "server"]),
        shared in prop::sample::select(&["all", "clients", "none"]),
    ) {
        let sets = [
            format!("clients.count={clients}"),
            format!("servers.count={servers}"),
            format!("layout.unit={unit} B"),
            format!("workload.0.transfer={transfer} B"),
            format!("workload.0.block={} B", transfer * transfers),
            format!("workload.0.phases=[\"{}\"]", if writes { "write" } else { "read" }),
            "messages.kind=rendezvous".to_owned(),
            format!("messages.eager_limit={eager} B"),
            format!("messages.buffer={buffer} B"),
            format!("messages.buffers={buffers}"),
            format!("network.grain={grain}"),
            "scheduler.kind=fifo".to_owned(),
            format!("scheduler.position={scheduler}"),
            "hosts.cpu.send=1 us".to_owned(),
            format!("hosts.cpu.shared_by={shared}"),
            "servers.device.read_rate=1 MB/s".to_owned(),
            "servers.device.write_rate=1 MB/s".to_owned(),
        ];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let outcome = run(SMALLEST, &sets);
        let bytes = u64::from(clients) * transfer * transfers;
        prop_assert_eq!(outcome.requests.len() as u64, u64::from(clients) * transfers);
        let operation = if writes { Operation::Write } else { Operation::Read };
        prop_assert!(outcome.requests.iter().all(|it| it.request.operation == operation));
        // A microsecond for each byte.
        let busy = crate::running::busy(&outcome, "server/device");
        prop_assert!((busy - bytes as f64 * 1e6).abs() < 1e3 * bytes as f64, "{} {}", busy, bytes);
    }
}

/// Requests of a client's cache are sent in buffers too.
#[test]
fn a_client_with_a_cache_sends_its_data_in_buffers() {
    let sets = ["messages.kind=rendezvous", "workload.0.block=16 MiB"];
    let outcome = run_scenario(&shipped("hindman-lustre.toml", &sets));
    let operations = &outcome.report.operations;
    assert_eq!(operations["write"].bytes, operations["read"].bytes);
    assert!(operations["write"].bytes >= 16 << 20);
}
