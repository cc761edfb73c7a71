//! Times of a scenario as the kernel's.

use headrace_net::Span;
use headrace_spec::Seconds;

/// A scenario's length of time as the kernel's.
pub fn span(seconds: Seconds) -> Span {
    Span::from_seconds(seconds.0)
}

/// A part of a time, from 0 to 1, to the nearest whole picosecond.
pub fn part_of(time: Span, part: f64) -> Span {
    Span((time.0 as f64 * part + 0.5) as u64)
}
