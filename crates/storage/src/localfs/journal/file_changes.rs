//! Changes of files that an `fsync` has to bring to the device.

use std::collections::{BTreeMap, BTreeSet};

use headrace_net::Time;

use super::Metadata;

/// The clock that file times are taken from ticks so often (CONFIG_HZ=250).
const CLOCK: u64 = 4_000_000_000;

/// The last change of each file.
#[derive(Default, Debug)]
pub(super) struct FileChanges {
    /// The transaction that last changed a file, and the tick when its times changed.
    last: BTreeMap<u32, (u64, u64)>,
    /// Without a journal: blocks that an fsync of a file has to write.
    unsynced: BTreeMap<u32, BTreeSet<Metadata>>,
}

impl FileChanges {
    /// A transaction has data of a file.
    pub fn add_data(&mut self, file: u32, transaction: u64) {
        self.last.entry(file).or_default().0 = transaction;
    }

    /// A transaction changes a file, and with it the file's times.
    pub fn add(&mut self, file: u32, transaction: u64, now: Time) {
        self.last.insert(file, (transaction, now.0 / CLOCK));
    }

    /// Returns true if a file's times are those of this tick of the clock.
    pub fn has_time(&self, file: u32, now: Time) -> bool {
        let last = self.last.get(&file);
        last.is_some_and(|&(_, tick)| tick == now.0 / CLOCK)
    }

    /// The transaction that last changed a file.
    pub fn transaction_of(&self, file: u32) -> Option<u64> {
        self.last.get(&file).map(|&(id, _)| id)
    }

    /// An fsync of a file has to write a block itself.
    pub fn add_unsynced(&mut self, file: u32, block: Metadata) {
        self.unsynced.entry(file).or_default().insert(block);
    }

    /// Takes the blocks that an fsync of a file has to write itself.
    pub fn take_unsynced(&mut self, file: u32) -> BTreeSet<Metadata> {
        self.unsynced.remove(&file).unwrap_or_default()
    }
}
