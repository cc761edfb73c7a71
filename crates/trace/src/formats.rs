mod csv;
mod strace;

use crate::Format;

/// All trace formats, in the order in which they are tried.
pub static FORMATS: &[&Format] = &[&csv::FORMAT, &strace::FORMAT];
