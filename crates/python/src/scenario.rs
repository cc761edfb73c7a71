//! Scenarios for Python.

use std::path::PathBuf;
use std::str::FromStr;

use headrace_spec::{
    Bytes, ClassOption, Error, LayoutKind, Loaded, Rate, SchedulerKind, Seconds, Span, WorkloadKind,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyTuple};

use crate::errors;
use crate::guard::interruptible;

/// A scenario that has been loaded and found right.
#[pyclass(frozen, module = "headrace._core", name = "Loaded")]
pub struct PyLoaded {
    pub loaded: Loaded,
    text: String,
    file: PathBuf,
    sets: Vec<String>,
}

fn load(text: String, file: PathBuf, sets: Vec<String>) -> Result<PyLoaded, Error> {
    let loaded = headrace_spec::load(&text, &file, &sets)?;
    Ok(PyLoaded {
        loaded,
        text,
        file,
        sets,
    })
}

/// Loads a file and keeps its text, so that more can be set later even if the
/// file is gone.
fn load_file(file: PathBuf, sets: Vec<String>) -> Result<PyLoaded, Error> {
    match std::fs::read_to_string(&file) {
        Ok(text) => load(text, file, sets),
        Err(_) => {
            // This reports the fault of the file.
            let loaded = headrace_spec::load_file(&file, &sets)?;
            let text = loaded.scenario.to_canonical_toml();
            Ok(PyLoaded {
                loaded,
                text,
                file,
                sets,
            })
        }
    }
}

#[pymethods]
impl PyLoaded {
    /// Loads a scenario from text; `file` is what errors call it.
    #[staticmethod]
    fn from_text(
        py: Python<'_>,
        text: String,
        file: PathBuf,
        sets: Vec<String>,
    ) -> PyResult<PyLoaded> {
        interruptible(py, None, move |_| load(text, file, sets))?
            .map_err(|error| errors::of_scenario(py, &error))
    }

    /// Loads a scenario from a file.
    #[staticmethod]
    fn from_file(py: Python<'_>, file: PathBuf, sets: Vec<String>) -> PyResult<PyLoaded> {
        interruptible(py, None, move |_| load_file(file, sets))?
            .map_err(|error| errors::of_scenario(py, &error))
    }

    /// Loads a scenario for a measurement: one without a system is for the system that is measured.
    #[staticmethod]
    fn measured(
        py: Python<'_>,
        text: String,
        file: PathBuf,
        sets: Vec<String>,
    ) -> PyResult<PyLoaded> {
        let load = move || {
            let loaded = headrace_spec::load_measured(&text, &file, &sets)?;
            Ok(PyLoaded {
                text: loaded.scenario.to_canonical_toml(),
                loaded,
                file,
                sets: Vec::new(),
            })
        };
        interruptible(py, None, move |_| load())?.map_err(|error| errors::of_scenario(py, &error))
    }

    /// The same scenario with more values set, each as `path=value`.
    fn with_sets(&self, py: Python<'_>, more: Vec<String>) -> PyResult<PyLoaded> {
        let mut sets = self.sets.clone();
        sets.extend(more);
        PyLoaded::from_text(py, self.text.clone(), self.file.clone(), sets)
    }

    /// The text it was loaded from, its file, and the values set over it.
    #[getter]
    fn source(&self) -> (&str, &PathBuf, &Vec<String>) {
        (&self.text, &self.file, &self.sets)
    }

    #[getter]
    fn name(&self) -> &str {
        &self.loaded.scenario.name
    }

    /// The whole scenario, defaults filled in.
    #[getter]
    fn toml(&self) -> String {
        self.loaded.scenario.to_canonical_toml()
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.loaded.scenario.run.seed
    }

    #[getter]
    fn replications(&self) -> u32 {
        self.loaded.scenario.run.replications
    }

    /// The groups of clients in order.
    #[getter]
    fn groups(&self) -> Vec<String> {
        let groups = self.loaded.scenario.clients.groups.names();
        groups.map(str::to_owned).collect()
    }

