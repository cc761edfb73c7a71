//! Reliability of disk arrays, mirrors, erasure codes and declustered pools.
//!
//! [`answer`](fn@answer) takes a [`Question`] and gives an [`Answer`] by formulas, by a Markov chain
//! or by simulation.

pub mod answer;
pub mod question;

pub use answer::Answer;
pub use question::Question;
