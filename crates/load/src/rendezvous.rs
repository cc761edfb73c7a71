//! Barriers between the processes of a workload, or of those whose phases come in turn.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::share::{Share, SyncPoint};

/// Poll interval of a waiting process.
const LOOK: Duration = Duration::from_millis(20);

/// A barrier that opens when the run ends, too, so that no process waits for ever.
pub struct Rendezvous {
    workload: usize,
    processes: u32,
    share: Share,
    state: Mutex<State>,
    all_here: Condvar,
}

#[derive(Default)]
struct State {
    /// Processes that wait, and how far any of them has come.
    waiting: u32,
    farthest: u64,
    /// Times that the barrier has opened, and how far any process had come the last time.
    opened: u64,
    result: u64,
}

impl Rendezvous {
    /// A rendezvous of this engine's `processes` of a workload with those of the other engines.
    pub fn new(workload: usize, processes: u32, share: Share) -> Rendezvous {
        Rendezvous {
            workload,
            processes,
            share,
            state: Mutex::default(),
            all_here: Condvar::new(),
        }
    }

    /// Waits until all have come, or the run ends. Returns the largest of their `farthest`.
    pub fn wait(&self, farthest: u64, ends: &AtomicBool) -> u64 {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.waiting += 1;
        state.farthest = state.farthest.max(farthest);
        let (turn, here) = (state.opened, state.farthest);
        if state.waiting >= self.processes {
            drop(state);
            let over = &mut || ends.load(Ordering::Relaxed);
            let place = SyncPoint::Workload(self.workload);
            let result = self.share.meet(place, here, over);
            state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            *state = State {
                opened: turn + 1,
                result,
                ..State::default()
            };
            self.all_here.notify_all();
            return result;
        }
        while state.opened == turn && !ends.load(Ordering::Relaxed) {
            let waited = self.all_here.wait_timeout(state, LOOK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn nobody_goes_on_before_all_have_come() {
        let (meeting, ends) = (
            Rendezvous::new(0, 4, Share::alone()),
            AtomicBool::new(false),
        );
        let arrived = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for round in 1..=50_u32 {
                        arrived.fetch_add(1, Ordering::SeqCst);
                        let farthest = meeting.wait(round.into(), &ends);
                        assert!(arrived.load(Ordering::SeqCst) >= 4 * round);
                        assert_eq!(farthest, u64::from(round));
                        meeting.wait(0, &ends);
                    }
                });
            }
        });
        assert_eq!(arrived.into_inner(), 200);
    }

    #[test]
    fn the_end_of_the_run_lets_everybody_go() {
        let (meeting, ends) = (
            Rendezvous::new(0, 2, Share::alone()),
            AtomicBool::new(false),
        );
        std::thread::scope(|scope| {
            scope.spawn(|| meeting.wait(0, &ends));
            ends.store(true, Ordering::Relaxed);
        });
    }
}
