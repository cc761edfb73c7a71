//! Reliability: known answers, and agreement of the methods.

mod agreement;
mod fuzz_corpus;
mod golden;
