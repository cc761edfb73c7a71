//! Merging of requests.

use super::*;

fn at_once(transfers: impl IntoIterator<Item = Transfer>) -> Vec<(Span, Transfer)> {
    transfers.into_iter().map(|one| (Span::ZERO, one)).collect()
}

/// Returns the dispatched ranges as (address, size).
fn ranges(log: &Log) -> Vec<(u64, u64)> {
    log.issued
        .iter()
        .map(|seen| (seen.transfer.address, seen.transfer.size))
        .collect()
}

/// Contiguous writes of one batch go as one, and each comes back with its size.
#[test]
fn a_batch_of_contiguous_writes_is_one_request() {
    for kind in every_kind() {
        let log = script(
            &queue(kind, 1),
            &at_once((0..20).map(|n| write(0, n * 4 * KIB))),
        );
        assert_eq!(ranges(&log), [(0, 80 * KIB)]);
        assert_eq!(log.done.len(), 20);
        for (n, seen) in log.done.iter().enumerate() {
            let Transfer {
                address,
                size,
                absorbed,
                owner,
                ..
            } = seen.transfer;
            assert_eq!((address, size, owner), (n as u64 * 4 * KIB, 4 * KIB, None));
            assert_eq!((absorbed, seen.at), (n > 0, Time(MILLISECOND.0)));
        }
    }
}

/// Transfers to new and to old blocks become one request, in either order. The request has the
/// new blocks of all its transfers; each transfer returns with its own.
#[test]
fn a_request_has_the_new_blocks_of_all_its_transfers() {
    let new = Transfer {
        first_used: 1,
        ..write(0, 4 * KIB)
    };
    let some = Transfer {
        first_used: 2,
        ..transfer(Write, 0, 8 * KIB, 16 * KIB)
    };
    let old = write(0, 0);
    for kind in every_kind() {
        for batch in [[old, new, some], [new, some, old], [some, new, old]] {
            let log = script(&queue(kind.clone(), 1), &at_once(batch));
            assert_eq!(ranges(&log), [(0, 24 * KIB)]);
            assert_eq!(log.issued[0].transfer.first_used, 3);
            let back = log.done.iter().map(|seen| seen.transfer);
            let back: Vec<_> = back.map(|it| (it.address, it.first_used)).collect();
            assert_eq!(back, [(0, 0), (4 * KIB, 1), (8 * KIB, 2)]);
        }
    }
}

/// Within a batch, a transfer may also lie before the one that arrived last.
/// One after a gap is sorted in when the batch goes on.
#[test]
fn a_batch_is_sorted_before_it_goes_on() {
    for kind in every_kind() {
        let batch = [40, 36, 8, 0, 4].map(|block| read(0, block * KIB));
        let log = script(&queue(kind, 1), &at_once(batch));
        // 40 and 36 meet; 8 begins a request, 0 another, which takes 4 along,
        // and sorting brings 0..8 before 8..12.
        assert_eq!(ranges(&log), [(0, 12 * KIB), (36 * KIB, 8 * KIB)]);
    }
}

/// A batch without neighbours goes on in pieces of 32 requests; the first piece
/// does not know of the second.
#[test]
fn a_plug_holds_32_requests() {
    let batch = (0..40).rev().map(|n| read(0, n * MIB));
    let log = script(&queue(none(), 1), &at_once(batch));
    let order: Vec<u64> = log
        .addresses()
        .iter()
        .map(|address| address / MIB)
        .collect();
    let expected: Vec<u64> = (8..40).chain(0..8).collect();
    assert_eq!(order, expected);
}

/// Once the last request has 128 KiB, the next one sends all on.
#[test]
fn a_plug_is_flushed_behind_a_large_request() {
    let large = |address| transfer(Read, 0, address, 128 * KIB);
    let log = script(
        &queue(none(), 1),
        &at_once([large(9 * MIB), large(5 * MIB), large(MIB)]),
    );
    assert_eq!(log.addresses(), [9 * MIB, 5 * MIB, MIB]);
    let small = |address| transfer(Read, 0, address, 127 * KIB);
    let log = script(
        &queue(none(), 1),
        &at_once([small(9 * MIB), small(5 * MIB), small(MIB)]),
    );
    assert_eq!(log.addresses(), [MIB, 5 * MIB, 9 * MIB]);
}

#[test]
fn no_request_is_larger_than_the_largest() {
    let mut spec = queue(deadline(), 1);
    spec.largest_request = Bytes(16 * KIB);
    let log = script(&spec, &at_once((0..10).map(|n| write(0, n * 4 * KIB))));
    assert_eq!(
        ranges(&log),
        [(0, 16 * KIB), (16 * KIB, 16 * KIB), (32 * KIB, 8 * KIB)]
    );
}

