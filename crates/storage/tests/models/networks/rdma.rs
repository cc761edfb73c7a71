//! RDMA: messages of a job, and the processors that they pass by.

use crate::messages::{LATENCY, WRITE, alone, data, read, written};
use crate::running::{MICROSECOND, NANOSECOND, SMALLEST, busy, close, latencies, refusal, run};

const RDMA: [&str; 2] = ["messages.kind=rdma", "messages.read_request=0 B"];

fn one(sets: &[&str]) -> u64 {
    alone(&RDMA, sets)
}

/// A read takes the request and the data, behind which the answer comes. A write takes the
/// request, the RDMA Read's request, the data and the answer.
#[test]
fn a_read_takes_two_latencies_and_a_write_four() {
    let all = 1_000_000;
    assert_eq!(one(&[]), LATENCY + read(all) + data(all));
    assert_eq!(
        one(&[WRITE]),
        2 * LATENCY + data(all) + written(all) + LATENCY
    );
}

#[test]
fn operations_follow_each_other() {
    let part = 250_000;
    let sets = ["messages.buffer=250 kB", "messages.buffers=1"];
    // The next part is read from the device while the last one is on its way.
    assert_eq!(one(&sets), LATENCY + 4 * read(part) + data(part));
    let each = LATENCY + data(part) + written(part);
    assert_eq!(
        one(&[sets[0], sets[1], WRITE]),
        LATENCY + 4 * each + LATENCY
    );
    let sets = ["messages.buffer=250 kB", "messages.buffers=4", WRITE];
    let expected = 2 * LATENCY + data(part) + 4 * written(part) + LATENCY;
    assert_eq!(one(&sets), expected);
}

#[test]
fn small_jobs_carry_their_data() {
    let sets = [WRITE, "network.message=100 B", "network.bandwidth=1 TB/s"];
    let of = |limit: &str| {
        let limit = format!("messages.inline_limit={limit}");
        one(&[&sets[..], &[&limit]].concat())
    };
    let more = of("1000099 B") - of("1000100 B");
    close(more as f64, 2.0 * LATENCY as f64, 1e-3);
}

/// The client's processor sends two requests and receives two answers, however many operations
/// move the data, and however slowly it copies bytes. The server's starts each operation, and
/// hears of the end of RDMA Reads.
#[test]
fn the_clients_processor_has_no_part_in_the_data() {
    let times = [
        "hosts.cpu.send=3 us",
        "hosts.cpu.receive=4 us",
        "hosts.cpu.send_rate=1 MB/s",
        "hosts.cpu.receive_rate=1 MB/s",
        "messages.buffer=250 kB",
    ];
    for (phase, server) in [
        // Two messages of the server's in each direction, and four operations.
        ("read", 4 + 3 + 4 * 3),
        ("write", 4 + 3 + 4 * (3 + 4)),
    ] {
        let phase = format!("workload.0.phases=[\"{phase}\"]");
        let sets = [&RDMA[..], &times, &[&phase]].concat();
        let outcome = run(SMALLEST, &sets);
        close(busy(&outcome, "client/cpu"), 14e6, 1e-9);
        close(busy(&outcome, "server/cpu"), f64::from(server) * 1e6, 1e-9);
    }
    // Messages: request, data, answer; the server sends data and answer at once.
    let (send, receive) = (3 * MICROSECOND, 4 * MICROSECOND);
    let layout = 2 * (send + receive);
    assert_eq!(
        one(&times[..2]),
        one(&[]) + layout + send + receive + send + receive
    );
    let write = [times[0], times[1], WRITE];
    let more = layout + 3 * (send + receive);
    assert_eq!(one(&write), one(&[WRITE]) + more);
}

/// At every grain, all data and the answer have come before a job ends.
#[test]
fn all_grains_carry_rdma() {
    let credits = ["network.grain=packet", "network.flow_control=credits"];
    for grain in [&["network.grain=flow"][..], &credits[..1], &credits] {
        for phase in ["read", "write"] {
            let phase = format!("workload.0.phases=[\"{phase}\"]");
            let sets = [&RDMA[..], grain, &["messages.buffer=64 KiB", &phase]].concat();
            let outcome = run(SMALLEST, &sets);
            let moved: u64 = outcome.report.operations.values().map(|it| it.bytes).sum();
            assert_eq!(moved, 1_000_000);
            assert!(latencies(&outcome)[0] > 1_000_000 * NANOSECOND);
        }
    }
}

#[test]
fn rdma_that_does_not_fit_is_refused() {
    for (sets, words) in [
        (vec!["messages.buffer=0 B"], "messages.buffer"),
        (
            vec!["scheduler.kind=fifo", "scheduler.position=gateway"],
            "gateway",
        ),
    ] {
        let message = refusal(SMALLEST, &[&RDMA[..], &sets].concat());
        assert!(message.contains(words), "{message}");
    }
}
