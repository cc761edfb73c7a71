//! Time on a real machine, from the start of the run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Typical wake-up delay of a sleeping thread; the remaining time is spun. Linux rounds up to the
/// timer's slack, 50 us unless set (prctl(2), PR_SET_TIMERSLACK), and takes some more until the
/// thread runs.
const OVERSHOOT: Duration = Duration::from_micros(100);

/// The longest time between two checks that the run goes on.
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

    /// Waits for a time: sleeps through most of it and spins through the rest, as a sleep alone
    /// ends too late. Returns as soon as `ends` is set.
    pub fn wait_until(&self, time: Nanoseconds, ends: &AtomicBool) {
        wait(self, time, ends);
    }
}

/// Time source and sleep function, replaceable in tests.
trait Passing {
    fn now(&self) -> Nanoseconds;
    /// Gives the processor away for as long, or somewhat longer.
    fn sleep(&self, time: Duration);
    /// Keeps the processor for a moment.
    fn spin(&self);
}

impl Passing for Clock {
    fn now(&self) -> Nanoseconds {
        Clock::now(self)
    }

    fn sleep(&self, time: Duration) {
        thread::sleep(time);
    }

    fn spin(&self) {
        std::hint::spin_loop();
    }
}

fn wait(passing: &impl Passing, time: Nanoseconds, ends: &AtomicBool) {
    loop {
        let left = Duration::from_nanos(time.saturating_sub(passing.now()));
        if left.is_zero() || ends.load(Ordering::Relaxed) {
            return;
        }
        match left.checked_sub(OVERSHOOT) {
            Some(sleep) => passing.sleep(sleep.min(LOOK)),
            None => passing.spin(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A machine on which sleeps end too late by a known time, and nothing else takes any.
    struct Machine {
        now: Cell<Nanoseconds>,
        late: Nanoseconds,
        spun: Cell<Nanoseconds>,
        sleeps: Cell<u32>,
        ends: AtomicBool,
        /// The sleep in which the run ends.
        last: u32,
    }

    impl Machine {
        const MOMENT: Nanoseconds = 50;

        fn late_by(late: Duration) -> Machine {
            Machine {
                now: Cell::new(0),
                late: late.as_nanos() as Nanoseconds,
                spun: Cell::new(0),
                sleeps: Cell::new(0),
                ends: AtomicBool::new(false),
                last: u32::MAX,
            }
        }

        /// Lateness with which a wait ends.
        fn lateness(&self, time: Nanoseconds) -> Nanoseconds {
            wait(self, time, &self.ends);
            self.now.get() - time
        }
    }

    impl Passing for Machine {
        fn now(&self) -> Nanoseconds {
            self.now.get()
        }

        fn sleep(&self, time: Duration) {
            self.sleeps.set(self.sleeps.get() + 1);
            self.now
                .set(self.now.get() + time.as_nanos() as Nanoseconds + self.late);
            if self.sleeps.get() == self.last {
                self.ends.store(true, Ordering::Relaxed);
            }
        }

        fn spin(&self) {
            self.spun.set(self.spun.get() + Machine::MOMENT);
            self.now.set(self.now.get() + Machine::MOMENT);
        }
    }

    #[test]
    fn a_sleep_that_ends_60_us_too_late_makes_nobody_late() {
        for time in [
            20_000,
            99_999,
            100_001,
            500_000,
            2_000_000,
            50_100_000,
            7_000_000_000,
        ] {
            let machine = Machine::late_by(Duration::from_micros(60));
            let late = machine.lateness(time);
            assert!(late < Machine::MOMENT, "{time} ns: {late} ns late");
            // To spin all the time would not be late either, and leave others no processor.
            assert!(machine.spun.get() <= 100_000 + Machine::MOMENT);
            assert_eq!(machine.sleeps.get() == 0, time < 100_000);
        }
    }

    #[test]
    fn a_sleep_that_ends_later_than_what_is_spun_is_late_by_the_rest() {
        let machine = Machine::late_by(Duration::from_millis(1));
        assert_eq!(machine.lateness(2_000_000), 900_000);
        assert_eq!(machine.spun.get(), 0);
    }

    #[test]
    fn who_waits_for_long_sees_within_50_ms_that_the_run_is_over() {
        let mut machine = Machine::late_by(Duration::ZERO);
        machine.last = 3;
        wait(&machine, u64::MAX, &machine.ends);
        assert_eq!((machine.now.get(), machine.spun.get()), (150_000_000, 0));
    }

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
