//! Limit on a client's requests in flight to each target. Others wait in one queue per target,
//! first come, first served (Lustre, max_rpcs_in_flight).

use std::collections::{BTreeMap, VecDeque};

use crate::qos::{Dispatcher, JobId, Scheduler};
use crate::tokens::Job;

/// The lines of a client.
#[derive(Debug)]
pub struct InFlight {
    most: u32,
    /// By server and target, while anything is out to it.
    lines: BTreeMap<(u32, u16), Line>,
}

#[derive(Default, Debug)]
struct Line {
    out: u32,
    waiting: VecDeque<JobId>,
}

impl InFlight {
    /// At most `most` to each target.
    pub fn new(most: u32) -> InFlight {
        InFlight {
            most,
            lines: BTreeMap::new(),
        }
    }
}

impl Scheduler for InFlight {
    fn job_arrival(&mut self, job: JobId, dispatcher: &mut Dispatcher<'_, '_>) {
        let &Job { server, target, .. } = dispatcher.job(job);
        let line = self.lines.entry((server, target)).or_default();
        if line.out < self.most {
            line.out += 1;
            dispatcher.dispatch(job);
        } else {
            line.waiting.push_back(job);
        }
    }

    fn job_finish(&mut self, job: &Job, dispatcher: &mut Dispatcher<'_, '_>) {
        let Some(line) = self.lines.get_mut(&(job.server, job.target)) else {
            return;
        };
        match line.waiting.pop_front() {
            Some(next) => dispatcher.dispatch(next),
            None => line.out -= 1,
        }
        if line.out == 0 {
            self.lines.remove(&(job.server, job.target));
        }
    }

    fn name(&self) -> String {
        format!("at most {} to each server", self.most)
    }
}
