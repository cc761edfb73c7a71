//! `[run.stop]`: when the run ends.

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::Scenario;
use crate::values::{Fraction, Seconds};

section! {
    /// When the run ends: with the workload, or at the first of these.
    pub struct Stop {
        /// At this simulated time.
        time: Option<Seconds> = optional("no limit of time"),
        /// After so many requests.
        requests: Option<u64> = optional("no limit of requests"),
        /// When the confidence interval of the mean latency is this narrow: half
        /// its width, relative to the mean. The run goes on while latency, or what the
        /// devices and caches use up or fill, still drifts.
        precision: Option<f64> as Option<Fraction> = optional("no wanted precision"),
        /// The probability that the confidence interval holds.
        confidence: f64 as Fraction = default(0.95, "the usual level"),
    }
    check stop_follows_warm_up;
}

impl Stop {
    /// Whether any condition is given.
    #[must_use]
    pub fn is_given(&self) -> bool {
        self.time.is_some() || self.requests.is_some() || self.precision.is_some()
    }
}

fn stop_follows_warm_up(stop: &Stop, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    let warm_up = all.run.warm_up;
    if stop.requests == Some(0) {
        return Err(at.error("requests", "expected a whole number of at least 1"));
    }
    match stop.time {
        Some(time) if time <= warm_up => {
            let message = format!("expected more than the warm-up: run.warm_up = \"{warm_up}\"");
            Err(at.error("time", message))
        }
        _ => Ok(()),
    }
}
