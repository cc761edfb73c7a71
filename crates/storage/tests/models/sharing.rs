//! Two requests that want the same thing.

use crate::running::{MICROSECOND, NANOSECOND, SMALLEST, latencies, run};

const LATENCY: u64 = 10 * MICROSECOND;
const DATA: u64 = 1_000_000 * NANOSECOND;
const FRAME: u64 = 1500 * NANOSECOND;
/// A device that takes 1 ns for 1 MB.
const NO_DEVICE: &str = "servers.device.read_rate=1000 TB/s";

#[test]
fn two_replies_leave_a_servers_card_one_after_the_other() {
    let got = latencies(&run(SMALLEST, &["clients.count=2", NO_DEVICE]));
    let first = 4 * LATENCY + NANOSECOND + FRAME + DATA;
    assert_eq!(got, [first, first + DATA]);
}

#[test]
fn pairs_share_no_card() {
    let got = latencies(&run(
        SMALLEST,
        &["clients.count=2", NO_DEVICE, "network.topology=pairs"],
    ));
    let first = 4 * LATENCY + NANOSECOND + DATA;
    // The second waits for the device only.
    assert_eq!(got, [first, first + NANOSECOND]);
}

/// A client writes while it reads: one card carries both ways at once only if
/// it is full duplex.
#[test]
fn half_duplex_carries_one_way_at_a_time() {
    let text = SMALLEST.to_owned() + "[[workload]]\nblock = \"1 MB\"\nphases = [\"write\"]\n";
    let sets = [
        "network.topology=pairs",
        NO_DEVICE,
        "servers.device.write_rate=1000 TB/s",
        "network.latency=0 s",
    ];
    // The write goes out at once; the read's answer comes back at the same
    // time, or after it.
    let full = latencies(&run(&text, &sets));
    assert_eq!(full, [DATA + NANOSECOND, DATA + NANOSECOND]);
    let half: Vec<&str> = sets
        .iter()
        .chain(&["network.duplex=half"])
        .copied()
        .collect();
    let half = latencies(&run(&text, &half));
    // The read's data waits behind the written data, and the acknowledgement of
    // the write, which is no longer than nothing, waits behind the read's data.
    assert_eq!(half, [2 * DATA, 2 * DATA]);
}

/// Devices serve one transfer at a time.
#[test]
fn two_reads_at_one_device() {
    let got = latencies(&run(SMALLEST, &["clients.count=2"]));
    let read = 10_000 * MICROSECOND;
    let first = 4 * LATENCY + read + FRAME + DATA;
    assert_eq!(got, [first, first + read]);
}

#[test]
fn a_daemon_with_two_threads_handles_two_jobs_at_once() {
    let of = |threads: &str| {
        let sets = [
            "clients.count=4",
            "servers.daemon.time_per_job=1 ms",
            "network.topology=pairs",
            NO_DEVICE,
            threads,
        ];
        latencies(&run(SMALLEST, &sets))
    };
    let free = 4 * LATENCY + DATA;
    let millis = 1_000 * MICROSECOND;
    assert_eq!(
        of("servers.daemon.threads=1"),
        [1, 2, 3, 4].map(|turn| free + turn * millis + NANOSECOND)
    );
    let two = of("servers.daemon.threads=2");
    let rounds: Vec<u64> = two.iter().map(|it| (it - free) / millis).collect();
    assert_eq!(rounds, [1, 1, 2, 2]);
}

#[test]
fn a_metadata_server_answers_one_after_the_other() {
    let sets = [
        "clients.count=3",
        "metadata.time_per_operation=1 ms",
        "network.topology=pairs",
        NO_DEVICE,
    ];
    let free = 4 * LATENCY + DATA + NANOSECOND;
    let millis = 1_000 * MICROSECOND;
    let expected = [1, 2, 3].map(|turn| free + turn * millis);
    assert_eq!(latencies(&run(SMALLEST, &sets)), expected);
}
