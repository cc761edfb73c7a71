//! Per-process records of operations, and their merge.

mod bytes;
mod times;
mod windows;

pub use times::{Exact, Times};
pub use windows::{Window, Windows};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::clock::Nanoseconds;
use crate::page_cache::Reads;

/// Record of one operation so far.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub struct Cell {
    /// Operations done.
    pub count: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Nanoseconds from the actual start to the end.
    pub service: Times,
    /// Nanoseconds from the intended start to the end.
    pub response: Times,
    /// Nanoseconds that preparing took, which are in neither.
    pub prepared: u64,
}

impl Cell {
    /// Adds what another has.
    pub fn merge(&mut self, other: &Cell) {
        self.count += other.count;
        self.bytes += other.bytes;
        self.prepared += other.prepared;
        self.service.merge(&other.service);
        self.response.merge(&other.response);
    }
}

/// Requests of one operation whose intended start came before the end of the run, and that were
/// never issued. Their latency is their wait at the end of the run: a lower bound.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub struct Unfinished {
    /// Count.
    pub count: u64,
    /// The sum of their latencies, in nanoseconds.
    pub sum: Nanoseconds,
    /// The longest.
    pub longest: Nanoseconds,
    /// All of them.
    pub latency: Times,
}

impl Unfinished {
    fn add(&mut self, latency: Nanoseconds) {
        self.count += 1;
        self.sum = self.sum.saturating_add(latency);
        self.longest = self.longest.max(latency);
        self.latency.record(latency);
    }

    /// Adds another operation's, or another process's.
    pub fn merge(&mut self, other: &Unfinished) {
        self.count += other.count;
        self.sum = self.sum.saturating_add(other.sum);
        self.longest = self.longest.max(other.longest);
        self.latency.merge(&other.latency);
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
    /// Duration for which it was prepared.
    pub prepared: Nanoseconds,
    /// Time when it should have been begun.
    pub intended: Nanoseconds,
    /// Time when it was.
    pub started: Nanoseconds,
    /// Time when it was done.
    pub ended: Nanoseconds,
}

/// Start and end of an operation within a phase of a workload.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TimeSpan {
    /// The operation's number.
    pub operation: usize,
    /// The workload.
    pub workload: usize,
    /// The phase.
    pub phase: u32,
    /// Time when the first of them began.
    pub from: Nanoseconds,
    /// Time when the last was done.
    pub to: Nanoseconds,
    /// Number of occurrences.
    pub count: u64,
    /// Bytes that they moved.
    pub bytes: u64,
}

/// Record of the operations of one process or of all.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// By the operation's number; none for operations without a call.
    pub cells: Vec<Option<Box<Cell>>>,
    /// By the operation's number: requests that were due and never issued.
    pub unfinished: BTreeMap<usize, Unfinished>,
    /// In no order.
    pub stretches: Vec<TimeSpan>,
    /// Over time.
    pub windows: Windows,
    /// Sources of the bytes read, including the warm-up.
    pub reads: Reads,
    /// Each operation, in the order in which its process did it, where that is wanted.
    pub each: Option<Vec<Done>>,
    /// Duration of the warm-up. Requests that end in it are not counted.
    warm_up: Nanoseconds,
}

impl Record {
    /// An empty record of `operations` operations, with time in windows of about `window`.
    pub fn new(operations: usize, warm_up: Nanoseconds, window: Option<Nanoseconds>) -> Record {
        Record {
            cells: vec![const { None }; operations],
            unfinished: BTreeMap::new(),
            stretches: Vec::new(),
            windows: Windows::new(operations, window),
            reads: Reads::default(),
            each: None,
            warm_up,
        }
    }

    /// The same, with each operation recorded or not.
    #[must_use]
    pub fn with_each(self, each: bool) -> Record {
        Record {
            each: each.then(Vec::new),
            ..self
        }
    }

    /// An operation is done.
    pub fn add(&mut self, done: &Done) {
        self.add_batch(done, 1);
    }

    /// Records calls that were timed as one batch: each gets the same part of the time.
    pub fn add_batch(&mut self, done: &Done, calls: u64) {
        if done.ended < self.warm_up {
            return;
        }
        if let Some(each) = &mut self.each {
            each.push(*done);
        }
        let cell = self.cells[done.operation].get_or_insert_default();
        cell.count += calls;
        cell.bytes += done.bytes;
        cell.prepared += done.prepared;
        let service = done.ended.saturating_sub(done.started);
        let response = done.ended.saturating_sub(done.intended);
        cell.service.record_batch(service, calls);
        cell.response.record_batch(response, calls);
        let window = Window {
            count: calls,
            bytes: done.bytes,
            service,
            longest: (service + calls / 2) / calls.max(1),
        };
        self.windows.add(done.operation, &window, done.ended);
        self.stretch(TimeSpan {
            operation: done.operation,
            workload: done.workload,
            phase: done.phase,
            from: done.started.max(self.warm_up),
            to: done.ended,
            count: calls,
            bytes: done.bytes,
        });
    }

    /// A request was due before the run ended, and was never issued.
    pub fn add_unfinished(&mut self, operation: usize, intended: Nanoseconds, end: Nanoseconds) {
        if end < self.warm_up {
            return;
        }
        let unfinished = self.unfinished.entry(operation).or_default();
        unfinished.add(end.saturating_sub(intended));
    }

    /// An operation's latencies from the intended start: those of finished requests and of due ones
    /// that were never issued. None if there is neither.
    pub fn response(&self, operation: usize) -> Option<Times> {
        let done = self.cells[operation].as_ref().map(|it| &it.response);
        let unfinished = self.unfinished.get(&operation).map(|it| &it.latency);
        let mut all = done.into_iter().chain(unfinished);
        let mut sum = all.next()?.clone();
        for other in all {
            sum.merge(other);
        }
        Some(sum)
    }

    /// Widens the stretch that this one belongs to.
    fn stretch(&mut self, new: TimeSpan) {
        let same = |it: &&mut TimeSpan| {
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
        for (number, theirs) in &other.unfinished {
            self.unfinished.entry(*number).or_default().merge(theirs);
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

    /// Returns the time when the last operation was done.
    pub fn last_end(&self) -> Nanoseconds {
        self.stretches.iter().map(|it| it.to).max().unwrap_or(0)
    }

    /// Active time of some operations together: in each phase from the start of the first to the
    /// end of the last. Overlapping phases count once.
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
