//! `bfq`: bytes by weight.

use super::*;

const FAR: u64 = 100 << 30;

/// Bytes that processes 1 and 2 read in 60 seconds, each reading on as soon as
/// it can, in requests of 1 ms.
fn bytes(spec: &IoScheduler, size: u64) -> [f64; 2] {
    let service = |_: &Transfer, _: &mut Random<'_>| MILLISECOND;
    let first = [
        (Span::ZERO, transfer(Read, 1, 0, size)),
        (Span(1), transfer(Read, 2, FAR, size)),
    ];
    let until = Limits::until_seconds(60.0);
    let log = drive(spec, 1, service, &first, reads_on, until);
    [1, 2].map(|process| log.bytes(process, Time::NEVER) as f64)
}

/// Large requests end turns by their budgets, small ones by time.
#[test]
fn bytes_go_by_weight() {
    for size in [256 * KIB, 4 * KIB] {
        for (weights, ratio) in [(None, 1.0), (Some(vec![1, 300, 100]), 3.0)] {
            let [one, other] = bytes(&queue(bfq(weights), 1), size);
            assert!(
                (one / other / ratio - 1.0).abs() < 0.05,
                "{size} {one} {other}"
            );
            // Nothing is left idle.
            assert!((one + other) / size as f64 > 59_990.0);
        }
    }
}

/// B-WF2Q+ by hand: weights 2 and 1, and every turn takes its whole budget, of two requests at
/// first and then of three. Both start at the virtual time 0, which counts requests for a weight of
/// 1, and advances by a third of the sent bytes.
///
/// | virtual time | process 1: start, finish | process 2: start, finish | next |
/// | --- | --- | --- | --- |
/// | 0 | 0, 1 | 0, 2 | 1: two |
/// | 2/3 | 1, 2.5 | 0, 2 | 2: two, 1 has not started |
/// | 4/3 | 1, 2.5 | 2, 5 | 1: three |
/// | 7/3 | 2.5, 4 | 2, 5 | 2: three |
/// | 10/3 | 2.5, 4 | 5, 8 | 1: three |
/// | 13/3 | 4, 5.5 | 5, 8 | 1: three |
/// | 16/3 | 5.5, 7 | 5, 8 | 2: three |
#[test]
fn turns_go_by_virtual_finish() {
    let mut kind = bfq(Some(vec![1, 2, 1]));
    if let IoSchedulerKind::Bfq(bfq) = &mut kind {
        bfq.max_budget = Bytes(3 * 64 * KIB);
        bfq.timeout_sync = Seconds(10.0);
    }
    let request = |process, address| (Span::ZERO, transfer(Read, process, address, 64 * KIB));
    let one = (0..20).map(|n| request(1, n * MIB));
    let other = (0..20).map(|n| request(2, FAR + n * MIB));
    let log = script(&queue(kind, 1), &one.chain(other).collect::<Vec<_>>());
    let processes = log.processes();
    let runs: Vec<(u32, usize)> = processes
        .chunk_by(|a, b| a == b)
        .map(|run| (run[0], run.len()))
        .collect();
    assert_eq!(runs[..6], [(1, 2), (2, 2), (1, 3), (2, 3), (1, 6), (2, 3)]);
}

/// An empty queue keeps the device for 8 ms.
#[test]
fn a_process_is_waited_for() {
    let first = [(Span::ZERO, read(1, 0)), (Span(1), read(2, FAR))];
    let log = script(&queue(bfq(None), 1), &first);
    let times: Vec<u64> = log
        .issued
        .iter()
        .map(|seen| seen.at.0 / MILLISECOND.0)
        .collect();
    assert_eq!(times, [0, 9]);
}
