//! Times of a scenario as the kernel's.

use headrace_net::Span;
use headrace_spec::Seconds;

/// A scenario's length of time as the kernel's.
pub fn span(seconds: Seconds) -> Span {
    Span::from_seconds(seconds.0)
}
