//! Reliability for Python: a question and its answer are JSON documents.

use std::ops::ControlFlow;

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
fn reliability(py: Python<'_>, question: &str, on_progress: Option<Py<PyAny>>) -> PyResult<String> {
    let mut raised = None;
    let mut watch = |part: f64| {
        let called = Python::attach(|py| {
            py.check_signals()?;
            match &on_progress {
                Some(on_progress) => on_progress.call1(py, (part,)).map(drop),
                None => Ok(()),
            }
        });
        match called {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                raised.get_or_insert(error);
                ControlFlow::Break(())
            }
        }
    };
    let answered = guard::detached(py, || answer_json(question, &mut watch))?;
    match (answered, raised) {
        (_, Some(error)) => Err(error),
        (Ok(answer), None) => Ok(answer),
        (Err(Error::Interrupted), None) => Err(PyKeyboardInterrupt::new_err(())),
        (Err(error @ (Error::Question { .. } | Error::Form(_))), None) => {
            Err(ScenarioError::new_err(error.to_string()))
        }
        (Err(Error::Own(text)), None) => Err(errors::of_ours(&text)),
    }
}

/// Makes reliability known to Python.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(reliability, module)?)
}
