//! Transactions that are committed, and what of each is not at its place yet.
//!
//! A transaction's part of the journal is free again when no block of it or of an older one is
//! left. Sources: Linux 6.18, fs/jbd2/checkpoint.c: `__jbd2_journal_remove_checkpoint`;
//! fs/jbd2/journal.c: `jbd2_journal_get_log_tail`. Blocks that a later transaction has committed
//! again belong to that one from then on (fs/jbd2/commit.c, phase 6).

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::extents::Range;
use super::journal::{Metadata, Transaction};
use super::range_map::RangeMap;

/// The list, the oldest transaction first.
#[derive(Default, Debug)]
pub struct CheckpointList {
    transactions: VecDeque<Committed>,
    /// The transaction of each block.
    blocks: BTreeMap<Metadata, u64>,
    /// The transaction of each piece of data.
    data: RangeMap<u64>,
}

/// A transaction that is committed.
#[derive(Debug)]
struct Committed {
    id: u64,
    /// Start, in bytes written to the journal since creation.
    begin: u64,
    blocks: usize,
    data: u64,
}

impl CheckpointList {
    /// A transaction that began there is committed.
    pub fn add(&mut self, transaction: &Transaction, begin: u64) {
        self.transactions.push_back(Committed {
            id: transaction.id,
            begin,
            blocks: 0,
            data: 0,
        });
        for block in transaction.metadata() {
            if let Some(older) = self.blocks.insert(block, transaction.id) {
                self.committed(older).blocks -= 1;
            }
            self.committed(transaction.id).blocks += 1;
        }
        for data in transaction.data() {
            // Older transactions have these bytes no more.
            for (part, id) in self.data.set(data, transaction.id) {
                self.committed(id).data -= part.len();
            }
            self.committed(transaction.id).data += data.len();
        }
        self.transactions.retain(|it| it.blocks > 0 || it.data > 0);
    }

    /// One of the list, which `blocks` and `data` name.
    fn committed(&mut self, id: u64) -> &mut Committed {
        let at = self.transactions.partition_point(|it| it.id < id);
        &mut self.transactions[at]
    }

    /// The number of the oldest transaction, and where it begins.
    pub fn oldest(&self) -> Option<(u64, u64)> {
        self.transactions.front().map(|it| (it.id, it.begin))
    }

    /// The blocks of metadata of a transaction.
    pub fn blocks_of(&self, id: u64) -> BTreeSet<Metadata> {
        let own = self.blocks.iter().filter(|&(_, other)| *other == id);
        own.map(|(&block, _)| block).collect()
    }

    /// The data of a transaction.
    pub fn data_of(&self, id: u64) -> Vec<Range> {
        let own = self.data.iter().filter(|&(_, &other)| other == id);
        own.map(|(range, _)| range).collect()
    }

    /// Returns true if the oldest has no metadata left: its data can be written back by others.
    pub fn oldest_has_data_alone(&self) -> bool {
        self.transactions.front().is_some_and(|it| it.blocks == 0)
    }

    /// All of the oldest is at its place.
    pub fn drop_oldest(&mut self) {
        if let Some(oldest) = self.transactions.pop_front() {
            self.blocks.retain(|_, id| *id != oldest.id);
            self.data.retain(|id| *id != oldest.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headrace_net::Time;
    use proptest::prelude::*;

    fn transaction(id: u64, blocks: &[u64], data: &[(u32, u64, u64)]) -> Transaction {
        let mut journal = super::super::journal::Journal::data_mode(1 << 30);
        for &block in blocks {
            journal.change(Metadata::Bitmap(block), Time::ZERO);
        }
        for &(file, start, end) in data {
            journal.data(file, start, end, Time::ZERO);
        }
        journal.into_running(id)
    }

    #[test]
    fn what_is_committed_anew_leaves_older_transactions() {
        let mut list = CheckpointList::default();
        list.add(&transaction(1, &[7, 8], &[(0, 0, 40), (1, 0, 10)]), 0);
        list.add(&transaction(2, &[8], &[(0, 10, 20)]), 100);
        assert_eq!(list.oldest(), Some((1, 0)));
        assert_eq!(list.blocks_of(1), [Metadata::Bitmap(7)].into());
        let pieces = list.data_of(1);
        let pieces: Vec<_> = pieces
            .iter()
            .map(|it| (it.file, it.start, it.end))
            .collect();
        assert_eq!(pieces, [(0, 0, 10), (0, 20, 40), (1, 0, 10)]);
        // All of both: the first two are gone.
        list.add(&transaction(3, &[7, 8], &[(0, 0, 50), (1, 0, 10)]), 200);
        assert_eq!(list.oldest(), Some((3, 200)));
        list.drop_oldest();
        assert_eq!(list.oldest(), None);
        assert!(list.blocks.is_empty() && list.data.is_empty());
    }

    proptest! {
        /// As a table has it that says of each byte which transaction committed it last.
        #[test]
        fn each_byte_is_its_last_transaction_s(
            all in prop::collection::vec((0_u32..2, 0_u64..30, 1_u64..12, any::<bool>()), 1..30),
        ) {
            let mut list = CheckpointList::default();
            let mut last: BTreeMap<(u32, u64), u64> = BTreeMap::new();
            for (id, (file, start, size, drops)) in (1..).zip(all) {
                list.add(&transaction(id, &[], &[(file, start, start + size)]), id);
                last.extend((start..start + size).map(|at| ((file, at), id)));
                if drops && let Some((oldest, _)) = list.oldest() {
                    list.drop_oldest();
                    last.retain(|_, it| *it != oldest);
                }
                prop_assert_eq!(list.oldest().map(|it| it.0), last.values().min().copied());
                for of in 1..=id {
                    let pieces = list.data_of(of);
                    let has: BTreeSet<_> = pieces
                        .iter()
                        .flat_map(|it| (it.start..it.end).map(|at| (it.file, at)))
                        .collect();
                    let own = last.iter().filter(|&(_, it)| *it == of).map(|(&at, _)| at);
                    prop_assert_eq!(has, own.collect::<BTreeSet<_>>());
                }
            }
        }
    }
}
