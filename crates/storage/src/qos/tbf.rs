//! Lustre's token bucket filter, TBF: a rate in jobs a second for each class.
//!
//! Each class has a queue and a bucket, which begins full. A job takes a token. Among the classes
//! with a token and a job, that whose token was due first goes next.
//!
//! Sources: Lustre, ptlrpc/nrs_tbf.c. Qian et al. 2017, "A configurable rule based classful token
//! bucket filter network request scheduler for the Lustre file system", SC 2017.
//!
//! Not modelled: rules that change, and their order.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

use headrace_net::Span;
use headrace_spec::Class;

use super::{Dispatcher, JobId, Scheduler, job_class};
use crate::tokens::Job;

/// Classes of jobs, each held to a rate.
#[derive(Debug)]
pub struct Tbf {
    depth: Option<u32>,
    out: u32,
    by: Class,
    /// The time between two tokens by group, in picoseconds.
    intervals: Vec<u64>,
    bucket: u32,
    /// Only looked up: its order decides nothing.
    buckets: HashMap<u32, Bucket>,
    /// Classes with jobs waiting, by when their next token is due.
    due: BinaryHeap<Reverse<(i128, u64, u32)>>,
    arrivals: u64,
    /// The time for which a wake-up is asked.
    waking: Option<i128>,
}

#[derive(Debug)]
struct Bucket {
    waiting: VecDeque<JobId>,
    interval: i128,
    /// Time when it was empty, assuming unlimited filling since: it has min(bucket, (now − empty) /
    /// interval) tokens.
    empty: i128,
}

impl Tbf {
    /// At most `depth` jobs out at once; `rates` in jobs per second by group, all
    /// positive; a bucket holds `bucket` tokens.
    pub fn new(depth: Option<u32>, by: Class, rates: &[f64], bucket: u32) -> Tbf {
        let interval = |rate: &f64| ((1e12 / rate).round() as u64).max(1);
        Tbf {
            depth,
            out: 0,
            by,
            intervals: rates.iter().map(interval).collect(),
            bucket,
            buckets: HashMap::new(),
            due: BinaryHeap::new(),
            arrivals: 0,
            waking: None,
        }
    }

    fn fill(&mut self, dispatcher: &mut Dispatcher<'_, '_>) {
        let now = i128::from(dispatcher.now().0);
        while self.depth.is_none_or(|depth| self.out < depth)
            && let Some(&Reverse((due, arrival, class))) = self.due.peek()
        {
            if due > now {
                if self
                    .waking
                    .is_none_or(|waking| due < waking || waking <= now)
                {
                    self.waking = Some(due);
                    let span = u64::try_from(due - now).unwrap_or(u64::MAX);
                    dispatcher.wake_in(Span(span), 0);
                }
                return;
            }
            self.due.pop();
            let Some(bucket) = self.buckets.get_mut(&class) else {
                return;
            };
            let full = now - i128::from(self.bucket) * bucket.interval;
            bucket.empty = bucket.empty.max(full) + bucket.interval;
            if let Some(job) = bucket.waiting.pop_front() {
                self.out += 1;
                dispatcher.dispatch(job);
            }
            if !bucket.waiting.is_empty() {
                let due = bucket.empty + bucket.interval;
                self.due.push(Reverse((due, arrival, class)));
            }
        }
    }
}

impl Scheduler for Tbf {
    fn job_arrival(&mut self, id: JobId, dispatcher: &mut Dispatcher<'_, '_>) {
        let now = i128::from(dispatcher.now().0);
        let job = dispatcher.job(id);
        let class = job_class::of(self.by, job);
        let interval = i128::from(self.intervals[usize::from(job.group)]);
        let full = now - i128::from(self.bucket) * interval;
        let bucket = self.buckets.entry(class).or_insert_with(|| Bucket {
            waiting: VecDeque::new(),
            interval,
            empty: full,
        });
        if bucket.waiting.is_empty() {
            let due = bucket.empty.max(full) + interval;
            self.due.push(Reverse((due, self.arrivals, class)));
            self.arrivals += 1;
        }
        bucket.waiting.push_back(id);
        self.fill(dispatcher);
    }

    fn job_finish(&mut self, _: &Job, dispatcher: &mut Dispatcher<'_, '_>) {
        self.out -= 1;
        self.fill(dispatcher);
    }

    fn wake(&mut self, _: u32, dispatcher: &mut Dispatcher<'_, '_>) {
        self.fill(dispatcher);
    }

    fn name(&self) -> String {
        match self.depth {
            None => "TBF".to_owned(),
            Some(depth) => format!("TBF({depth})"),
        }
    }
}
