//! File sizes.

use std::collections::BTreeMap;

use crate::common::Common;

/// The byte after the last of each file that somebody has heard of. Copies are the
/// same: the clients of a parallel file system all know how far a file reaches.
#[derive(Clone, Default, Debug)]
pub struct Sizes(Common<BTreeMap<u32, u64>>);

impl Sizes {
    /// A file's size, if anything is known of it.
    pub fn get(&self, file: u32) -> Option<u64> {
        self.0.get().get(&file).copied()
    }

    /// A file is so large.
    pub fn set(&self, file: u32, size: u64) {
        self.0.get().insert(file, size);
    }

    /// A file reaches to `end` at least; gives whether it is longer than before.
    pub fn grow(&self, file: u32, end: u64) -> bool {
        let mut map = self.0.get();
        let size = map.entry(file).or_insert(0);
        let longer = end > *size;
        *size = end.max(*size);
        longer
    }

    /// A file is no more.
    pub fn remove(&self, file: u32) {
        self.0.get().remove(&file);
    }
}
