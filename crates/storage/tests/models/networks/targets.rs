//! Several devices behind one card, and devices that data streams through.

use crate::running::{MICROSECOND, NANOSECOND, SMALLEST, close, latencies, refusal, run, station};

const LATENCY: u64 = 10 * MICROSECOND;
/// 1 MB at 100 MB/s and at 50 MB/s.
const READ: u64 = 10_000 * MICROSECOND;
const WRITE: u64 = 20_000 * MICROSECOND;

#[test]
fn two_targets_work_side_by_side_behind_one_card() {
    let sets = ["servers.targets=2", "layout.unit=500 kB"];
    let outcome = run(SMALLEST, &sets);
    // Both halves are read at once and leave one after the other.
    let wire = (1_000_000 + 1500) * NANOSECOND;
    assert_eq!(latencies(&outcome), [4 * LATENCY + READ / 2 + wire]);
    let device = station(&outcome, "server/target/device");
    assert_eq!((device.copies, device.visits), (2, 2));
    // With a page cache of earlier writes.
    let cached = [
        "servers.targets=2",
        "layout.unit=500 kB",
        "servers.memory.cache=10 MB",
        "workload.0.phases=[\"write\", \"read\"]",
    ];
    let outcome = run(SMALLEST, &cached);
    assert_eq!(latencies(&outcome)[1], 2 * LATENCY + wire);
}

#[test]
fn neighbouring_stripes_lie_on_different_servers() {
    // Two servers of two targets each: a file over two targets is on both servers.
    let sets = [
        "servers.count=2",
        "servers.targets=2",
        "layout.servers=2",
        "layout.unit=500 kB",
    ];
    let outcome = run(SMALLEST, &sets);
    let card = station(&outcome, "server/card sending");
    close(card.utilisation, card.most_utilisation, 1e-9);
}

#[test]
fn data_streams_through_the_slowest_of_network_and_device() {
    let flow = ["network.grain=flow", "servers.streaming=true"];
    let read = latencies(&run(SMALLEST, &flow));
    close(read[0] as f64, (READ + 4 * LATENCY) as f64, 1e-9);
    let write = [flow[0], flow[1], "workload.0.phases=[\"write\"]"];
    let outcome = run(SMALLEST, &write);
    close(
        latencies(&outcome)[0] as f64,
        (WRITE + 4 * LATENCY) as f64,
        1e-9,
    );
    let device = station(&outcome, "network/target writing");
    close(
        device.utilisation * outcome.report.simulated_seconds,
        0.02,
        1e-9,
    );
    // Two targets take it at twice the rate.
    let two = [
        write[0],
        write[1],
        write[2],
        "servers.targets=2",
        "layout.unit=500 kB",
    ];
    let time = latencies(&run(SMALLEST, &two))[0];
    close(time as f64, (WRITE / 2 + 4 * LATENCY) as f64, 1e-9);
}

#[test]
fn where_nothing_can_stream_that_is_said() {
    for (sets, names) in [
        (vec!["servers.streaming=true"], "network.grain"),
        (
            vec![
                "servers.streaming=true",
                "network.grain=flow",
                "servers.memory.cache=1 MB",
            ],
            "servers.memory.cache",
        ),
        (
            vec![
                "servers.streaming=true",
                "network.grain=flow",
                "scheduler.kind=fifo",
            ],
            "scheduler.position",
        ),
        (
            vec![
                "servers.streaming=true",
                "network.grain=flow",
                "servers.device.time_per_request=1 ms",
            ],
            "time_per_request",
        ),
        (vec!["servers.targets=70000"], "servers.targets"),
    ] {
        let message = refusal(SMALLEST, &sets);
        assert!(message.contains(names), "{message}");
    }
}
