//! Limit on a client's requests in flight to each server, or to each of its targets. Other requests
//! wait in one queue for each server or target, first come, first served. Linux has this limit in
//! the slot table of a transport (net/sunrpc). Lustre has it in max_rpcs_in_flight of an object
//! storage target.
//!
//! While the links are idle, k requests of s bytes in flight carry k · s bytes in a round trip.
//!
//! On servers without a write-back cache, more slots or a faster network can make a run slower.
//! Requests that share a card then reach their device later. More slots made 17 of 166 random pairs
//! of runs slower, by up to 4.1 %. A faster network made 1 of 144 pairs slower, by 1.0 %.

use std::collections::{BTreeMap, VecDeque};

use headrace_spec::LimitsPer;

use crate::qos::{Dispatcher, JobId, Scheduler};
use crate::tokens::Job;

/// The lines of a client.
#[derive(Debug)]
pub struct InFlight {
    most: u32,
    per: LimitsPer,
    /// By server and target, while anything is out to it.
    lines: BTreeMap<(u32, u16), Line>,
}

#[derive(Default, Debug)]
struct Line {
    out: u32,
    waiting: VecDeque<JobId>,
}

impl InFlight {
    /// At most `most` to each server or target.
    pub fn new(most: u32, per: LimitsPer) -> InFlight {
        InFlight {
            most,
            per,
            lines: BTreeMap::new(),
        }
    }
}

impl InFlight {
    /// Returns the line of a job.
    fn line_of(&self, job: &Job) -> (u32, u16) {
        match self.per {
            LimitsPer::Server => (job.server, 0),
            LimitsPer::Target => (job.server, job.target),
        }
    }
}

impl Scheduler for InFlight {
    fn job_arrival(&mut self, job: JobId, dispatcher: &mut Dispatcher<'_, '_>) {
        let key = self.line_of(dispatcher.job(job));
        let line = self.lines.entry(key).or_default();
        if line.out < self.most {
            line.out += 1;
            dispatcher.dispatch(job);
        } else {
            line.waiting.push_back(job);
        }
    }

    fn job_finish(&mut self, job: &Job, dispatcher: &mut Dispatcher<'_, '_>) {
        let key = self.line_of(job);
        let Some(line) = self.lines.get_mut(&key) else {
            return;
        };
        match line.waiting.pop_front() {
            Some(next) => dispatcher.dispatch(next),
            None => line.out -= 1,
        }
        if line.out == 0 {
            self.lines.remove(&key);
        }
    }

    fn name(&self) -> String {
        match self.per {
            LimitsPer::Server => format!("at most {} to each server", self.most),
            LimitsPer::Target => format!("at most {} to each target", self.most),
        }
    }
}
