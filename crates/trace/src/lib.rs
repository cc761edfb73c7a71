//! Traces of programs' file operations: one streaming reader and writer per
//! format, and one common [`Record`].
//!
//! ```no_run
//! # fn main() -> Result<(), headrace_trace::Error> {
//! use headrace_trace::{Summary, open};
//!
//! let mut reader = open("program.strace".as_ref(), None)?;
//! let summary = Summary::of(reader.as_mut())?;
//! println!("{} records, {} bytes read", summary.records, summary.bytes_read);
//! # Ok(())
//! # }
//! ```
//!
//! Memory does not grow with the length of a trace. It grows with the numbers of distinct files and
//! processes, of descriptors open at one time, and of calls in progress at one time; a single line
//! may have at most [`LINE_LIMIT`] bytes.
//!
//! Not in a trace, and so not in the records: input and output caused by
//! memory-mapped files and by loading programs, and requests made through
//! `io_uring`. A reader counts what it sees of them in [`Skipped`].
//!
//! To add a format, write one file in `formats/` with a [`Format`] and add it
//! to [`FORMATS`].

mod columns;
mod error;
mod flags;
mod format;
mod formats;
mod lines;
mod names;
mod operation;
mod record;
mod skipped;
mod source;
mod summary;
mod synthesis;

pub use columns::Columns;
pub use error::Error;
pub use flags::Flags;
pub use format::{
    Create, Format, Input, Level, Open, Output, Reader, Writer, create, create_at, create_in, open,
    open_input, open_stream,
};
pub use formats::FORMATS;
pub use lines::LINE_LIMIT;
pub use names::{Names, text};
pub use operation::{Group, Operation};
pub use record::Record;
pub use skipped::{Example, Kind, Reason, Skipped, SkippedKind};
pub use source::Stop;
pub use summary::{BusyFile, OperationTotal, SizeClass, Summarizer, Summary};
pub use synthesis::{Files, Order, Pattern, Phases, Synthesis};
