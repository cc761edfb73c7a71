//! Time that requests took: a histogram, and what needs none.

use hdrhistogram::Histogram;
use headrace_net::Span;

/// Three digits: what latencies are worth.
const DIGITS: u8 = 3;

/// Latencies: their mean, least and most are exact to the picosecond, their quantiles as
/// near as the histogram's digits.
#[derive(Clone, Debug)]
pub(crate) struct Latencies {
    /// Nanoseconds.
    histogram: Histogram<u64>,
    /// Picoseconds.
    sum: u128,
    least: Span,
    most: Span,
}

impl Latencies {
    pub fn new() -> Latencies {
        Latencies {
            // 0 to 5 digits are valid.
            histogram: Histogram::new(DIGITS).unwrap_or_else(|_| unreachable!()),
            sum: 0,
            least: Span(u64::MAX),
            most: Span::ZERO,
        }
    }

    pub fn record(&mut self, latency: Span) {
        // It grows as needed: no value is too large.
        let _ = self.histogram.record(latency.0.div_ceil(1000));
        self.sum += u128::from(latency.0);
        self.least = self.least.min(latency);
        self.most = self.most.max(latency);
    }

    pub fn merge(&mut self, other: &Latencies) {
        // Both grow as needed and have the same digits.
        let _ = self.histogram.add(&other.histogram);
        self.sum += other.sum;
        self.least = self.least.min(other.least);
        self.most = self.most.max(other.most);
    }

    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// In seconds; NaN if there are none, as everywhere here.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / (1e12 * self.count() as f64)
    }

    pub fn most(&self) -> f64 {
        match self.count() {
            0 => f64::NAN,
            _ => self.most.as_seconds(),
        }
    }

    /// Returns a quantile, between the shortest and the longest time.
    pub fn quantile(&self, quantile: f64) -> f64 {
        match self.count() {
            0 => f64::NAN,
            _ => self.within(self.histogram.value_at_quantile(quantile)),
        }
    }

    fn within(&self, nanoseconds: u64) -> f64 {
        let [least, most] = [self.least, self.most].map(Span::as_seconds);
        (nanoseconds as f64 * 1e-9).clamp(least, most)
    }

    /// The distribution: (seconds, share that took no longer), at most a few hundred points.
    pub fn curve(&self) -> Vec<(f64, f64)> {
        let points = self.histogram.iter_quantiles(20);
        points
            .map(|it| {
                (
                    self.within(it.value_iterated_to()),
                    it.quantile_iterated_to(),
                )
            })
            .collect()
    }
}
