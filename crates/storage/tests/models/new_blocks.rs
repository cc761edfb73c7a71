//! Additional device time of newly allocated blocks: once each, and for no other block.

use std::collections::BTreeSet;

use headrace_storage::Outcome;
use headrace_trace::Operation;

use crate::running::{MICROSECOND, run};

/// Calls at random places, of which the second half meets some of the first half's.
const TWICE: &str = r#"
    [machine]
    memory = { size = "4 GiB" }
    write_back = { background_bytes = "1 GB", bytes = "2 GB" }
    [machine.device]
    kind = "throttled"
    rate = "1 GB/s"
    [[workload]]
    kind = "ior"
    block = "64 MiB"
    transfer = "1 MiB"
    order = "uniform"
    phases = ["write", "sync", "write", "sync"]
"#;

const BLOCK: u64 = 4096;

/// The times of the syncs, in picoseconds.
fn syncs(outcome: &Outcome) -> Vec<u64> {
    let syncs = outcome.requests.iter();
    let syncs = syncs.filter(|it| it.request.operation == Operation::Sync);
    syncs
        .map(|it| it.completed.since(it.request.issued).0)
        .collect()
}

/// Returns the newly written blocks of each write phase.
fn first_written(outcome: &Outcome) -> Vec<u64> {
    let (mut known, mut new) = (BTreeSet::new(), vec![0; 4]);
    for it in &outcome.requests {
        let request = &it.request;
        if request.operation == Operation::Write {
            let blocks = request.offset / BLOCK..(request.offset + request.size) / BLOCK;
            let first = blocks.filter(|block| known.insert(*block)).count();
            new[request.phase as usize] += first as u64;
        }
    }
    vec![new[0], new[2]]
}

/// A sequential device takes longer at a sync by the time of the allocated blocks. This holds with
/// any file system, where requests are merged and where they are in pieces.
#[test]
fn each_new_block_takes_its_time_once() {
    for more in [
        "system=\"ext4\"",
        "system=\"xfs\"",
        "system=\"ext3\"",
        "system=\"ext2\"",
    ] {
        for other in [
            "machine.memory.largest_folio=4 KiB",
            "machine.memory.largest_folio=1 MiB",
            "machine.io_scheduler.kind=\"mq-deadline\"",
            "machine.io_scheduler.kind=\"cfq\"",
            "machine.file_system.allocation.fragments=8",
        ] {
            let with = |time: &str| {
                let time = format!("machine.device.hypervisor.new_block={time}");
                run(TWICE, &[more, other, &time])
            };
            let (without, with) = (with("0 us"), with("10 us"));
            let new = first_written(&without);
            assert_eq!(new, first_written(&with));
            assert!(new[0] > 0 && new[1] > 0 && new[1] < new[0], "{new:?}");
            let besides = syncs(&with).into_iter().zip(syncs(&without));
            let besides: Vec<u64> = besides.map(|(with, without)| with - without).collect();
            let expected: Vec<u64> = new.iter().map(|blocks| blocks * 10 * MICROSECOND).collect();
            assert_eq!(besides, expected, "{more}, {other}");
        }
    }
}

/// A journal of 64 MiB is full with three transactions of 5,429 blocks, some of metadata. A writer
/// that finds it so waits until the first one's data is at its place, which was unused. The
/// journal's own blocks are not new.
#[test]
fn blocks_that_go_to_their_places_from_a_journal_are_new_there() {
    let longest = |time: &str| {
        let time = format!("machine.device.hypervisor.new_block={time}");
        let journal = [
            "system=\"ext3\"",
            "machine.file_system.journal.mode=\"journal\"",
            "machine.file_system.journal.size=64 MiB",
            "machine.file_system.journal.checkpoint_at=0.25",
            "workload.0.order=sequential",
            "workload.0.transfer=128 KiB",
            "workload.0.phases=[\"write\"]",
        ];
        let sets: Vec<&str> = journal.into_iter().chain([time.as_str()]).collect();
        run(TWICE, &sets).report.latency["write"].max
    };
    let blocks = (longest("10 us") - longest("0 us")) / 10e-6;
    assert!((5_415.0..=5_429.0).contains(&blocks), "{blocks}");
}
