//! Measurements for Python: the processes work in threads of their own while the calling
//! one looks after signals and tells how far they are.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use headrace_load::{Backend, Directory, Error, Live, Options, Outcome, Phase, Report, operation};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::scenario::PyLoaded;
use crate::{columns, errors, guard};

/// How often signals are looked after and progress is told.
const LOOK: Duration = Duration::from_millis(50);

/// The directory that a benchmark makes for itself.
#[pyclass(frozen, module = "headrace._core", name = "BenchmarkDirectory")]
pub struct PyDirectory {
    directory: Arc<Directory>,
}

#[pymethods]
impl PyDirectory {
    /// Makes one below an existing directory.
    #[new]
    fn new(py: Python<'_>, below: PathBuf) -> PyResult<PyDirectory> {
        let made = guard::detached(py, || Directory::make(&below))?;
        let directory = Arc::new(made.map_err(errors::of_measurement)?);
        Ok(PyDirectory { directory })
    }

    #[getter]
    fn path(&self) -> PathBuf {
        self.directory.path().to_path_buf()
    }

    /// How many files lie in it, and how many bytes they hold.
    fn usage(&self, py: Python<'_>) -> PyResult<(u64, u64)> {
        let used = guard::detached(py, || self.directory.usage())?;
        used.map_err(errors::of_measurement)
    }

    /// Removes it with all that was made in it.
    fn remove(&self, py: Python<'_>) -> PyResult<()> {
        let removed = guard::detached(py, || self.directory.remove())?;
        removed.map_err(errors::of_measurement)
    }
}

/// Carries a scenario's workloads out in a directory.
///
/// `calls` says how they are made: `posix`, `io-uring` or `null`. `progress` is
/// called with whether files are still being made, seconds since the processes began, and
/// operations done and bytes moved by each operation; what it raises, or a signal, ends
/// the run, and the result says so. A second signal raises at once.
#[pyfunction]
#[pyo3(signature = (loaded, directory, *, calls="posix", progress=None))]
fn measure<'py>(
    py: Python<'py>,
    loaded: &PyLoaded,
    directory: &PyDirectory,
    calls: &str,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let calls = Backend::with_word(calls).map_err(errors::of_measurement)?;
    let scenario = loaded.loaded.scenario.clone();
    let there = Arc::clone(&directory.directory);
    let shared = Arc::new(Shared::default());
    let seen = Arc::clone(&shared);
    let (sender, mut receiver) = mpsc::channel();
    let work = move || {
        let watch = &mut |live: &Live| {
            *seen.live.lock().unwrap_or_else(PoisonError::into_inner) = Some(live.clone());
            match seen.break_off.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let ended =
            guard::catch(|| headrace_load::run(&scenario, &there, Options { calls }, watch));
        // Nobody listens any more if the caller was interrupted twice.
        let _ = sender.send(ended);
    };
    thread::Builder::new()
        .name("headrace-measure".to_owned())
        .spawn(work)?;
    let mut interrupted = false;
    let ended: Result<Result<Outcome, Error>, String> = loop {
        let received;
        (receiver, received) = py.detach(move || {
            let received = receiver.recv_timeout(LOOK);
            (receiver, received)
        });
        match received {
            Ok(ended) => break ended,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(errors::of_ours("the measurement ended without a result"));
            }
        }
        let looked = py
            .check_signals()
            .and_then(|()| told(progress.as_ref(), &shared));
        if let Err(error) = looked {
            shared.break_off.store(true, Ordering::Relaxed);
            if interrupted {
                return Err(error);
            }
            interrupted = true;
        }
    };
    let outcome = ended
        .map_err(|panic| errors::of_ours(&panic))?
        .map_err(errors::of_measurement)?;
    result(py, loaded, &outcome)
}

/// What a measurement and its caller share.
#[derive(Default)]
struct Shared {
    break_off: AtomicBool,
    live: Mutex<Option<Live>>,
}

fn told(progress: Option<&Bound<'_, PyAny>>, shared: &Shared) -> PyResult<()> {
    let live = shared
        .live
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    if let (Some(progress), Some(live)) = (progress, live) {
        let preparing = live.phase == Phase::Preparing;
        progress.call1((preparing, live.seconds, live.operations))?;
    }
    Ok(())
}

fn result<'py>(
    py: Python<'py>,
    loaded: &PyLoaded,
    outcome: &Outcome,
) -> PyResult<Bound<'py, PyDict>> {
    let scenario = &loaded.loaded.scenario;
    let report = Report::of(scenario, scenario.to_canonical_toml(), outcome);
    let report =
        serde_json::to_string(&report).map_err(|error| errors::of_ours(&error.to_string()))?;
    let result = PyDict::new(py);
    result.set_item("report", report)?;
    result.set_item("window_s", outcome.record.windows.length() as f64 * 1e-9)?;
    result.set_item("series", columns::measured_series(py, &outcome.record)?)?;
    Ok(result)
}

/// Removes what earlier benchmarks have left below a directory: the paths that are gone,
/// and those that are not, each with the reason.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "two lists, as Python has them")]
fn clean_benchmarks(
    py: Python<'_>,
    below: PathBuf,
) -> PyResult<(Vec<PathBuf>, Vec<(PathBuf, String)>)> {
    let cleaned = guard::detached(py, || headrace_load::clean(&below))?;
    let cleaned = cleaned.map_err(errors::of_measurement)?;
    let left = cleaned.left.into_iter();
    let left = left.map(|(path, why)| (path, why.to_string()));
    Ok((cleaned.removed, left.collect()))
}

/// The operations of the load engine, by their numbers: name, and whether it moves bytes.
#[pyfunction]
fn operations() -> Vec<(&'static str, bool)> {
    let all = operation::ALL.iter();
    all.map(|it| (it.name(), it.moves_bytes())).collect()
}

/// Makes measurements known to Python.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyDirectory>()?;
    module.add_function(wrap_pyfunction!(measure, module)?)?;
    module.add_function(wrap_pyfunction!(clean_benchmarks, module)?)?;
    module.add_function(wrap_pyfunction!(operations, module)?)
}
