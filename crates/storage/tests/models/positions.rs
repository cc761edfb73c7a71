//! Schedulers where they can stand in a system.

use proptest::prelude::*;

use crate::running::{MICROSECOND, NANOSECOND, SMALLEST, busy, last, latencies, run, station};

const POSITIONS: [&str; 5] = ["server", "client", "gateway", "proxy", "metadata"];

/// Each kind with its required fields.
const KINDS: [(&str, &[&str]); 13] = [
    ("none", &[]),
    ("fifo", &["scheduler.depth=2"]),
    ("round-robin", &["scheduler.depth=2"]),
    ("sfq", &["scheduler.depth=2"]),
    ("sfq-plus", &["scheduler.depth=12 kB"]),
    ("dsfq", &["scheduler.depth=2"]),
    ("edf", &["scheduler.depth=2", "scheduler.deadline=1 ms"]),
    (
        "two-level",
        &[
            "scheduler.depth=2",
            "scheduler.deadline=1 ms",
            "scheduler.rate=1 MB/s",
        ],
    ),
    (
        "mclock",
        &[
            "scheduler.depth=2",
            "scheduler.reservations.a=1 MB/s",
            "scheduler.limits.b=9 MB/s",
        ],
    ),
    ("crrn", &["scheduler.depth=2"]),
    ("orr", &["scheduler.depth=2"]),
    ("trr", &["scheduler.depth=2"]),
    ("tbf", &["scheduler.rate=500.0"]),
];

/// All clients ask for everything: each combination does all the work, and the
/// device does the same amount of it.
#[test]
fn no_scheduler_loses_or_repeats_a_job() {
    let text = format!("{SMALLEST}\n[scheduler]\n");
    for position in POSITIONS {
        for (kind, needs) in KINDS {
            for topology in ["star", "pairs"] {
                let position = format!("scheduler.position={position}");
                let kind_set = format!("scheduler.kind={kind}");
                let topology = format!("network.topology={topology}");
                let mut sets = vec![
                    "clients.count=6",
                    "clients.groups=[\"a\", \"b\"]",
                    "servers.count=3",
                    "layout.unit=10 kB",
                    "layout.packet=7 kB",
                    "workload.0.files=4",
                    "workload.0.block=100 kB",
                    "workload.0.transfer=50 kB",
                    "workload.0.phases=[\"write\", \"read\"]",
                    position.as_str(),
                    kind_set.as_str(),
                    topology.as_str(),
                ];
                sets.extend(needs);
                // A client is of one group: there is nothing to weigh.
                if kind == "sfq" && !position.ends_with("client") {
                    sets.push("scheduler.weights.b=3");
                }
                let outcome = run(&text, &sets);
                let operations = &outcome.report.operations;
                let bytes = 6 * 4 * 100_000;
                assert_eq!(operations["write"].bytes, bytes);
                assert_eq!(operations["read"].bytes, bytes);
                assert_eq!(operations["read"].count, 6 * 4 * 2);
                let expected = bytes * (10 + 20) * NANOSECOND;
                let error = busy(&outcome, "server/device") - expected as f64;
                assert!(error.abs() < 10.0, "{position} {kind}: {error}");
            }
        }
    }
}

const LATENCY: u64 = 10 * MICROSECOND;
const ALONE: &str = "network.topology=pairs";

/// Four pieces on four servers side by side: 250 kB take 2.5 ms on each.
const PIECES: [&str; 3] = ["servers.count=4", "layout.unit=250 kB", ALONE];
const PIECE: u64 = 250_000 * (10 + 1) * NANOSECOND + 2 * LATENCY;

fn with_scheduler(sets: &[&str]) -> Vec<u64> {
    let text = format!("{SMALLEST}\n[scheduler]\nkind = \"fifo\"\ndepth = 1\n");
    let sets: Vec<&str> = PIECES.iter().chain(sets).copied().collect();
    latencies(&run(&text, &sets))
}

#[test]
fn depth_counts_where_the_scheduler_stands() {
    // Before each server: pieces go to different servers and do not meet.
    let server = with_scheduler(&["scheduler.position=server"]);
    assert_eq!(server, [2 * LATENCY + PIECE]);
    // On the client or where jobs enter the network: a piece goes when the one before is back.
    for position in ["client", "gateway"] {
        let times = with_scheduler(&[&format!("scheduler.position={position}")]);
        assert_eq!(times, [2 * LATENCY + 4 * PIECE], "{position}");
    }
    // Two clients with schedulers of their own do not wait for each other there.
    let two = with_scheduler(&[
        "scheduler.position=client",
        "clients.count=2",
        "servers.device.read_rate=1000 TB/s",
    ]);
    let piece = 250_000 * NANOSECOND + 2 * LATENCY + 250;
    for latency in two {
        assert!(
            latency.abs_diff(2 * LATENCY + 4 * piece) <= 4 * 250,
            "{latency}"
        );
    }
}

/// A queue of one at the server changes nothing where the device is a queue
/// already.
#[test]
fn a_queue_before_a_queue_changes_nothing() {
    let text = format!("{SMALLEST}\n[scheduler]\n");
    let sets = ["clients.count=5", "workload.0.files=3"];
    let none = run(&text, &sets);
    let more: Vec<&str> = sets
        .iter()
        .chain(&["scheduler.kind=fifo", "scheduler.depth=1"])
        .copied()
        .collect();
    let fifo = run(&text, &more);
    assert_eq!(last(&none), last(&fifo));
    assert_eq!(latencies(&none), latencies(&fifo));
    assert_eq!(station(&fifo, "scheduler/queue").discipline, "FIFO(1)");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A scheduler in the network counts its jobs from where they enter it to where answers leave
    /// it. With a depth of 1, each piece takes the latency of both ways and its time at the device,
    /// at any grain.
    #[test]
    fn a_round_trip_from_a_scheduler_in_the_network_is_the_same_at_every_grain(
        position in prop::sample::select(vec!["gateway", "proxy"]),
        topology in prop::sample::select(vec!["star", "pairs"]),
        phase in prop::sample::select(vec!["read", "write"]),
        pieces in 1..6_u64,
        latency in 1..3_000_u64,
        device in 1..3_000_u64,
    ) {
        let text = format!("{SMALLEST}\n[scheduler]\nkind = \"fifo\"\ndepth = 1\n");
        let sets = [
            format!("scheduler.position={position}"),
            format!("workload.0.phases=[\"{phase}\"]"),
            format!("workload.0.block={} B", pieces * 100),
            "layout.packet=100 B".to_owned(),
            "network.bandwidth=100 GB/s".to_owned(),
            format!("network.latency={latency} us"),
            format!("servers.device.time_per_request={device} us"),
            "servers.device.read_rate=1000 TB/s".to_owned(),
            "servers.device.write_rate=1000 TB/s".to_owned(),
        ];
        // Question and answer of the metadata server first.
        let expected = 2 * latency + pieces * (2 * latency + device);
        for grain in ["message", "flow", "packet"] {
            let mut sets: Vec<&str> = sets.iter().map(String::as_str).collect();
            let grain = format!("network.grain={grain}");
            let topology = format!("network.topology={topology}");
            match grain.ends_with("message") {
                true => sets.extend([grain.as_str(), topology.as_str()]),
                false => sets.push(&grain),
            }
            let time = latencies(&run(&text, &sets))[0];
            let expected = expected * MICROSECOND;
            // A hundred bytes at 100 GB/s on each link.
            let tolerance = pieces * 100 * NANOSECOND;
            prop_assert!(time.abs_diff(expected) <= tolerance, "{grain}: {time}, {expected}");
        }
    }
}
