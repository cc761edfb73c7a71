//! The kernel: known answers, properties, rules and errors.

mod build_errors;
mod declarations;
mod disciplines;
mod firing_rules;
mod known_answers;
mod log;
mod nets;
mod properties;
mod run_errors;
mod runs;
mod structure;
mod unions;
