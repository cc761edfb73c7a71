//! Times at which a process makes its requests: rates, pauses, parts of a group, and a queue depth
//! within a latency.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use headrace_net::Random;

use crate::clock::{Nanoseconds, in_nanoseconds};
use crate::jobs::job::{Job, LatencyTarget};

/// Due times of the reads and writes of a process.
#[derive(Clone, Debug)]
pub struct DueTimes {
    /// Time of the next read and write; none where they are as fast as they can.
    due: [Option<f64>; 2],
    /// Nanoseconds for a request, and for a byte.
    intervals: [(f64, f64); 2],
    poisson: bool,
}

impl DueTimes {
    /// Times from `start` on.
    pub fn new(job: &Job, start: Nanoseconds) -> DueTimes {
        let interval = |rate: Option<f64>| rate.map_or(0.0, |rate| 1e9 / rate);
        let pace = &job.pace;
        let used = [job.read_share > 0.0, job.read_share < 1.0];
        let of = |way: usize| match used[way] {
            true => (interval(pace.requests[way]), interval(pace.bytes[way])),
            false => (0.0, 0.0),
        };
        let intervals = [of(0), of(1)];
        let has_rate = |it: &(f64, f64)| it.0 > 0.0 || it.1 > 0.0;
        DueTimes {
            due: intervals.map(|it| has_rate(&it).then_some(start as f64)),
            intervals,
            poisson: pace.poisson,
        }
    }

    /// When a read or write is due; now without a rate.
    pub fn due(&self, reads: bool, now: Nanoseconds) -> Nanoseconds {
        self.due[usize::from(!reads)].map_or(now, |due| due as Nanoseconds)
    }

    /// Returns true if there are rates.
    pub fn has_rates(&self) -> bool {
        self.due.iter().any(Option::is_some)
    }

    /// A request of `size` bytes was made.
    pub fn made(&mut self, reads: bool, size: u32, random: &mut Random<'_>) {
        let way = usize::from(!reads);
        if let Some(due) = &mut self.due[way] {
            let (request, byte) = self.intervals[way];
            let mean = request.max(byte * f64::from(size));
            *due += match self.poisson {
                true => random.exponential(mean),
                false => mean,
            };
        }
    }

    /// Requests that are due by `until` and were not made.
    pub fn not_made(&self, until: Nanoseconds) -> u64 {
        let late = self.due.iter().zip(&self.intervals).map(|(due, interval)| {
            let behind = due.map_or(0.0, |due| until as f64 - due);
            match interval.0 > 0.0 && behind > 0.0 {
                true => (behind / interval.0).ceil() as u64,
                false => 0,
            }
        });
        late.sum()
    }
}

/// Shares of groups of jobs in their requests.
#[derive(Debug, Default)]
pub struct Flows {
    groups: Mutex<HashMap<u32, Flow>>,
}

#[derive(Debug, Default)]
struct Flow {
    requests: f64,
    weights: f64,
}

impl Flows {
    /// A process with a weight takes part.
    pub fn enter(&self, flow: (u32, f64)) {
        self.with(flow.0, |group| group.weights += flow.1);
    }

    /// It takes part no more; `own` requests were its.
    pub fn leave(&self, flow: (u32, f64), own: u64) {
        self.with(flow.0, |group| {
            group.weights -= flow.1;
            group.requests -= own as f64;
        });
    }

    /// Returns true, and counts a request, if a process with `own` requests has no more than its
    /// part of those of all.
    pub fn takes(&self, flow: (u32, f64), own: u64) -> bool {
        self.with(flow.0, |group| {
            let takes = own as f64 * group.weights <= group.requests * flow.1;
            group.requests += f64::from(u8::from(takes));
            takes
        })
    }

    fn with<T>(&self, group: u32, act: impl FnOnce(&mut Flow) -> T) -> T {
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        act(groups.entry(group).or_default())
    }
}

