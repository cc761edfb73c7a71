//! Why a run ended, and whether what it was to find is known well enough.

use headrace_net::{Net, Stop, TallyId};
use headrace_spec::Scenario;
use serde::Serialize;

use super::recorder::Recorder;

/// How a run ended.
#[derive(Clone, Debug, Serialize)]
pub struct StopReport {
    /// What ended it.
    pub reason: StopReason,
    /// How well the mean latency is known; only if `run.stop.precision` is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<PrecisionReport>,
}

/// What ends a run.
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

/// How well the mean latency is known at the end.
#[derive(Clone, Debug, Serialize)]
pub struct PrecisionReport {
    /// Half the width of the confidence interval over the mean, as asked for.
    pub wanted: f64,
    /// The same as it is; none if there were too few requests to tell.
    pub got: Option<f64>,
    /// The probability that the interval holds.
    pub confidence: f64,
    /// Whether what was asked for was reached.
    pub reached: bool,
    /// What still drifted at the end, so that the interval tells nothing: a tally, or what
    /// a station or store uses up or fills.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drifts: Option<String>,
}

impl StopReport {
    /// Of a run that the kernel ended so.
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
