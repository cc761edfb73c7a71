//! The grain of flows, against times worked out by hand.

use crate::running::{
    MICROSECOND, NANOSECOND, SMALLEST, close, last, latencies, refusal, run, station,
};

const FLOW: &str = "network.grain=flow";
const LATENCY: u64 = 10 * MICROSECOND;
/// 1 MB at 100 MB/s and at 50 MB/s.
const READ: u64 = 10_000 * MICROSECOND;
const WRITE: u64 = 20_000 * MICROSECOND;

#[test]
fn one_message_alone_takes_its_bytes_and_the_latency_once() {
    // 156 B in one frame, and 1,000,156 B in 686 frames of at most 1,460 B.
    let ask = (156 + 78) * NANOSECOND + LATENCY;
    let data = (1_000_156 + 686 * 78) * NANOSECOND + LATENCY;
    let frames = [
        FLOW,
        "network.header=40 B",
        "network.framing=38 B",
        "network.message=156 B",
    ];
    for duplex in ["network.duplex=full", "network.duplex=half"] {
        let mut sets = frames.to_vec();
        sets.push(duplex);
        let read = latencies(&run(SMALLEST, &sets));
        assert_eq!(read, [2 * ask + ask + READ + data]);
        sets.push("workload.0.phases=[\"write\"]");
        let written = latencies(&run(SMALLEST, &sets));
        assert_eq!(written, [2 * ask + data + WRITE + ask]);
    }
}

/// A device that takes no time worth speaking of.
const NO_DEVICE: [&str; 2] = [
    "servers.device.read_rate=1000000 TB/s",
    "servers.device.write_rate=1000000 TB/s",
];

fn with<'a>(sets: &[&'a str]) -> Vec<&'a str> {
    let all = [FLOW].into_iter().chain(NO_DEVICE);
    all.chain(sets.iter().copied()).collect()
}

#[test]
fn equal_transfers_through_one_card_share_it() {
    for (phase, link) in [
        ("read", "network/server card sending"),
        ("write", "network/server card receiving"),
    ] {
        let phases = format!("workload.0.phases=[\"{phase}\"]");
        let outcome = run(SMALLEST, &with(&["clients.count=7", &phases]));
        let times = latencies(&outcome);
        assert_eq!(times.len(), 7);
        for time in times {
            // Question and answer of the metadata server, and the way of the request.
            let expected = 7_000_000 * NANOSECOND + 4 * LATENCY;
            close(time as f64, expected as f64, 1e-8);
        }
        let card = station(&outcome, link);
        let total = outcome.report.simulated_seconds;
        close(card.utilisation * total, 7e-3, 1e-9);
        assert_eq!(card.visits, 7);
    }
}

#[test]
fn a_slow_card_leaves_the_rest_to_the_others() {
    // Two clients at 100 MB/s and one server at 1 GB/s: no client is limited by another.
    let slow = with(&["clients.count=2", "clients.card.bandwidth=100 MB/s"]);
    for time in latencies(&run(SMALLEST, &slow)) {
        let expected = 10_000_000 * NANOSECOND + 4 * LATENCY;
        close(time as f64, expected as f64, 1e-8);
    }
}

#[test]
fn the_link_that_is_full_is_named() {
    let sets = with(&[
        "clients.count=4",
        "workload.0.segments=10",
        "servers.count=2",
        "layout.servers=1",
        "layout.first=zero",
    ]);
    let report = run(SMALLEST, &sets).report;
    let verdict = report.bottleneck;
    let name = "system/network/server card sending";
    assert_eq!(verdict.station.as_deref(), Some(name), "{verdict:?}");
    assert!(verdict.saturated);
    assert!(
        verdict.sentence.contains("(server 0 card sending)"),
        "{verdict:?}"
    );
    // Without it, four clients' cards at a quarter of their rate each.
    close(verdict.most_gain.unwrap_or(0.0), 4.0, 0.1);
}

#[test]
fn rates_found_less_often_lose_at_most_an_interval_each_time() {
    let exact = run(SMALLEST, &with(&["clients.count=3"]));
    let sets = with(&["clients.count=3", "network.interval=1 ms"]);
    let rough = run(SMALLEST, &sets);
    // The card idles while a flow that could use it waits for its rate.
    let (exact, rough) = (last(&exact).0, last(&rough).0);
    assert!(rough + 10 >= exact, "{rough} {exact}");
    assert!(rough <= exact + 2 * 1000 * MICROSECOND);
}

#[test]
fn what_does_not_fit_is_refused() {
    let pairs = refusal(SMALLEST, &[FLOW, "network.topology=pairs"]);
    assert!(pairs.contains("network.grain"), "{pairs}");
    let interval = refusal(SMALLEST, &["network.interval=1 ms"]);
    assert!(interval.contains("network.interval"), "{interval}");
}

/// A request of four jobs, written by a device as fast as the network. The device works on a job
/// while the next one is on its way, as at the grain of messages.
#[test]
fn jobs_of_one_request_reach_a_server_one_after_the_other() {
    let sets = |grain| {
        [
            grain,
            "layout.unit=4 MB",
            "layout.packet=1 MB",
            "workload.0.block=4 MB",
            "workload.0.phases=[\"write\"]",
            "servers.device.write_rate=1 GB/s",
        ]
    };
    // A millisecond for each job on the way, and one for the last at the device.
    let expected = 5_000_000 * NANOSECOND + 4 * LATENCY;
    for grain in [FLOW, "network.grain=message"] {
        let times = latencies(&run(SMALLEST, &sets(grain)));
        // At the grain of messages a packet of 1,500 B is between the two cards.
        close(times[0] as f64, expected as f64, 1e-3);
    }
    // Two clients share the server's card, and each has its jobs in order there.
    let two: Vec<&str> = sets(FLOW).into_iter().chain(["clients.count=2"]).collect();
    let outcome = run(SMALLEST, &two);
    // Jobs arrive in pairs every 2 ms, and the device needs 1 ms for each.
    let expected = 10_000_000 * NANOSECOND + 4 * LATENCY;
    let latest = latencies(&outcome).into_iter().max();
    close(latest.unwrap_or(0) as f64, expected as f64, 1e-3);
}
