//! Least recently used.

use super::lists::Lists;
use super::{CachedPage, ReplacementPolicy};

/// The page whose last use is the oldest leaves.
#[derive(Clone, Debug)]
pub struct Lru {
    capacity: usize,
    pages: Lists<1>,
}

impl Lru {
    /// For a cache of this many pages.
    pub fn new(capacity: usize) -> Lru {
        Lru {
            capacity,
            pages: Lists::new(),
        }
    }
}

impl ReplacementPolicy for Lru {
    fn access(&mut self, page: CachedPage) {
        self.pages.push(0, page);
    }

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
