//! Traces, replayed on a real file system.
//!
//! A trace is read twice: to learn what was there before it, which is made before the run, and
//! to carry it out. Names are kept apart in a [`tree::Tree`], from which the [`plan`] takes
//! each process's steps; the processes take them from [`Replay`] and `step_executor` makes the
//! calls. All lies in the workload's own directory, whatever names a trace has.
//!
//! Left out, and counted: calls that failed for a reason that is not here, what only changes a
//! process's state, and what the trace tells too little of. Locks are released at once. Not
//! followed: paths through a symbolic link to a directory, which have a directory of their own.

mod plan;
mod prepare;
mod source;
mod step_executor;
mod tree;

#[cfg(test)]
mod tests;

pub use source::Replay;
