//! Runs for Python. The simulation has its own thread, while the calling thread handles signals and
//! reports progress. With schedulers in Python it runs in the calling thread.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use headrace_spec::{Position, Scenario};
use headrace_storage::layout::{Placement, Placements};
use headrace_storage::measure::{Recipient, Recorded};
use headrace_storage::replacement::MakePolicy;
use headrace_storage::{Error, Options, Outcome, qos};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::guard::LOOK;
use crate::placement::PythonPlacement;
use crate::replacement::Policies;
use crate::scenario::{PyLoaded, replaying};
use crate::scheduler::{Adapter, PyScheduler};
use crate::{columns, errors, guard, scheduler};

/// Simulated seconds, requests done, and the part of the run that is over.
type Progress = (f64, u64, Option<f64>);

type Ended = Result<Result<Outcome, Error>, String>;

/// Message from the thread of a run to its caller.
enum Message {
    Recorded(Recorded),
    Ended(Box<Ended>),
}

/// Messages that may wait: a run waits for the receiver of its requests.
const WAITING: usize = 4;

/// State shared by the run and its caller.
#[derive(Default)]
struct Shared {
    break_off: AtomicBool,
    progress: Mutex<Option<Progress>>,
}

/// The samples over time, and their interval.
#[derive(Clone, Copy)]
struct Samples {
    playback: Option<u32>,
    servers: Option<u32>,
}

/// Schedulers of the scenario's own classes: a position, and those there by number.
type OwnSchedulers<'py> = Vec<(String, Vec<Bound<'py, PyScheduler>>)>;

/// Placements of the scenario's own classes: the workload of each or None, the object, and the
/// bytes of a strip.
type OwnPlacements<'py> = Vec<(Option<u32>, Bound<'py, PyAny>, u64)>;

/// Runs a scenario once.
///
/// `requests` is called with every single request, some of them at a time, as columns, and with
/// None when those so far do not count. `schedulers`, `placements` and `policies` are those of the
/// scenario's own classes. `traces` are files to read in the place of those that the scenario
/// names, by the workload's number; the result still names the scenario's. `progress` is called
/// with simulated seconds, requests done, and the part of the run that is over or None. An
/// exception of either ends the run, and so does a signal. `playback` is a number of frames to
/// record, and `server_samples` one of samples of the data servers; there may be twice as many.
#[pyfunction]
#[pyo3(signature = (
    loaded, *, requests=None, traces=None, schedulers=None, placements=None, policies=None,
    progress=None, playback=None, server_samples=None
))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
fn run<'py>(
    py: Python<'py>,
    loaded: &PyLoaded,
    requests: Option<Bound<'py, PyAny>>,
    traces: Option<Vec<(usize, PathBuf)>>,
    schedulers: Option<OwnSchedulers<'py>>,
    placements: Option<OwnPlacements<'py>>,
    policies: Option<Py<PyAny>>,
    progress: Option<Bound<'py, PyAny>>,
    playback: Option<u32>,
    server_samples: Option<u32>,
) -> PyResult<Bound<'py, PyDict>> {
    let (schedulers, placements) = (
        schedulers.unwrap_or_default(),
        placements.unwrap_or_default(),
    );
    let own = OwnCode {
        classes: match schedulers.is_empty() && placements.is_empty() {
            true => None,
            false => Some(PythonClasses::new(&schedulers, &placements)?),
        },
        policies: policies.map(Policies::new),
    };
    let scenario = replaying(&loaded.loaded.scenario, &traces.unwrap_or_default());
    let samples = Samples {
        playback,
        servers: server_samples,
    };
    let ended = match own.is_empty() {
        false => here(
            py,
            &scenario,
            requests.as_ref(),
            &own,
            progress.as_ref(),
            samples,
        )?,
        true => elsewhere(py, scenario, requests.as_ref(), progress.as_ref(), samples)?,
    };
    if let Some(failed) = own.take_failure() {
        return Err(failed);
    }
    let mut outcome = ended
        .map_err(|panic| errors::of_ours(&panic))?
        .map_err(|error| errors::of_run(&error))?;
    outcome.report.scenario.toml = loaded.loaded.scenario.to_canonical_toml();
    let result = PyDict::new(py);
    let report = serde_json::to_string(&outcome.report)
        .map_err(|error| errors::of_ours(&error.to_string()))?;
    result.set_item("report", report)?;
    result.set_item("window_s", outcome.series.window_seconds())?;
    result.set_item("series", columns::series(py, &outcome)?)?;
    result.set_item("latency_curve", columns::latency_curve(py, &outcome)?)?;
    if let Some(series) = &outcome.server_series {
        result.set_item("servers", columns::server_series(py, series)?)?;
    }
    if let Some(playback) = &outcome.playback {
        result.set_item("playback", columns::playback(py, playback)?)?;
    }
    Ok(result)
}

