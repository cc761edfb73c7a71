//! Panics become ordinary errors: a user of Python never sees one.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};

use pyo3::prelude::*;

use crate::errors;

thread_local! {
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Lets panics keep quiet: their text goes into the error. The hook is of this
/// extension module alone; others have a standard library of their own.
pub fn install() {
    panic::set_hook(Box::new(|panic| {
        let text = panic.to_string().replace('\n', " ");
        LAST.with(|last| *last.borrow_mut() = text);
    }));
}

/// Returns the result of `work`, or the text of its panic. State that `work` changed must not be
/// used after a panic.
pub fn catch<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    panic::catch_unwind(AssertUnwindSafe(work)).map_err(|_| LAST.take())
}

/// Runs `work` while other Python threads may run.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| catch(work))
        .map_err(|text| errors::of_ours(&text))
}
