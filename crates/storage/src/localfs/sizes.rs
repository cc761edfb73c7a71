//! How large files are.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The byte after the last of each file that somebody has heard of. Copies are the
/// same: the clients of a parallel file system all know how far a file reaches.
#[derive(Clone, Default, Debug)]
pub struct Sizes(Arc<Mutex<BTreeMap<u32, u64>>>);

impl Sizes {
    fn map(&self) -> MutexGuard<'_, BTreeMap<u32, u64>> {
        // A number is there or not, whoever has failed meanwhile.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A file's size, if anything is known of it.
    pub fn get(&self, file: u32) -> Option<u64> {
        self.map().get(&file).copied()
    }

    /// A file is so large.
    pub fn set(&self, file: u32, size: u64) {
        self.map().insert(file, size);
    }

    /// A file reaches to `end` at least; gives whether it is longer than before.
    pub fn grow(&self, file: u32, end: u64) -> bool {
        let mut map = self.map();
        let size = map.entry(file).or_insert(0);
        let longer = end > *size;
        *size = end.max(*size);
        longer
    }

    /// A file is no more.
    pub fn remove(&self, file: u32) {
        self.map().remove(&file);
    }
}
