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
//! processes, and of concurrently open descriptors and calls. A single line may have at most
//! [`LINE_LIMIT`] bytes.
//!
//! A trace, and so its records, lacks requests made through `io_uring`, and
//! input and output of memory-mapped files and of loading programs. A reader
//! counts their traces in [`Skipped`].
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
