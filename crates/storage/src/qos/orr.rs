//! Lustre's round robin over objects, ORR, and over targets, TRR.
//!
//! Qian et al. 2013 ("A novel network request scheduler for a large scale storage
//! system", Computer Science - Research and Development 23); Lustre,
//! ptlrpc/nrs_orr.c. Batches are sorted by logical offsets; Lustre can also sort by
//! physical ones. Jobs that are not ordered go to Lustre's fallback policy, first
//! in, first out; while both have jobs they take turns, a job each (ptlrpc/nrs.c).

use std::collections::VecDeque;

use headrace_spec::Ordered;
use headrace_trace::Operation;

use super::batches::Batches;
use super::{Dispatcher, JobId, Scheduler};
use crate::tokens::Job;

/// Key by which batches are formed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BatchOf {
    /// One file: ORR.
    Object,
    /// One data server: TRR.
    Target,
}

/// Batches of jobs of one file or one data server, sorted by offset.
#[derive(Debug)]
pub struct Orr {
    depth: u32,
    out: u32,
    of: BatchOf,
    ordered: Ordered,
    batches: Batches,
    others: VecDeque<JobId>,
    /// Jobs waiting in batches.
    batched: u32,
    /// True if it is the batches' turn while jobs outside batches also wait.
    batches_first: bool,
}

impl Orr {
    /// At most `depth` jobs out at once, batches of at most `quantum`.
    pub fn new(depth: u32, of: BatchOf, quantum: u32, ordered: Ordered) -> Orr {
        Orr {
            depth,
            out: 0,
            of,
            ordered,
            batches: Batches::new(quantum),
            others: VecDeque::new(),
            batched: 0,
            batches_first: true,
        }
    }

    fn orders(&self, job: &Job) -> bool {
        match job.operation {
            Operation::Read => self.ordered != Ordered::Writes,
            Operation::Write => self.ordered != Ordered::Reads,
            _ => false,
        }
    }

    fn next(&mut self) -> Option<JobId> {
        let batched = self.batched > 0 && (self.batches_first || self.others.is_empty());
        let job = if batched {
            self.batched -= 1;
            self.batches.pop()?
        } else {
            self.others.pop_front()?
        };
        self.batches_first = match (self.batched > 0, !self.others.is_empty()) {
            (true, true) => !batched,
            (ordered, _) => ordered,
        };
        Some(job)
    }

    fn fill(&mut self, dispatcher: &mut Dispatcher<'_, '_>) {
        while self.out < self.depth
            && let Some(job) = self.next()
        {
            self.out += 1;
            dispatcher.dispatch(job);
        }
    }
}

impl Scheduler for Orr {
    fn job_arrival(&mut self, id: JobId, dispatcher: &mut Dispatcher<'_, '_>) {
        let job = dispatcher.job(id);
        if self.orders(job) {
            let (class, place) = match self.of {
                BatchOf::Object => (job.file, (0, job.offset)),
                BatchOf::Target => (job.server, (job.file, job.offset)),
            };
            if self.batched == 0 && self.others.is_empty() {
                self.batches_first = true;
            }
            self.batches.push(class, place, id);
            self.batched += 1;
        } else {
            if self.batched == 0 && self.others.is_empty() {
                self.batches_first = false;
            }
            self.others.push_back(id);
        }
        self.fill(dispatcher);
    }

    fn job_finish(&mut self, _: &Job, dispatcher: &mut Dispatcher<'_, '_>) {
        self.out -= 1;
        self.fill(dispatcher);
    }

    fn name(&self) -> String {
        match self.of {
            BatchOf::Object => format!("ORR({})", self.depth),
            BatchOf::Target => format!("TRR({})", self.depth),
        }
    }
}
