//! Scenarios: read, checked, written and described.

mod client_machines;
mod documents;
mod errors;
mod fuzz_corpus;
mod io_priority;
mod layers;
mod mixes;
mod properties;
mod scenarios;
mod schema;
mod server_machines;
mod system_files;
mod tree_copy;