/// Calls the receiver of single requests.
fn tell(py: Python<'_>, requests: Option<&Bound<'_, PyAny>>, recorded: Recorded) -> PyResult<()> {
    let Some(requests) = requests else {
        return Ok(());
    };
    let table = match recorded {
        Recorded::Requests(some) => Some(columns::requests(py, &some)?),
        Recorded::Forget => None,
    };
    requests.call1((table,)).map(drop)
}

/// A run in a thread of its own, while this one looks after signals.
fn elsewhere(
    py: Python<'_>,
    scenario: Scenario,
    requests: Option<&Bound<'_, PyAny>>,
    progress: Option<&Bound<'_, PyAny>>,
    samples: Samples,
) -> PyResult<Ended> {
    let shared = Arc::new(Shared::default());
    let (sender, receiver) = mpsc::sync_channel(WAITING);
    let seen = Arc::clone(&shared);
    let recipient = requests.map(|_| {
        let sender = sender.clone();
        // The receiver is gone if the caller was interrupted.
        let send = move |recorded| drop(sender.send(Message::Recorded(recorded)));
        Arc::new(send) as Recipient
    });
    thread::Builder::new()
        .name("headrace-run".to_owned())
        .spawn(move || {
            let watch = &mut |seconds, done, part| {
                *lock(&seen.progress) = Some((seconds, done, part));
                match seen.break_off.load(Ordering::Relaxed) {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            };
            let options = Options {
                requests_to: recipient.as_ref(),
                playback: samples.playback,
                server_samples: samples.servers,
                ..Options::default()
            };
            let ended = guard::catch(|| headrace_storage::simulate(&scenario, options, watch));
            let _ = sender.send(Message::Ended(Box::new(ended)));
        })?;
    let ended = watched(py, receiver, &shared, requests, progress);
    // An abandoned run ends at its next check.
    shared.break_off.store(true, Ordering::Relaxed);
    ended
}

/// A run with code in Python, in the calling thread. There a signal stops a method at any point,
/// and Python's lock need not be taken for every call.
fn here(
    py: Python<'_>,
    scenario: &Scenario,
    requests: Option<&Bound<'_, PyAny>>,
    own: &OwnCode,
    progress: Option<&Bound<'_, PyAny>>,
    samples: Samples,
) -> PyResult<Ended> {
    let recorded: Arc<Mutex<Vec<Recorded>>> = Arc::default();
    let recipient = requests.map(|_| {
        let recorded = Arc::clone(&recorded);
        Arc::new(move |more| lock(&recorded).push(more)) as Recipient
    });
    let tell_all = || {
        let some = std::mem::take(&mut *lock(&recorded));
        some.into_iter().try_for_each(|it| tell(py, requests, it))
    };
    let mut broken_off = None;
    let mut told = Instant::now();
    let watch = &mut |seconds: f64, done: u64, part: Option<f64>| {
        // Other threads want Python's lock too.
        py.detach(thread::yield_now);
        let mut look = || {
            py.check_signals()?;
            tell_all()?;
            if let Some(progress) = progress
                && told.elapsed() >= LOOK
            {
                told = Instant::now();
                progress.call1((seconds, done, part))?;
            }
            Ok(())
        };
        match look() {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                broken_off = Some(error);
                ControlFlow::Break(())
            }
        }
    };
    let classes = own.classes.as_ref();
    let schedulers = classes.map(|own| move |position, number| own.take(position, number));
    let placements = classes.map(|own| move |workload| own.placement(workload));
    let policies = own.policies.as_ref();
    let policies = policies.map(|own| move |number, pages| own.policy(number, pages));
    let options = Options {
        schedulers: schedulers.as_ref().map(|make| make as &qos::Make<'_>),
        placements: placements.as_ref().map(|make| make as &Placements<'_>),
        policies: policies.as_ref().map(|make| make as &MakePolicy<'_>),
        requests_to: recipient.as_ref(),
        playback: samples.playback,
        server_samples: samples.servers,
        ..Options::default()
    };
    let ended = guard::catch(|| headrace_storage::simulate(scenario, options, watch));
    if let Some(error) = broken_off {
        return Err(error);
    }
    tell_all()?;
    Ok(ended)
}

/// Code in Python that a scenario names.
struct OwnCode {
    classes: Option<PythonClasses>,
    policies: Option<Policies>,
}

impl OwnCode {
    fn is_empty(&self) -> bool {
        self.classes.is_none() && self.policies.is_none()
    }

    /// Takes the exception, if one was raised.
    fn take_failure(&self) -> Option<PyErr> {
        let of_policies = self.policies.as_ref().and_then(Policies::take_failure);
        let classes = self.classes.as_ref();
        of_policies.or_else(|| classes.and_then(|own| own.shared.take_failure()))
    }
}

/// The schedulers in Python at one position, to be taken by number.
type AtPosition = Vec<Option<Adapter>>;

/// A scenario's schedulers and placements in Python.
struct PythonClasses {
    shared: Arc<scheduler::Shared>,
    adapters: Mutex<Vec<(String, AtPosition)>>,
    placements: Vec<(Option<u32>, Arc<dyn Placement>)>,
}

impl PythonClasses {
    fn new(
        positions: &[(String, Vec<Bound<'_, PyScheduler>>)],
        placements: &[(Option<u32>, Bound<'_, PyAny>, u64)],
    ) -> PyResult<PythonClasses> {
        let shared = Arc::new(scheduler::Shared::default());
        let adapter =
            |object: &Bound<'_, PyScheduler>| Adapter::new(object, Arc::clone(&shared)).map(Some);
        let adapters = positions.iter().map(|(position, objects)| {
            let adapters = objects.iter().map(adapter).collect::<PyResult<_>>()?;
            Ok((position.clone(), adapters))
        });
        let adapters = Mutex::new(adapters.collect::<PyResult<_>>()?);
        let placements = placements.iter().map(|(workload, object, unit)| {
            let placement = PythonPlacement::new(object, *unit, Arc::clone(&shared))?;
            Ok((*workload, Arc::new(placement) as Arc<dyn Placement>))
        });
        Ok(PythonClasses {
            adapters,
            placements: placements.collect::<PyResult<_>>()?,
            shared,
        })
    }

    fn take(&self, position: Position, number: u32) -> Option<Box<dyn qos::Scheduler>> {
        let mut all = lock(&self.adapters);
        let (_, adapters) = all.iter_mut().find(|(it, _)| it == position.word())?;
        let adapter = adapters.get_mut(number as usize)?.take()?;
        Some(Box::new(adapter))
    }

    fn placement(&self, workload: Option<u32>) -> Option<Arc<dyn Placement>> {
        let mut all = self.placements.iter();
        let found = all.find(|(of, _)| *of == workload)?;
        Some(Arc::clone(&found.1))
    }
}

/// Waits for the run's end.
fn watched(
    py: Python<'_>,
    mut receiver: Receiver<Message>,
    shared: &Shared,
    requests: Option<&Bound<'_, PyAny>>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Ended> {
    loop {
        let received;
        (receiver, received) = py.detach(move || {
            let received = receiver.recv_timeout(LOOK);
            (receiver, received)
        });
        match received {
            Ok(Message::Ended(ended)) => return Ok(*ended),
            Ok(Message::Recorded(recorded)) => tell(py, requests, recorded)?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(errors::of_ours("the run ended without a result"));
            }
        }
        py.check_signals()?;
        let now = *lock(&shared.progress);
        if let (Some(progress), Some(now)) = (progress, now) {
            progress.call1(now)?;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The quantile of Student's t distribution at `p` for `freedom` degrees of freedom.
#[pyfunction]
fn student_quantile(p: f64, freedom: u32) -> f64 {
    headrace_net::student_quantile(p, freedom)
}

/// The seed of a replication of an experiment.
#[pyfunction]
fn replication_seed(seed: u64, replication: u64) -> u64 {
    headrace_net::replication_seed(seed, replication)
}

/// Makes runs known to Python.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(run, module)?)?;
    module.add_function(wrap_pyfunction!(replication_seed, module)?)?;
    module.add_function(wrap_pyfunction!(student_quantile, module)?)
}
