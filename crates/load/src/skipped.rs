//! Tests that this machine cannot run.

use std::fmt::Display;
use std::io::{Write, stderr};
use std::thread;

/// Reports that the current test was skipped, and why.
///
/// The test runner discards what `eprintln!` writes in a test that passes, so this writes to the
/// standard error itself.
pub(crate) fn skipped(reason: impl Display) {
    let thread = thread::current();
    let test = thread.name().unwrap_or("a test");
    let _ = writeln!(stderr(), "\nskipped {test}: {reason}");
}
