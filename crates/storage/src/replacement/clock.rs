//! CLOCK, or second chance (Corbató 1968, "A paging experiment with the Multics system").
//!
//! The pages stand in a circle. A use sets a page's flag. The hand clears flags as it passes, and
//! takes the first page whose flag is not set. A page comes in just behind the hand, its flag not
//! set. A queue is that circle, cut at the hand.

use super::lists::Lists;
use super::{CachedPage, ReplacementPolicy};

/// The first page at the hand that was not used since it last passed leaves.
#[derive(Clone, Debug)]
pub struct Clock {
    capacity: usize,
    /// From the hand on.
    circle: Lists<1>,
}

impl Clock {
    /// For a cache of this many pages.
    pub fn new(capacity: usize) -> Clock {
        Clock {
            capacity,
            circle: Lists::new(),
        }
    }

    fn evict(&mut self) -> Option<CachedPage> {
        while let Some((page, used)) = self.circle.pop(0) {
            if !used {
                return Some(page);
            }
            self.circle.push(0, page);
        }
        None
    }
}

impl ReplacementPolicy for Clock {
    fn access(&mut self, page: CachedPage) {
        self.circle.set_used(page);
    }

    fn insert(&mut self, page: CachedPage) -> Option<CachedPage> {
        let is_full = self.circle.len(0) >= self.capacity;
        let leaves = if is_full { self.evict() } else { None };
        self.circle.push(0, page);
        leaves
    }

    fn remove(&mut self, page: CachedPage) {
        self.circle.remove(page);
    }

    fn clear(&mut self) {
        self.circle = Lists::new();
    }
}
