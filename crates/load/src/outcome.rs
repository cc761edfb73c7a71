//! What a benchmark gives.

use headrace_workload::{LeftOut, RoundCounts};

use crate::clock::Nanoseconds;
use crate::coordination::Coordination;
use crate::record::Record;

/// Why a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Files that must be there are being made.
    Preparing,
    /// The workloads are carried out.
    Running,
}

/// What the processes of a run have done.
#[derive(Debug)]
pub struct Outcome {
    /// All that they did.
    pub record: Record,
    /// When the processes began, on the host's monotonic clock (CLOCK_MONOTONIC).
    pub started: Nanoseconds,
    /// How long the run took, from the common start to the last process's end.
    pub lasted: Nanoseconds,
    /// How long it took to make what had to be there.
    pub prepared: Nanoseconds,
    /// Why it ended: `workload`, `time`, `requests`, `interrupted` or `failed`.
    pub reason: &'static str,
    /// What went wrong, if something did: what was measured before is here all the same.
    pub error: Option<crate::Error>,
    /// How many processes there were.
    pub processes: u32,
    /// How often processes have carried out an operation at the same moment, where they do.
    pub rounds: Option<RoundCounts>,
    /// What that took, where the processes are on several hosts.
    pub coordination: Option<Coordination>,
    /// What of the workloads was not carried out.
    pub left_out: Vec<LeftOut>,
    /// The load that was asked for and the one that was achieved, where operations come
    /// at a rate.
    pub load: Option<crate::Load>,
}
