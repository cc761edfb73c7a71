//! Durations of operations: a histogram, and exact statistics.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use super::bytes;
use crate::clock::Nanoseconds;

/// Three digits: what latencies are worth.
const DIGITS: u8 = 3;

/// A histogram that grows as needed.
fn histogram() -> Histogram<u64> {
    // 0 to 5 digits are valid.
    Histogram::new(DIGITS).unwrap_or_else(|_| unreachable!())
}

/// Times in nanoseconds: their sum, least and most are exact, their quantiles as near as
/// the histogram's digits.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Times {
    /// All of them.
    #[serde(with = "bytes")]
    pub histogram: Histogram<u64>,
    /// Statistics of all.
    pub exact: Option<Exact>,
}

/// Exact statistics of some times, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Exact {
    /// Their sum.
    pub sum: Nanoseconds,
    /// The shortest.
    pub least: Nanoseconds,
    /// The longest.
    pub most: Nanoseconds,
}

impl Exact {
    /// Returns the sum of both.
    #[must_use]
    pub fn and(self, other: Exact) -> Exact {
        Exact {
            sum: self.sum.saturating_add(other.sum),
            least: self.least.min(other.least),
            most: self.most.max(other.most),
        }
    }
}

impl Default for Times {
    fn default() -> Times {
        Times {
            histogram: histogram(),
            exact: None,
        }
    }
}

impl Times {
    /// Computes statistics from a histogram alone; each bucket stands for its values.
    #[must_use]
    pub fn of(histogram: Histogram<u64>) -> Times {
        let exact = (!histogram.is_empty()).then(|| Exact {
            sum: (histogram.mean() * histogram.len() as f64) as u64,
            least: histogram.min(),
            most: histogram.max(),
        });
        Times { histogram, exact }
    }

    /// Adds one.
    pub fn record(&mut self, time: Nanoseconds) {
        self.record_batch(time, 1);
    }

    /// Adds those of calls that took so long together.
    pub fn record_batch(&mut self, time: Nanoseconds, calls: u64) {
        let each = (time + calls / 2) / calls.max(1);
        // It grows as needed: no value is too large.
        let _ = self.histogram.record_n(each, calls);
        let these = Exact {
            sum: time,
            least: each,
            most: each,
        };
        self.exact = Some(self.exact.map_or(these, |all| all.and(these)));
    }

    /// Adds those of another.
    pub fn merge(&mut self, other: &Times) {
        // Both grow as needed.
        let _ = self.histogram.add(&other.histogram);
        if let Some(theirs) = other.exact {
            self.exact = Some(self.exact.map_or(theirs, |all| all.and(theirs)));
        }
    }

    /// Count.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Their mean; none if there are none.
    pub fn mean(&self) -> Option<f64> {
        let exact = self.exact?;
        Some(exact.sum as f64 / self.count() as f64)
    }

    /// Returns a quantile, bounded by the shortest and the longest time; none without times.
    pub fn quantile(&self, quantile: f64) -> Option<Nanoseconds> {
        let exact = self.exact?;
        let at = self.histogram.value_at_quantile(quantile);
        Some(at.clamp(exact.least, exact.most))
    }
}
