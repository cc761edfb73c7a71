//! Priorities of I/O: classes and levels where the scheduler knows them.

use super::*;

const FAR: u64 = 100 << 30;

fn realtime(level: u8) -> IoPriority {
    IoPriority::new(IoClass::Realtime, level)
}

fn best_effort(level: u8) -> IoPriority {
    IoPriority::new(IoClass::BestEffort, level)
}

fn idle() -> IoPriority {
    IoPriority::new(IoClass::Idle, 0)
}

fn with(priority: IoPriority, transfer: Transfer) -> Transfer {
    Transfer {
        priority,
        ..transfer
    }
}

/// Returns the 1 ms requests that processes 1 and 2 complete in 20 seconds, each reading on as soon
/// as it can.
fn requests(kind: IoSchedulerKind, priorities: [IoPriority; 2]) -> [u64; 2] {
    let service = |_: &Transfer, _: &mut Random<'_>| MILLISECOND;
    let [one, other] = priorities;
    let first = [
        (Span::ZERO, with(one, read(1, 0))),
        (Span(1), with(other, read(2, FAR))),
    ];
    let until = Limits::until_seconds(20.0);
    let log = drive(&queue(kind, 1), 1, service, &first, reads_on, until);
    [1, 2].map(|process| log.bytes(process, Time::NEVER) / (4 * KIB))
}

/// Slices of 180 ms at level 0 and 40 ms at level 7, each from its first completion
/// on (cfq_prio_slice: 100 + 20 · (4 − level)).
#[test]
fn cfq_gives_time_by_level() {
    for class in [best_effort, realtime] {
        let [one, other] = requests(cfq(None), [class(0), class(7)]);
        let rounds = 20_000 / (181 + 41);
        assert!(one.abs_diff(rounds * 181) <= 181, "{one}");
        assert!(other.abs_diff(rounds * 41) <= 41, "{other}");
    }
}

/// Weights of (8 − level) · 10: 80 and 10.
#[test]
fn bfq_gives_bytes_by_level() {
    for class in [best_effort, realtime] {
        let [one, other] = requests(bfq(None), [class(0), class(7)]);
        let ratio = one as f64 / other as f64;
        assert!((ratio / 8.0 - 1.0).abs() < 0.05, "{ratio}");
    }
}

#[test]
fn a_higher_class_leaves_nothing_to_a_lower_one() {
    let [low, high] = requests(bfq(None), [best_effort(0), realtime(7)]);
    // The first was there before; it is not taken from the device.
    assert_eq!((low, high), (1, 19_999));
    // When a slice of `cfq` ends, its process has not asked again yet: one request of a
    // lower class goes, 41 ms after the last.
    for pair in [[best_effort(0), realtime(7)], [idle(), best_effort(7)]] {
        let [low, high] = requests(cfq(None), pair);
        assert!(low.abs_diff(20_000 / 42) <= 1, "{low}");
        assert_eq!(low + high, 20_000);
    }
}

/// The idle class of `bfq` has a turn when 200 ms have passed since the last, of one
/// request: it is not idled for. Turns of the other end after 125 ms each.
#[test]
fn bfq_does_not_let_the_idle_class_starve() {
    let [high, low] = requests(bfq(None), [best_effort(7), idle()]);
    assert!(low.abs_diff(20_000 / (2 * 125 + 1)) <= 1, "{low}");
    assert_eq!(high + low, 20_000);
}

/// A process that asks for 1 ms in every 51 leaves the rest to the idle class. That begins as soon
/// as it is known not to ask again in 8 ms.
#[test]
fn the_idle_class_has_what_others_leave() {
    let thinks: Next = |transfer| {
        let think = match transfer.process {
            1 => Span::from_millis(50),
            _ => Span::ZERO,
        };
        let follows = Transfer {
            address: transfer.end(),
            ..*transfer
        };
        Some((think, follows))
    };
    let service = |_: &Transfer, _: &mut Random<'_>| MILLISECOND;
    let first = [
        (Span::ZERO, with(best_effort(4), read(1, 0))),
        (Span(1), with(idle(), read(2, FAR))),
    ];
    for kind in [cfq(None), bfq(None), mq_deadline()] {
        let until = Limits::until_seconds(20.0);
        let log = drive(&queue(kind.clone(), 1), 1, service, &first, thinks, until);
        let [one, other] = [1, 2].map(|process| log.bytes(process, Time::NEVER) / (4 * KIB));
        // It waits for one request of the other at most: 51 to 52 ms a round.
        assert!((384..=393).contains(&one), "{kind:?}: {one}");
        assert!(one + other > 19_900, "{kind:?}: {other}");
    }
}

/// A request of a higher class is the next, during a lower one's turn.
#[test]
fn a_higher_class_interrupts() {
    for kind in [cfq(None), bfq(None), mq_deadline()] {
        for (low, high) in [
            (best_effort(0), realtime(7)),
            (idle(), best_effort(7)),
            (idle(), realtime(0)),
        ] {
            let service = |_: &Transfer, _: &mut Random<'_>| MILLISECOND;
            let first = [
                (Span::ZERO, with(low, read(1, 0))),
                (Span::from_micros(20_500), with(high, read(2, FAR))),
            ];
            let next: Next = |transfer| reads_on(transfer).filter(|_| transfer.process == 1);
            let until = Limits::until_seconds(0.1);
            let log = drive(&queue(kind.clone(), 1), 1, service, &first, next, until);
            let seen = log.issued.iter().find(|seen| seen.transfer.process == 2);
            let at = seen.map(|seen| seen.at.0 / MILLISECOND.0);
            assert_eq!(at, Some(21), "{kind:?} {low:?} {high:?}");
        }
    }
}

