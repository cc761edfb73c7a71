//! Reads to the least loaded of some servers with a copy: the power of two choices.
//!
//! A job goes to the one with the fewest jobs of d servers drawn with equal probability. Source:
//! Mitzenmacher 2001 ("The power of two choices in randomized load balancing", IEEE Transactions on
//! Parallel and Distributed Systems 12(10)). Ties are broken at random. The loads may be those of a
//! bulletin board that is renewed at intervals (`view_period`). The least loaded of all servers
//! then gets every job until the board is renewed. Source: Mitzenmacher 2000 ("How useful is old
//! information?", IEEE TPDS 11(1)).
//!
//! Jobs that have no choice go to their own server: writes, and all operations but reads.

use std::collections::VecDeque;

use headrace_spec::{Choices, KnownLoad};
use smallvec::SmallVec;

use super::{Dispatcher, JobId, Scheduler};
use crate::tokens::Job;

/// Sends each read to the least loaded of some servers.
#[derive(Debug)]
pub struct LeastLoaded {
    depth: Option<u32>,
    choices: Choices,
    load: KnownLoad,
    out: u32,
    waiting: VecDeque<JobId>,
    /// Jobs that each server has of this scheduler.
    own: Vec<u32>,
}

impl LeastLoaded {
    /// At most `depth` jobs out at once.
    pub fn new(depth: Option<u32>, choices: Choices, load: KnownLoad) -> LeastLoaded {
        LeastLoaded {
            depth,
            choices,
            load,
            out: 0,
            waiting: VecDeque::new(),
            own: Vec::new(),
        }
    }

    fn fill(&mut self, dispatcher: &mut Dispatcher<'_, '_>) {
        while self.depth.is_none_or(|depth| self.out < depth)
            && let Some(job) = self.waiting.pop_front()
        {
            let own = dispatcher.job(job).server;
            let server = self.choose(job, dispatcher).unwrap_or(own);
            if let Err(error) = dispatcher.dispatch_to(server, job) {
                return dispatcher.fail(error.to_string());
            }
            self.out += 1;
            *self.jobs_at(server) += 1;
        }
    }

    /// The server of a job; none if it has no choice.
    fn choose(&self, job: JobId, dispatcher: &mut Dispatcher<'_, '_>) -> Option<u32> {
        let mut servers: SmallVec<[u32; 8]> = dispatcher.servers_of(job).ok()?.collect();
        if let Choices::Count(count) = self.choices {
            draw(&mut servers, count as usize, dispatcher);
        }
        let least = servers.iter().map(|it| self.load(*it, dispatcher)).min()?;
        servers.retain(|it| self.load(*it, dispatcher) == least);
        draw(&mut servers, 1, dispatcher);
        servers.first().copied()
    }

    fn load(&self, server: u32, dispatcher: &Dispatcher<'_, '_>) -> u32 {
        match self.load {
            KnownLoad::Own => self.own.get(server as usize).copied().unwrap_or(0),
            KnownLoad::View => {
                let view = dispatcher.servers().get(server as usize);
                view.map_or(0, |it| it.jobs)
            }
        }
    }

    fn jobs_at(&mut self, server: u32) -> &mut u32 {
        let server = server as usize;
        if self.own.len() <= server {
            self.own.resize(server + 1, 0);
        }
        &mut self.own[server]
    }
}

/// Keeps some, drawn with equal probability.
fn draw(servers: &mut SmallVec<[u32; 8]>, count: usize, dispatcher: &mut Dispatcher<'_, '_>) {
    if servers.len() <= count {
        return;
    }
    for at in 0..count {
        let left = (servers.len() - at) as u64;
        let other = at + dispatcher.random().below(left) as usize;
        servers.swap(at, other);
    }
    servers.truncate(count);
}

impl Scheduler for LeastLoaded {
    fn job_arrival(&mut self, job: JobId, dispatcher: &mut Dispatcher<'_, '_>) {
        self.waiting.push_back(job);
        self.fill(dispatcher);
    }

    fn job_finish(&mut self, job: &Job, dispatcher: &mut Dispatcher<'_, '_>) {
        self.out -= 1;
        *self.jobs_at(job.server) -= 1;
        self.fill(dispatcher);
    }

    fn name(&self) -> String {
        match self.choices {
            Choices::All => "least loaded of all".to_owned(),
            Choices::Count(count) => format!("least loaded of {count}"),
        }
    }
}
