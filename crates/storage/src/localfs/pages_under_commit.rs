//! Data in transit into the journal: a caller that would write it again waits until it is there.
//!
//! With `data=journal`, a commit writes the page itself, not a copy. Until the device has it, no
//! caller may change it (Linux 6.18, fs/jbd2/transaction.c: `do_get_write_access` waits for
//! `BH_Shadow`; fs/jbd2/commit.c: `journal_end_buffer_io_sync` takes that back). Once it is there,
//! it joins the running transaction as any other, though the commit itself goes on for its flush
//! and its record. Counted: of 300 writes of 256 KiB at random places the last thirty waited up to
//! 7.7 ms each while a commit sent 10,900 blocks.
//!
//! Not modelled: the time in which the commit's thread prepares its blocks: here it sends all at
//! once; blocks that a commit has not sent yet, which are copied when a caller writes them; blocks
//! of metadata, which writers must wait for in the same way.

use super::extents::Range;
use super::journal::{BLOCK, TAGS, Transaction};
use super::range_map::RangeMap;

/// Data of the committing transaction in flight, with the address of its transfer.
#[derive(Default, Debug)]
pub struct PagesUnderCommit(RangeMap<u64>);

impl PagesUnderCommit {
    /// A transaction goes to an address: each descriptor with the blocks that it names is a
    /// transfer of its own. Gives their addresses and sizes, in order.
    pub fn begin(&mut self, transaction: &Transaction, address: u64) -> Vec<(u64, u64)> {
        let most = TAGS * BLOCK;
        let with_descriptor = most + BLOCK;
        // The inode with its times changes first, at a call's begin.
        let metadata = transaction.metadata().count() as u64 * BLOCK;
        let mut at = metadata;
        for Range {
            file,
            mut start,
            end,
        } in transaction.data()
        {
            while start < end {
                let until = end.min(start + most - at % most);
                let carrier = address + at / most * with_descriptor;
                let end = until;
                self.0.put(Range { file, start, end }, carrier);
                at += until - start;
                start = until;
            }
        }
        let all = at.next_multiple_of(BLOCK);
        let descriptors = 0..all.div_ceil(most);
        descriptors
            .map(|it| {
                let blocks = most.min(all - it * most);
                (address + it * with_descriptor, BLOCK + blocks)
            })
            .collect()
    }

    /// The transfer that carries any of these bytes.
    pub fn carries(&self, range: Range) -> Option<u64> {
        self.0.last_of(range).map(|(_, &carrier)| carrier)
    }

    /// Returns true if nothing is on its way.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A transfer is done.
    pub fn end(&mut self, address: u64) {
        self.0.retain(|carrier| *carrier != address);
    }
}

#[cfg(test)]
mod tests {
    use headrace_net::Time;

    use super::*;
    use crate::localfs::journal::{Journal, Metadata};

    const PAGE: u64 = BLOCK;

    fn pages(file: u32, start: u64, end: u64) -> Range {
        Range {
            file,
            start: start * PAGE,
            end: end * PAGE,
        }
    }

    #[test]
    fn a_descriptor_and_what_it_names_are_one_transfer() {
        let mut journal = Journal::data_mode(1 << 30);
        journal.change(Metadata::Inode(0), Time::ZERO);
        journal.data(1, 0, 700 * PAGE, Time::ZERO);
        journal.data(2, 100 * PAGE, 400 * PAGE, Time::ZERO);
        journal.commit();
        let transaction = journal.committing().expect("it commits");
        let mut under_commit = PagesUnderCommit::default();
        // 1,001 blocks: two full descriptors and one of a single block.
        let (first, second, third) = (PAGE, 502 * PAGE, 1003 * PAGE);
        let sizes = [501 * PAGE, 501 * PAGE, 2 * PAGE];
        let transfers = under_commit.begin(transaction, first);
        let expected = [first, second, third].into_iter().zip(sizes);
        assert_eq!(transfers, expected.collect::<Vec<_>>());
        let all: u64 = sizes.iter().sum();
        assert_eq!(journal.descriptor_and_blocks().1, all);
        // The inode is the first of the first 500.
        for (range, carrier) in [
            (pages(1, 0, 1), Some(first)),
            (pages(1, 498, 499), Some(first)),
            (pages(1, 499, 500), Some(second)),
            (pages(1, 498, 500), Some(second)),
            (pages(1, 700, 900), None),
            (pages(2, 0, 100), None),
            (pages(2, 398, 399), Some(second)),
            (pages(2, 399, 400), Some(third)),
            (pages(3, 0, 1), None),
        ] {
            assert_eq!(under_commit.carries(range), carrier, "{range:?}");
        }
        under_commit.end(first);
        assert_eq!(under_commit.carries(pages(1, 0, 499)), None);
        assert_eq!(under_commit.carries(pages(1, 0, 500)), Some(second));
        under_commit.end(third);
        assert!(!under_commit.is_empty());
        under_commit.end(second);
        assert!(under_commit.is_empty());
    }
}
