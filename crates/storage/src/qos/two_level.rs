//! Two levels: rates above, deadlines below.
//!
//! Zhang, Sivasubramaniam, Wang, Riska, Riedel 2005 ("Storage performance virtualization via
//! throughput and latency control", MASCOTS; ACM Transactions on Storage 2(3), 2006). Above, a rate
//! controller (their SARC) gives each group credit for each period and lets its jobs pass while it
//! has any. If the storage has room and only groups without credit have jobs, the next period
//! begins at once. Spare bandwidth is thus shared as the credits are. Below, jobs go in order of
//! their deadlines (their AVATAR).
//!
//! Not modelled: AVATAR's feedback, which changes the depth by the latencies that it sees.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use headrace_net::{Span, Time};

use super::{Dispatcher, JobId, Scheduler};
use crate::tokens::Job;

/// Limits of a group.
#[derive(Clone, Copy, Debug)]
pub struct Promise {
    /// Bytes per second, more than 0.
    pub rate: f64,
    /// From arrival to deadline.
    pub latency: Span,
}

/// Credits over earliest deadline first.
#[derive(Debug)]
pub struct TwoLevel {
    depth: u32,
    out: u32,
    period: Span,
    /// Time when this period began.
    began: Time,
    groups: Vec<Group>,
    /// Jobs of the upper level that wait.
    held: u32,
    /// The lower level: deadline, arrival.
    passed: BinaryHeap<Reverse<Passed>>,
    arrivals: u64,
}

type Passed = (Time, u64, JobId);

#[derive(Debug)]
struct Group {
    latency: Span,
    /// Bytes that it gets each period.
    quota: f64,
    credit: f64,
    waiting: VecDeque<(Passed, f64)>,
}

impl TwoLevel {
    /// At most `depth` jobs out at once; promises by group, credit each `period`,
    /// which is more than zero.
    pub fn new(depth: u32, promises: &[Promise], period: Span) -> TwoLevel {
        let group = |promise: &Promise| {
            // Whole bytes: a job more or less should not hang on rounding.
            let quota = (promise.rate * period.as_seconds()).round().max(1.0);
            Group {
                latency: promise.latency,
                quota,
                credit: quota,
                waiting: VecDeque::new(),
            }
        };
        TwoLevel {
            depth,
            out: 0,
            period,
            began: Time::ZERO,
            groups: promises.iter().map(group).collect(),
            held: 0,
            passed: BinaryHeap::new(),
            arrivals: 0,
        }
    }

    /// Gives all groups credit for `periods` periods; no group saves more than one.
    fn credit(&mut self, periods: f64) {
        for group in &mut self.groups {
            group.credit = (group.credit + periods * group.quota).min(group.quota);
        }
    }

    /// Lets jobs of groups with credit pass to the lower level.
    fn pass(&mut self) {
        for group in &mut self.groups {
            while group.credit > 0.0
                && let Some((job, bytes)) = group.waiting.pop_front()
            {
                group.credit -= bytes;
                self.held -= 1;
                self.passed.push(Reverse(job));
            }
        }
    }

    fn fill(&mut self, dispatcher: &mut Dispatcher<'_, '_>) {
        let now = dispatcher.now();
        let periods = now.since(self.began).0 / self.period.0;
        if periods > 0 {
            self.began = self.began + Span(periods * self.period.0);
            self.credit(periods as f64);
        }
        self.pass();
        while self.out < self.depth {
            if let Some(Reverse((_, _, job))) = self.passed.pop() {
                self.out += 1;
                dispatcher.dispatch(job);
            } else if self.held > 0 {
                // There is room: the next period begins now, or if that is not enough
                // for any group's debt, the one in which it is.
                let waiting = self.groups.iter().filter(|it| !it.waiting.is_empty());
                let debts = waiting.map(|group| (-group.credit / group.quota).floor() + 1.0);
                let periods = debts.fold(f64::INFINITY, f64::min);
                self.began = now;
                self.credit(periods);
                self.pass();
            } else {
                return;
            }
        }
    }
}

impl Scheduler for TwoLevel {
    fn job_arrival(&mut self, id: JobId, dispatcher: &mut Dispatcher<'_, '_>) {
        let job = dispatcher.job(id);
        let (bytes, number) = (job.size.max(1) as f64, usize::from(job.group));
        let group = &mut self.groups[number];
        let deadline = dispatcher.now() + group.latency;
        let passed = (deadline, self.arrivals, id);
        group.waiting.push_back((passed, bytes));
        self.arrivals += 1;
        self.held += 1;
        self.fill(dispatcher);
    }

    fn job_finish(&mut self, _: &Job, dispatcher: &mut Dispatcher<'_, '_>) {
        self.out -= 1;
        self.fill(dispatcher);
    }

    fn name(&self) -> String {
        format!("two-level({})", self.depth)
    }
}
