//! Calls into the crates: panics become ordinary errors, and signals end long computations.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::errors;

/// Interval of signal checks and progress reports.
pub const LOOK: Duration = Duration::from_millis(50);

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

/// Runs `work` while other Python threads may run. Python handles no signal until it ends: `work`
/// must be short, or check signals itself.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| catch(work))
        .map_err(|text| errors::of_ours(&text))
}

/// State that a computation in its own thread shares with its caller.
#[derive(Clone, Default)]
pub struct Watched(Arc<State>);

#[derive(Default)]
struct State {
    is_cancelled: AtomicBool,
    progress: Mutex<Option<f64>>,
}

impl Watched {
    /// Reports progress; breaks if the caller does not wait any more.
    pub fn at(&self, progress: f64) -> ControlFlow<()> {
        *self.progress() = Some(progress);
        match self.is_cancelled() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    /// Returns true if the caller does not wait any more.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled.load(Ordering::Relaxed)
    }

    /// Ends the computation at its next look.
    pub fn cancel(&self) {
        self.0.is_cancelled.store(true, Ordering::Relaxed);
    }

    fn progress(&self) -> MutexGuard<'_, Option<f64>> {
        let progress = self.0.progress.lock();
        progress.unwrap_or_else(PoisonError::into_inner)
    }
}

/// Time for a computation to end by itself after a signal.
const GRACE: Duration = Duration::from_millis(200);

/// Runs `work` in a thread of its own. Meanwhile the calling thread handles signals and reports
/// progress. After an exception of either, `work` has a moment to end at its next look at
/// [`Watched`]. A computation that does not look ends with the process.
pub fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    on_progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&Watched) -> T + Send + 'static,
) -> PyResult<T> {
    let watched = Watched::default();
    let seen = watched.clone();
    let (sender, mut receiver) = mpsc::sync_channel(1);
    thread::Builder::new()
        .name("headrace-work".to_owned())
        .spawn(move || {
            let ended = catch(|| work(&seen));
            // Unused after a signal.
            let _ = sender.send(ended);
        })?;
    let look = || {
        py.check_signals()?;
        // Not twice for one figure.
        let progress = watched.progress().take();
        match (on_progress, progress) {
            (Some(on_progress), Some(progress)) => on_progress.call1(py, (progress,)).map(drop),
            _ => Ok(()),
        }
    };
    loop {
        let received;
        (receiver, received) = py.detach(move || {
            let received = receiver.recv_timeout(LOOK);
            (receiver, received)
        });
        match received {
            Ok(ended) => {
                look()?;
                return ended.map_err(|text| errors::of_ours(&text));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(errors::of_ours("a computation ended without a result"));
            }
        }
        if let Err(error) = look() {
            watched.cancel();
            py.detach(move || drop(receiver.recv_timeout(GRACE)));
            return Err(error);
        }
    }
}

/// Returns a callback for work that runs in the calling thread because it calls Python: it handles
/// signals, reports progress, and saves the first exception.
pub fn watcher(
    on_progress: Option<Py<PyAny>>,
    raised: &mut Option<PyErr>,
) -> impl FnMut(f64) -> ControlFlow<()> + Send {
    let mut last: Option<Instant> = None;
    move |now| {
        if last.is_some_and(|last| last.elapsed() < LOOK) {
            return ControlFlow::Continue(());
        }
        last = Some(Instant::now());
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
