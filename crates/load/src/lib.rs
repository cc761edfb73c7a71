//! The load engine: runs a scenario's workloads on a real file system, and measures them.
//!
//! ```text
//!  workload ─▶ next ─▶ [prepare] ─▶ (until its time) ─▶ [execute] ─▶ [verify] ─▶ next …
//!                                                        timed
//!                         └────────── one thread a process ──────────┘
//! ```
//!
//! The engine issues the workload's sequence of requests, the same one that a simulation of the
//! scenario serves ([`headrace_workload`]). Each process is a thread. The engine prepares a request
//! first: it creates required names and opens files. The request then waits for its time, and only
//! the call itself is timed. Its actual start gives the service time, its intended start the
//! response time.
//!
//! To add an operation, write a file in `operation/` and name it in its list and in the scenario's
//! list of a mix. To add a way of making the calls, write a file in `calls/`.

pub mod calls;
mod clock;
mod coordination;
mod data_journal;
mod directory;
mod error;
mod file_sets;
mod files;
pub mod histograms;
mod jobs;
mod latency;
mod load;
pub mod network;
pub mod operation;
mod operation_groups;
mod out_of_memory;
mod outcome;
mod outcome_merge;
mod page_cache;
mod part;
mod prepared_files;
mod process;
mod process_plan;
mod record;
mod rendezvous;
mod replay;
mod report;
mod run;
mod run_options;
mod share;
mod short_calls;
#[cfg(test)]
mod skipped;
mod source;
mod space_check;

pub use calls::Backend;
pub use coordination::{Coordination, Waits};
pub use directory::{Cleaned, Directory, LeftReason, Owners, Removing, clean, open_directory};
pub use error::Error;
pub use file_sets::FileSetReport;
pub use jobs::{
    Counts, Filled, Job, JobReport, JobTarget, JobsLive, Layout, PlannedRequest, StageOutcome,
    has_io_uring, lay_out, planned_requests, run_stage,
};
pub use operation_groups::OperationGroupReport;
pub use out_of_memory::ExitingAllocator;
pub use outcome::{Load, Outcome, Phase};
pub use outcome_merge::merge_outcomes;
pub use page_cache::Reads;
pub use record::{Cell, Done, Exact, Record, Times, Window, Windows};
pub use report::{Report, has_times};
pub use run::{run, run_share};
pub use run_options::{LiveProgress, Options};
pub use share::{Listener, Peers, Share, SyncPoint, engines_of_each};
pub use space_check::{Need, SpaceLimit, check_room, needed};