/// In `bfq` a process of a higher level is next during a lower one's turn. One of the same level
/// waits for the end of the turn, 125 ms after its beginning.
#[test]
fn a_higher_weight_interrupts() {
    for (level, expected) in [(0, 21), (4, 125)] {
        let service = |_: &Transfer, _: &mut Random<'_>| MILLISECOND;
        let first = [
            (Span::ZERO, read(1, 0)),
            (
                Span::from_micros(20_500),
                with(best_effort(level), read(2, FAR)),
            ),
        ];
        let next: Next = |transfer| reads_on(transfer).filter(|_| transfer.process == 1);
        let until = Limits::until_seconds(1.0);
        let log = drive(&queue(bfq(None), 1), 1, service, &first, next, until);
        let seen = log.issued.iter().find(|seen| seen.transfer.process == 2);
        let at = seen.map(|seen| seen.at.0 / MILLISECOND.0);
        assert_eq!(at, Some(expected), "{level}");
    }
}

/// In `mq-deadline` a request of a lower class goes when it has waited 10 s. It also goes when no
/// request of a higher class waits or is at the device.
#[test]
fn lower_classes_age() {
    for (high, low) in [
        (realtime(4), best_effort(0)),
        (realtime(4), idle()),
        (best_effort(7), idle()),
    ] {
        let service = |_: &Transfer, _: &mut Random<'_>| MILLISECOND;
        // Two processes read on; one of them waits at any time.
        let first = [
            (Span::ZERO, with(high, read(1, 0))),
            (Span(1), with(high, read(3, 2 * FAR))),
            (Span::from_micros(500), with(low, read(2, FAR))),
        ];
        let until = Limits::until_seconds(20.0);
        let spec = queue(mq_deadline(), 1);
        let log = drive(&spec, 1, service, &first, reads_on, until);
        let own = log.issued.iter().filter(|seen| seen.transfer.process == 2);
        let times: Vec<u64> = own.map(|seen| seen.at.0 / MILLISECOND.0).collect();
        // It came at 0.5 ms; the device is free at whole milliseconds. Its next
        // request comes when this one is done, at 10,002 ms, and would go at 20,002.
        assert!(times == [10_001], "{} times, {high:?} {low:?}", times.len());
        // One at the device is enough to hold it up.
        let first = [
            (Span::ZERO, with(high, read(1, 0))),
            (Span(1), with(low, read(2, FAR))),
        ];
        let log = script(&queue(mq_deadline(), 2), &first);
        assert_eq!(log.most_out, 1);
    }
}

/// Levels are nothing to `mq-deadline`.
#[test]
fn mq_deadline_knows_no_levels() {
    let with_levels = requests(mq_deadline(), [best_effort(0), best_effort(7)]);
    assert_eq!(
        with_levels,
        requests(mq_deadline(), [best_effort(4), best_effort(4)])
    );
}

/// The others take no notice.
#[test]
fn other_schedulers_know_no_priorities() {
    let of = |number: u64, known: bool| {
        let process = (number % 3) as u32;
        let priority = match (known, process) {
            (false, _) => IoPriority::default(),
            (true, 0) => realtime(0),
            (true, 1) => best_effort(7),
            (true, _) => idle(),
        };
        let address = (number * 7 % 60) * MIB;
        let transfer = if number.is_multiple_of(5) {
            write(process, address)
        } else {
            read(process, address)
        };
        (Span::from_micros(number * 300), with(priority, transfer))
    };
    for kind in [none(), noop(), deadline(), anticipatory(), kyber()] {
        let [plain, known] = [false, true].map(|known| {
            let first: Vec<_> = (0..60).map(|number| of(number, known)).collect();
            script(&queue(kind.clone(), 1), &first).addresses()
        });
        assert_eq!(plain, known, "{kind:?}");
        assert_eq!(plain.len(), 60);
    }
}

/// Write-back for a realtime process is asynchronous: it is in the queue of the process's
/// priority.
#[test]
fn asynchronous_requests_have_a_queue_for_each_priority() {
    for kind in [cfq(None), bfq(None), mq_deadline()] {
        let mut first = vec![(Span::ZERO, read(1, 0))];
        // Both wait while the read is at the device.
        first.push((Span(1), with(best_effort(4), write(1, FAR))));
        first.push((Span(2), with(realtime(4), write(1, 2 * FAR))));
        let log = script(&queue(kind.clone(), 1), &first);
        assert_eq!(log.addresses(), [0, 2 * FAR, FAR], "{kind:?}");
    }
}

#[test]
fn requests_of_different_priorities_do_not_become_one() {
    for kind in every_kind() {
        for (other, expected) in [(best_effort(4), 2), (best_effort(3), 3)] {
            let first = [
                (Span::ZERO, read(0, FAR)),
                (Span(1), read(1, 0)),
                (Span(2), with(other, read(1, 4 * KIB))),
            ];
            let log = script(&queue(kind.clone(), 1), &first);
            assert_eq!(log.issued.len(), expected, "{kind:?}");
        }
    }
}
