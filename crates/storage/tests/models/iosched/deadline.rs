//! `deadline` and `mq-deadline`: known orders.

use super::*;

fn at(milliseconds: u64, transfer: Transfer) -> (Span, Transfer) {
    (Span::from_millis(milliseconds), transfer)
}

fn in_mib(log: &Log) -> Vec<u64> {
    log.addresses()
        .iter()
        .map(|address| address / MIB)
        .collect()
}

/// By rising address from where the last was, then from the oldest.
#[test]
fn requests_go_by_address() {
    let waiting = [7, 3, 9, 1].map(|n| (Span(1), read(n, u64::from(n) * MIB)));
    let mut first = vec![at(0, read(0, 5 * MIB))];
    first.extend(waiting);
    for kind in [deadline(), mq_deadline()] {
        // Past 9 nothing lies ahead, and of 3 and 1 the former is older.
        let log = script(&queue(kind, 1), &first);
        assert_eq!(in_mib(&log), [5, 7, 9, 3, 1]);
    }
}

/// A batch is 16 requests; writes are passed over twice.
#[test]
fn writes_wait_for_two_batches_of_reads() {
    let mut first = vec![at(0, read(0, 0))];
    first.extend((1..100).map(|n| (Span(1), read(n, u64::from(n) * MIB))));
    first.extend((1..20).map(|n| (Span(1), write(1000 + n, 500 * MIB + u64::from(n) * MIB))));
    for kind in [deadline(), mq_deadline()] {
        let log = script(&queue(kind, 1), &first);
        let writes: Vec<bool> = log
            .issued
            .iter()
            .map(|seen| seen.transfer.operation == Write)
            .collect();
        // The first batch began before there were writes.
        let runs: Vec<(bool, usize)> = writes
            .chunk_by(|a, b| a == b)
            .map(|run| (run[0], run.len()))
            .collect();
        assert_eq!(
            runs,
            [(false, 48), (true, 16), (false, 32), (true, 3), (false, 20)]
        );
    }
}

/// A read far behind is served when its half second is over, once the batch is.
#[test]
fn no_read_waits_much_longer_than_its_deadline() {
    // A stream of reads ahead of the head, each 1 ms, and one behind.
    let mut first: Vec<_> = (0..1000)
        .map(|n| (Span::from_micros(990 * n), read(1, 100 * MIB + n * MIB)))
        .collect();
    first.push((Span::from_millis(1), read(2, 0)));
    let mut spec = queue(deadline(), 1);
    spec.requests = 10_000;
    let log = script(&spec, &first);
    let behind = log.issued.iter().find(|seen| seen.transfer.process == 2);
    let waited = behind.map(|seen| seen.at.as_seconds()).unwrap_or_default();
    assert!((0.501..0.501 + 0.017).contains(&waited), "{waited}");
}

/// The same for a write, with five seconds, while reads never end. Here the
/// bound on starvation lets it through, after two batches.
#[test]
fn no_write_starves() {
    let mut first: Vec<_> = (0..1000)
        .map(|n| (Span::from_micros(900 * n), read(1, 100 * MIB + n * MIB)))
        .collect();
    first.push((Span::from_micros(1), write(2, 0)));
    let mut spec = queue(deadline(), 1);
    spec.requests = 10_000;
    let log = script(&spec, &first);
    let place = log.processes().iter().position(|&process| process == 2);
    // Reads alone for a while: nothing else waits at their batches' beginnings.
    assert!(place.is_some_and(|place| place <= 3 * 16), "{place:?}");
}

/// After a batch of writes, `mq-deadline` goes on reading where it was and
/// `deadline` starts at the oldest read.
#[test]
fn mq_deadline_remembers_positions() {
    // Reads come in falling order, so that the oldest is the highest.
    let mut first = vec![at(0, read(0, 0))];
    first.extend((1..=60).map(|n| (Span(u64::from(n)), read(n, u64::from(61 - n) * MIB))));
    first.push((Span(1), write(1000, 500 * MIB)));
    let after_write = |kind| {
        let log = script(&queue(kind, 1), &first);
        let place = log.processes().iter().position(|&process| process == 1000);
        place.map(|place| (place, in_mib(&log)[place - 1], in_mib(&log)[place + 1]))
    };
    // A batch of 16 from address 0, one more, and from there on.
    assert_eq!(after_write(mq_deadline()), Some((48, 47, 48)));
    assert_eq!(after_write(deadline()), Some((48, 47, 60)));
}
