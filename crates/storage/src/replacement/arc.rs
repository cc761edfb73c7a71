//! ARC (Megiddo and Modha 2003, "ARC: A Self-Tuning, Low Overhead Replacement Cache", FAST,
//! figure 4).
//!
//! T1 has pages that were used once lately, T2 those that were used at least twice. B1 and B2
//! remember the numbers of pages that left T1 and T2. A page that returns while B1 remembers it
//! shows that T1 is too small. One that B2 remembers shows the same of T2: the target of T1 moves.

use super::lists::Lists;
use super::{CachedPage, ReplacementPolicy};

const T1: usize = 0;
const T2: usize = 1;
const B1: usize = 2;
const B2: usize = 3;

/// An adaptive replacement cache.
#[derive(Clone, Debug)]
pub struct Arc {
    capacity: usize,
    /// The target size of T1: "p" of the paper.
    target: f64,
    lists: Lists<4>,
}

impl Arc {
    /// For a cache of this many pages.
    pub fn new(capacity: usize) -> Arc {
        Arc {
            capacity,
            target: 0.0,
            lists: Lists::new(),
        }
    }

    /// "REPLACE" of the paper, if the cache is full.
    fn replace(&mut self, is_in_b2: bool) -> Option<CachedPage> {
        let first = self.lists.len(T1);
        if first + self.lists.len(T2) < self.capacity {
            return None;
        }
        let size = first as f64;
        let takes_first = first > 0 && (size > self.target || is_in_b2 && size == self.target);
        let (from, to) = match takes_first || self.lists.len(T2) == 0 {
            true => (T1, B1),
            false => (T2, B2),
        };
        let (page, _) = self.lists.pop(from)?;
        self.lists.push(to, page);
        Some(page)
    }

    /// The sizes of the four lists.
    #[cfg(test)]
    pub(super) fn sizes(&self) -> [usize; 4] {
        [T1, T2, B1, B2].map(|list| self.lists.len(list))
    }

    /// The target size of T1.
    #[cfg(test)]
    pub(super) fn target(&self) -> f64 {
        self.target
    }
}

impl ReplacementPolicy for Arc {
    fn access(&mut self, page: CachedPage) {
        self.lists.push(T2, page);
    }

    fn insert(&mut self, page: CachedPage) -> Option<CachedPage> {
        let (ghosts1, ghosts2) = (self.lists.len(B1) as f64, self.lists.len(B2) as f64);
        let list = self.lists.list_of(page);
        let (is_in_b2, to) = match list {
            Some(B1) => {
                let more = (ghosts2 / ghosts1).max(1.0);
                self.target = (self.target + more).min(self.capacity as f64);
                (false, T2)
            }
            Some(B2) => {
                let less = (ghosts1 / ghosts2).max(1.0);
                self.target = (self.target - less).max(0.0);
                (true, T2)
            }
            _ => {
                let once = self.lists.len(T1) + self.lists.len(B1);
                let all = once + self.lists.len(T2) + self.lists.len(B2);
                if once >= self.capacity {
                    if self.lists.len(B1) == 0 {
                        // The oldest page of T1 leaves and is not remembered.
                        let leaves = self.lists.pop(T1);
                        self.lists.push(T1, page);
                        return leaves.map(|(page, _)| page);
                    }
                    self.lists.pop(B1);
                } else if all >= 2 * self.capacity {
                    self.lists.pop(B2);
                }
                (false, T1)
            }
        };
        let leaves = self.replace(is_in_b2);
        self.lists.push(to, page);
        leaves
    }

    fn remove(&mut self, page: CachedPage) {
        self.lists.remove(page);
    }

    fn clear(&mut self) {
        *self = Arc::new(self.capacity);
    }
}
