//! One request without contention: its latency to the picosecond.

use crate::running::{MICROSECOND, NANOSECOND, SMALLEST, latencies, run};

/// With Ethernet frames and messages of 156 B around the data.
const FRAMES: [&str; 3] = [
    "network.header=40 B",
    "network.framing=38 B",
    "network.message=156 B",
];

/// 156 B in one frame.
const ASK: u64 = 156 + 78;
/// 1,000,156 B in 686 frames of at most 1,460 B.
const DATA: u64 = 1_000_156 + 686 * 78;
/// A full frame and what the wire carries around it.
const FRAME: u64 = 1538;
const LATENCY: u64 = 10 * MICROSECOND;
/// 1 MB at 100 MB/s.
const READ: u64 = 10_000 * MICROSECOND;
/// 1 MB at 50 MB/s.
const WRITE: u64 = 20_000 * MICROSECOND;

/// Through a star of equal cards at 1 ns a byte. The message's first frame
/// reaches the switch, then the whole message goes through the receiver's card.
fn star(wire: u64) -> u64 {
    (wire.min(FRAME) + wire) * NANOSECOND + LATENCY
}

/// Over a link between two hosts.
fn pair(wire: u64) -> u64 {
    wire * NANOSECOND + LATENCY
}

fn one(sets: &[&str]) -> u64 {
    let latencies = latencies(&run(SMALLEST, sets));
    assert_eq!(latencies.len(), 1);
    latencies[0]
}

fn with<'a>(sets: &[&'a str]) -> Vec<&'a str> {
    FRAMES.iter().chain(sets).copied().collect()
}

#[test]
fn with_frames_through_a_star() {
    for duplex in ["network.duplex=full", "network.duplex=half"] {
        let metadata = star(ASK) + 30 * MICROSECOND + star(ASK);
        let read = star(ASK) + READ + star(DATA);
        let time = "metadata.time_per_operation=30 us";
        assert_eq!(one(&with(&[duplex, time])), metadata + read);
        let write = star(DATA) + WRITE + star(ASK);
        let sets = with(&[duplex, time, "workload.0.phases=[\"write\"]"]);
        assert_eq!(one(&sets), metadata + write);
    }
}

#[test]
fn with_frames_between_pairs() {
    for duplex in ["network.duplex=full", "network.duplex=half"] {
        let topology = "network.topology=pairs";
        let metadata = 2 * pair(ASK);
        let read = pair(ASK) + READ + pair(DATA);
        assert_eq!(one(&with(&[duplex, topology])), metadata + read);
        let write = pair(DATA) + WRITE + pair(ASK);
        let sets = with(&[duplex, topology, "workload.0.phases=[\"write\"]"]);
        assert_eq!(one(&sets), metadata + write);
    }
}

#[test]
fn without_headers_a_question_takes_the_latency_only() {
    let expected = 3 * LATENCY + READ + pair(1_000_000);
    assert_eq!(one(&["network.topology=pairs"]), expected);
    // Only the data's first 1,500 B pass two cards one after the other.
    assert_eq!(one(&[]), expected + 1500 * NANOSECOND);
}

#[test]
fn the_slowest_card_sets_the_time_of_a_transfer_once() {
    // 10 ns a byte at one end, 1 ns at the other.
    let slow = 10 * NANOSECOND;
    let rest = 3 * LATENCY + READ;
    let server = one(&["servers.card.bandwidth=100 MB/s"]);
    assert_eq!(server, rest + 1_000_000 * slow + LATENCY);
    let client = one(&["clients.card.bandwidth=100 MB/s"]);
    let first_frame = 1500 * NANOSECOND;
    assert_eq!(client, rest + first_frame + 1_000_000 * slow + LATENCY);
    let both = one(&[
        "clients.card.bandwidth=100 MB/s",
        "servers.card.bandwidth=100 MB/s",
    ]);
    assert_eq!(both, rest + (1500 + 1_000_000) * slow + LATENCY);
}

#[test]
fn the_layout_is_asked_once_unless_nothing_is_remembered() {
    // Ten requests to one file.
    let ten = ["workload.0.transfer=100 kB"];
    let data = |bytes: u64| (bytes + 1500) * NANOSECOND + 2 * LATENCY + bytes * 10 * NANOSECOND;
    let latencies_of = |more: &[&str]| {
        let sets: Vec<&str> = ten.iter().chain(more).copied().collect();
        latencies(&run(SMALLEST, &sets))
    };
    let known = latencies_of(&[]);
    assert_eq!(known.len(), 10);
    assert_eq!(known[0], data(100_000) + 2 * LATENCY);
    assert!(known[1..].iter().all(|&it| it == data(100_000)));
    let forgotten = latencies_of(&["metadata.client_cache=false"]);
    assert!(
        forgotten
            .iter()
            .all(|&it| it == data(100_000) + 2 * LATENCY)
    );
}

#[test]
fn daemon_memory_and_device_add_up() {
    let sets = [
        "network.topology=pairs",
        "servers.daemon.time_per_job=7 us",
        "servers.device.time_per_request=5 ms",
        "servers.memory.cache=4 MB",
        "servers.memory.page=1 kB",
        "servers.memory.rate=500 MB/s",
    ];
    let copy = 2_000 * MICROSECOND;
    let expected =
        3 * LATENCY + pair(1_000_000) + 7 * MICROSECOND + 5_000 * MICROSECOND + READ + copy;
    assert_eq!(one(&sets), expected);
}

/// A request over four servers is done when its last piece is. The client's
/// card receives the four replies, which leave the servers at once, one after
/// the other.
#[test]
fn pieces_meet_at_the_clients_card() {
    let sets = [
        "servers.count=4",
        "layout.unit=250 kB",
        "servers.device.read_rate=100 MB/s",
    ];
    let piece = 250_000 * NANOSECOND;
    let first_frame = 1500 * NANOSECOND;
    let expected = 4 * LATENCY + 10 * piece + first_frame + 4 * piece;
    assert_eq!(one(&sets), expected);
}

/// A packet limit makes ten jobs of one piece; the device reads one while the
/// network carries the one before.
#[test]
fn packets_overlap_device_and_network() {
    let sets = ["layout.packet=100 kB"];
    let packet = 100_000 * NANOSECOND;
    let expected = 4 * LATENCY + 10 * 10 * packet + 1500 * NANOSECOND + packet;
    assert_eq!(one(&sets), expected);
}
