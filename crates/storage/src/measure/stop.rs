//! Reason for the end of a run, and the precision of its results.

use headrace_net::{Net, Stop, TallyId};
use headrace_spec::Scenario;
use serde::Serialize;

use super::recorder::Recorder;

/// Report of a run's end.
#[derive(Clone, Debug, Serialize)]
pub struct StopReport {
    /// Reason of the end.
    pub reason: StopReason,
    /// Precision of the mean latency; only if `run.stop.precision` is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<PrecisionReport>,
}

/// Reason for the end of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StopReason {
    /// Every request of the workload was done.
    Workload,
    /// `run.stop.time` was reached.
    Time,
    /// `run.stop.requests` were done.
    Requests,
    /// `run.stop.precision` was reached.
    Precision,
}

/// Precision of the mean latency at the end.
#[derive(Clone, Debug, Serialize)]
pub struct PrecisionReport {
    /// Half the width of the confidence interval over the mean, as asked for.
    pub wanted: f64,
    /// The same as it is; none if there were too few requests to tell.
    pub got: Option<f64>,
    /// The probability that the interval holds.
    pub confidence: f64,
    /// True if the requested precision was reached.
    pub reached: bool,
    /// Quantity that still drifted at the end, so that the interval is meaningless: a tally, or the
    /// load of a station or store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drifts: Option<String>,
}

impl StopReport {
    /// Creates the report of a run that the kernel ended this way.
    pub(crate) fn new(
        stop: Stop,
        scenario: &Scenario,
        recorder: &Recorder,
        net: &Net,
        latency: TallyId,
    ) -> StopReport {
        let spec = &scenario.run.stop;
        let enough = spec.requests.is_some_and(|it| recorder.requests() >= it);
        let reason = match stop {
            Stop::Time => StopReason::Time,
            Stop::Precision => StopReason::Precision,
            Stop::Count => StopReason::Requests,
            Stop::Asked if enough => StopReason::Requests,
            Stop::Asked | Stop::Quiet => StopReason::Workload,
        };
        let precision = spec.precision.map(|wanted| {
            let drifts = net.drift(latency, wanted).map(str::to_owned);
            let latency = net.tally(latency);
            let half_width = latency.half_width(spec.confidence);
            let mean = latency.mean().abs();
            PrecisionReport {
                wanted,
                got: half_width
                    .map(|half_width| half_width / mean)
                    .filter(|got| got.is_finite()),
                confidence: spec.confidence,
                reached: drifts.is_none()
                    && half_width.is_some_and(|half_width| half_width <= wanted * mean),
                drifts,
            }
        });
        StopReport { reason, precision }
    }
}
