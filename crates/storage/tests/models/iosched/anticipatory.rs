//! `anticipatory`: whether it waits, and what that gains.

use super::*;

const FAR: u64 = 100 << 30;

/// Returns the dispatch times of a process's requests.
fn issued(log: &Log, process: u32) -> Vec<u64> {
    let own = log
        .issued
        .iter()
        .filter(|seen| seen.transfer.process == process);
    own.map(|seen| seen.at.0 / Span::from_micros(1).0).collect()
}

fn at(microseconds: u64, transfer: Transfer) -> (Span, Transfer) {
    (Span::from_micros(microseconds), transfer)
}

/// A process that asks no more is waited for 6 ms, one that asks again not longer.
#[test]
fn a_process_is_waited_for() {
    let spec = queue(anticipatory(), 1);
    let log = script(&spec, &[at(0, read(1, 0)), at(10, read(2, FAR))]);
    assert_eq!(issued(&log, 2), [7000]);
    let log = script(
        &spec,
        &[
            at(0, read(1, 0)),
            at(10, read(2, FAR)),
            at(3000, read(1, 4 * KIB)),
        ],
    );
    assert_eq!(issued(&log, 1), [0, 3000]);
    assert_eq!(issued(&log, 2), [10_000]);
}

/// A near request of another process goes at once: 4 MiB ahead is near.
#[test]
fn a_near_request_is_not_kept_waiting() {
    let spec = queue(anticipatory(), 1);
    for (distance, when) in [(4 * MIB, 1000), (4 * MIB + 4 * KIB, 2000), (9 * MIB, 3000)] {
        let log = script(
            &spec,
            &[at(0, read(1, 0)), at(10, read(2, 4 * KIB + distance))],
        );
        // Waiting doubles the near distance every millisecond, but a request must arrive.
        let expected = if distance > 4 * MIB { 7000 } else { when };
        assert_eq!(issued(&log, 2), [expected]);
    }
}

/// A process that thinks for long is not waited for, once that is known.
#[test]
fn a_thinker_is_not_waited_for() {
    let first: Vec<_> = (0..4)
        .map(|n| at(16_000 * n, read(1, n * 4 * KIB)))
        .chain([at(48_010, read(2, FAR))])
        .collect();
    let log = script(&queue(anticipatory(), 1), &first);
    assert_eq!(issued(&log, 2), [49_000]);
}

/// Asynchronous writes are not anticipated, and reads come first.
#[test]
fn batches_read_before_they_write() {
    let first = [
        at(0, read(1, 0)),
        at(10, write(2, FAR)),
        at(20, read(1, MIB)),
    ];
    let log = script(&queue(anticipatory(), 1), &first);
    assert_eq!(log.processes(), [1, 1, 2]);
    assert_eq!(issued(&log, 2), [8000]);
}

/// Two processes that read files on the two ends of a disk. Seeks between them
/// take 8 ms, each request 1 ms, and thinking 1 ms.
#[test]
fn two_sequential_readers_gain() {
    let requests = |kind| {
        let mut head = 0;
        let service = move |transfer: &Transfer, _: &mut Random<'_>| {
            let seek = if transfer.address == head { 0 } else { 8 };
            head = transfer.end();
            Span::from_millis(1 + seek)
        };
        let next: Next = |transfer| Some((MILLISECOND, read(transfer.process, transfer.end())));
        let first = [at(0, read(1, MIB)), at(1, read(2, FAR))];
        let until = Limits::until_seconds(10.0);
        let log = drive(&queue(kind, 1), 1, service, &first, next, until);
        [1, 2].map(|process| log.bytes(process, Time::NEVER) / (4 * KIB))
    };
    // In turn, 9 ms each.
    let [one, other] = requests(deadline());
    assert_eq!(one + other, 1111);
    // Each process until the other's request expires, after 125 ms: 9 ms, and
    // then 2 ms for each request.
    let [one, other] = requests(anticipatory());
    let turn = 1 + (125 - 9) / 2;
    let expected = 10_000 / 125 * turn;
    assert!(
        (one + other).abs_diff(expected) < expected / 20,
        "{one} {other} {expected}"
    );
    // Expiry is checked every 125 ms: it may take two checks.
    assert!(one.min(other) > expected / 4, "{one} {other}");
}
