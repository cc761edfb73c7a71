//! From a scenario to a result.

mod advice;
mod hosts;
mod local;
mod outages;
mod parallel;
mod rate_warnings;
mod report;
mod run_warnings;
mod server_reports;
mod unmodelled;
mod workload_processes;

pub use outages::{OutageReport, RepairReport};
pub use report::{GroupReport, Latency, OperationReport, Report, ScenarioReport, Share};
pub use server_reports::{ServerReport, ServerSeries, StationCopy};

use std::collections::BTreeMap;

use self::server_reports::{ServerPage, sample_servers, server_series};

use std::ops::ControlFlow;
use std::time::Instant;

use headrace_net::{
    BuildErrors, Gauge, Limits, Net, Playback, Precision, RunError, Stop, Store, Structure,
    TallyId, Time,
};
use headrace_spec::{LayoutKind, Scenario, SystemKind};
use headrace_trace::Operation;
use headrace_workload::{LeftOut, RecordedFlags, TraceError};

use crate::app::Workloads;
use crate::failure::Failing;
use crate::layout::Placements;
use crate::measure::{
    Completed, Recipient, Recorder, Series, StopReport, caches, counts, unwritten,
};
use crate::network::LinkLoads;
use crate::qos::Make;
use crate::replacement::MakePolicy;
use crate::server;

