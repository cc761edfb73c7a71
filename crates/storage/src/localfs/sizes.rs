//! File sizes.

use std::collections::BTreeMap;

/// The byte after the last of each file that is known. The clients of a parallel file system share
/// one of these: they all know how far a file reaches.
#[derive(Clone, Default, Debug)]
pub struct Sizes(BTreeMap<u32, u64>);

impl Sizes {
    /// A file's size, if anything is known of it.
    pub fn get(&self, file: u32) -> Option<u64> {
        self.0.get(&file).copied()
    }

    /// A file is so large.
    pub fn set(&mut self, file: u32, size: u64) {
        self.0.insert(file, size);
    }

    /// A file reaches to `end` at least; gives whether it is longer than before.
    pub fn grow(&mut self, file: u32, end: u64) -> bool {
        let size = self.0.entry(file).or_insert(0);
        let longer = end > *size;
        *size = end.max(*size);
        longer
    }

    /// A file is removed.
    pub fn remove(&mut self, file: u32) {
        self.0.remove(&file);
    }
}
