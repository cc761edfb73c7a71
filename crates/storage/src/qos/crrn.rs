//! Lustre's client round robin over NIDs, CRR-N.
//!
//! Qian et al. 2013 ("A novel network request scheduler for a large scale storage
//! system", Computer Science - Research and Development 23); Lustre,
//! ptlrpc/nrs_crr.c. A client here has one NID.

use super::batches::Batches;
use super::{Dispatcher, JobId, Scheduler};
use crate::tokens::Job;

/// Batches of jobs, each of one client.
#[derive(Debug)]
pub struct Crrn {
    depth: u32,
    out: u32,
    batches: Batches,
}

impl Crrn {
    /// At most `depth` jobs out at once, batches of at most `quantum`.
    pub fn new(depth: u32, quantum: u32) -> Crrn {
        Crrn {
            depth,
            out: 0,
            batches: Batches::new(quantum),
        }
    }

    fn fill(&mut self, dispatcher: &mut Dispatcher<'_, '_>) {
        while self.out < self.depth
            && let Some(job) = self.batches.pop()
        {
            self.out += 1;
            dispatcher.dispatch(job);
        }
    }
}

impl Scheduler for Crrn {
    fn job_arrival(&mut self, job: JobId, dispatcher: &mut Dispatcher<'_, '_>) {
        let client = dispatcher.job(job).client;
        self.batches.push(client, (0, 0), job);
        self.fill(dispatcher);
    }

    fn job_finish(&mut self, _: &Job, dispatcher: &mut Dispatcher<'_, '_>) {
        self.out -= 1;
        self.fill(dispatcher);
    }

    fn name(&self) -> String {
        format!("CRR-N({})", self.depth)
    }
}
