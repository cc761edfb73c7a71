//! `[run]`: how the simulation is run.

use crate::declare::section;
use crate::sections::Stop;
use crate::values::{AtLeastOne, Seconds, Seed};

section! {
    /// Settings of the simulation run.
    pub struct Run {
        /// Seed of the random numbers: the same seed gives the same run.
        seed: u64 as Seed = default(1, "any number will do") aka ["random_seed"],
        /// Simulated time at which statistics begin.
        warm_up: Seconds = default("0 s", "the start counts") aka ["warmup"],
        /// Number of runs with different seeds that are averaged. The first has `seed`; each other
        /// has a hash of it and its own number.
        replications: u32 as AtLeastOne = default(1, "one run") aka ["repetitions"],
        /// Length of the windows of time series and of shares between groups.
        window: Option<Seconds> = optional("a length that gives about 100 windows"),
        /// Condition that ends the run before the end of the workload.
        stop: Stop = section() aka ["until", "end"],
    }
    check windows_have_a_length;
}

fn windows_have_a_length(
    run: &Run,
    _all: &crate::Scenario,
    at: &crate::declare::Place<'_>,
) -> Result<(), crate::Error> {
    match run.window {
        Some(Seconds(0.0)) => Err(at.error(
            "window",
            r#"expected a time of more than 0 such as "2.5 s""#,
        )),
        _ => Ok(()),
    }
}
