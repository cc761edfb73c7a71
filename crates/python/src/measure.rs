//! Measurements for Python: the processes work in threads of their own while the calling
//! one looks after signals and tells how far they are.

use std::ops::ControlFlow;
use std::os::fd::IntoRawFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use headrace_load::{
    Backend, Directory, Error, Exact, LiveProgress, Load, Options, Outcome, Owners, Phase, Report,
    Share, SpaceLimit, has_times, histograms, operation,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::guard::LOOK;
use crate::peers::{self, ToPeers, Waiting};
use crate::rounds::PyRoundKeeper;
use crate::scenario::{PyLoaded, replaying};
use crate::{columns, errors, guard};

/// Poll interval while a process waits for other hosts; hosts proceed at most that far apart.
const SOON: Duration = Duration::from_micros(500);

/// Poll interval while operations run together with other hosts, whose processes wait for every
/// message. A poll takes about a tenth of it.
const AT_ONCE: Duration = Duration::from_micros(100);

/// The directory that a benchmark makes for itself.
#[pyclass(frozen, module = "headrace._core", name = "BenchmarkDirectory")]
pub struct PyDirectory {
    pub(crate) directory: Arc<Directory>,
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

    /// Joins a run in the directory that a program on another host has made.
    #[staticmethod]
    fn join(py: Python<'_>, path: PathBuf, mark: &str) -> PyResult<PyDirectory> {
        let joined = guard::detached(py, || Directory::join(&path, mark))?;
        let directory = Arc::new(joined.map_err(errors::of_measurement)?);
        Ok(PyDirectory { directory })
    }

    /// Returns the text of the mark, with which other processes join.
    #[getter]
    fn mark(&self) -> &str {
        self.directory.mark()
    }

    #[getter]
    fn path(&self) -> PathBuf {
        self.directory.path().to_path_buf()
    }

    /// Returns true if its path still leads to it: not if it was unmounted, moved or removed.
    fn is_there(&self) -> bool {
        self.directory.is_there()
    }

    /// Number of files that lie in it, and how many bytes they hold.
    fn usage(&self, py: Python<'_>) -> PyResult<(u64, u64)> {
        let directory = Arc::clone(&self.directory);
        let used = guard::interruptible(py, None, move |_| directory.usage())?;
        used.map_err(errors::of_measurement)
    }

    /// Removes it with all that was made in it. `progress` is called some times a second with the
    /// number of removed names; its exception, or a signal, stops the removal.
    #[pyo3(signature = (progress=None))]
    fn remove(&self, py: Python<'_>, progress: Option<Py<PyAny>>) -> PyResult<()> {
        let (mut raised, mut poll_peers) = (None, Instant::now());
        let watch = &mut |removed: u64| {
            if poll_peers.elapsed() < LOOK {
                return ControlFlow::Continue(());
            }
            poll_peers = Instant::now();
            let told = Python::attach(|py| {
                py.check_signals()?;
                match &progress {
                    Some(progress) => progress.call1(py, (removed,)).map(drop),
                    None => Ok(()),
                }
            });
            match told {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    raised = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        let removed = guard::detached(py, || self.directory.remove_watched(watch))?;
        match raised {
            Some(error) => Err(error),
            None => removed.map_err(errors::of_measurement),
        }
    }
}

/// A descriptor of a directory for paths that start at it. Where root works, no symbolic link of
/// another user leads to it. With `strictly`, only its owner, who is root or the user of sudo, can
/// write to it.
#[pyfunction]
#[pyo3(signature = (path, strictly=false))]
fn open_directory(path: PathBuf, strictly: bool) -> PyResult<i32> {
    let opened = headrace_load::open_directory(&path, strictly).map_err(errors::of_measurement)?;
    Ok(opened.into_raw_fd())
}

/// Returns true if what a user owns may lead to where this process works: not another user's, for
/// root.
#[pyfunction]
fn trusts_owner(owner: u32) -> bool {
    Owners::of_process().trusts(owner)
}

/// Carries a scenario's workloads out in a directory.
///
/// `calls` says how they are made: `posix`, `io-uring` or `null`. `progress` gets whether files are
/// still being made, and seconds since the processes began. It gets operations done and bytes moved
/// by each operation, and the numbers of files, directories and links made and to make. Files may
/// take `space`: a part of the free space, or bytes if that is none. An exception of `progress`, or
/// a signal, ends the run, and the result says so. A second signal raises at once.
///
/// With `share`, the rank of this process and the number of ranks, only its clients run, and the
/// result is for `together`. `others` then has three methods. `come` gets a place where this one
/// waits, and a workload's number or none. `say` gets a workload's number and a message about its
/// rounds. `look` returns the places that are open now, the results of the `RoundKeeper` of a
/// workload, and whether to look again soon. Their exceptions end the run. `traces` are as for
/// `run`.
#[pyfunction]
#[pyo3(signature = (loaded, directory, *, calls="posix", traces=None, progress=None, share=None, others=None, space=(1.0, None)))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
fn measure<'py>(
    py: Python<'py>,
    loaded: &PyLoaded,
    directory: &PyDirectory,
    calls: &str,
    traces: Option<Vec<(usize, PathBuf)>>,
    progress: Option<Bound<'py, PyAny>>,
    share: Option<(u32, u32)>,
    others: Option<Bound<'py, PyAny>>,
    space: (f64, Option<u64>),
) -> PyResult<Bound<'py, PyDict>> {
    let calls = Backend::with_word(calls).map_err(errors::of_measurement)?;
    let scenario = replaying(&loaded.loaded.scenario, &traces.unwrap_or_default());
    let there = Arc::clone(&directory.directory);
    let shared = Arc::new(Shared::default());
    let seen = Arc::clone(&shared);
    let (sender, mut receiver) = mpsc::channel::<EngineEvent>();
    let number = share.map_or(0, |(number, _)| number);
    let waiting = Arc::new(Waiting::new(number, sender.clone()));
    let own = match share {
        Some((number, of)) => Share::new(number, of, Arc::clone(&waiting) as _),
        None => Share::alone(),
    };
    let (go_on, told_of) = mpsc::channel();
    let work = move || {
        let begins = sender.clone();
        let mut begun = false;
        let watch = &mut |live: &LiveProgress| {
            *seen.live.lock().unwrap_or_else(PoisonError::into_inner) = Some(live.clone());
            if !begun && live.phase == Phase::Running {
                begun = true;
                // No operation before the caller has been notified; it may be gone already.
                let _ = begins.send(EngineEvent::Begins);
                let _ = told_of.recv();
            }
            match seen.break_off.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let ended = guard::catch(|| {
            let options = Options {
                calls,
                space: space_limit(space),
                ..Options::default()
            };
            headrace_load::run_share(&scenario, &there, options, &own, watch)
        });
        // The receiver is gone if the caller was interrupted twice.
        let _ = sender.send(EngineEvent::Ended(Box::new(ended)));
    };
    thread::Builder::new()
        .name("headrace-measure".to_owned())
        .spawn(work)?;
    let (mut interrupted, mut soon) = (false, false);
    let ended = loop {
        let mut to_peers = None;
        let received;
        let mut begins = false;
        let pause = match soon {
            true if waiting.listens() => AT_ONCE,
            true => SOON,
            false => LOOK,
        };
        (receiver, received) = py.detach(move || {
            let received = receiver.recv_timeout(pause);
            (receiver, received)
        });
        match received {
            Ok(EngineEvent::Ended(ended)) => break *ended,
            Ok(EngineEvent::Peers(message)) => to_peers = Some(message),
            Ok(EngineEvent::Begins) => begins = true,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(errors::of_ours("the measurement ended without a result"));
            }
        }
        let poll_peers = py
            .check_signals()
            .and_then(|()| told(progress.as_ref(), &shared))
            .and_then(|()| {
                let Some(others) = others.as_ref().filter(|_| !interrupted) else {
                    return Ok(());
                };
                let poll_peers = peers::poll_peers(others, to_peers)?;
                soon = poll_peers.soon || waiting.listens();
                waiting.take(&poll_peers)
            });
        if let Err(error) = poll_peers {
            shared.break_off.store(true, Ordering::Relaxed);
            if interrupted {
                return Err(error);
            }
            (interrupted, soon) = (true, false);
        }
        if begins {
            // It waits for nothing else, and may have been stopped.
            let _ = go_on.send(());
        }
    };
    let mut outcome = ended
        .map_err(|panic| errors::of_ours(&panic))?
        .map_err(errors::of_measurement)?;
    if share.is_some() {
        return part(py, &outcome);
    }
    let load = Load::of(&loaded.loaded.scenario, &outcome);
    outcome.load = load.map_err(errors::of_measurement)?;
    result(py, loaded, &outcome)
}

/// Message from the worker thread to the thread that watches it.
enum EngineEvent {
    /// The processes wait to begin.
    Begins,
    Peers(ToPeers),
    Ended(Box<Result<Result<Outcome, Error>, String>>),
}

impl From<ToPeers> for EngineEvent {
    fn from(message: ToPeers) -> EngineEvent {
        EngineEvent::Peers(message)
    }
}

/// Return the serialised result of one engine, for `together`.
fn part<'py>(py: Python<'py>, outcome: &Outcome) -> PyResult<Bound<'py, PyDict>> {
    let bytes = outcome.to_bytes().map_err(errors::of_measurement)?;
    let part = PyDict::new(py);
    part.set_item("part", PyBytes::new(py, &bytes))?;
    part.set_item("started_s", outcome.started as f64 * 1e-9)?;
    part.set_item("processes", outcome.processes)?;
    part.set_item("reason", outcome.reason)?;
    Ok(part)
}

