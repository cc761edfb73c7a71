//! What a process sees of its operations, and how those of all are put together.

mod bytes;
mod windows;

pub use windows::{Window, Windows};

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::clock::Nanoseconds;
use crate::page_cache::Reads;

/// Three digits: what latencies are worth.
const DIGITS: u8 = 3;

/// A histogram that grows as needed.
fn histogram() -> Histogram<u64> {
    // 0 to 5 digits are valid.
    Histogram::new(DIGITS).unwrap_or_else(|_| unreachable!())
}

/// One operation, as far as it has been carried out.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cell {
    /// Operations done.
    pub count: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Nanoseconds from the actual start to the end.
    #[serde(with = "bytes")]
    pub service: Histogram<u64>,
    /// Nanoseconds from the intended start to the end.
    #[serde(with = "bytes")]
    pub response: Histogram<u64>,
    /// Nanoseconds that preparing took, which are in neither.
    pub prepared: u64,
}

impl Default for Cell {
    fn default() -> Cell {
        Cell {
            count: 0,
            bytes: 0,
            service: histogram(),
            response: histogram(),
            prepared: 0,
        }
    }
}

impl Cell {
    /// Adds what another has.
    pub fn merge(&mut self, other: &Cell) {
        self.count += other.count;
        self.bytes += other.bytes;
        self.prepared += other.prepared;
        // They have the same digits and grow as needed.
        let _ = self.service.add(&other.service);
        let _ = self.response.add(&other.response);
    }
}

/// An operation that is done.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Done {
    /// The operation's number in the list of all.
    pub operation: usize,
    /// The workload.
    pub workload: usize,
    /// The workload's phase.
    pub phase: u32,
    /// Bytes moved.
    pub bytes: u64,
    /// How long it was prepared.
    pub prepared: Nanoseconds,
    /// When it should have been begun.
    pub intended: Nanoseconds,
    /// When it was.
    pub started: Nanoseconds,
    /// When it was done.
    pub ended: Nanoseconds,
}

/// From when to when an operation was carried out in a phase of a workload.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Stretch {
    /// The operation's number.
    pub operation: usize,
    /// The workload.
    pub workload: usize,
    /// The phase.
    pub phase: u32,
    /// When the first of them began.
    pub from: Nanoseconds,
    /// When the last was done.
    pub to: Nanoseconds,
    /// How often.
    pub count: u64,
    /// Bytes that they moved.
    pub bytes: u64,
}

/// What a process, or all of them, have done.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// By the operation's number; none of what was never done.
    pub cells: Vec<Option<Box<Cell>>>,
    /// In no order.
    pub stretches: Vec<Stretch>,
    /// Over time.
    pub windows: Windows,
    /// Where the bytes that were read came from, in the warm-up, too.
    pub reads: Reads,
    /// Each operation, in the order in which its process did it, where that is wanted.
    pub each: Option<Vec<Done>>,
    /// What ends earlier is not counted.
    warm_up: Nanoseconds,
}

impl Record {
    /// Nothing yet, of so many operations, with time in windows of about this length.
    pub fn new(operations: usize, warm_up: Nanoseconds, window: Option<Nanoseconds>) -> Record {
        Record {
            cells: vec![const { None }; operations],
            stretches: Vec::new(),
            windows: Windows::new(operations, window),
            reads: Reads::default(),
            each: None,
            warm_up,
        }
    }

    /// The same, with each operation kept or not.
    #[must_use]
    pub fn with_each(self, each: bool) -> Record {
        Record {
            each: each.then(Vec::new),
            ..self
        }
    }

    /// An operation is done.
    pub fn add(&mut self, done: &Done) {
        if done.ended < self.warm_up {
            return;
        }
        if let Some(each) = &mut self.each {
            each.push(*done);
        }
        let cell = self.cells[done.operation].get_or_insert_default();
        cell.count += 1;
        cell.bytes += done.bytes;
        cell.prepared += done.prepared;
        let service = done.ended.saturating_sub(done.started);
        let response = done.ended.saturating_sub(done.intended);
        // Both grow as needed: no value is too large.
        let _ = cell.service.record(service);
        let _ = cell.response.record(response);
        self.windows
            .add(done.operation, done.bytes, service, done.ended);
        self.stretch(Stretch {
            operation: done.operation,
            workload: done.workload,
            phase: done.phase,
            from: done.started.max(self.warm_up),
            to: done.ended,
            count: 1,
            bytes: done.bytes,
        });
    }

    /// Widens the stretch that this one belongs to.
    fn stretch(&mut self, new: Stretch) {
        let same = |it: &&mut Stretch| {
            (it.operation, it.workload, it.phase) == (new.operation, new.workload, new.phase)
        };
        // A process is mostly in its last phase.
        match self.stretches.iter_mut().rev().find(same) {
            Some(known) => {
                known.from = known.from.min(new.from);
                known.to = known.to.max(new.to);
                known.count += new.count;
                known.bytes += new.bytes;
            }
            None => self.stretches.push(new),
        }
    }

    /// Adds what another process has done.
    pub fn merge(&mut self, other: &Record) {
        for (mine, theirs) in self.cells.iter_mut().zip(&other.cells) {
            let Some(theirs) = theirs else { continue };
            mine.get_or_insert_default().merge(theirs);
        }
        self.reads = self.reads.and(other.reads);
        for stretch in &other.stretches {
            self.stretch(*stretch);
        }
        if let Some(theirs) = &other.each {
            self.each.get_or_insert_default().extend(theirs);
        }
        self.windows.merge(&other.windows);
    }

    /// When the last operation was done.
    pub fn last_end(&self) -> Nanoseconds {
        self.stretches.iter().map(|it| it.to).max().unwrap_or(0)
    }

    /// For how long some operations were carried out, as if they were one: in each phase from
    /// when the first of them began to when the last was done, overlapping phases once.
    pub fn active(&self, operations: &[usize]) -> Nanoseconds {
        let mut phases: BTreeMap<(usize, u32), (u64, u64)> = BTreeMap::new();
        for it in &self.stretches {
            if operations.contains(&it.operation) {
                let known = phases.entry((it.workload, it.phase));
                let (from, to) = known.or_insert((it.from, it.to));
                (*from, *to) = ((*from).min(it.from), (*to).max(it.to));
            }
        }
        let mut phases: Vec<(u64, u64)> = phases.into_values().collect();
        phases.sort_unstable();
        let (mut sum, mut until) = (0, 0);
        for (from, to) in phases {
            sum += to.saturating_sub(from.max(until));
            until = until.max(to);
        }
        sum
    }
}

#[cfg(test)]
mod tests;
