//! Changes of files that an `fsync` or an `fdatasync` has to bring to the device.

use std::collections::{BTreeMap, BTreeSet};

use headrace_net::Time;

use super::Metadata;

/// The clock that file times are taken from ticks so often (CONFIG_HZ=250).
const CLOCK: u64 = 4_000_000_000;

/// The kind of a file's change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Changed {
    /// Its size, its blocks or its existence: reading the data needs them.
    Data,
    /// Its attributes or names.
    Attributes,
    /// Its times alone.
    Times,
}

/// The last change of a file.
#[derive(Clone, Copy, Default, Debug)]
struct Change {
    /// The transaction that has it.
    transaction: u64,
    /// The last transaction that has a change for which an fdatasync waits.
    data: Option<u64>,
    /// The tick of the clock when its times changed.
    tick: u64,
}

/// Blocks that a sync of a file has to write itself.
#[derive(Default, Debug)]
struct Unsynced {
    blocks: BTreeSet<Metadata>,
    /// An fdatasync has to write them as well.
    for_data: bool,
}

/// The last change of each file.
#[derive(Default, Debug)]
pub(super) struct FileChanges {
    last: BTreeMap<u32, Change>,
    /// Without a journal.
    unsynced: BTreeMap<u32, Unsynced>,
}

impl FileChanges {
    /// A transaction has data of a file.
    pub fn add_data(&mut self, file: u32, transaction: u64) {
        let change = self.last.entry(file).or_default();
        change.transaction = transaction;
        change.data = Some(transaction);
    }

    /// A transaction changes a file, and with it the file's times.
    pub fn add(&mut self, file: u32, transaction: u64, for_data: bool, now: Time) {
        let change = self.last.entry(file).or_default();
        change.transaction = transaction;
        change.tick = now.0 / CLOCK;
        if for_data {
            change.data = Some(transaction);
        }
    }

    /// Returns true if a file's times are those of this tick of the clock.
    pub fn has_time(&self, file: u32, now: Time) -> bool {
        let last = self.last.get(&file);
        last.is_some_and(|change| change.tick == now.0 / CLOCK)
    }

    /// The transaction that last changed a file, for an fsync or an fdatasync.
    pub fn transaction_of(&self, file: u32, data_only: bool) -> Option<u64> {
        let change = self.last.get(&file)?;
        match data_only {
            true => change.data,
            false => Some(change.transaction),
        }
    }

    /// A sync of a file has to write a block itself.
    pub fn add_unsynced(&mut self, file: u32, block: Metadata, for_data: bool) {
        let unsynced = self.unsynced.entry(file).or_default();
        unsynced.blocks.insert(block);
        unsynced.for_data |= for_data;
    }

    /// Takes the blocks that an fsync of a file, or an fdatasync, has to write itself.
    pub fn take_unsynced(&mut self, file: u32, data_only: bool) -> BTreeSet<Metadata> {
        let unsynced = self.unsynced.get(&file);
        if data_only && !unsynced.is_some_and(|it| it.for_data) {
            return BTreeSet::new();
        }
        let unsynced = self.unsynced.remove(&file);
        unsynced.map_or_else(BTreeSet::new, |it| it.blocks)
    }
}
