//! `cfq`: time in turn, by priority.

use super::*;

const FAR: u64 = 100 << 30;

/// Returns the requests that processes 1 and 2 complete in 20 seconds, each reading on as soon as
/// it can. Their requests take 1 ms and `other` ms.
fn requests(spec: &IoScheduler, other: u64) -> [u64; 2] {
    let service = move |transfer: &Transfer, _: &mut Random<'_>| match transfer.process {
        1 => MILLISECOND,
        _ => Span::from_millis(other),
    };
    let first = [(Span::ZERO, read(1, 0)), (Span(1), read(2, FAR))];
    let until = Limits::until_seconds(20.0);
    let log = drive(spec, 1, service, &first, reads_on, until);
    [1, 2].map(|process| log.bytes(process, Time::NEVER) / (4 * KIB))
}

/// A slice of 100 ms begins with the first completion: 101 requests in turn.
#[test]
fn equal_processes_get_equal_time() {
    let [one, other] = requests(&queue(cfq(None), 1), 1);
    assert!(one.abs_diff(other) <= 101, "{one} {other}");
    assert_eq!(one + other, 20_000);
    // With 5 ms each, the other gets 1 + 100 / 5 in 105 ms.
    let [one, other] = requests(&queue(cfq(None), 1), 5);
    let (rounds, rest) = (20_000 / (101 + 105), 21);
    assert!(one.abs_diff(rounds * 101) <= 101, "{one}");
    assert!(other.abs_diff(rounds * 21) <= rest, "{other}");
}

/// 180 ms at priority 0 and 40 ms at priority 7.
#[test]
fn time_goes_by_priority() {
    let priorities = Some(vec![4, 0, 7]);
    let [one, other] = requests(&queue(cfq(priorities), 1), 1);
    let rounds = 20_000 / (181 + 41);
    assert!(one.abs_diff(rounds * 181) <= 181, "{one}");
    assert!(other.abs_diff(rounds * 41) <= 41, "{other}");
}

/// An empty queue keeps the device for 8 ms.
#[test]
fn a_process_is_waited_for() {
    let first = [(Span::ZERO, read(1, 0)), (Span(1), read(2, FAR))];
    let log = script(&queue(cfq(None), 1), &first);
    let times: Vec<u64> = log
        .issued
        .iter()
        .map(|seen| seen.at.0 / MILLISECOND.0)
        .collect();
    assert_eq!(times, [0, 9]);
}

/// A read interrupts asynchronous writes, which go on afterwards.
#[test]
fn a_read_interrupts_writes() {
    let writes = (0..10).map(|n| (Span(n), write(1, n * MIB)));
    let first: Vec<_> = writes
        .chain([(Span::from_micros(3500), read(2, FAR))])
        .collect();
    let log = script(&queue(cfq(None), 1), &first);
    let place = log.processes().iter().position(|&process| process == 2);
    assert_eq!(place, Some(4));
    assert_eq!(log.done.len(), 11);
}

/// A slice has at most sixteen asynchronous writes.
#[test]
fn a_slice_of_writes_ends_after_sixteen() {
    let writes = (0..100).map(|n| (Span(n), write(1, n * MIB)));
    // Another queue of writes, by its priority.
    let others = (0..100).map(|n| (Span(n), write(2, FAR + n * MIB)));
    let first: Vec<_> = writes.chain(others).collect();
    let mut spec = queue(cfq(Some(vec![4, 4, 5])), 1);
    spec.requests = 1000;
    let log = script(&spec, &first);
    let processes = log.processes();
    let runs: Vec<(u32, usize)> = processes
        .chunk_by(|a, b| a == b)
        .map(|run| (run[0], run.len()))
        .collect();
    // Priority 5 has twelve.
    assert_eq!(runs[..4], [(1, 16), (2, 12), (1, 16), (2, 12)]);
}
