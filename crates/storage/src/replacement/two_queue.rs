//! 2Q, its full version (Johnson and Shasha 1994, "2Q: A Low Overhead High Performance Buffer
//! Management Replacement Algorithm", VLDB, section 3).
//!
//! A new page goes into the queue A1in. When it leaves it, its number is remembered in A1out. A
//! page that comes back while it is remembered goes into Am, which is least recently used. Pages
//! that are used once, as by a scan, pass through A1in and leave Am as it is.
//!
//! A1in has a quarter of the cache, and A1out remembers as many numbers as half of it (section
//! 3.2).

use super::lists::Lists;
use super::{CachedPage, ReplacementPolicy};

/// Queue of pages that came in once.
const A1_IN: usize = 0;
/// Pages that left it lately; they are not cached.
const A1_OUT: usize = 1;
/// Pages that came back.
const AM: usize = 2;

/// Two queues, and the numbers of pages that left the first.
#[derive(Clone, Debug)]
pub struct TwoQueue {
    capacity: usize,
    /// Pages of A1in and numbers in A1out: a quarter and a half of the cache (section 3.2).
    in_size: usize,
    out_size: usize,
    lists: Lists<3>,
}

impl TwoQueue {
    /// For a cache of this many pages.
    pub fn new(capacity: usize) -> TwoQueue {
        TwoQueue {
            capacity,
            in_size: (capacity / 4).max(1),
            out_size: (capacity / 2).max(1),
            lists: Lists::new(),
        }
    }

    /// "reclaimfor" of the paper.
    fn reclaim(&mut self) -> Option<CachedPage> {
        if self.lists.len(A1_IN) + self.lists.len(AM) < self.capacity {
            return None;
        }
        if self.lists.len(A1_IN) <= self.in_size
            && let Some((page, _)) = self.lists.pop(AM)
        {
            return Some(page);
        }
        let (page, _) = self.lists.pop(A1_IN)?;
        self.lists.push(A1_OUT, page);
        if self.lists.len(A1_OUT) > self.out_size {
            self.lists.pop(A1_OUT);
        }
        Some(page)
    }
}

impl ReplacementPolicy for TwoQueue {
    fn access(&mut self, page: CachedPage) {
        if self.lists.list_of(page) == Some(AM) {
            self.lists.push(AM, page);
        }
    }

    fn insert(&mut self, page: CachedPage) -> Option<CachedPage> {
        let list = match self.lists.list_of(page) {
            Some(A1_OUT) => AM,
            _ => A1_IN,
        };
        let leaves = self.reclaim();
        self.lists.push(list, page);
        leaves
    }

    fn remove(&mut self, page: CachedPage) {
        self.lists.remove(page);
    }

    fn clear(&mut self) {
        self.lists = Lists::new();
    }
}
