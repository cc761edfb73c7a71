//! Jobs: reads and writes of one block size, with several requests in flight per process.
//!
//! ```text
//!              ┌─ process ─────────────────────────────────┐
//!  offsets ──▶ │ submit ──▶ ring (≤ queue depth) ──▶ reap  │ ──▶ record
//!              └───────────────────────────────────────────┘
//! ```
//!
//! The quick start and fio's job files are lists of jobs. A job has no scenario: a process
//! of a scenario has one request outstanding, a process of a job has up to its queue depth.
//! Jobs work on files in a benchmark's own directory, or read a block device.

mod content;
mod distribution;
mod job;
mod layout;
mod offsets;
mod pace;
mod process;
mod queue;
mod report;
mod requests;
mod scheduling;
mod stage;
mod steady;
mod target;

pub use job::Job;
pub use layout::{Filled, Layout, lay_out};
pub use queue::has_io_uring;
pub use report::JobReport;
pub use requests::{PlannedRequest, planned_requests};
pub use stage::{Counts, JobsLive, StageOutcome, run_stage};
pub use target::JobTarget;

#[cfg(test)]
mod tests;
