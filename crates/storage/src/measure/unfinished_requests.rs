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
    /// By workload, of those with times of their own: what each of its processes has in progress.
    under_way: Vec<Option<Processes>>,
    left: BTreeMap<&'static str, UnfinishedOperation>,
}

/// Operation in flight of each process of a workload, and its intended start.
type Processes = Vec<Option<(Operation, Time)>>;

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
            under_way: open.into_iter().map(|it| it.then(Vec::new)).collect(),
            left: BTreeMap::new(),
        }
    }

    fn of(&mut self, request: &Request) -> Option<&mut Option<(Operation, Time)>> {
        let workload = self.under_way.get_mut(request.process.workload as usize);
        let processes = workload?.as_mut()?;
        let rank = request.process.rank as usize;
        if processes.len() <= rank {
            processes.resize(rank + 1, None);
        }
        Some(&mut processes[rank])
    }

    /// A request starts.
    pub fn issued(&mut self, request: &Request) {
        if let Some(own) = self.of(request) {
            *own = Some((request.operation, request.intended));
        }
    }

    /// A request is done.
    pub fn completed(&mut self, request: &Request) {
        if let Some(own) = self.of(request) {
            *own = None;
        }
    }

    /// The run has ended, and so had not been issued: an operation, and when it was due.
    pub fn finish(&mut self, not_issued: &[(Operation, Time)], now: Time) {
        let in_flight: Vec<(Operation, Time)> = self
            .under_way
            .iter()
            .flatten()
            .flatten()
            .flatten()
            .copied()
            .collect();
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

    /// The latencies so far of what was left, by operation.
    pub(crate) fn latencies(&self) -> impl Iterator<Item = (&'static str, &Latencies)> {
        self.left.iter().map(|(name, left)| (*name, &left.latency))
    }

    /// Returns the unfinished requests; none without an open-loop workload.
    pub fn report(&self) -> Option<UnfinishedReport> {
        if self.under_way.iter().all(Option::is_none) {
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
