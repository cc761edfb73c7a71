//! The errors that Python sees, and which error of the crates becomes which.

use headrace_storage::Error;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::{create_exception, intern};

create_exception!(
    headrace,
    ScenarioError,
    PyValueError,
    "An error in a scenario: its place, the given value, and the expected one.\n\n\
     Attributes: file, line, column, text and message, the parts of the whole."
);
create_exception!(
    headrace,
    TraceError,
    PyValueError,
    "An error in a trace: its place, and what was expected."
);
create_exception!(
    headrace,
    RunError,
    PyRuntimeError,
    "The reason why a run failed: a deadlock, or an error of the models."
);

/// The error of a scenario, its parts as attributes.
pub fn of_scenario(py: Python<'_>, error: &headrace_spec::Error) -> PyErr {
    let raised = ScenarioError::new_err(error.to_string());
    let value = raised.value(py);
    let set = || -> PyResult<()> {
        value.setattr(intern!(py, "file"), &error.file)?;
        value.setattr(intern!(py, "line"), error.line)?;
        value.setattr(intern!(py, "column"), error.column)?;
        value.setattr(intern!(py, "text"), &error.text)?;
        value.setattr(intern!(py, "message"), &error.message)
    };
    match set() {
        Ok(()) => raised,
        Err(error) => error,
    }
}

/// The error of a trace; the system's refusals are `OSError`.
pub fn of_trace(error: headrace_trace::Error) -> PyErr {
    match error {
        headrace_trace::Error::System { file, source } => match source.raw_os_error() {
            Some(number) => {
                let text = source.to_string();
                let text = text.split(" (os error").next().unwrap_or_default();
                PyOSError::new_err((number, text.to_owned(), file))
            }
            None => PyOSError::new_err(format!("{file}: {source}")),
        },
        _ => TraceError::new_err(error.to_string()),
    }
}

/// The error of a run.
pub fn of_run(error: &Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::Trace(_) => TraceError::new_err(text),
        Error::TooLarge(_) => ScenarioError::new_err(text),
        Error::Build(_) | Error::Run(_) | Error::Placement(_) => {
            RunError::new_err(text.replace('\n', "; "))
        }
    }
}

/// The error of a measurement that could not begin; the system's refusals are `OSError`.
pub fn of_measurement(error: headrace_load::Error) -> PyErr {
    use headrace_load::Error;
    match error {
        Error::Directory { path, what, source } => match source.raw_os_error() {
            Some(number) => {
                let text = source.to_string();
                let text = text.split(" (os error").next().unwrap_or_default();
                PyOSError::new_err((number, format!("{what}: {text}"), path))
            }
            None => PyOSError::new_err(format!("{}: {what}: {source}", path.display())),
        },
        Error::Unsuitable(text) => ScenarioError::new_err(text),
        Error::Trace(_) => TraceError::new_err(error.to_string()),
        Error::Own(text) => of_ours(&text),
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        Error::Operation { .. }
        | Error::Wrong { .. }
        | Error::Thread(_)
        | Error::Elsewhere { .. } => RunError::new_err(error.to_string()),
    }
}

/// An error that is Headrace's own.
pub fn of_ours(text: &str) -> PyErr {
    RunError::new_err(format!(
        "this is an error of Headrace's, please report it: {text}"
    ))
}

/// Makes the errors known to Python.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let errors = [
        py.get_type::<ScenarioError>(),
        py.get_type::<TraceError>(),
        py.get_type::<RunError>(),
    ];
    for error in errors {
        module.add(error.name()?.to_str()?, error)?;
    }
    // The error of a scenario that is in no file.
    let scenario = py.get_type::<ScenarioError>();
    scenario.setattr("file", "")?;
    scenario.setattr("line", py.None())?;
    scenario.setattr("column", py.None())?;
    scenario.setattr("text", "")?;
    scenario.setattr("message", "")
}
