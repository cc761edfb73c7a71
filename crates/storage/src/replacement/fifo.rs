//! First in, first out.

use super::lists::Lists;
use super::{CachedPage, ReplacementPolicy};

/// The page that came first leaves, however it was used.
#[derive(Clone, Debug)]
pub struct Fifo {
    capacity: usize,
    pages: Lists<1>,
}

impl Fifo {
    /// For a cache of this many pages.
    pub fn new(capacity: usize) -> Fifo {
        Fifo {
            capacity,
            pages: Lists::new(),
        }
    }
}

impl ReplacementPolicy for Fifo {
    fn access(&mut self, _: CachedPage) {}

    fn insert(&mut self, page: CachedPage) -> Option<CachedPage> {
        let is_full = self.pages.len(0) >= self.capacity;
        let leaves = if is_full { self.pages.pop(0) } else { None };
        self.pages.push(0, page);
        leaves.map(|(page, _)| page)
    }

    fn remove(&mut self, page: CachedPage) {
        self.pages.remove(page);
    }

    fn clear(&mut self) {
        self.pages = Lists::new();
    }
}
