//! Where a process learns what to do next.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use headrace_net::{Random, Time};
use headrace_workload::{Application, Next, RoundCounts};

/// How long a process that waits for another sleeps before it looks whether the run is over.
const LOOK: Duration = Duration::from_millis(10);

/// Where a process learns what to do next.
pub enum Source {
    /// It has its own copy of the workload, in which only its own part matters.
    Own(Box<dyn Application>),
    /// Processes ask one copy: they take what comes in turn, or hand on what they have done.
    Shared(Arc<Common>),
}

impl Source {
    /// What a process does next.
    pub fn next(&mut self, rank: u32, now: Time, random: &mut Random<'_>) -> Result<Next, String> {
        match self {
            Source::Own(application) => application.next(rank, now, random),
            Source::Shared(common) => common.next(rank, now, random),
        }
    }

    /// The copy that several ask.
    pub fn common(&self) -> Option<Arc<Common>> {
        match self {
            Source::Own(_) => None,
            Source::Shared(common) => Some(Arc::clone(common)),
        }
    }

    /// Waits until what another process has done lets this one go on, or the run ends.
    pub fn wait(&self, rank: u32, ends: &AtomicBool) {
        // Nobody else moves a copy of one's own on.
        if let Source::Shared(common) = self {
            common.wait(rank, ends);
        }
    }
}

/// A workload that several processes ask.
pub struct Common {
    state: Mutex<State>,
    woken: Condvar,
}

struct State {
    application: Box<dyn Application>,
    /// Processes that may go on and have not seen it yet.
    woken: HashSet<u32>,
}

impl Common {
    /// One that nobody has asked yet.
    pub fn new(application: Box<dyn Application>) -> Common {
        Common {
            state: Mutex::new(State {
                application,
                woken: HashSet::new(),
            }),
            woken: Condvar::new(),
        }
    }

    /// How often processes have carried out an operation at the same moment; none if they never
    /// do.
    pub fn rounds(&self) -> Option<RoundCounts> {
        self.locked().application.rounds()
    }

    fn next(&self, rank: u32, now: Time, random: &mut Random<'_>) -> Result<Next, String> {
        let mut state = self.locked();
        let next = state.application.next(rank, now, random);
        let mut any = false;
        while let Some(other) = state.application.woken() {
            state.woken.insert(other);
            any = true;
        }
        if any {
            self.woken.notify_all();
        }
        next
    }

    fn wait(&self, rank: u32, ends: &AtomicBool) {
        let mut state = self.locked();
        while !state.woken.remove(&rank) && !ends.load(Ordering::Relaxed) {
            let waited = self.woken.wait_timeout(state, LOOK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