    /// The traces that are replayed: the workload's number and the file.
    #[getter]
    fn traces(&self) -> Vec<(usize, PathBuf)> {
        let workloads = self.loaded.scenario.workload.iter().enumerate();
        workloads
            .filter_map(|(number, workload)| match &workload.kind {
                WorkloadKind::TraceReplay(trace) => Some((number, trace.file.clone())),
                _ => None,
            })
            .collect()
    }

    /// The schedulers in Python. Each has its section's path, position, module and class, the
    /// folder to search first, the options, and the number of copies.
    #[getter]
    fn schedulers<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let scenario = &self.loaded.scenario;
        let Some(parallel) = scenario.parallel() else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        for (number, scheduler) in parallel.scheduler.iter().enumerate() {
            let SchedulerKind::PythonScheduler(it) = &scheduler.kind else {
                continue;
            };
            let path = match parallel.scheduler.len() {
                1 => "scheduler".to_owned(),
                _ => format!("scheduler.{number}"),
            };
            let options = PyDict::new(py);
            for (name, value) in &it.options.0 {
                options.set_item(name, option(py, value)?)?;
            }
            let (module, class) = (&it.python.module, &it.python.class);
            let position = scheduler.position;
            let count = headrace_storage::qos::count(scenario, position);
            let word = position.word();
            let of_this = (path, word, module, class, &it.folder, options, count);
            found.push(of_this.into_pyobject(py)?);
        }
        Ok(found)
    }

    /// The placements in Python. Each has its section's path, the workload whose files it places or
    /// None, its module and class, and the folder to search first. The options, the number of
    /// targets and of servers, and the bytes of a strip follow.
    #[getter]
    fn placements<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let scenario = &self.loaded.scenario;
        let Some(parallel) = scenario.parallel() else {
            return Ok(Vec::new());
        };
        let workloads = (0_u32..).zip(&scenario.workload);
        let own = workloads.filter_map(|(number, workload)| {
            let layout = workload.layout.as_ref()?;
            Some((format!("workload.{number}.layout"), Some(number), layout))
        });
        let all = std::iter::once(("layout".to_owned(), None, &parallel.layout));
        let mut found = Vec::new();
        for (path, workload, layout) in all.chain(own) {
            let LayoutKind::PythonLayout(it) = &layout.kind else {
                continue;
            };
            let options = PyDict::new(py);
            for (name, value) in &it.options.0 {
                options.set_item(name, option(py, value)?)?;
            }
            let class = (&it.python.module, &it.python.class, &it.folder);
            let counts = (layout.places(parallel), parallel.servers.count, it.unit.0);
            found.push((path, workload, class, options, counts).into_pyobject(py)?);
        }
        Ok(found)
    }

    /// The replacement policy in Python, if the scenario has one: its module and class, and the
    /// folder to look in first.
    #[getter]
    fn replacement(&self) -> Option<(String, String, PathBuf)> {
        let parallel = self.loaded.scenario.parallel()?;
        let (python, folder) = parallel.servers.policy_class()?;
        Some((python.module, python.class, folder))
    }

    /// The error about the value of the field at `path`.
    fn refusal(&self, py: Python<'_>, path: &str, message: String) -> PyErr {
        errors::of_scenario(py, &self.loaded.error(path, message))
    }

    /// The full scenario with the meaning and the origin of each value.
    fn explain(&self) -> String {
        headrace_spec::explain(&self.loaded).to_toml().to_owned()
    }

    /// List quantities: path, quantity, amount in its unit, and text.
    fn quantities(&self) -> Vec<(String, &'static str, f64, String)> {
        let all = headrace_spec::quantities(&self.loaded).into_iter();
        all.map(|it| (it.path, it.quantity.name(), it.amount, it.text))
            .collect()
    }

    /// List warnings: condition and message of each.
    fn cautions(&self) -> Vec<(&'static str, String)> {
        let all = headrace_spec::cautions(&self.loaded).into_iter();
        all.map(|it| (it.condition, it.message)).collect()
    }

    /// Returns true if a field was given a value, and not by a preset or a default.
    fn gives(&self, path: &str) -> bool {
        self.loaded.gives(path)
    }

    /// The structure of the scenario's net as JSON; `traces` as in `run`.
    #[pyo3(signature = (traces=None))]
    fn structure(&self, py: Python<'_>, traces: Option<Vec<(usize, PathBuf)>>) -> PyResult<String> {
        let scenario = replaying(&self.loaded.scenario, &traces.unwrap_or_default());
        let structure = interruptible(py, None, move |_| headrace_storage::structure(&scenario))?
            .map_err(|error| errors::of_run(&error))?;
        serde_json::to_string(&structure).map_err(|error| errors::of_ours(&error.to_string()))
    }
}

