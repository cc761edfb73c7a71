//! A measurement as a document, with the keys that a simulation's has where they mean the
//! same.

use std::collections::BTreeMap;

use headrace_spec::{Scenario, WorkloadKind};
use headrace_workload::{Io500Report, LeftOut, PhaseReport, TrainingReport, io500};
use serde::Serialize;

use crate::coordination::Waits;
use crate::file_sets::{FileSetReport, file_sets};
use crate::latency::{Latency, seconds};
use crate::operation::{self, Group};
use crate::operation_groups::{OperationGroupReport, operation_groups};
use crate::outcome::Load;
use crate::outcome::Outcome;
use crate::page_cache::Reads;
use crate::record::{Record, Times, Unfinished};

/// A measurement. All in SI units.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Origin of the report: `measured`.
    pub kind: &'static str,
    /// The scenario that was run.
    pub scenario: ScenarioReport,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Version of the engine.
    pub version: &'static str,
    /// From the common start of the processes to the last one's end.
    pub measured_seconds: f64,
    /// Duration for which it took to make the files that had to be there.
    pub prepare_seconds: f64,
    /// Processes that worked side by side.
    pub processes: u32,
    /// Why it ended.
    pub stop: StopReport,
    /// The load that was asked for and the one that was achieved, where operations come
    /// at a rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<Load>,
    /// Requests that were due before the end of the run and never issued, where operations come
    /// at times of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<UnfinishedReport>,
    /// Counts of operations that several processes began at the same moment, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sharing: Option<SharingReport>,
    /// Utilisation, steps and waits of trainings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trainings: Vec<TrainingReport>,
    /// The files that groups of operations had to themselves, where they do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub file_sets: Vec<FileSetReport>,
    /// Error that ended the run, if any. All values were measured before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Operations of the workloads that were left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Bytes a second of each operation that moves bytes, over its active time.
    pub throughput: BTreeMap<&'static str, f64>,
    /// Counts and rates by operation.
    pub operations: BTreeMap<&'static str, OperationReport>,
    /// The same by group of operations, with times.
    pub operation_groups: BTreeMap<Group, OperationGroupReport>,
    /// Executed phases in order: each operation of each phase of each workload.
    pub phases: Vec<PhaseReport>,
    /// The result of IO500, if the workloads are its.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io500: Option<Io500Report>,
    /// Sources of the bytes that an operation mix read; none if it read nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads: Option<ReadsReport>,
    /// Service time: from the actual start.
    pub latency: BTreeMap<&'static str, Latency>,
    /// Response time: from the intended start. Only where operations have one.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub latency_from_intended: BTreeMap<&'static str, Latency>,
}

/// The scenario that was run.
#[derive(Clone, Debug, Serialize)]
pub struct ScenarioReport {
    /// Its name.
    pub name: String,
    /// Description.
    pub description: String,
    /// The whole scenario, defaults filled in.
    pub toml: String,
}

/// Why a measurement ended.
#[derive(Clone, Debug, Serialize)]
pub struct StopReport {
    /// `workload`, `time`, `requests`, `interrupted` or `failed`.
    pub reason: &'static str,
}

/// Counts of operations that several processes began at the same moment.
#[derive(Clone, Debug, Serialize)]
pub struct SharingReport {
    /// Rounds for which all came.
    pub rounds: u64,
    /// Rounds for which some were waited for when the run ended.
    pub broken_off: u64,
    /// Coordination overhead of the rounds, if the processes are on several hosts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coordination: Option<CoordinationReport>,
}

/// Overhead of rounds, excluding waits for busy processes.
#[derive(Clone, Debug, Serialize)]
pub struct CoordinationReport {
    /// From the draw of an operation until its round was known.
    pub announced: WaitsReport,
    /// From the arrival of the last process until its go-ahead.
    pub go_ahead: WaitsReport,
}

/// Duration for which messages were waited for.
#[derive(Clone, Debug, Serialize)]
pub struct WaitsReport {
    /// Number of occurrences.
    pub count: u64,
    /// Seconds; none if never.
    pub mean: Option<f64>,
    /// Seconds.
    pub max: f64,
}

impl From<Waits> for WaitsReport {
    fn from(waits: Waits) -> WaitsReport {
        let mean = || seconds(waits.sum) / waits.count as f64;
        WaitsReport {
            count: waits.count,
            mean: (waits.count > 0).then(mean),
            max: seconds(waits.longest),
        }
    }
}

/// Requests whose intended start came before the end of the run, and that were never issued.
#[derive(Clone, Debug, Serialize)]
pub struct UnfinishedReport {
    /// Count.
    pub count: u64,
    /// Seconds from the intended start to the end of the run; none of none.
    pub mean: Option<f64>,
    /// The longest of them.
    pub max: Option<f64>,
    /// Counts by operation.
    pub operations: BTreeMap<&'static str, u64>,
}

impl UnfinishedReport {
    fn of(record: &Record) -> UnfinishedReport {
        let mut sum = Unfinished::default();
        let mut operations = BTreeMap::new();
        for (number, of_it) in &record.unfinished {
            sum.merge(of_it);
            operations.insert(operation::ALL[*number].name(), of_it.count);
        }
        let any = sum.count > 0;
        UnfinishedReport {
            count: sum.count,
            mean: any.then(|| seconds(sum.sum) / sum.count as f64),
            max: any.then(|| seconds(sum.longest)),
            operations,
        }
    }
}

