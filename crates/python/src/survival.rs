//! Reliability for Python: a question and its answer are JSON documents.

use headrace_survival::{Error, answer_json};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::errors::{self, ScenarioError};
use crate::guard;

/// Answers a question about the reliability of a system. Both are JSON documents; their types are
/// in `crates/survival`. `on_progress` is called some times a second with the part that is done;
/// an exception that it raises, or a signal, ends the simulation.
#[pyfunction]
#[pyo3(signature = (question, on_progress=None))]
fn reliability(
    py: Python<'_>,
    question: String,
    on_progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let answered = guard::interruptible(py, on_progress.as_ref(), move |watched| {
        answer_json(&question, &mut |part| watched.at(part))
    })?;
    answered.map_err(|error| match error {
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        Error::Question { .. } | Error::Form(_) => ScenarioError::new_err(error.to_string()),
        Error::Own(text) => errors::of_ours(&text),
    })
}

/// Makes reliability known to Python.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(reliability, module)?)
}
