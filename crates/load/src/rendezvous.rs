//! Barriers between the processes of a workload.

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
    /// Number of processes that wait, and of times that the barrier has opened.
    state: Mutex<(u32, u64)>,
    all_here: Condvar,
}

impl Rendezvous {
    /// A rendezvous of this engine's `processes` of a workload with those of the other engines.
    pub fn new(workload: usize, processes: u32, share: Share) -> Rendezvous {
        Rendezvous {
            workload,
            processes,
            share,
            state: Mutex::new((0, 0)),
            all_here: Condvar::new(),
        }
    }

    /// Waits until all have come, or the run ends.
    pub fn wait(&self, ends: &AtomicBool) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 += 1;
        let turn = state.1;
        if state.0 >= self.processes {
            drop(state);
            let over = &mut || ends.load(Ordering::Relaxed);
            self.share.meet(SyncPoint::Workload(self.workload), over);
            state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            *state = (0, turn + 1);
            self.all_here.notify_all();
            return;
        }
        while state.1 == turn && !ends.load(Ordering::Relaxed) {
            let waited = self.all_here.wait_timeout(state, LOOK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
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
                    for round in 1..=50 {
                        arrived.fetch_add(1, Ordering::SeqCst);
                        meeting.wait(&ends);
                        assert!(arrived.load(Ordering::SeqCst) >= 4 * round);
                        meeting.wait(&ends);
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
            scope.spawn(|| meeting.wait(&ends));
            ends.store(true, Ordering::Relaxed);
        });
    }
}