/// An option of a class as Python's value.
fn option<'py>(py: Python<'py>, value: &ClassOption) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        ClassOption::Boolean(truth) => PyBool::new(py, *truth).to_owned().into_any(),
        ClassOption::Integer(number) => number.into_pyobject(py)?.into_any(),
        ClassOption::Number(number) => number.into_pyobject(py)?.into_any(),
        ClassOption::Text(text) => text.into_pyobject(py)?.into_any(),
        ClassOption::List(list) => {
            let items = list.iter().map(|item| option(py, item));
            PyList::new(py, items.collect::<PyResult<Vec<_>>>()?)?.into_any()
        }
        ClassOption::Table(table) => {
            let dict = PyDict::new(py);
            for (name, value) in table {
                dict.set_item(name, option(py, value)?)?;
            }
            dict.into_any()
        }
    })
}

/// The scenario with other files in the place of some of its traces.
pub fn replaying(
    scenario: &headrace_spec::Scenario,
    traces: &[(usize, PathBuf)],
) -> headrace_spec::Scenario {
    let mut scenario = scenario.clone();
    for (number, file) in traces {
        if let Some(workload) = scenario.workload.get_mut(*number)
            && let WorkloadKind::TraceReplay(trace) = &mut workload.kind
        {
            trace.file.clone_from(file);
        }
    }
    scenario
}

/// The JSON Schema of scenario files, as JSON.
#[pyfunction]
fn schema() -> String {
    headrace_spec::schema().to_string()
}

/// The presets: name and description.
#[pyfunction]
fn presets() -> Vec<(&'static str, &'static str)> {
    headrace_spec::presets()
}

/// The presets of workloads: name and description.
#[pyfunction]
fn workloads() -> Vec<(&'static str, &'static str)> {
    headrace_spec::workloads()
}

/// Reads an amount as a scenario would.
fn read<T: FromStr<Err = String>>(text: &str) -> PyResult<T> {
    text.parse().map_err(PyValueError::new_err)
}

/// A number of bytes such as "64 KiB", as a scenario has it.
#[pyfunction]
fn parse_bytes(text: &str) -> PyResult<u64> {
    read::<Bytes>(text).map(|bytes| bytes.0)
}

/// A time such as "0.2 ms", as a scenario has it, in seconds.
#[pyfunction]
fn parse_seconds(text: &str) -> PyResult<f64> {
    read::<Seconds>(text).map(|seconds| seconds.0)
}

/// A rate such as "1 Gbit/s", as a scenario has it, in bytes per second.
#[pyfunction]
fn parse_rate(text: &str) -> PyResult<f64> {
    read::<Rate>(text).map(|rate| rate.0)
}

/// A time of any length such as "1,000,000 h", as a design has it, in seconds.
#[pyfunction]
fn parse_span(text: &str) -> PyResult<f64> {
    Span::seconds(text).map_err(PyValueError::new_err)
}

/// Makes scenarios known to Python.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyLoaded>()?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(presets, module)?)?;
    module.add_function(wrap_pyfunction!(workloads, module)?)?;
    module.add_function(wrap_pyfunction!(parse_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(parse_seconds, module)?)?;
    module.add_function(wrap_pyfunction!(parse_rate, module)?)?;
    module.add_function(wrap_pyfunction!(parse_span, module)?)
}
