//! Requests whose intended start came before the end of the run, and that were not done by then.
//!
//! In an open loop, only these requests show a stall at the end of a run. Their latency is counted
//! up to the end of the run: a lower bound.

use std::collections::BTreeMap;

use headrace_net::Time;
use headrace_trace::Operation;
use serde::Serialize;

use super::latencies::Latencies;
use crate::tokens::Request;

/// Requests in flight, and finally the unfinished ones.
#[derive(Default)]
pub struct Unfinished {
    /// By workload, of those with times of their own: its processes.
    processes: Vec<Option<Vec<OpenProcess>>>,
    /// End of the warm-up.
    start: Time,
    left: BTreeMap<&'static str, UnfinishedOperation>,
}

/// A process that issues requests at times of their own.
#[derive(Clone, Copy, Default)]
struct OpenProcess {
    /// Operation in flight, and its intended start.
    in_flight: Option<(Operation, Time)>,
    /// Requests issued since the warm-up.
    issued: u64,
    /// The last of them: its intended and its actual start.
    last: (Time, Time),
}

/// With a larger share of requests missing, the system does not keep up with the load.
const MOST_MISSING: f64 = 0.1;

/// Requests of one operation.
struct UnfinishedOperation {
    in_flight: u64,
    not_issued: u64,
    latency: Latencies,
}

/// Requests that were due before the end of the run and were not done.
#[derive(Clone, Debug, Serialize)]
pub struct UnfinishedReport {
    /// Count.
    pub count: u64,
    /// Number of unfinished requests that had been issued.
    pub in_flight: u64,
    /// Seconds from the intended start to the end of the run; none of none.
    pub mean: Option<f64>,
    /// The longest of them.
    pub max: Option<f64>,
    /// Counts by operation.
    pub operations: BTreeMap<&'static str, u64>,
}

impl Unfinished {
    /// Nothing yet, of workloads of which these have times of their own.
    pub fn new(open: impl IntoIterator<Item = bool>) -> Unfinished {
        Unfinished {
            processes: open.into_iter().map(|it| it.then(Vec::new)).collect(),
            start: Time::ZERO,
            left: BTreeMap::new(),
        }
    }

    fn process_of(&mut self, request: &Request) -> Option<&mut OpenProcess> {
        let workload = self.processes.get_mut(request.process.workload as usize);
        let processes = workload?.as_mut()?;
        let rank = request.process.rank as usize;
        if processes.len() <= rank {
            processes.resize(rank + 1, OpenProcess::default());
        }
        Some(&mut processes[rank])
    }

    /// A request starts.
    pub fn issued(&mut self, request: &Request) {
        if let Some(process) = self.process_of(request) {
            process.in_flight = Some((request.operation, request.intended));
            process.issued += 1;
            process.last = (request.intended, request.issued);
        }
    }

    /// A request is done.
    pub fn completed(&mut self, request: &Request) {
        if let Some(process) = self.process_of(request) {
            process.in_flight = None;
        }
    }

    /// The warm-up is over.
    pub fn reset(&mut self, now: Time) {
        self.start = now;
        for process in self.processes.iter_mut().flatten().flatten() {
            process.issued = 0;
        }
    }

    /// The run has ended, and so had not been issued: an operation, and when it was due.
    pub fn finish(&mut self, not_issued: &[(Operation, Time)], now: Time) {
        let processes = self.processes.iter().flatten().flatten();
        let in_flight: Vec<(Operation, Time)> = processes.filter_map(|it| it.in_flight).collect();
        for (operation, intended) in &in_flight {
            self.add(*operation, *intended, now).in_flight += 1;
        }
        for (operation, intended) in not_issued {
            self.add(*operation, *intended, now).not_issued += 1;
        }
    }

    fn add(&mut self, operation: Operation, intended: Time, now: Time) -> &mut UnfinishedOperation {
        let left = self
            .left
            .entry(operation.name())
            .or_insert_with(|| UnfinishedOperation {
                in_flight: 0,
                not_issued: 0,
                latency: Latencies::new(),
            });
        left.latency.record(now.since(intended));
        left
    }

    /// The latencies so far of unfinished requests, by operation.
    pub(crate) fn latencies(&self) -> impl Iterator<Item = (&'static str, &Latencies)> {
        self.left.iter().map(|(name, left)| (*name, &left.latency))
    }

    /// Returns true if the processes issue requests more slowly than these are due. At the end of
    /// the run many have not been issued, or the last were issued late by a large part of the run.
    pub(crate) fn falls_behind(&self) -> bool {
        let processes = || self.processes.iter().flatten().flatten();
        let issued: u64 = processes().map(|it| it.issued).sum();
        let not_issued: u64 = self.left.values().map(|it| it.not_issued).sum();
        // A process whose clock advances by 8 s in 10 s has issued 80 % of its due requests.
        let missing = processes().filter(|it| it.issued > 0).map(|it| {
            let (intended, actual) = it.last;
            let elapsed = actual.since(self.start).as_seconds();
            let delay = actual.since(intended).as_seconds().min(elapsed);
            let share = if elapsed > 0.0 { delay / elapsed } else { 0.0 };
            it.issued as f64 * share
        });
        missing.sum::<f64>() > MOST_MISSING * issued as f64
            || not_issued as f64 > MOST_MISSING * (issued + not_issued) as f64
    }

    /// Returns the unfinished requests; none without an open-loop workload.
    pub fn report(&self) -> Option<UnfinishedReport> {
        if self.processes.iter().all(Option::is_none) {
            return None;
        }
        let all = || self.left.values();
        let in_flight = all().map(|it| it.in_flight).sum();
        let count = all().map(|it| it.not_issued).sum::<u64>() + in_flight;
        let mut latency = Latencies::new();
        all().for_each(|it| latency.merge(&it.latency));
        Some(UnfinishedReport {
            count,
            in_flight,
            mean: (count > 0).then(|| latency.mean()),
            max: (count > 0).then(|| latency.most()),
            operations: self
                .left
                .iter()
                .map(|(name, it)| (*name, it.in_flight + it.not_issued))
                .collect(),
        })
    }
}
