//! Time on a real machine, from the start of the run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// What a sleeping thread wakes too late by, about: the rest is spun. Linux rounds up to
/// the timer's slack, 50 us unless set (prctl(2), PR_SET_TIMERSLACK), and takes some more
/// until the thread runs.
const OVERSHOOT: Duration = Duration::from_micros(100);

/// The longest that nobody looks whether the run goes on.
const LOOK: Duration = Duration::from_millis(50);

/// Nanoseconds since the start of the run.
pub type Nanoseconds = u64;

/// Seconds in nanoseconds; saturates.
pub fn in_nanoseconds(seconds: f64) -> Nanoseconds {
    // Less than a nanosecond is nothing a clock shows.
    (seconds * 1e9) as Nanoseconds
}

/// A clock that starts with the run.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
}

impl Clock {
    /// A clock that starts at an instant.
    pub fn starting(start: Instant) -> Clock {
        Clock { start }
    }

    /// The time now; 0 before the start.
    pub fn now(&self) -> Nanoseconds {
        let passed = self.start.elapsed().as_nanos();
        u64::try_from(passed).unwrap_or(u64::MAX)
    }

    /// Waits for a time: sleeps through most of it and spins through the rest, as a
    /// sleep alone ends too late. Gives up as soon as `ends` is set.
    pub fn wait_until(&self, time: Nanoseconds, ends: &AtomicBool) {
        loop {
            let left = Duration::from_nanos(time.saturating_sub(self.now()));
            if left.is_zero() || ends.load(Ordering::Relaxed) {
                return;
            }
            match left.checked_sub(OVERSHOOT) {
                Some(sleep) => thread::sleep(sleep.min(LOOK)),
                None => std::hint::spin_loop(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_for_what_is_past_or_when_the_run_ends() {
        let clock = Clock::starting(Instant::now());
        clock.wait_until(0, &AtomicBool::new(false));
        clock.wait_until(u64::MAX, &AtomicBool::new(true));
    }

    #[test]
    fn a_time_has_come_when_the_wait_is_over() {
        let clock = Clock::starting(Instant::now());
        let time = clock.now() + 2_000_000;
        clock.wait_until(time, &AtomicBool::new(false));
        assert!(clock.now() >= time);
    }
}
