//! Laws for every scheduler: each submitted transfer returns, once and unchanged.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Copy, Debug)]
struct Submission {
    at: u64,
    process: u32,
    block: u64,
    blocks: u64,
    kind: u8,
}

fn submissions() -> impl Strategy<Value = Vec<Submission>> {
    let one = (0..40_u64, 0..5_u32, 0..60_u64, 1..4_u64, 0..8_u8).prop_map(
        |(at, process, block, blocks, kind)| Submission {
            at,
            process,
            block,
            blocks,
            kind,
        },
    );
    prop::collection::vec(one, 1..120)
}

fn of(submission: &Submission, number: usize) -> Transfer {
    let Submission {
        process,
        block,
        blocks,
        kind,
        ..
    } = *submission;
    let operation = match kind {
        0..3 => Read,
        3..7 => Write,
        _ => Operation::Sync,
    };
    let size = if operation == Operation::Sync {
        0
    } else {
        blocks * 4 * KIB
    };
    Transfer {
        owner: Some(number as u32),
        file: number as u32,
        offset: 77,
        synchronous: kind != 4 && operation != Operation::Sync,
        forced: kind == 5,
        first_used: if kind == 6 { blocks as u32 } else { 0 },
        ..transfer(operation, process, block * 4 * KIB, size)
    }
}

/// Every kind by its defaults, and those with tunables at their least.
fn kinds() -> Vec<IoSchedulerKind> {
    let mut kinds = every_kind();
    for mut kind in every_kind() {
        let (now, one) = (Seconds(0.0), Bytes(1));
        match &mut kind {
            IoSchedulerKind::NoIoScheduler(_) | IoSchedulerKind::Noop(_) => continue,
            IoSchedulerKind::Deadline(spec) => {
                (spec.read_expire, spec.write_expire) = (now, now);
                (spec.writes_starved, spec.fifo_batch, spec.front_merges) = (1, 1, false);
            }
            IoSchedulerKind::MqDeadline(spec) => {
                (spec.read_expire, spec.write_expire) = (now, now);
                (spec.writes_starved, spec.fifo_batch, spec.front_merges) = (1, 1, false);
            }
            IoSchedulerKind::Anticipatory(spec) => {
                (spec.read_expire, spec.write_expire, spec.antic_expire) = (now, now, now);
                (spec.read_batch_expire, spec.write_batch_expire) = (now, now);
            }
            IoSchedulerKind::Cfq(spec) => {
                (spec.slice_sync, spec.slice_async, spec.slice_idle) = (now, now, now);
                (spec.fifo_expire_sync, spec.fifo_expire_async) = (now, now);
                (spec.quantum, spec.slice_async_requests) = (1, 1);
                (spec.back_seek_max, spec.priorities) = (one, Some(vec![7, 0, 3]));
            }
            IoSchedulerKind::Bfq(spec) => {
                (spec.max_budget, spec.back_seek_max) = (one, one);
                (spec.timeout_sync, spec.slice_idle) = (now, now);
                (spec.fifo_expire_sync, spec.fifo_expire_async) = (now, now);
                spec.weights = Some(vec![1, u32::MAX]);
            }
            IoSchedulerKind::Kyber(spec) => {
                (spec.read_latency, spec.write_latency) = (now, now);
            }
        }
        kinds.push(kind);
    }
    kinds
}

proptest! {
    #[test]
    fn every_transfer_comes_back_once(
        submissions in submissions(),
        kind in prop::sample::select(kinds()),
        depth in 1..6_u32,
        requests in 1..12_u32,
        largest in 1..8_u64,
    ) {
        let mut spec = queue(kind, depth);
        spec.requests = requests;
        spec.largest_request = Bytes(largest * 4 * KIB);
        let first: Vec<_> = submissions
            .iter()
            .enumerate()
            .map(|(number, one)| (Span::from_micros(500 * one.at), of(one, number)))
            .collect();
        let service = |transfer: &Transfer, _: &mut Random<'_>| {
            Span::from_micros(100 + transfer.size / KIB * 20)
        };
        let log = drive(&spec, 6, service, &first, nothing, Limits::default());
        let mut back: Vec<Transfer> = log.done.iter().map(|seen| seen.transfer).collect();
        back.sort_by_key(|transfer| transfer.file);
        prop_assert_eq!(back.len(), first.len());
        for ((_, sent), back) in first.iter().zip(&back) {
            let as_it_was = Transfer { absorbed: sent.absorbed, ..*back };
            prop_assert_eq!(format!("{as_it_was:?}"), format!("{sent:?}"));
        }
        let bytes = |all: &mut dyn Iterator<Item = &Transfer>| -> u64 {
            all.map(|transfer| transfer.size).sum()
        };
        prop_assert_eq!(
            bytes(&mut log.issued.iter().map(|seen| &seen.transfer)),
            bytes(&mut first.iter().map(|(_, transfer)| transfer))
        );
        let new = |all: &mut dyn Iterator<Item = &Transfer>| -> u32 {
            all.map(|transfer| transfer.first_used).sum()
        };
        prop_assert_eq!(
            new(&mut log.issued.iter().map(|seen| &seen.transfer)),
            new(&mut first.iter().map(|(_, transfer)| transfer))
        );
        // A carrier comes back for each request.
        let carriers = back.iter().filter(|transfer| !transfer.absorbed).count();
        prop_assert_eq!(carriers, log.issued.len());
        prop_assert!(log.most_out <= depth as usize);
        for issued in &log.issued {
            let most = largest.max(3) * 4 * KIB;
            prop_assert!(issued.transfer.size <= most);
        }
    }
}
