//! Source of a process's operations.

use std::collections::HashSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use headrace_net::{Random, Time};
use headrace_workload::{Application, Ask, Next, RoundCounts, RoundNews, TrainingFigures};

use crate::coordination::{Coordination, Messages};
use crate::share::Share;

/// Duration for which a process that waits for another sleeps before it looks whether the run is
/// over.
const LOOK: Duration = Duration::from_millis(10);

/// Source of a process's operations.
pub enum Source {
    /// It has its own copy of the workload, in which only its own part matters.
    Own(Box<dyn Application>),
    /// Processes ask one copy: they take requests in turn, or hand on their results.
    Shared(Arc<Common>),
}

impl Source {
    /// Next action of a process.
    pub fn next(&mut self, rank: u32, now: Time, random: &mut Random<'_>) -> Result<Next, String> {
        match self {
            Source::Own(application) => application.next(rank, now, random),
            Source::Shared(common) => common.next(rank, now, random),
        }
    }

    /// Gives every request that was due before a time and was not issued; see
    /// [`Application::not_issued`].
    pub fn not_issued(
        &mut self,
        rank: u32,
        until: Time,
        each: &mut dyn FnMut(&Ask),
    ) -> Result<(), String> {
        match self {
            Source::Own(application) => application.not_issued(rank, until, each),
            Source::Shared(common) => {
                let mut state = common.locked();
                state.application.not_issued(rank, until, each)
            }
        }
    }

    /// How far any process has come, here or `elsewhere`; see [`Application::farthest`].
    pub fn farthest(&mut self, elsewhere: u64) -> u64 {
        match self {
            Source::Own(application) => application.farthest(elsewhere),
            Source::Shared(common) => common.locked().application.farthest(elsewhere),
        }
    }

    /// The copy that several ask.
    pub fn common(&self) -> Option<Arc<Common>> {
        match self {
            Source::Own(_) => None,
            Source::Shared(common) => Some(Arc::clone(common)),
        }
    }

    /// Waits until what another process has done lets this one go on, or the run is `over`.
    pub fn wait(&self, rank: u32, over: impl Fn() -> bool) {
        // Only its owner advances a private copy.
        if let Source::Shared(common) = self {
            common.wait(rank, over);
        }
    }
}

/// A workload that several processes ask.
pub struct Common {
    state: Mutex<State>,
    woken: Condvar,
    /// Share of this engine and the workload's number, if other engines execute the remaining
    /// processes.
    elsewhere: Option<(Share, usize)>,
}

struct State {
    application: Box<dyn Application>,
    /// Processes that may go on and have not seen it yet.
    woken: HashSet<u32>,
    messages: Messages,
}

impl Common {
    /// An unused one, with these processes here.
    pub fn new(
        mut application: Box<dyn Application>,
        share: &Share,
        workload: usize,
        here: &[u32],
    ) -> Arc<Common> {
        let has_some = share.has_peers() && !here.is_empty();
        let elsewhere = has_some && application.is_carried_out_by(here);
        let common = Arc::new(Common {
            state: Mutex::new(State {
                application,
                woken: HashSet::new(),
                messages: Messages::default(),
            }),
            woken: Condvar::new(),
            elsewhere: elsewhere.then(|| (share.clone(), workload)),
        });
        if elsewhere {
            // The owner of the others outlives this.
            let listener = Arc::downgrade(&common);
            let hear = move |news, last| {
                if let Some(common) = listener.upgrade() {
                    common.hear(news, last);
                }
            };
            share.peers().listen(workload, Box::new(hear));
        }
        common
    }

    /// Counts of operations that several processes began at the same moment; None if the
    /// workload has no such operations.
    pub fn rounds(&self) -> Option<RoundCounts> {
        self.locked().application.rounds()
    }

    /// Utilisation, steps and waits; None if it is no training.
    pub fn training(&self) -> Option<TrainingFigures> {
        self.locked().application.training()
    }

    /// Returns the message overhead, if other engines execute some processes.
    pub fn coordination(&self) -> Option<Coordination> {
        let elsewhere = self.elsewhere.is_some();
        elsewhere.then(|| self.locked().messages.waited())
    }

    fn next(&self, rank: u32, now: Time, random: &mut Random<'_>) -> Result<Next, String> {
        let mut state = self.locked();
        let next = state.application.next(rank, now, random);
        self.tell(&mut state);
        next
    }

    /// Messages to all engines have a result.
    fn hear(&self, news: RoundNews, last: bool) {
        let mut state = self.locked();
        state.messages.heard(&news, last);
        state.application.hear(news);
        self.tell(&mut state);
    }

    /// Notifies others of changes: processes that may go on, and those elsewhere.
    fn tell(&self, state: &mut State) {
        let mut any = false;
        while let Some(other) = state.application.woken() {
            state.woken.insert(other);
            any = true;
        }
        if any {
            self.woken.notify_all();
        }
        let Some((share, workload)) = &self.elsewhere else {
            return;
        };
        while let Some(message) = state.application.message() {
            state.messages.sent(&message);
            share.peers().say(*workload, message);
        }
    }

    fn wait(&self, rank: u32, over: impl Fn() -> bool) {
        let mut state = self.locked();
        while !state.woken.remove(&rank) && !over() {
            let waited = self.woken.wait_timeout(state, LOOK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
