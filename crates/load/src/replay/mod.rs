//! Traces, replayed on a real file system.
//!
//! A trace is read twice: to learn which files existed before it, which are made before the run,
//! and to replay it. Names are resolved in a [`tree::Tree`], from which the [`plan`] takes each
//! process's steps. The processes take them from [`Replay`], and `step_executor` makes the calls.
//! All lies in the workload's own directory, whatever names a trace has.
//!
//! Some calls are skipped and counted: calls that failed for a reason that is absent here, changes
//! of a process's state, and incomplete records. Locks are released at once. Not followed: paths
//! through a symbolic link to a directory, which have a directory of their own.

mod plan;
mod prepare;
mod source;
mod step_executor;
mod tree;

#[cfg(test)]
mod tests;

pub use source::Replay;
