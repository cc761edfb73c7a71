//! Result of a benchmark.

use headrace_workload::{LeftOut, RoundCounts, TrainingReport};
use serde::Serialize;

use crate::clock::Nanoseconds;
use crate::coordination::Coordination;
use crate::record::Record;

/// Why a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Files that must be there are being made.
    Preparing,
    /// The workloads run.
    Running,
}

/// Result of a run.
#[derive(Debug)]
pub struct Outcome {
    /// All that they did.
    pub record: Record,
    /// Start of the processes on the host's monotonic clock (CLOCK_MONOTONIC).
    pub started: Nanoseconds,
    /// Duration for which the run took, from the common start to the last process's end.
    pub lasted: Nanoseconds,
    /// Duration for which it took to make what had to be there.
    pub prepared: Nanoseconds,
    /// Why it ended: `workload`, `time`, `requests`, `interrupted` or `failed`.
    pub reason: &'static str,
    /// Error that ended the run, if any. Measurements made before it are included.
    pub error: Option<crate::Error>,
    /// Number of processes.
    pub processes: u32,
    /// Counts of shared operations, which several processes begin at the same moment, if any.
    pub rounds: Option<RoundCounts>,
    /// Figures of the workloads that are trainings.
    pub trainings: Vec<TrainingReport>,
    /// Coordination overhead, if the processes are on several hosts.
    pub coordination: Option<Coordination>,
    /// Operations of the workloads that were left out.
    pub left_out: Vec<LeftOut>,
    /// The load that was asked for and the one that was achieved, where operations come
    /// at a rate.
    pub load: Option<Load>,
}

/// Operations a second, of all workloads in which they come at a rate.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Load {
    /// The rates together.
    pub requested_per_second: f64,
    /// Rate of intended starts as drawn in this run; in a short run it differs from the configured
    /// rate by chance.
    pub offered_per_second: f64,
    /// Rate of completed operations.
    pub achieved_per_second: f64,
}
