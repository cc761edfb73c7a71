//! The kinds of schedulers, from their fields.

use headrace_net::Span;
use headrace_spec::{Groups, PerGroup, SchedulerKind, Seconds, Weights};

use super::external_scheduler::ExternalScheduler;
use super::{
    BatchOf, Controls, Crrn, Dsfq, Edf, Fifo, LeastLoaded, Mclock, Orr, Promise, RoundRobin,
    Scheduler, Sfq, SfqPlus, Tbf, TwoLevel,
};

/// A scheduler of a kind; none if the scenario has none. To add a kind, write a
/// file and name it here.
pub(super) fn make(kind: &SchedulerKind, groups: &Groups) -> Option<Box<dyn Scheduler>> {
    Some(match kind {
        SchedulerKind::NoScheduler(_) => return None,
        SchedulerKind::Fifo(it) => Box::new(Fifo::new(it.depth)),
        SchedulerKind::RoundRobin(it) => Box::new(RoundRobin::new(it.depth, it.by, it.quantum)),
        SchedulerKind::Sfq(it) => Box::new(Sfq::new(it.depth, weights(&it.weights, groups))),
        SchedulerKind::SfqPlus(it) => {
            Box::new(SfqPlus::new(it.depth.0, weights(&it.weights, groups)))
        }
        SchedulerKind::Dsfq(it) => {
            let interval = Span::from_seconds(it.message_interval.0);
            Box::new(Dsfq::new(it.depth, weights(&it.weights, groups), interval))
        }
        SchedulerKind::Edf(it) => {
            let latency = |group| latency(&it.deadlines, it.deadline, group);
            Box::new(Edf::new(it.depth, groups.names().map(latency).collect()))
        }
        SchedulerKind::TwoLevel(it) => {
            let promise = |group| Promise {
                rate: it.rates.of(group).unwrap_or(it.rate).0,
                latency: latency(&it.deadlines, it.deadline, group),
            };
            let promises: Vec<Promise> = groups.names().map(promise).collect();
            let period = Span::from_seconds(it.period.0).max(Span(1));
            Box::new(TwoLevel::new(it.depth, &promises, period))
        }
        SchedulerKind::Mclock(it) => {
            let controls = |group| Controls {
                reservation: it.reservations.of(group).map_or(0.0, |rate| rate.0),
                limit: it.limits.of(group).map_or(f64::INFINITY, |rate| rate.0),
                weight: it.weights.of(group),
            };
            Box::new(Mclock::new(
                it.depth,
                groups.names().map(controls).collect(),
            ))
        }
        SchedulerKind::Crrn(it) => Box::new(Crrn::new(it.depth, it.quantum)),
        SchedulerKind::Orr(it) => {
            Box::new(Orr::new(it.depth, BatchOf::Object, it.quantum, it.ordered))
        }
        SchedulerKind::Trr(it) => {
            Box::new(Orr::new(it.depth, BatchOf::Target, it.quantum, it.ordered))
        }
        SchedulerKind::PythonScheduler(it) => Box::new(ExternalScheduler(it.python.to_string())),
        SchedulerKind::LeastLoaded(it) => Box::new(LeastLoaded::new(it.depth, it.choices, it.load)),
        SchedulerKind::Tbf(it) => {
            let rate = |group| it.rates.of(group).unwrap_or(it.rate);
            let rates: Vec<f64> = groups.names().map(rate).collect();
            Box::new(Tbf::new(it.depth, it.by, &rates, it.bucket))
        }
    })
}

fn weights(weights: &Weights, groups: &Groups) -> Vec<f64> {
    groups.names().map(|group| weights.of(group)).collect()
}

fn latency(deadlines: &PerGroup<Seconds>, all: Seconds, group: &str) -> Span {
    Span::from_seconds(deadlines.of(group).unwrap_or(all).0)
}
