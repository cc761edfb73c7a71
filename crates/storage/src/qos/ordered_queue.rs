//! Waiting jobs in an order, with a limit to how many are out.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::JobId;

/// The job with the least key goes next, of equals the one that came first.
#[derive(Debug)]
pub(super) struct OrderedQueue<K> {
    depth: u32,
    out: u32,
    waiting: BinaryHeap<Reverse<(K, u64, JobId)>>,
    arrivals: u64,
}

impl<K: Ord> OrderedQueue<K> {
    /// At most `depth` jobs out at once.
    pub fn new(depth: u32) -> OrderedQueue<K> {
        OrderedQueue {
            depth,
            out: 0,
            waiting: BinaryHeap::new(),
            arrivals: 0,
        }
    }

    /// Returns the queue depth.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// A job has come.
    pub fn push(&mut self, key: K, job: JobId) {
        self.waiting.push(Reverse((key, self.arrivals, job)));
        self.arrivals += 1;
    }

    /// The next job to go out, if one may.
    pub fn next(&mut self) -> Option<(K, JobId)> {
        if self.out >= self.depth {
            return None;
        }
        let Reverse((key, _, job)) = self.waiting.pop()?;
        self.out += 1;
        Some((key, job))
    }

    /// A job has come back.
    pub fn finished(&mut self) {
        self.out -= 1;
    }
}
