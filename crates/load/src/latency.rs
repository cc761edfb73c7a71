//! Latency statistics in documents.

use serde::Serialize;

use crate::record::Times;

/// Durations of operations, in seconds.
///
/// All but the count are None if the count is 0.
#[derive(Clone, Debug, Serialize)]
pub struct Latency {
    /// Number of operations.
    pub count: u64,
    /// Their mean.
    pub mean: Option<f64>,
    /// The median.
    pub p50: Option<f64>,
    /// 95 % took no longer.
    pub p95: Option<f64>,
    /// 99 % took no longer.
    pub p99: Option<f64>,
    /// The longest.
    pub max: Option<f64>,
}

impl Latency {
    /// Computes the latency statistics of recorded times.
    pub(crate) fn of(times: &Times) -> Latency {
        let at = |quantile| times.quantile(quantile).map(seconds);
        Latency {
            count: times.count(),
            mean: times.mean().map(|mean| mean * 1e-9),
            p50: at(0.5),
            p95: at(0.95),
            p99: at(0.99),
            max: times.exact.map(|it| seconds(it.most)),
        }
    }
}

pub(crate) fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 * 1e-9
}
