//! mClock: reservation, limit and weights.
//!
//! Gulati, Merchant, Varman 2010 ("mClock: handling throughput variability for hypervisor IO
//! scheduling", OSDI). Each job has three tags, spaced by the group's reservation (R), limit (L)
//! and weight (P). If a job's R is due, that with the least R goes, so that all reservations are
//! met. Otherwise, of the jobs whose L is due, that with the least P goes, which is not counted
//! against the reservation. A group that was idle begins at the P of the others, so that it has
//! saved nothing. The paper counts requests; here a job counts with its bytes, and its tags are
//! those at which it may start.

use std::collections::VecDeque;

use headrace_net::Span;

use super::{Dispatcher, JobId, Scheduler};
use crate::tokens::Job;

/// Guarantees of a group.
#[derive(Clone, Copy, Debug)]
pub struct Controls {
    /// Bytes per second that it gets first; 0 for none.
    pub reservation: f64,
    /// Bytes per second that it gets at most; infinite for no limit.
    pub limit: f64,
    /// Its weight, more than 0.
    pub weight: f64,
}

/// Reservations first, then weights below limits.
#[derive(Debug)]
pub struct Mclock {
    depth: u32,
    out: u32,
    groups: Vec<Group>,
    /// The time for which a wake-up is asked, in picoseconds.
    waking: Option<u64>,
}

/// Tags in picoseconds, of the group's next job if it came by then.
#[derive(Debug)]
struct Group {
    controls: Controls,
    reservation: f64,
    limit: f64,
    proportion: f64,
    /// Jobs with when they came and their bytes.
    waiting: VecDeque<(JobId, f64, f64)>,
}

impl Group {
    /// A tag of the first job that waits.
    fn tag(&self, next: f64) -> Option<f64> {
        self.waiting.front().map(|&(_, came, _)| next.max(came))
    }
}

/// Picoseconds for `bytes` at `rate` bytes a second; 0 at an infinite rate.
fn time(bytes: f64, rate: f64) -> f64 {
    bytes / rate * 1e12
}

impl Mclock {
    /// At most `depth` jobs out at once; controls by group.
    pub fn new(depth: u32, controls: Vec<Controls>) -> Mclock {
        let groups = controls.into_iter().map(|controls| Group {
            controls,
            reservation: 0.0,
            limit: 0.0,
            proportion: 0.0,
            waiting: VecDeque::new(),
        });
        Mclock {
            depth,
            out: 0,
            groups: groups.collect(),
            waking: None,
        }
    }

    /// The group with the least tag, the first of those with equal ones.
    fn least(&self, tag: impl Fn(&Group) -> Option<f64>) -> Option<(usize, f64)> {
        let tags = self.groups.iter().map(tag).enumerate();
        let tags = tags.filter_map(|(group, tag)| tag.map(|tag| (group, tag)));
        tags.min_by(|one, other| one.1.total_cmp(&other.1))
    }

    fn next(&mut self, now: f64) -> Option<JobId> {
        let reserved = |group: &Group| {
            let tag = group.tag(group.reservation)?;
            (group.controls.reservation > 0.0 && tag <= now).then_some(tag)
        };
        let below = |group: &Group| {
            let limit = group.tag(group.limit)?;
            (limit <= now).then_some(group.proportion)
        };
        let (number, constrained) = match self.least(reserved) {
            Some((number, _)) => (number, true),
            None => (self.least(below)?.0, false),
        };
        let group = &mut self.groups[number];
        let (job, came, bytes) = group.waiting.pop_front()?;
        if constrained {
            group.reservation =
                group.reservation.max(came) + time(bytes, group.controls.reservation);
        }
        group.limit = group.limit.max(came) + time(bytes, group.controls.limit);
        group.proportion += bytes / group.controls.weight;
        Some(job)
    }

    fn fill(&mut self, dispatcher: &mut Dispatcher<'_, '_>) {
        let now = dispatcher.now().0;
        while self.out < self.depth {
            if let Some(job) = self.next(now as f64) {
                self.out += 1;
                dispatcher.dispatch(job);
                continue;
            }
            let due = |group: &Group| {
                let limit = group.tag(group.limit)?;
                let reserved = group.tag(group.reservation)?;
                match group.controls.reservation {
                    0.0 => Some(limit),
                    _ => Some(limit.min(reserved)),
                }
            };
            if let Some((_, due)) = self.least(due) {
                let due = (due.ceil() as u64).max(now + 1);
                if self
                    .waking
                    .is_none_or(|waking| due < waking || waking <= now)
                {
                    self.waking = Some(due);
                    dispatcher.wake_in(Span(due - now), 0);
                }
            }
            return;
        }
    }
}

impl Scheduler for Mclock {
    fn job_arrival(&mut self, id: JobId, dispatcher: &mut Dispatcher<'_, '_>) {
        let came = dispatcher.now().0 as f64;
        let job = dispatcher.job(id);
        let (bytes, number) = (job.size.max(1) as f64, usize::from(job.group));
        if self.groups[number].waiting.is_empty() {
            let active = self.least(|it| it.tag(0.0).map(|_| it.proportion));
            if let Some((_, least)) = active {
                let group = &mut self.groups[number];
                group.proportion = group.proportion.max(least);
            }
        }
        self.groups[number].waiting.push_back((id, came, bytes));
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
        format!("mClock({})", self.depth)
    }
}
