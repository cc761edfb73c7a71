//! Earliest deadline first.
//!
//! Liu, Layland 1973 ("Scheduling algorithms for multiprogramming in a hard-real-time environment",
//! JACM 20(1)). The deadline of a request is its arrival and its workload's latency. Source: Lumb,
//! Merchant, Alvarez 2003 ("Façade: virtual storage devices with performance guarantees", FAST).

use headrace_net::{Span, Time};

use super::ordered_queue::OrderedQueue;
use super::{Dispatcher, JobId, Scheduler};
use crate::tokens::Job;

/// The job whose deadline is next goes next.
#[derive(Debug)]
pub struct Edf {
    latencies: Vec<Span>,
    waiting: OrderedQueue<Time>,
}

impl Edf {
    /// At most `depth` jobs out at once; `latencies` by group.
    pub fn new(depth: u32, latencies: Vec<Span>) -> Edf {
        Edf {
            latencies,
            waiting: OrderedQueue::new(depth),
        }
    }

    fn fill(&mut self, dispatcher: &mut Dispatcher<'_, '_>) {
        while let Some((_, job)) = self.waiting.next() {
            dispatcher.dispatch(job);
        }
    }
}

impl Scheduler for Edf {
    fn job_arrival(&mut self, job: JobId, dispatcher: &mut Dispatcher<'_, '_>) {
        let group = usize::from(dispatcher.job(job).group);
        let deadline = dispatcher.now() + self.latencies[group];
        self.waiting.push(deadline, job);
        self.fill(dispatcher);
    }

    fn job_finish(&mut self, _: &Job, dispatcher: &mut Dispatcher<'_, '_>) {
        self.waiting.finished();
        self.fill(dispatcher);
    }

    fn name(&self) -> String {
        format!("EDF({})", self.waiting.depth())
    }
}
