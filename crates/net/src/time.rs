//! Simulated time: whole picoseconds.
//!
//! Integers make equal times equal on every machine. A picosecond resolves one
//! byte on a 400 Gbit/s link (20 ps) to better than one part in ten. 2^64
//! picoseconds are 213 days.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub};

const PER_SECOND: f64 = 1e12;

/// An instant, in picoseconds since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Time(pub u64);

/// A length of time, in picoseconds. Sums saturate at 213 days, which the
/// engine reports as an error when a token would have to wait for it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Span(pub u64);

impl Time {
    /// The start of every run.
    pub const ZERO: Time = Time(0);
    /// Later than anything that can happen.
    pub const NEVER: Time = Time(u64::MAX);

    /// Seconds since the start.
    pub fn as_seconds(self) -> f64 {
        self.0 as f64 / PER_SECOND
    }

    /// The instant this many seconds after the start; see [`Span::from_seconds`].
    pub fn from_seconds(seconds: f64) -> Time {
        Time(Span::from_seconds(seconds).0)
    }

    /// The time passed since `earlier`, zero if `earlier` is later.
    pub fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);

    /// This many seconds, to the nearest picosecond. Negative values and NaN
    /// give zero, values past 213 days saturate.
    pub fn from_seconds(seconds: f64) -> Span {
        // A cast from float saturates and turns NaN into 0, so only the
        // rounding is ours. Adding a half is exact enough below 2^52 ps (75
        // minutes); above it the spacing of doubles is a picosecond or more.
        Span((seconds * PER_SECOND + 0.5) as u64)
    }

    /// Whole milliseconds.
    pub const fn from_millis(millis: u64) -> Span {
        Span(millis.saturating_mul(1_000_000_000))
    }

    /// Whole microseconds.
    pub const fn from_micros(micros: u64) -> Span {
        Span(micros.saturating_mul(1_000_000))
    }

    /// Whole nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Span {
        Span(nanos.saturating_mul(1_000))
    }

    /// This length in seconds.
    pub fn as_seconds(self) -> f64 {
        self.0 as f64 / PER_SECOND
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        *self = *self + other;
    }
}

impl Sub for Span {
    type Output = Span;
    fn sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
}

impl Mul<u64> for Span {
    type Output = Span;
    fn mul(self, times: u64) -> Span {
        Span(self.0.saturating_mul(times))
    }
}

impl Sum for Span {
    fn sum<I: Iterator<Item = Span>>(spans: I) -> Span {
        spans.fold(Span::ZERO, Add::add)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} s", self.as_seconds())
    }
}

impl fmt::Display for Span {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} s", self.as_seconds())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_round_to_the_nearest_picosecond() {
        assert_eq!(Span::from_seconds(1.5e-12), Span(2));
        assert_eq!(Span::from_seconds(0.008_388_608), Span(8_388_608_000));
        assert_eq!(Span::from_seconds(-1.0), Span::ZERO);
        assert_eq!(Span::from_seconds(f64::NAN), Span::ZERO);
        assert_eq!(Span::from_seconds(1e30), Span(u64::MAX));
    }

    #[test]
    fn sums_saturate() {
        assert_eq!(Time(u64::MAX) + Span(1), Time::NEVER);
        assert_eq!(Time(3).since(Time(5)), Span::ZERO);
    }
}