/// Merges the results of several engines, each given by the name of its host and the output of
/// `measure` there. Returns a result as `measure` gives it without `share`.
#[pyfunction]
fn together<'py>(
    py: Python<'py>,
    loaded: &PyLoaded,
    parts: Vec<(String, Vec<u8>)>,
) -> PyResult<Bound<'py, PyDict>> {
    let scenario = loaded.loaded.scenario.clone();
    let outcome = guard::interruptible(py, None, move |_| {
        headrace_load::merge_outcomes(&scenario, &parts)
    })?;
    result(py, loaded, &outcome.map_err(errors::of_measurement)?)
}

/// Bytes, and files, directories and links, that a scenario takes, about.
#[pyfunction]
fn room_needed(py: Python<'_>, loaded: &PyLoaded) -> PyResult<(u64, u64)> {
    let scenario = loaded.loaded.scenario.clone();
    let needed = guard::interruptible(py, None, move |_| headrace_load::needed(&scenario))?;
    let needed = needed.map_err(errors::of_measurement)?;
    Ok((needed.bytes, needed.names))
}

/// Rejects a scenario that would fill the file system of a directory.
#[pyfunction]
#[pyo3(signature = (loaded, below, space=(1.0, None)))]
fn check_room(
    py: Python<'_>,
    loaded: &PyLoaded,
    below: PathBuf,
    space: (f64, Option<u64>),
) -> PyResult<()> {
    let scenario = loaded.loaded.scenario.clone();
    let limit = space_limit(space);
    let checked = guard::interruptible(py, None, move |_| {
        headrace_load::check_room(&scenario, &below, limit)
    })?;
    checked.map_err(errors::of_measurement)
}

