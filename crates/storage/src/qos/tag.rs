//! Tags of fair queueing, and what a job costs.

use crate::tokens::Job;

/// A start or finish tag, to be ordered; never not-a-number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Tag(pub f64);

impl Eq for Tag {}

impl PartialOrd for Tag {
    fn partial_cmp(&self, other: &Tag) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Tag {
    fn cmp(&self, other: &Tag) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// The cost of a job: its bytes, at least one.
pub(super) fn cost(job: &Job) -> f64 {
    job.size.max(1) as f64
}
