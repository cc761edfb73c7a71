//! Traces of all formats: read, converted, summarised and synthesised.

mod bad_input;
mod block;
mod common;
mod fio_iolog;
mod formats;
mod fuzz_corpus;
mod recorded;
mod robustness;
mod strace_flags;
mod strace_lines;
mod strace_reality;
mod synthesis;
mod volumes;
