//! Operations in a phase of a workload, simulated or measured.

use serde::Serialize;

/// An operation in a phase of a workload.
#[derive(Clone, Debug, Serialize)]
pub struct PhaseReport {
    /// The workload's number.
    pub workload: usize,
    /// The phase's number, repetitions included.
    pub phase: u32,
    /// Operation.
    pub operation: &'static str,
    /// Time when the first began.
    pub from_s: f64,
    /// Time when the last was done: all processes begin together, so that this is the slowest one's
    /// time.
    pub to_s: f64,
    /// Number of occurrences.
    pub count: u64,
    /// Bytes moved.
    pub bytes: u64,
}
