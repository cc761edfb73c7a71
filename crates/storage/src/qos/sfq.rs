//! Start-time fair queueing with depth, SFQ(D).
//!
//! Goyal, Vin, Cheng 1997 give SFQ. Jin, Chase, Kaur 2004 ("Interposed
//! proportional sharing for a storage service utility", SIGMETRICS) let D jobs
//! be out at once. A job that arrives for group g gets the start tag S = max(v,
//! F of g's previous job). Its finish tag is F = S + cost / weight of g. The
//! waiting job with the least start tag goes next; v is the start tag of the
//! job dispatched last.

use super::ordered_queue::OrderedQueue;
use super::tag::{Tag, cost};
use super::{Dispatcher, JobId, Scheduler};
use crate::tokens::Job;

/// SFQ(D): groups get service in proportion to their weights while they have
/// jobs waiting. The cost of a job is its bytes, at least one.
#[derive(Debug)]
pub struct Sfq {
    weights: Vec<f64>,
    /// The finish tag of each group's last job.
    finish: Vec<f64>,
    virtual_time: f64,
    waiting: OrderedQueue<Tag>,
}

impl Sfq {
    /// At most `depth` jobs out at once; `weights` by group, all positive.
    pub fn new(depth: u32, weights: Vec<f64>) -> Sfq {
        Sfq {
            finish: vec![0.0; weights.len()],
            weights,
            virtual_time: 0.0,
            waiting: OrderedQueue::new(depth),
        }
    }

    fn fill(&mut self, dispatcher: &mut Dispatcher<'_, '_>) {
        while let Some((Tag(start), job)) = self.waiting.next() {
            self.virtual_time = start;
            dispatcher.dispatch(job);
        }
    }
}

impl Scheduler for Sfq {
    fn job_arrival(&mut self, id: JobId, dispatcher: &mut Dispatcher<'_, '_>) {
        let job = dispatcher.job(id);
        let group = usize::from(job.group);
        let cost = cost(job);
        let start = self.virtual_time.max(self.finish[group]);
        self.finish[group] = start + cost / self.weights[group];
        self.waiting.push(Tag(start), id);
        self.fill(dispatcher);
    }

    fn job_finish(&mut self, _: &Job, dispatcher: &mut Dispatcher<'_, '_>) {
        self.waiting.finished();
        self.fill(dispatcher);
    }

    fn name(&self) -> String {
        format!("SFQ({})", self.waiting.depth())
    }
}
