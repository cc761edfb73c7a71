//! Round robin: each class of jobs in turn.
//!
//! A queue for each source, served in turn, empty ones skipped. Source: Nagle 1987 ("On packet
//! switches with infinite storage", IEEE Transactions on Communications 35(4)). A class that has
//! jobs again queues up behind the others.

use std::collections::{HashMap, VecDeque};

use headrace_spec::Class;

use super::{Dispatcher, JobId, Scheduler, job_class};
use crate::tokens::Job;

/// Classes in turn, `quantum` jobs of each.
#[derive(Debug)]
pub struct RoundRobin {
    depth: u32,
    out: u32,
    by: Class,
    quantum: u32,
    /// Jobs that wait, by class. Only looked up: its order decides nothing.
    waiting: HashMap<u32, VecDeque<JobId>>,
    /// Classes with jobs waiting; the first has its turn.
    turns: VecDeque<u32>,
    /// Number of jobs the first has had in this turn.
    taken: u32,
}

impl RoundRobin {
    /// At most `depth` jobs out at once, `quantum` (at least 1) in one turn.
    pub fn new(depth: u32, by: Class, quantum: u32) -> RoundRobin {
        RoundRobin {
            depth,
            out: 0,
            by,
            quantum,
            waiting: HashMap::new(),
            turns: VecDeque::new(),
            taken: 0,
        }
    }

    fn next(&mut self) -> Option<JobId> {
        let class = *self.turns.front()?;
        let queue = self.waiting.get_mut(&class)?;
        let job = queue.pop_front();
        self.taken += 1;
        if queue.is_empty() {
            self.turns.pop_front();
            self.taken = 0;
        } else if self.taken >= self.quantum {
            self.turns.rotate_left(1);
            self.taken = 0;
        }
        job
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

impl Scheduler for RoundRobin {
    fn job_arrival(&mut self, job: JobId, dispatcher: &mut Dispatcher<'_, '_>) {
        let class = job_class::of(self.by, dispatcher.job(job));
        let queue = self.waiting.entry(class).or_default();
        if queue.is_empty() {
            self.turns.push_back(class);
        }
        queue.push_back(job);
        self.fill(dispatcher);
    }

    fn job_finish(&mut self, _: &Job, dispatcher: &mut Dispatcher<'_, '_>) {
        self.out -= 1;
        self.fill(dispatcher);
    }

    fn name(&self) -> String {
        format!("round robin({})", self.depth)
    }
}