/// Search for the largest queue depth within a latency, by halving; it doubles while the latency holds.
#[derive(Clone, Debug)]
pub struct DepthSearch {
    target: LatencyTarget,
    depth: u32,
    low: u32,
    high: u32,
    most: u32,
    since: Nanoseconds,
    count: u64,
    late: u64,
}

impl DepthSearch {
    /// A search up to a depth.
    pub fn new(target: LatencyTarget, most: u32, now: Nanoseconds) -> DepthSearch {
        DepthSearch {
            target,
            depth: 1,
            low: 1,
            high: most,
            most,
            since: now,
            count: 0,
            late: 0,
        }
    }

    /// The depth that is tried.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// A request took so long.
    pub fn note(&mut self, latency: Nanoseconds) {
        self.count += 1;
        self.late += u64::from(latency > in_nanoseconds(self.target.seconds));
    }

    /// Goes on to the next depth if the window is over. Returns true if the search has ended.
    pub fn step(&mut self, now: Nanoseconds) -> bool {
        let is_over = now.saturating_sub(self.since) >= in_nanoseconds(self.target.window);
        if !is_over || self.count == 0 {
            return false;
        }
        let kept = (self.count - self.late) as f64 >= self.target.share * self.count as f64;
        let before = self.depth;
        if kept {
            self.low = self.depth;
            self.depth = match self.high == self.most {
                true => self.depth * 2,
                false => u32::midpoint(self.depth, self.high),
            };
            self.depth = self.depth.min(self.most);
        } else {
            self.high = self.depth;
            self.low = self.low.min(self.depth.saturating_sub(1)).max(1);
            self.depth = u32::midpoint(self.depth, self.low).max(1);
        }
        (self.since, self.count, self.late) = (now, 0, 0);
        kept && self.depth == before && !self.target.goes_on
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: depths 1, 2, 4, 8 keep it, 16 does not; then 12 and 14 do not, 10 and 11 do.
    #[test]
    fn the_largest_depth_within_a_latency_is_found() {
        let target = LatencyTarget {
            seconds: 1e-3,
            window: 1.0,
            share: 1.0,
            goes_on: false,
        };
        let mut search = DepthSearch::new(target, 64, 0);
        let mut depths = Vec::new();
        for window in 1..40 {
            depths.push(search.depth());
            search.note(u64::from(search.depth()) * 1_000_000 / 11);
            if search.step(window * 1_000_000_000) {
                break;
            }
        }
        assert_eq!(depths[..5], [1, 2, 4, 8, 16]);
        assert_eq!(search.depth(), 11, "{depths:?}");
    }

    /// By hand: with weights 3 and 1, the first makes 75 of 100 requests.
    #[test]
    fn parts_of_a_group_are_kept() {
        let flows = Flows::default();
        let parts = [(7, 3.0), (7, 1.0)];
        parts.iter().for_each(|it| flows.enter(*it));
        let mut own = [0, 0];
        while own.iter().sum::<u64>() < 100 {
            for (flow, own) in parts.iter().zip(&mut own) {
                *own += u64::from(flows.takes(*flow, *own));
            }
        }
        assert!(own[0].abs_diff(75) <= 1, "{own:?}");
        flows.leave(parts[0], own[0]);
        let alone = (0..10).filter(|_| flows.takes(parts[1], own[1])).count();
        assert_eq!(alone, 10, "the other goes on alone");
    }

    #[test]
    fn bytes_and_requests_have_due_times() {
        let mut job = Job {
            read_share: 0.5,
            ..Job::default()
        };
        job.pace.bytes = [Some(4096.0 * 1000.0), None];
        job.pace.requests = [None, Some(500.0)];
        let mut times = DueTimes::new(&job, 0);
        let mut counter = 0;
        let mut random = Random::named(7, "pace", &mut counter);
        for _ in 0..3 {
            times.made(true, 4096, &mut random);
            times.made(false, 4096, &mut random);
        }
        assert_eq!(
            (times.due(true, 9), times.due(false, 9)),
            (3_000_000, 6_000_000)
        );
        assert_eq!(times.not_made(9_000_000), 2);
    }
}
