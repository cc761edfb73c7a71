//! SFQ(D)+: start-time fair queueing for jobs of different sizes.
//!
//! Zhao, Xu 2019 ("vPFS+: managing I/O performance for diverse HPC applications", MSST) extend
//! SFQ(D). The depth counts the cost of jobs instead of the jobs themselves. With backfilling,
//! smaller jobs may go when the next one costs more than the rest of the depth. Their bound on
//! backfilling is not used. Here a job passes another only if its start tag is less than the
//! other's finish tag, so that no job is passed for ever.

use std::collections::BTreeMap;

use super::tag::{Tag, cost};
use super::{Dispatcher, JobId, Scheduler};
use crate::tokens::Job;

/// SFQ with its depth in bytes, and backfilling.
#[derive(Debug)]
pub struct SfqPlus {
    depth: u64,
    out: u32,
    out_bytes: u64,
    weights: Vec<f64>,
    /// The finish tag of each group's last job.
    finish: Vec<f64>,
    virtual_time: f64,
    /// By start tag and arrival.
    waiting: BTreeMap<(Tag, u64), Waiting>,
    arrivals: u64,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    job: JobId,
    bytes: u64,
    finish: f64,
}

impl SfqPlus {
    /// At most `depth` bytes out at once, or one job; `weights` by group, all
    /// positive.
    pub fn new(depth: u64, weights: Vec<f64>) -> SfqPlus {
        SfqPlus {
            depth,
            out: 0,
            out_bytes: 0,
            finish: vec![0.0; weights.len()],
            weights,
            virtual_time: 0.0,
            waiting: BTreeMap::new(),
            arrivals: 0,
        }
    }

    fn fits(&self, bytes: u64) -> bool {
        self.out == 0 || self.out_bytes.saturating_add(bytes) <= self.depth
    }

    /// The next job that fits: the first, or one that may pass it.
    fn next(&mut self) -> Option<JobId> {
        let (&key, &first) = self.waiting.first_key_value()?;
        let key = if self.fits(first.bytes) {
            self.virtual_time = key.0.0;
            key
        } else {
            let before = (Tag(first.finish), 0);
            let mut behind = self.waiting.range(..before);
            *behind.find(|(_, it)| self.fits(it.bytes))?.0
        };
        let next = self.waiting.remove(&key)?;
        self.out += 1;
        self.out_bytes += next.bytes;
        Some(next.job)
    }

    fn fill(&mut self, dispatcher: &mut Dispatcher<'_, '_>) {
        while let Some(job) = self.next() {
            dispatcher.dispatch(job);
        }
    }
}

impl Scheduler for SfqPlus {
    fn job_arrival(&mut self, id: JobId, dispatcher: &mut Dispatcher<'_, '_>) {
        let job = dispatcher.job(id);
        let group = usize::from(job.group);
        let start = self.virtual_time.max(self.finish[group]);
        let finish = start + cost(job) / self.weights[group];
        self.finish[group] = finish;
        let waiting = Waiting {
            job: id,
            bytes: job.size,
            finish,
        };
        self.waiting.insert((Tag(start), self.arrivals), waiting);
        self.arrivals += 1;
        self.fill(dispatcher);
    }

    fn job_finish(&mut self, job: &Job, dispatcher: &mut Dispatcher<'_, '_>) {
        self.out -= 1;
        self.out_bytes -= job.size;
        self.fill(dispatcher);
    }

    fn name(&self) -> String {
        format!("SFQ({})+", headrace_spec::Bytes(self.depth))
    }
}
