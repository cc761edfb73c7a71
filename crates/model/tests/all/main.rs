//! Nets as documents: read, checked, run and explored.

mod arcs;
mod arguments;
mod documents;
mod functions;
mod fuzz_corpus;
mod known_answers;
mod monitors;
mod nets;
mod reduced;
mod robust;
mod stores;
mod twin;