/// While one request is served, others come one by one: behind, before, between.
#[test]
fn what_waits_takes_others_along() {
    let later = |microseconds, transfer| (Span::from_micros(microseconds), transfer);
    let busy = later(0, write(0, MIB));
    let (a, b, c) = (write(0, 0), write(1, 4 * KIB), write(2, 8 * KIB));
    let orders = [
        [a, b, c],
        [a, c, b],
        [b, a, c],
        [b, c, a],
        [c, a, b],
        [c, b, a],
    ];
    for order in orders {
        let first = [
            busy,
            later(1, order[0]),
            later(2, order[1]),
            later(3, order[2]),
        ];
        for kind in [deadline(), mq_deadline()] {
            let log = script(&queue(kind, 1), &first);
            assert_eq!(ranges(&log), [(MIB, 4 * KIB), (0, 12 * KIB)]);
            assert_eq!(log.done.len(), 4);
        }
    }
    // noop merges only behind: c and b stay apart, a and b come together.
    let first = [busy, later(1, c), later(2, a), later(3, b)];
    let log = script(&queue(noop(), 1), &first);
    assert_eq!(ranges(&log), [(MIB, 4 * KIB), (0, 12 * KIB)]);
    let first = [busy, later(1, c), later(2, b), later(3, a)];
    let log = script(&queue(noop(), 1), &first);
    let apart = [
        (MIB, 4 * KIB),
        (8 * KIB, 4 * KIB),
        (4 * KIB, 4 * KIB),
        (0, 4 * KIB),
    ];
    assert_eq!(ranges(&log), apart);
}

/// Without a scheduler only the last eight that wait are checked.
#[test]
fn without_a_scheduler_the_last_eight_take_others_along() {
    for (others, requests) in [(7, 9), (8, 11)] {
        let waiting = (1..=others).map(|n| read(n, u64::from(n) * MIB));
        let all = std::iter::once(read(100, 90 * MIB))
            .chain([read(0, 0)])
            .chain(waiting);
        let all = all.chain([read(50, 4 * KIB)]);
        let first: Vec<_> = all
            .enumerate()
            .map(|(n, one)| (Span::from_micros(n as u64), one))
            .collect();
        let log = script(&queue(none(), 1), &first);
        assert_eq!(log.issued.len(), requests);
    }
}

/// Reads and writes, and writes that must be on the medium, stay apart.
#[test]
fn different_requests_stay_apart() {
    let mut forced = write(0, 8 * KIB);
    forced.forced = true;
    for kind in every_kind() {
        let log = script(
            &queue(kind, 1),
            &at_once([write(0, 0), read(0, 4 * KIB), forced, write(0, 12 * KIB)]),
        );
        assert_eq!(log.issued.len(), 4);
    }
}

/// Flushes pass by what waits; those that come while one is out are done by one.
#[test]
fn flushes_go_together() {
    let flush = transfer(Operation::Sync, 0, 0, 0);
    let at = |microseconds, transfer| (Span::from_micros(microseconds), transfer);
    let first = [
        at(0, write(0, 0)),
        at(1, write(0, MIB)),
        at(2, flush),
        at(1500, flush),
        at(1600, flush),
        at(1700, flush),
    ];
    for kind in every_kind() {
        let log = script(&queue(kind, 1), &first);
        let operations: Vec<Operation> = log
            .issued
            .iter()
            .map(|seen| seen.transfer.operation)
            .collect();
        assert_eq!(operations, [Write, Operation::Sync, Operation::Sync, Write]);
        assert_eq!(log.done.len(), first.len());
        let ends: Vec<u64> = log
            .done
            .iter()
            .map(|seen| seen.at.0 / MILLISECOND.0)
            .collect();
        assert_eq!(ends, [1, 2, 3, 3, 3, 4]);
    }
}

/// The scheduler does not see requests beyond the limit of requests: here 128 are high.
/// The low ones come later by falling address, and each completed request lets in one.
#[test]
fn the_scheduler_sees_so_many_requests() {
    let high = (1..128).map(|n| 1000 + n);
    let low = (1..=172).rev();
    let first: Vec<_> = std::iter::once(0)
        .chain(high)
        .chain(low)
        .zip(0..)
        .map(|(mib, n)| (Span(u64::from(n)), read(n, mib * MIB)))
        .collect();
    let mut spec = queue(deadline(), 1);
    let firsts = |spec: &IoScheduler| {
        let log = script(spec, &first);
        assert_eq!(log.done.len(), first.len());
        let addresses = log.addresses();
        [0, 1, 2, 3].map(|n| addresses[n] / MIB)
    };
    assert_eq!(firsts(&spec), [0, 172, 1001, 1002]);
    spec.requests = 1000;
    assert_eq!(firsts(&spec), [0, 1, 2, 3]);
}
