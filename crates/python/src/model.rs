//! Nets of one's own for Python: documents in, JSON out.

use std::ops::ControlFlow;

use headrace_model::{Failure, Fault, Faults, Language, Program, Question, Settings};
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde_json::json;

use crate::errors::{self, RunError, ScenarioError};
use crate::guard::detached;
use crate::net_functions::{Described, NetFunctions, TypesByName};

/// A net that has been read from a document.
#[pyclass(frozen, module = "headrace._core", name = "NetModel")]
pub struct PyNetModel {
    text: String,
    language: Language,
    file: String,
    program: Program,
    run: [Option<f64>; 4],
    functions: NetFunctions,
}

fn language(name: &str) -> Language {
    match name {
        "json" => Language::Json,
        _ => Language::Toml,
    }
}

/// All faults, one a line, each with file, line and column. The attributes are of the first.
fn refused(py: Python<'_>, text: &str, language: Language, file: &str, faults: &Faults) -> PyErr {
    let line = |fault: &Fault| {
        let (line, column) = headrace_model::position(text, language, fault);
        (line, column, format!("{file}:{line}:{column}: {fault}"))
    };
    let mut lines: Vec<(usize, usize, String)> = faults.0.iter().map(line).collect();
    lines.sort_by_key(|(line, column, _)| (*line, *column));
    lines.dedup();
    let all: Vec<&str> = lines.iter().map(|(_, _, text)| &**text).collect();
    let error = ScenarioError::new_err(all.join("\n"));
    let value = error.value(py);
    let message = faults.0.first().map_or("", |fault| &fault.message);
    let set = || -> PyResult<()> {
        value.setattr("file", file)?;
        value.setattr("message", message)?;
        if let Some((line, column, _)) = lines.first() {
            value.setattr("line", line)?;
            value.setattr("column", column)?;
        }
        Ok(())
    };
    match set() {
        Ok(()) => error,
        Err(error) => error,
    }
}

fn of_syntax(file: &str, (line, column, message): &(usize, usize, String)) -> PyErr {
    ScenarioError::new_err(format!("{file}:{line}:{column}: {message}"))
}

#[pymethods]
impl PyNetModel {
    /// Reads a net; `file` is what errors call it, `name` the net's name if it has none. Its
    /// expressions may call the functions, which get and return values of these types.
    #[staticmethod]
    #[pyo3(signature = (text, format, file, name, functions=None, types=None))]
    fn from_text(
        py: Python<'_>,
        text: String,
        format: &str,
        file: String,
        name: &str,
        functions: Option<Vec<Described>>,
        types: Option<TypesByName>,
    ) -> PyResult<PyNetModel> {
        let language = language(format);
        let functions = NetFunctions::new(functions.unwrap_or_default());
        let externals = functions.externals();
        let value = headrace_model::parse(&text, language);
        let value = value.map_err(|error| of_syntax(&file, &error))?;
        let read = || {
            let document = headrace_model::read(&value).map_err(Faults)?;
            let program = headrace_model::compile_with(&document, name, &externals)?;
            let run = headrace_model::run_settings(&document, &program)?;
            // Finds what the kernel does not accept.
            headrace_model::structure(&program)?;
            Ok((program, run))
        };
        let (program, run) = detached(py, read)?
            .map_err(|faults: Faults| refused(py, &text, language, &file, &faults))?;
        functions.set_types(py, &program.colours, &types.unwrap_or_default());
        Ok(PyNetModel {
            text,
            language,
            file,
            program,
            run,
            functions,
        })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.program.name
    }

    /// The document's settings of a run: end, warm-up (both in seconds), seed, replications.
    #[getter]
    fn run_settings(&self) -> [Option<f64>; 4] {
        self.run
    }

    /// The structure of the net as JSON, its invariants, and nodes that none covers.
    fn structure(&self, py: Python<'_>) -> PyResult<String> {
        let (structure, invariants, uncovered) =
            detached(py, || headrace_model::structure(&self.program))?
                .map_err(|faults| self.refused(py, &faults))?;
        let all = json!({
            "page": structure.page,
            "invariants": invariants,
            "uncovered": uncovered,
            "transition_invariants": headrace_model::transition_invariants(&self.program),
        });
        Ok(all.to_string())
    }