fn space_limit((share, bytes): (f64, Option<u64>)) -> SpaceLimit {
    bytes.map_or(SpaceLimit::Share(share), SpaceLimit::Bytes)
}

/// Return the number of hosts that have processes of each workload.
#[pyfunction]
fn hosts_of_each(loaded: &PyLoaded, hosts: u32) -> Vec<u32> {
    headrace_load::engines_of_each(&loaded.loaded.scenario, hosts)
}

/// State shared by a measurement and its caller.
#[derive(Default)]
struct Shared {
    break_off: AtomicBool,
    live: Mutex<Option<LiveProgress>>,
}

fn told(progress: Option<&Bound<'_, PyAny>>, shared: &Shared) -> PyResult<()> {
    let live = shared
        .live
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    if let (Some(progress), Some(live)) = (progress, live) {
        let preparing = live.phase == Phase::Preparing;
        progress.call1((preparing, live.seconds, live.operations, live.prepared))?;
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
    let encoded = histograms::encoded(outcome, has_times(scenario));
    let encoded = encoded.map_err(errors::of_measurement)?.into_iter();
    let rows: Vec<_> = encoded
        .map(|it| {
            let exact = it.exact;
            (
                (it.operation, it.time, it.histogram),
                exact.map(|it| (it.sum, it.least, it.most)),
            )
        })
        .collect();
    result.set_item("histograms", rows)?;
    Ok(result)
}

/// Merge histograms of HdrHistogram logs, each with the exact sum, minimum and maximum in
/// nanoseconds if known. Returns the number of values and, in seconds, their mean, maximum and
/// quantiles, if there are any.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "as Python has them")]
fn merged_histograms(
    parts: Vec<(String, Option<(u64, u64, u64)>)>,
    quantiles: Vec<f64>,
) -> PyResult<(u64, Option<f64>, Option<f64>, Vec<Option<f64>>)> {
    let exact = |(sum, least, most)| Exact { sum, least, most };
    let parts = parts.into_iter().map(|(text, it)| (text, it.map(exact)));
    let parts: Vec<(String, Option<Exact>)> = parts.collect();
    let merged = histograms::merged(&parts).map_err(errors::of_measurement)?;
    let seconds = |nanoseconds: u64| nanoseconds as f64 * 1e-9;
    let at = |quantile| merged.quantile(quantile).map(seconds);
    Ok((
        merged.count(),
        merged.mean().map(|mean| mean * 1e-9),
        merged.exact.map(|it| seconds(it.most)),
        quantiles.into_iter().map(at).collect(),
    ))
}

/// Removes the remains of earlier benchmarks below a directory, or only the one of this name.
/// Returns the removed paths, and the others, each with the reason.
#[pyfunction]
#[pyo3(signature = (below, only=None))]
#[expect(clippy::type_complexity, reason = "two lists, as Python has them")]
fn clean_benchmarks(
    py: Python<'_>,
    below: PathBuf,
    only: Option<String>,
) -> PyResult<(Vec<PathBuf>, Vec<(PathBuf, String)>)> {
    let cleaned = guard::detached(py, || headrace_load::clean(&below, only.as_deref()))?;
    let cleaned = cleaned.map_err(errors::of_measurement)?;
    let left = cleaned.left.into_iter();
    let left = left.map(|(path, why)| (path, why.to_string()));
    Ok((cleaned.removed, left.collect()))
}

/// The operations of the load engine, by their numbers: name, group, and whether it moves bytes.
#[pyfunction]
fn operations() -> Vec<(&'static str, &'static str, bool)> {
    let all = operation::ALL.iter();
    all.map(|it| (it.name(), it.group().word(), it.moves_bytes()))
        .collect()
}

/// Makes measurements known to Python.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyDirectory>()?;
    module.add_class::<PyRoundKeeper>()?;
    module.add_function(wrap_pyfunction!(open_directory, module)?)?;
    module.add_function(wrap_pyfunction!(trusts_owner, module)?)?;
    module.add_function(wrap_pyfunction!(measure, module)?)?;
    module.add_function(wrap_pyfunction!(together, module)?)?;
    module.add_function(wrap_pyfunction!(room_needed, module)?)?;
    module.add_function(wrap_pyfunction!(check_room, module)?)?;
    module.add_function(wrap_pyfunction!(hosts_of_each, module)?)?;
    module.add_function(wrap_pyfunction!(clean_benchmarks, module)?)?;
    module.add_function(wrap_pyfunction!(merged_histograms, module)?)?;
    module.add_function(wrap_pyfunction!(operations, module)?)
}
