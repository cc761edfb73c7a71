//! `[run.stop]`: when the run ends.

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::Scenario;
use crate::values::{Fraction, Seconds};

section! {
    /// End of the run: the end of the workload, or the first of these conditions.
    pub struct Stop {
        /// At this simulated time.
        time: Option<Seconds> = optional("no limit of time"),
        /// After this number of requests.
        requests: Option<u64> = optional("no limit of requests"),
        /// Stop when half the width of the confidence interval of the mean latency, relative to the
        /// mean, is at most this. The run continues while latency, or the level of a device or
        /// cache, still drifts.
        precision: Option<f64> as Option<Fraction> = optional("no wanted precision"),
        /// The probability that the confidence interval holds.
        confidence: f64 as Fraction = default(0.95, "the usual level"),
    }
    check stop_follows_warm_up;
}

impl Stop {
    /// Returns true if any condition is given.
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