    /// Runs the net; the result is a JSON document. `on_progress` is called with the simulated
    /// time; an exception that it raises, or a signal, ends the run.
    #[pyo3(signature = (until, warmup, seed, on_progress=None))]
    fn run(
        &self,
        py: Python<'_>,
        until: Option<f64>,
        warmup: f64,
        seed: u64,
        on_progress: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let settings = Settings {
            until,
            warmup,
            seed,
        };
        let running = match self.program.has_externals() {
            false => None,
            true => Some(self.functions.begin(py, seed)?.ok_or_else(|| {
                PyRuntimeError::new_err(
                    "this net is running already: functions in Python are called by one run at a \
                     time",
                )
            })?),
        };
        let mut raised = None;
        let result = {
            let mut watch = watcher(on_progress, &mut raised);
            detached(py, || {
                headrace_model::run(&self.program, &settings, &mut watch)
            })?
        };
        drop(running);
        let raised = self.functions.take_failure().or(raised);
        match (result, raised) {
            (_, Some(error)) => Err(error),
            (Ok(result), None) => {
                serde_json::to_string(&result).map_err(|error| errors::of_ours(&error.to_string()))
            }
            (Err(Failure::Interrupted), None) => Err(PyKeyboardInterrupt::new_err(())),
            (Err(Failure::Run(message)), None) => Err(RunError::new_err(message)),
            (Err(Failure::Document(faults)), None) => Err(self.refused(py, &faults)),
        }
    }

    /// Explores the state space; the answer is a JSON document. `on_progress` is called with the
    /// number of markings explored.
    #[pyo3(signature = (limit, timed, reach=None, on_progress=None))]
    fn state_space(
        &self,
        py: Python<'_>,
        limit: usize,
        timed: bool,
        reach: Option<String>,
        on_progress: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let question = Question {
            limit,
            timed,
            reach,
        };
        let mut raised = None;
        let answer = {
            let mut watch = watcher(on_progress, &mut raised);
            detached(py, || {
                let mut watch = |states: usize| watch(states as f64);
                headrace_model::explore(&self.program, &question, &mut watch)
            })?
        };
        match (answer, raised) {
            (_, Some(error)) => Err(error),
            (Ok(answer), None) => {
                serde_json::to_string(&answer).map_err(|error| errors::of_ours(&error.to_string()))
            }
            (Err(Failure::Interrupted), None) => Err(PyKeyboardInterrupt::new_err(())),
            (Err(Failure::Run(message)), None) => Err(RunError::new_err(message)),
            (Err(Failure::Document(faults)), None) => {
                Err(ScenarioError::new_err(faults.to_string()))
            }
        }
    }
}

impl PyNetModel {
    fn refused(&self, py: Python<'_>, faults: &Faults) -> PyErr {
        refused(py, &self.text, self.language, &self.file, faults)
    }
}

/// Calls Python now and then; keeps what it raised.
fn watcher(
    on_progress: Option<Py<PyAny>>,
    raised: &mut Option<PyErr>,
) -> impl FnMut(f64) -> ControlFlow<()> + Send {
    move |now| {
        let called = Python::attach(|py| {
            py.check_signals()?;
            match &on_progress {
                Some(on_progress) => on_progress.call1(py, (now,)).map(drop),
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
    }
}

/// Returns true if a document is a net and no scenario.
#[pyfunction]
fn is_net_document(text: &str, format: &str) -> bool {
    headrace_model::parse(text, language(format)).is_ok_and(|value| headrace_model::is_net(&value))
}

/// The tree of an expression as JSON.
#[pyfunction]
fn parse_net_expression(text: &str) -> PyResult<String> {
    let tree = headrace_model::parse_expression(text)
        .map_err(|error| PyValueError::new_err(format!("{text}: {}", error.message)))?;
    serde_json::to_string(&tree).map_err(|error| errors::of_ours(&error.to_string()))
}

/// Makes nets known to Python.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyNetModel>()?;
    module.add_function(wrap_pyfunction!(parse_net_expression, module)?)?;
    module.add_function(wrap_pyfunction!(is_net_document, module)?)
}
