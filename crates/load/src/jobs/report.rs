//! Report of a job.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::Error;
use crate::histograms;
use crate::jobs::Job;
use crate::jobs::process::{InFlight, Logged, ProcessOutcome};
use crate::latency::{Latency, seconds};
use crate::operation::{ALL, number};
use crate::record::{Cell, Exact, Record, Times};
use crate::report::ReadsReport;

/// Reads, writes or syncs of a job.
#[derive(Clone, Debug, Serialize)]
pub struct RequestsReport {
    /// Count.
    pub count: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// From the start of the first to the end of the last; of writes, of the syncs behind them.
    pub active_seconds: f64,
    /// Requests over that time.
    pub per_second: Option<f64>,
    /// Bytes over that time.
    pub throughput: Option<f64>,
    /// From the submission to the completion.
    pub latency: JobLatency,
    /// From the time at which the request was due. Only of jobs with a rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_from_intended: Option<JobLatency>,
    /// All latencies, as HdrHistogram's logs have them.
    pub histogram: String,
    /// Their exact sum, least and most, in nanoseconds.
    pub exact: Option<Exact>,
}

/// Latencies in seconds.
#[derive(Clone, Debug, Serialize)]
pub struct JobLatency {
    /// Statistics common to all measurements.
    #[serde(flatten)]
    pub common: Latency,
    /// 99.9 % took no longer.
    pub p999: Option<f64>,
}

impl JobLatency {
    fn of(times: &Times) -> JobLatency {
        JobLatency {
            common: Latency::of(times),
            p999: times.quantile(0.999).map(seconds),
        }
    }
}

/// Requests in flight per process.
#[derive(Clone, Debug, Serialize)]
pub struct InFlightReport {
    /// The mean over time and processes.
    pub mean: f64,
    /// The most that a process had at a time.
    pub max: usize,
}

/// Report of a job.
#[derive(Clone, Debug, Serialize)]
pub struct JobReport {
    /// Its name.
    pub name: String,
    /// From the common start to the end of its last request.
    pub seconds: f64,
    /// `read`, `write` and `sync`, as far as there were some.
    pub requests: BTreeMap<&'static str, RequestsReport>,
    /// As the engine counted them.
    pub in_flight: InFlightReport,
    /// Sources of the bytes read. Direct reads are sampled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads: Option<ReadsReport>,
    /// Requests that were due before the end and were not made: its processes were waiting.
    pub not_made: u64,
    /// The least queue depth that a process's search ended with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Seconds from the start at which its rate was steady.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steady_after: Option<f64>,
    /// Requests of each process, where they are logged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub logs: Vec<Vec<Logged>>,
}

impl JobReport {
    /// The report of a job's processes together.
    pub(crate) fn of(
        job: &Job,
        record: &Record,
        processes: Vec<ProcessOutcome>,
        steady_after: Option<f64>,
    ) -> Result<JobReport, Error> {
        let in_flight: Vec<InFlight> = processes.iter().map(|it| it.in_flight).collect();
        let not_made = processes.iter().map(|it| it.not_made).sum();
        let depth = processes.iter().filter_map(|it| it.depth).min();
        let logs = match job.log {
            true => processes.into_iter().map(|it| it.log).collect(),
            false => Vec::new(),
        };
        let mut requests = BTreeMap::new();
        for (operation, cell) in ALL.iter().zip(&record.cells) {
            if let Some(cell) = cell {
                let word = operation.name();
                requests.insert(word, requested(job, record, word, cell)?);
            }
        }
        let area: u128 = in_flight.iter().map(|it| it.area).sum();
        let span: u64 = in_flight.iter().map(|it| it.span).sum();
        Ok(JobReport {
            name: job.name.clone(),
            seconds: seconds(record.last_end()),
            requests,
            in_flight: InFlightReport {
                mean: area as f64 / span.max(1) as f64,
                max: in_flight.iter().map(|it| it.most).max().unwrap_or(0),
            },
            reads: ReadsReport::of(&record.reads),
            not_made,
            depth,
            steady_after,
            logs,
        })
    }
}

fn requested(job: &Job, record: &Record, word: &str, cell: &Cell) -> Result<RequestsReport, Error> {
    // Data that is not on stable storage yet is not written.
    let together: &[&str] = if word == "write" {
        &["write", "sync"]
    } else {
        &[word]
    };
    let numbers: Vec<usize> = together.iter().filter_map(|it| number(it)).collect();
    let active = seconds(record.active(&numbers));
    let rate = |amount: u64| (active > 0.0).then(|| amount as f64 / active);
    Ok(RequestsReport {
        count: cell.count,
        bytes: cell.bytes,
        active_seconds: active,
        per_second: rate(cell.count),
        throughput: rate(cell.bytes),
        latency: JobLatency::of(&cell.service),
        latency_from_intended: job.pace.has_rates().then(|| JobLatency::of(&cell.response)),
        histogram: histograms::encode(&cell.service.histogram)?,
        exact: cell.service.exact,
    })
}
