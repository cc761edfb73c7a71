//! `[[check]]`: how well a calibrated system gives what it was not calibrated on.

use crate::declare::section;
use crate::values::{Seconds, choice};

choice! {
    /// What takes most of a workload's time.
    pub enum Bound {
        /// Processor and memory.
        Cache = "cache",
        /// The device.
        Device = "device",
    }
}

section! {
    /// A workload that was measured beside a calibration, though no value follows from it, and
    /// what a simulation of it gives: how far these are from each other is the error of the model
    /// itself, which the interval of a prediction has besides the spread of the values.
    pub struct Check {
        /// What was measured.
        name: String = required("cached reads of 48 KiB"),
        /// What takes most of its time.
        bound: Bound = required("cache"),
        /// Seconds that it took: the median of the rounds.
        measured: Seconds = required("5.1 ms"),
        /// What the simulation gives.
        predicted: Seconds = required("5.0 ms"),
    }
}
