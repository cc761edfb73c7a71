//! Jobs for Python: the processes work in threads of their own while the calling one looks after
//! signals and tells how far they are.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use headrace_load::{Filled, Job, JobTarget, JobsLive, Layout, PlannedRequest, lay_out, run_stage};
use pyo3::exceptions::{PyKeyboardInterrupt, PySystemExit};
use pyo3::prelude::*;

use crate::measure::PyDirectory;
use crate::{errors, guard};

/// Number of times signals are looked after while a file is made.
const LOOK: Duration = Duration::from_millis(50);

/// Target of jobs: files in a benchmark's own directory, or a block device, which is only ever
/// opened for reading.
#[pyclass(frozen, module = "headrace._core", name = "JobTarget")]
pub struct PyJobTarget {
    target: JobTarget,
}

#[pymethods]
impl PyJobTarget {
    /// Files in a benchmark's directory.
    #[staticmethod]
    fn directory(directory: &PyDirectory) -> PyJobTarget {
        PyJobTarget {
            target: JobTarget::Directory(Arc::clone(&directory.directory)),
        }
    }

    /// A block device.
    #[staticmethod]
    fn device(path: PathBuf) -> PyResult<PyJobTarget> {
        let target = JobTarget::device(&path).map_err(errors::of_measurement)?;
        Ok(PyJobTarget { target })
    }

    /// Bytes of a device, and what direct requests are multiples of; none of a directory.
    fn geometry(&self) -> Option<(u64, u32)> {
        match &self.target {
            JobTarget::Directory(_) => None,
            JobTarget::Device { bytes, sector, .. } => Some((*bytes, *sector)),
        }
    }

    /// Returns true if direct transfers (`O_DIRECT`) are taken.
    fn takes_direct(&self, py: Python<'_>) -> PyResult<bool> {
        guard::detached(py, || self.target.takes_direct())
    }

    /// Makes a file of `bytes`, fewer if it takes more than `seconds`, but `least`; gives its size.
    /// `filled` is `written`, `allocated`, `sparse`, or `directory`. `progress` is called some
    /// times a second with the bytes written so far; its exception, or a signal, ends it early.
    #[pyo3(signature = (number, bytes, *, least, seconds, filled, direct, progress=None))]
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    fn lay_out(
        &self,
        py: Python<'_>,
        number: u32,
        bytes: u64,
        least: u64,
        seconds: Option<f64>,
        filled: &str,
        direct: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<u64> {
        let filled = Filled::with_word(filled).ok_or_else(|| errors::of_ours(filled))?;
        let layout = Layout {
            number,
            bytes,
            least,
            seconds,
            filled,
            direct,
        };
        let (mut raised, mut poll_peers) = (None, Instant::now());
        let watch = &mut |done: u64| {
            if poll_peers.elapsed() < LOOK {
                return ControlFlow::Continue(());
            }
            poll_peers = Instant::now();
            told(
                progress.as_ref(),
                |py, progress| progress.call1(py, (done,)),
                &mut raised,
            )
        };
        let made = guard::detached(py, || lay_out(&self.target, layout, watch))?;
        match raised {
            Some(error) => Err(error),
            None => made.map_err(errors::of_measurement),
        }
    }

    /// Runs jobs, a JSON list, concurrently. Returns the results as a JSON list, whether they were
    /// stopped, and the error that ended them. `progress` is called some times a second. It gets
    /// the seconds since the jobs began and, for each job, counts, bytes and the sum of the
    /// latencies of reads, writes and syncs. Its exception, or a signal, ends them.
    #[pyo3(signature = (jobs, *, progress=None))]
    fn run(
        &self,
        py: Python<'_>,
        jobs: &str,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(String, bool, Option<String>)> {
        let jobs: Vec<Job> =
            serde_json::from_str(jobs).map_err(|error| errors::of_ours(&error.to_string()))?;
        let mut raised = None;
        let watch = &mut |live: &JobsLive| {
            told(
                progress.as_ref(),
                |py, progress| {
                    let jobs: Vec<Vec<_>> = live.jobs.iter().map(|it| it.to_vec()).collect();
                    progress.call1(py, (live.seconds, jobs))
                },
                &mut raised,
            )
        };
        let ran = guard::detached(py, || run_stage(&self.target, &jobs, watch))?;
        if let Some(error) = raised.filter(|error| !ends(py, error)) {
            return Err(error);
        }
        let outcome = ran.map_err(errors::of_measurement)?;
        let report = serde_json::to_string(&outcome.jobs)
            .map_err(|error| errors::of_ours(&error.to_string()))?;
        let error = outcome.error.map(|error| error.to_string());
        Ok((report, outcome.interrupted, error))
    }
}

/// Returns true if the exception requests the end, rather than being an error.
fn ends(py: Python<'_>, error: &PyErr) -> bool {
    error.is_instance_of::<PyKeyboardInterrupt>(py) || error.is_instance_of::<PySystemExit>(py)
}

/// Looks after signals and tells the caller how far it is. The first thing that is raised stays.
fn told(
    progress: Option<&Py<PyAny>>,
    tell: impl FnOnce(Python<'_>, &Py<PyAny>) -> PyResult<Py<PyAny>>,
    raised: &mut Option<PyErr>,
) -> ControlFlow<()> {
    let poll_peers = Python::attach(|py| {
        py.check_signals()?;
        match progress {
            Some(progress) => tell(py, progress).map(drop),
            None => Ok(()),
        }
    });
    match poll_peers {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            raised.get_or_insert(error);
            ControlFlow::Break(())
        }
    }
}

/// Returns true if the kernel has io_uring, and lets this program use it.
#[pyfunction]
fn has_io_uring() -> bool {
    headrace_load::has_io_uring()
}

/// The first requests of a process of a job, which is JSON: file, offset, bytes, and whether it
/// reads.
#[pyfunction]
fn planned_requests(
    py: Python<'_>,
    job: &str,
    rank: u32,
    most: usize,
) -> PyResult<Vec<PlannedRequest>> {
    let job: Job =
        serde_json::from_str(job).map_err(|error| errors::of_ours(&error.to_string()))?;
    let requests = guard::detached(py, || headrace_load::planned_requests(&job, rank, most))?;
    requests.map_err(errors::of_measurement)
}

/// Makes jobs known to Python.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(has_io_uring, module)?)?;
    module.add_function(wrap_pyfunction!(planned_requests, module)?)?;
    module.add_class::<PyJobTarget>()
}
