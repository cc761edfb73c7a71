//! Batches of Lustre's round-robin policies.
//!
//! Jobs are served in rounds (Lustre, ptlrpc/nrs_crr.c and nrs_orr.c: `nrs_crrn_req_add`,
//! `nrs_orr_req_add`). In a round each class has one batch of at most a quantum of jobs. A class
//! whose batch is full, or which had none waiting though its batch was not full, goes on in the
//! next round. One that missed rounds joins the one that is served.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::JobId;

/// Jobs in batches, in the order in which they are served.
#[derive(Debug)]
pub(super) struct Batches {
    quantum: u32,
    round: u64,
    sequence: u64,
    arrivals: u64,
    /// Only looked up: its order decides nothing.
    classes: HashMap<u32, Class>,
    waiting: BinaryHeap<Reverse<Entry>>,
}

/// Batch position of a class.
#[derive(Clone, Copy, Default, Debug)]
struct Class {
    round: u64,
    sequence: u64,
    /// Jobs that its batch may still take.
    left: u32,
    active: u32,
}

/// A job that waits; the earlier fields decide.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Entry {
    round: u64,
    sequence: u64,
    /// File and offset, where batches are sorted.
    place: (u32, u64),
    arrival: u64,
    job: JobId,
    class: u32,
}

impl Batches {
    /// Batches of at most `quantum` jobs, at least one.
    pub fn new(quantum: u32) -> Batches {
        Batches {
            quantum,
            round: 0,
            // More than that of a new class, which so gets one of its own.
            sequence: 1,
            arrivals: 0,
            classes: HashMap::new(),
            waiting: BinaryHeap::new(),
        }
    }

    /// Adds a job to its class's batch; batches are in order of `place`.
    pub fn push(&mut self, class: u32, place: (u32, u64), job: JobId) {
        let number = class;
        let class = self.classes.entry(number).or_default();
        let lapsed = class.active == 0 && class.left > 0;
        if class.left == 0 || class.round < self.round || lapsed {
            if lapsed {
                class.round += 1;
            }
            class.round = class.round.max(self.round);
            if class.sequence < self.sequence {
                self.sequence += 1;
                class.sequence = self.sequence;
            }
            class.left = self.quantum;
        }
        self.waiting.push(Reverse(Entry {
            round: class.round,
            sequence: class.sequence,
            place,
            arrival: self.arrivals,
            job,
            class: number,
        }));
        self.arrivals += 1;
        class.active += 1;
        class.left -= 1;
        if class.left == 0 {
            class.round += 1;
        }
    }

    /// The job that is next.
    pub fn pop(&mut self) -> Option<JobId> {
        let Reverse(entry) = self.waiting.pop()?;
        if let Some(class) = self.classes.get_mut(&entry.class) {
            class.active -= 1;
        }
        match self.waiting.peek() {
            None => self.round += 1,
            Some(Reverse(next)) => self.round = self.round.max(next.round),
        }
        Some(entry.job)
    }
}