/// Why there is no result.
#[derive(thiserror::Error, Debug)]
pub enum Error {
    /// A trace cannot be replayed.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The scenario and its traces have more files than can be numbered, or its
    /// warm-up is longer than its workload.
    #[error("{0}")]
    TooLarge(String),
    /// The caller's own placement has no servers for a file.
    #[error("{0}")]
    Placement(String),
    /// The models do not fit together: an error of Headrace's.
    #[error("internal error in the model: {0}; please report it")]
    Build(#[from] BuildErrors),
    /// The run broke off.
    #[error("{}", advice::in_fields(.0))]
    Run(#[from] RunError),
}

/// Options of a run.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// Keep every single request.
    pub keep_requests: bool,
    /// Recipient of every single request during the run; requests are then not stored.
    pub requests_to: Option<&'a Recipient>,
    /// Schedulers of the caller's own, in the place of the scenario's.
    pub schedulers: Option<&'a Make<'a>>,
    /// Placements of the caller's own, where the scenario names one.
    pub placements: Option<&'a Placements<'a>>,
    /// Replacement policies of the caller's own, if the scenario names a class in Python.
    pub policies: Option<&'a MakePolicy<'a>>,
    /// Frames to record for playback.
    pub playback: Option<u32>,
    /// Number of times to sample the data servers, or up to twice as often.
    pub server_samples: Option<u32>,
}

/// Progress callback of a run. It gets the simulated time in seconds, the completed requests and,
/// if known, the completed fraction, and may stop the run.
pub type Observer<'a> = dyn FnMut(f64, u64, Option<f64>) -> ControlFlow<()> + 'a;

/// A run's result.
pub struct Outcome {
    /// Report of the run.
    pub report: Report,
    /// Bytes moved over time; see [`Recorder::series`].
    pub series: Series,
    /// The latency histograms' values for plots: (seconds, cumulative share).
    pub latency_curve: Vec<(f64, f64)>,
    /// The single requests, if they were recorded.
    pub requests: Vec<Completed>,
    /// Recorded frames, if they were requested.
    pub playback: Option<Playback>,
    /// Utilisation of the data servers over time; none if they are not sampled.
    pub server_series: Option<ServerSeries>,
}

/// A scenario's net, ready to run.
pub(crate) struct System {
    pub net: Net,
    pub workloads: Store<Workloads>,
    pub recorder: Store<Recorder>,
    pub latency: TallyId,
    pub total_requests: Option<u64>,
    /// Operations of the workloads that no process requests.
    pub left_out: Vec<LeftOut>,
    /// Counts of the open flags that the workloads' sources record, by workload.
    pub recorded_flags: BTreeMap<usize, RecordedFlags>,
    /// A network's links that are no stations of their own.
    pub links: Option<LinkLoads>,
    /// State of failing servers.
    pub failing: Option<Failing>,
    /// Pages of the data servers, those that are alike on one.
    pub servers: Vec<ServerPage>,
}

/// The structure of a scenario's net, for drawings.
///
/// # Errors
/// If the scenario cannot be built.
pub fn structure(scenario: &Scenario) -> Result<Structure, Error> {
    Ok(build(scenario, Options::default())?.net.structure().clone())
}

/// Runs a scenario once.
///
/// # Errors
/// If the scenario cannot be built, or the run breaks off.
pub fn simulate(
    scenario: &Scenario,
    options: Options<'_>,
    observer: &mut Observer<'_>,
) -> Result<Outcome, Error> {
    placements_are_given(scenario, options)?;
    let mut system = build(scenario, options)?;
    if scenario.parallel().is_some() {
        system.net.count(counts);
    }
    if let Some(make) = options.policies {
        server::set_policies(&mut system.net, make);
    }
    if let Some(frames) = options.playback {
        system.net.record_playback(frames);
    }
    if let Some(samples) = options.server_samples {
        sample_servers(&system.servers, &mut system.net, samples);
    }
    let start = Instant::now();
    let (stopped, before) = run(&mut system, scenario, observer)?;
    let wall_seconds = start.elapsed().as_secs_f64();
    let now = system.net.now();
    system.net.check_invariants()?;
    let not_issued = not_issued(&mut system, scenario, now);
    let recorder = system.net.store_mut(system.recorder, 0);
    recorder.finish(now, &not_issued);
    let requests = recorder.take_kept();
    let recorder = system.net.store(system.recorder, 0);
    let stop = StopReport::new(stopped, scenario, recorder, &system.net, system.latency);
    let gauges = system.net.gauges();
    let workloads = system.net.store(system.workloads, 0);
    // Some of it shows only in the run.
    let known = |entry: &LeftOut| !system.left_out.contains(entry);
    let left_out: Vec<LeftOut> = workloads.left_out().into_iter().filter(known).collect();
    let at_end = report::AtEnd {
        caches: caches(&gauges, &before),
        unwritten: unwritten(&gauges),
        warnings: run_warnings::warnings(&gauges, &before, workloads),
        trainings: workloads.trainings(),
    };
    system.left_out.extend(left_out);
    Ok(Outcome {
        report: report::report(&system, recorder, scenario, stop, at_end, wall_seconds),
        series: recorder.series().clone(),
        latency_curve: recorder.latency_curve(),
        requests,
        playback: system.net.playback(),
        server_series: server_series(&system.servers, &system.net),
    })
}

/// A class in Python can be drawn and not run.
fn placements_are_given(scenario: &Scenario, options: Options<'_>) -> Result<(), Error> {
    let Some(parallel) = scenario.parallel() else {
        return Ok(());
    };
    let own = scenario.workload.iter();
    let own = own.filter_map(|it| it.layout.as_ref());
    let mut layouts = std::iter::once(&parallel.layout).chain(own);
    let class = layouts.find_map(|it| match &it.kind {
        LayoutKind::PythonLayout(it) => Some(&it.python),
        _ => None,
    });
    match class {
        Some(class) if options.placements.is_none() => Err(Error::Placement(format!(
            "layout.python = \"{class}\" is a class in Python: run the scenario with \
             `headrace run` or `headrace.run`"
        ))),
        _ => Ok(()),
    }
}

/// Returns the open-loop requests that were due before a time and not issued.
fn not_issued(system: &mut System, scenario: &Scenario, until: Time) -> Vec<(Operation, Time)> {
    let workloads = system.net.store_mut(system.workloads, 0);
    let mut found = Vec::new();
    for (number, workload) in scenario.workload.iter().enumerate() {
        if workload.kind.is_open() {
            workloads.not_issued(number, until, &mut found);
        }
    }
    found
}

/// Builds a scenario's net. To add a kind of system, write a file and name it here.
fn build(scenario: &Scenario, options: Options<'_>) -> Result<System, Error> {
    match &scenario.kind {
        SystemKind::Parallel(parallel) => parallel::build(scenario, parallel, options),
        SystemKind::Local(local) => local::build(scenario, local, options),
    }
}

/// Runs to the end. Returns its reason, and the gauges at the end of the warm-up if there was one.
fn run(
    system: &mut System,
    scenario: &Scenario,
    observer: &mut Observer<'_>,
) -> Result<(Stop, Vec<Gauge>), Error> {
    let stop = &scenario.run.stop;
    let mut before = Vec::new();
    let end = stop.time.map(|time| Time::from_seconds(time.0));
    let warm_up = Time::from_seconds(scenario.run.warm_up.0);
    if warm_up > Time::ZERO {
        let limits = Limits {
            until: warm_up,
            ..limits_of(scenario)
        };
        let stopped = watched(system, scenario, &limits, observer)?;
        if stopped == Stop::Asked {
            return Err(Error::TooLarge(format!(
                "run.warm_up = \"{}\": the workload ended after {} s, before statistics began; \
                 expected a shorter warm-up or a longer workload",
                scenario.run.warm_up,
                system.net.now().as_seconds()
            )));
        }
        system.net.reset_statistics();
        before = system.net.gauges();
        let now = system.net.now();
        system.net.store_mut(system.recorder, 0).reset(now);
        if let Some(links) = &system.links {
            links.reset(&mut system.net);
        }
        server_reports::reset(&system.servers, &mut system.net);
    }
    let precision = stop.precision.map(|relative| Precision {
        tally: system.latency,
        relative,
        confidence: stop.confidence,
    });
    let limits = Limits {
        until: end.unwrap_or(Time::NEVER),
        precision,
        ..limits_of(scenario)
    };
    Ok((watched(system, scenario, &limits, observer)?, before))
}

/// The kernel's limits for the scenario's processes: all of them may start, or pass a
/// barrier, in one instant.
fn limits_of(scenario: &Scenario) -> Limits {
    let clients = &scenario.clients;
    let processes = u64::from(clients.count) * u64::from(clients.processes);
    let limits = Limits::default();
    let firings_in_an_instant = limits.firings_in_an_instant + 1000 * processes;
    Limits {
        firings_in_an_instant,
        ..limits
    }
}

fn watched(
    system: &mut System,
    scenario: &Scenario,
    limits: &Limits,
    observer: &mut Observer<'_>,
) -> Result<Stop, RunError> {
    let stop = &scenario.run.stop;
    let (latency, total) = (system.latency, stop.requests.or(system.total_requests));
    let end = stop.time.map(|time| time.0);
    system.net.run_watched(limits, &mut |progress| {
        let done = progress.tally(latency).count();
        let seconds = progress.now.as_seconds();
        let by_time = end.map(|end| seconds / end);
        let by_count = total.map(|total| done as f64 / total as f64);
        let part = match (by_time, by_count) {
            (Some(time), Some(count)) => Some(time.max(count)),
            (time, count) => time.or(count),
        };
        observer(seconds, done, part)
    })
}
