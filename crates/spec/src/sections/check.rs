//! `[[check]]`: accuracy of a calibrated system on cases that it was not calibrated on.

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::Scenario;
use crate::values::{Seconds, choice};

choice! {
    /// Limiting resource of a workload.
    pub enum Bound {
        /// Processor and memory.
        Cache = "cache",
        /// The device.
        Device = "device",
    }
}

section! {
    /// A workload that was measured in a calibration round without determining a value, and its
    /// simulated result. The difference is the error of the model and of one measurement. A
    /// prediction interval includes it besides the spread of the values.
    pub struct Check {
        /// Name of the measurement.
        name: String = required("cached reads of 48 KiB"),
        /// Limiting resource.
        bound: Bound = required("cache"),
        /// Seconds that it took.
        measured: Seconds = required("5.1 ms"),
        /// Result of the simulation with the values of that round.
        predicted: Seconds = required("5.0 ms"),
    }
    check takes_time;
}

/// Compares the ratio of two times.
fn takes_time(check: &Check, _all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    for (field, time) in [("measured", check.measured), ("predicted", check.predicted)] {
        if time.0 <= 0.0 {
            return Err(at.error(field, r#"expected more than "0 s", such as "5 ms""#));
        }
    }
    Ok(())
}
