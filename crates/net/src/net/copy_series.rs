//! The copies of chosen nodes over time: how long each had worked, and how many tokens had come.
//!
//! As with playback, the interval between two samples starts short and doubles whenever there are
//! twice the requested samples. Samples are taken where the clock advances, at the comparison that
//! playback needs. The series begins again when statistics do.

use super::Net;
use crate::time::{Span, Time};

/// Interval of the first samples.
const FIRST_INTERVAL: Span = Span(1_000_000);

/// Copies of nodes over time.
#[derive(Clone, Debug)]
pub struct CopySeries {
    /// The nodes, by number.
    pub nodes: Vec<u32>,
    /// Evenly spaced from the start of statistics on; the last one is the end of the run.
    pub samples: Vec<CopySample>,
}

/// The state of all copies of the chosen nodes, node after node, since the start of statistics.
#[derive(Clone, Debug)]
pub struct CopySample {
    /// The instant.
    pub time: Time,
    /// Server-seconds worked.
    pub work: Vec<f64>,
    /// Token-seconds spent inside.
    pub inside: Vec<f64>,
}

/// A series in the making.
pub(crate) struct CopySampling {
    /// Fewest samples of a long run; twice as many are dropped to these.
    fewest: u128,
    start: Time,
    interval: Span,
    nodes: Vec<u32>,
    samples: Vec<CopySample>,
}

impl CopySampling {
    fn next(&self) -> Time {
        self.start + self.interval * self.samples.len() as u64
    }

    /// Drops every other sample until those before a time are fewer than twice the fewest.
    fn make_room(&mut self, before: Time) {
        let length = u128::from(before.since(self.start).0);
        while length > u128::from(self.interval.0) * (2 * self.fewest - 1) {
            let mut is_kept = false;
            self.samples.retain(|_| {
                is_kept = !is_kept;
                is_kept
            });
            self.interval = self.interval * 2;
        }
    }

    fn sample(&self, net: &Net, time: Time) -> CopySample {
        let (mut work, mut inside) = (Vec::new(), Vec::new());
        for &node in &self.nodes {
            let node = &net.nodes[node as usize];
            work.extend(
                node.serving()
                    .iter()
                    .map(|it| it.worked(time) as f64 * 1e-12),
            );
            inside.extend(node.states().iter().map(|it| it.area(time) as f64 * 1e-12));
        }
        CopySample { time, work, inside }
    }
}

impl Net {
    /// Samples the copies of these stations from now on for [`Net::copy_series`], at least
    /// `samples` times and at most twice as often. Runs shorter than that many microseconds have
    /// fewer samples.
    pub fn sample_copies(&mut self, nodes: Vec<u32>, samples: u32) {
        self.copy_sampling = Some(Box::new(CopySampling {
            fewest: u128::from(samples.max(1)),
            start: self.now(),
            interval: FIRST_INTERVAL,
            nodes,
            samples: Vec::new(),
        }));
        self.next_frame = self.now();
    }

    /// Returns the samples so far and one of the state now, if copies are sampled.
    pub fn copy_series(&self) -> Option<CopySeries> {
        let sampling = self.copy_sampling.as_ref()?;
        let mut samples = sampling.samples.clone();
        samples.push(sampling.sample(self, self.now()));
        Some(CopySeries {
            nodes: sampling.nodes.clone(),
            samples,
        })
    }

    /// Takes the samples that are due before a time; gives the time of the next one.
    pub(crate) fn take_copy_samples(&mut self, before: Time) -> Time {
        let Some(mut sampling) = self.copy_sampling.take() else {
            return Time::NEVER;
        };
        sampling.make_room(before);
        while sampling.next() < before {
            let sample = sampling.sample(self, sampling.next());
            sampling.samples.push(sample);
        }
        let next = sampling.next();
        self.copy_sampling = Some(sampling);
        next
    }

    /// Begins the series again, with the statistics.
    pub(crate) fn restart_copy_samples(&mut self) {
        let now = self.now();
        if let Some(sampling) = &mut self.copy_sampling {
            sampling.start = now;
            sampling.interval = FIRST_INTERVAL;
            sampling.samples.clear();
            self.next_frame = now;
        }
    }
}