/// Counts and rate of one operation.
#[derive(Clone, Debug, Serialize)]
pub struct OperationReport {
    /// Operation group.
    pub group: Group,
    /// Number of occurrences.
    pub count: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// For how long.
    pub active_seconds: f64,
    /// Number of times a second; none if it took no time.
    pub per_second: Option<f64>,
    /// Time spent on preparation, which no latency includes.
    pub prepare_seconds: f64,
}

/// Bytes that were read.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ReadsReport {
    /// All that the kernel reports.
    pub asked_bytes: u64,
    /// In the page cache: they had been there before, or had been asked for or written.
    pub hit_bytes: u64,
    /// In the page cache: they had been read ahead.
    pub read_ahead_bytes: u64,
    /// In no page cache.
    pub missed_bytes: u64,
    /// Reads whose source the kernel does not report.
    pub unknown_bytes: u64,
}

impl ReadsReport {
    pub(crate) fn of(reads: &Reads) -> Option<ReadsReport> {
        let report = ReadsReport {
            asked_bytes: reads.asked,
            hit_bytes: reads.hits,
            read_ahead_bytes: reads.read_ahead,
            missed_bytes: reads.asked.saturating_sub(reads.hits + reads.read_ahead),
            unknown_bytes: reads.unknown,
        };
        (reads.asked + reads.unknown > 0).then_some(report)
    }
}

impl Report {
    /// The report of a run.
    #[must_use]
    pub fn of(scenario: &Scenario, toml: String, outcome: &Outcome) -> Report {
        let phases = phases(outcome);
        let mut report = Report {
            kind: "measured",
            scenario: ScenarioReport {
                name: scenario.name.clone(),
                description: scenario.description.clone(),
                toml,
            },
            seed: scenario.run.seed,
            version: env!("CARGO_PKG_VERSION"),
            measured_seconds: seconds(outcome.lasted),
            prepare_seconds: seconds(outcome.prepared),
            processes: outcome.processes,
            stop: StopReport {
                reason: outcome.reason,
            },
            load: outcome.load,
            unfinished: has_times(scenario).then(|| UnfinishedReport::of(&outcome.record)),
            sharing: outcome.rounds.map(|it| SharingReport {
                rounds: it.whole,
                broken_off: it.broken_off,
                coordination: outcome.coordination.map(|it| CoordinationReport {
                    announced: it.announced.into(),
                    go_ahead: it.go_ahead.into(),
                }),
            }),
            trainings: outcome.trainings.clone(),
            file_sets: file_sets(scenario),
            error: outcome.error.as_ref().map(ToString::to_string),
            left_out: outcome.left_out.clone(),
            throughput: BTreeMap::new(),
            operations: BTreeMap::new(),
            operation_groups: operation_groups(&outcome.record, has_times(scenario)),
            io500: io500(scenario, &phases),
            phases,
            reads: ReadsReport::of(&outcome.record.reads),
            latency: BTreeMap::new(),
            latency_from_intended: BTreeMap::new(),
        };
        report.add_operations(outcome, has_times(scenario));
        report
    }

    fn add_operations(&mut self, outcome: &Outcome, has_times: bool) {
        let (mut service, mut response) = (Vec::new(), Vec::new());
        for (number, operation) in operation::ALL.iter().enumerate() {
            let Some(cell) = &outcome.record.cells[number] else {
                continue;
            };
            let name = operation.name();
            let active = seconds(outcome.record.active(&[number]));
            let rate = |amount: u64| (active > 0.0).then(|| amount as f64 / active);
            if let (true, Some(rate)) = (operation.moves_bytes(), rate(cell.bytes)) {
                self.throughput.insert(name, rate);
            }
            let counted = OperationReport {
                group: operation.group(),
                count: cell.count,
                bytes: cell.bytes,
                active_seconds: active,
                per_second: rate(cell.count),
                prepare_seconds: seconds(cell.prepared),
            };
            self.operations.insert(name, counted);
            self.latency.insert(name, Latency::of(&cell.service));
            service.push(cell.service.clone());
        }
        for (number, operation) in operation::ALL.iter().enumerate() {
            let found = outcome.record.response(number);
            if let Some(found) = found.filter(|_| has_times) {
                let latency = Latency::of(&found);
                self.latency_from_intended.insert(operation.name(), latency);
                response.push(found);
            }
        }
        for (all, into) in [
            (service, &mut self.latency),
            (response, &mut self.latency_from_intended),
        ] {
            if let Some(sum) = merge_times(&all) {
                into.insert("all", Latency::of(&sum));
            }
        }
    }
}

/// The phases in order.
fn phases(outcome: &Outcome) -> Vec<PhaseReport> {
    let mut stretches = outcome.record.stretches.clone();
    stretches.sort_by_key(|it| (it.workload, it.phase, it.from, it.operation));
    let of = stretches.iter().map(|it| PhaseReport {
        workload: it.workload,
        phase: it.phase,
        operation: operation::ALL[it.operation].name(),
        from_s: seconds(it.from),
        to_s: seconds(it.to),
        count: it.count,
        bytes: it.bytes,
    });
    of.collect()
}

/// Returns true if operations are to begin at times of their own.
#[must_use]
pub fn has_times(scenario: &Scenario) -> bool {
    let mut kinds = scenario.workload.iter().map(|workload| &workload.kind);
    kinds.any(WorkloadKind::is_open)
}

/// All histograms as one; none of none.
fn merge_times(all: &[Times]) -> Option<Times> {
    let (first, rest) = all.split_first()?;
    let mut sum = first.clone();
    for other in rest {
        sum.merge(other);
    }
    Some(sum)
}
