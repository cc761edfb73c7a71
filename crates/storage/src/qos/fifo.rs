//! First in, first out, with at most `depth` jobs at a server.

use std::collections::VecDeque;

use super::{Dispatcher, JobId, Scheduler};
use crate::tokens::Job;

/// Jobs go on in the order in which they came.
#[derive(Debug)]
pub struct Fifo {
    depth: Option<u32>,
    out: u32,
    waiting: VecDeque<JobId>,
}

impl Fifo {
    /// At most `depth` jobs out at once; any number if none.
    pub fn new(depth: Option<u32>) -> Fifo {
        Fifo {
            depth,
            out: 0,
            waiting: VecDeque::new(),
        }
    }

    fn fill(&mut self, dispatcher: &mut Dispatcher<'_, '_>) {
        while self.depth.is_none_or(|depth| self.out < depth)
            && let Some(job) = self.waiting.pop_front()
        {
            self.out += 1;
            dispatcher.dispatch(job);
        }
    }
}

impl Scheduler for Fifo {
    fn job_arrival(&mut self, job: JobId, dispatcher: &mut Dispatcher<'_, '_>) {
        self.waiting.push_back(job);
        self.fill(dispatcher);
    }

    fn job_finish(&mut self, _: &Job, dispatcher: &mut Dispatcher<'_, '_>) {
        self.out -= 1;
        self.fill(dispatcher);
    }

    fn name(&self) -> String {
        match self.depth {
            None => "FIFO".to_owned(),
            Some(depth) => format!("FIFO({depth})"),
        }
    }
}
