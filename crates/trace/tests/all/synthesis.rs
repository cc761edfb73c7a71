//! Synthetic traces, against what the pattern says.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::drain;
use headrace_trace::{
    Files, Operation, Order, Pattern, Phases, Reader, Record, Summary, Synthesis,
};
use proptest::prelude::*;

fn records(pattern: &Pattern) -> Vec<Record> {
    drain(&mut Synthesis::new(pattern.clone()).unwrap(), 5).unwrap()
}

#[test]
fn a_shared_file_is_laid_out_as_ior_does() {
    let pattern = Pattern {
        processes: 2,
        block: 100,
        transfer: 50,
        segments: 2,
        phases: Phases::Write,
        think_ns: 10,
        ..Pattern::default()
    };
    let found: Vec<_> = records(&pattern)
        .iter()
        .map(|it| {
            (
                it.time_ns,
                it.process,
                it.operation,
                it.file,
                it.offset,
                it.size,
            )
        })
        .collect();
    use Operation::{Close, Create, Write};
    let expected = [
        (0, 0, Create, 0, 0, 0),
        (0, 1, Create, 0, 0, 0),
        (10, 0, Write, 0, 0, 50),
        (10, 1, Write, 0, 100, 50),
        (20, 0, Write, 0, 50, 50),
        (20, 1, Write, 0, 150, 50),
        (30, 0, Write, 0, 200, 50),
        (30, 1, Write, 0, 300, 50),
        (40, 0, Write, 0, 250, 50),
        (40, 1, Write, 0, 350, 50),
        (50, 0, Close, 0, 0, 0),
        (50, 1, Close, 0, 0, 0),
    ];
    assert_eq!(found, expected);
}

#[test]
fn senseless_patterns_are_refused() {
    let good = Pattern::default();
    for (pattern, expected) in [
        (
            Pattern {
                processes: 0,
                ..good.clone()
            },
            "processes = 0: expected at least 1",
        ),
        (
            Pattern {
                transfer: 0,
                ..good.clone()
            },
            "transfer = 0: expected at least 1 byte",
        ),
        (
            Pattern {
                transfer: 3,
                ..good.clone()
            },
            "block = 1048576: expected a multiple of transfer = 3",
        ),
        (
            Pattern {
                segments: 0,
                ..good.clone()
            },
            "segments = 0: expected at least 1",
        ),
        (
            Pattern {
                think_ns: -1,
                ..good.clone()
            },
            "think = -1: expected nanoseconds, not negative",
        ),
        (
            Pattern {
                segments: 1 << 50,
                ..good.clone()
            },
            "segments = 1125899906842624: expected offsets below 2⁶⁴ bytes and times below 2⁶³ ns",
        ),
    ] {
        assert_eq!(Synthesis::new(pattern).unwrap_err().to_string(), expected);
    }
}

#[test]
fn a_long_pattern_costs_nothing_until_it_is_read() {
    let pattern = Pattern {
        segments: 1 << 40,
        order: Order::Random,
        transfer: 1,
        ..Pattern::default()
    };
    let mut synthesis = Synthesis::new(pattern).unwrap();
    let mut batch = Vec::new();
    assert_eq!(synthesis.next_batch(1000, &mut batch).unwrap(), 1000);
}

#[test]
fn the_order_depends_on_the_seed_alone() {
    let pattern = Pattern {
        order: Order::Random,
        transfer: 1024,
        ..Pattern::default()
    };
    let offsets = |seed| {
        let records = records(&Pattern {
            seed,
            ..pattern.clone()
        });
        records.iter().map(|it| it.offset).collect::<Vec<_>>()
    };
    assert_eq!(offsets(1), offsets(1));
    assert_ne!(offsets(1), offsets(2));
    let summary = Summary::of(&mut Synthesis::new(pattern).unwrap()).unwrap();
    assert!(summary.sequential_share.unwrap() < 0.02, "{summary:?}");
    let summary = Summary::of(&mut Synthesis::new(Pattern::default()).unwrap()).unwrap();
    // The first read does not follow the last write.
    assert_eq!(summary.sequential_share, Some(6.0 / 7.0));
}

proptest! {
    /// Every byte of every file is moved once in each phase.
    #[test]
    fn nothing_is_left_out_or_done_twice(
        processes in 1..5_u32,
        transfer in 1..9_u64,
        transfers in 1..70_u64,
        segments in 1..4_u64,
        shared: bool,
        random: bool,
        seed: u64,
    ) {
        let pattern = Pattern {
            processes,
            files: if shared { Files::Shared } else { Files::PerProcess },
            block: transfer * transfers,
            transfer,
            segments,
            phases: Phases::WriteThenRead,
            order: if random { Order::Random } else { Order::Sequential },
            think_ns: 1,
            seed,
        };
        let records = records(&pattern);
        prop_assert!(records.is_sorted_by_key(|it| it.time_ns));
        let mut moved: BTreeMap<_, BTreeSet<u64>> = BTreeMap::new();
        for record in records.iter().filter(|it| it.operation.carries_bytes()) {
            prop_assert_eq!(record.size, transfer);
            let is_new = moved.entry((record.operation, record.file)).or_default().insert(record.offset);
            prop_assert!(is_new);
        }
        let files = if shared { 1 } else { u64::from(processes) };
        prop_assert_eq!(moved.len() as u64, 2 * files);
        let length = transfer * transfers * segments * u64::from(processes) / files;
        for offsets in moved.values() {
            let expected: BTreeSet<_> = (0..length).step_by(transfer as usize).collect();
            prop_assert_eq!(offsets, &expected);
        }
    }
}
