//! The result of a run, in SI units.

use std::collections::BTreeMap;

use headrace_spec::{Scenario, ServerKind, SystemKind};
use headrace_trace::Operation;
use headrace_workload::{
    Io500Report, LeftOut, PhaseReport, RecordedFlags, TrainingReport, clients, io500,
};
use indexmap::IndexMap;
use serde::Serialize;

use super::outages::{OutageReport, outages};
use super::rate_warnings;
use super::run_warnings::RunWarning;
use super::server_reports::{self, ServerReport, StationCopy, name_servers};
use super::{System, unmodelled};
use crate::measure::{
    Bottleneck, BreakdownEntry, CacheReport, Cell, Latencies, Recorder, ServicePart, StationReport,
    StopReport, SyncedWrites, Turn, UnfinishedReport, UnwrittenReport, WriteBack, attribution,
    bottleneck, column, links, local, of_arrivals, phases, servers, stations, synced_writes,
};
use crate::network::{PacketCounts, PacketReport};

/// Report of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The scenario of the run, sufficient to repeat it.
    pub scenario: ScenarioReport,
    /// The seed of its random numbers.
    pub seed: u64,
    /// Headrace's version.
    pub version: &'static str,
    /// Simulated time, warm-up included.
    pub simulated_seconds: f64,
    /// Real time that the simulation alone took.
    pub wall_seconds: f64,
    /// Firings and events.
    pub events: u64,
    /// Why it ended there.
    pub stop: StopReport,
    /// Bytes per second by operation, each over the time its phases took; infinite, which is null
    /// in JSON, if they took none.
    pub throughput: BTreeMap<&'static str, f64>,
    /// Counts and rates by operation.
    pub operations: BTreeMap<&'static str, OperationReport>,
    /// Writes and syncs together, if there were both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synced_writes: Option<SyncedWrites>,
    /// Latency over "all" operations and by operation, from the actual start.
    pub latency: BTreeMap<&'static str, Latency>,
    /// The same from the intended start, where a request of a workload with times of its own was
    /// late or left unfinished. Unfinished ones are included, with the latency that they had at the
    /// end.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub latency_from_intended: BTreeMap<&'static str, Latency>,
    /// Requests that were due before the end of the run and were not done, where requests come at
    /// times of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<UnfinishedReport>,
    /// The same by group of clients, in the order of the scenario.
    pub groups: IndexMap<String, GroupReport>,
    /// Stations, as they are written.
    pub stations: Vec<StationReport>,
    /// The data servers, one by one; none where there are too many.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<ServerReport>,
    /// Copies of their stations.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<StationCopy>,
    /// Time breakdown of requests, largest first.
    pub breakdown: Vec<BreakdownEntry>,
    /// Caches: hits, misses and evictions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub caches: Vec<CacheReport>,
    /// Data that only caches hold at the end, if there is any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unwritten: Option<UnwrittenReport>,
    /// Packet counts of a network modelled by packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<PacketReport>,
    /// Outages, if any server failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<OutageReport>,
    /// Operations of the workloads that were not simulated, or only in part.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Reads and writes of replayed traces by their open flags.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replays: Vec<ReplayReport>,
    /// Bottleneck of the system.
    pub bottleneck: Bottleneck,
    /// Warnings about the run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<RunWarning>,
    /// Utilisation, steps and waits of trainings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trainings: Vec<TrainingReport>,
    /// Phases of workloads that come in turn, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PhaseReport>,
    /// The result of IO500, if the workloads are its.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io500: Option<Io500Report>,
}

/// Reads and writes of a replayed trace by their open flags.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ReplayReport {
    /// Number of the workload.
    pub workload: usize,
    /// Counts in the whole trace, of the flags that the replay keeps.
    #[serde(flatten)]
    pub flags: RecordedFlags,
}

/// The scenario of a run.
#[derive(Clone, Debug, Serialize)]
pub struct ScenarioReport {
    /// Its name.
    pub name: String,
    /// Description.
    pub description: String,
    /// The whole scenario as a file, defaults filled in.
    pub toml: String,
}

/// Number of times an operation was done.
#[derive(Clone, Debug, Serialize)]
pub struct OperationReport {
    /// Requests done.
    pub count: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Requests that failed, which are not counted above.
    #[serde(skip_serializing_if = "is_zero")]
    pub failed: u64,
    /// Requests per second over the time the operation's phases took; none if they
    /// took none.
    pub per_second: Option<f64>,
    /// Active time in seconds.
    pub active_seconds: f64,
    /// Memory that took the bytes of writes before they returned; none if each write waited for
    /// the servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub into: Option<&'static str>,
}

/// Time that requests took, in seconds; NaN, which is null in JSON, where none was done.
#[derive(Clone, Debug, Serialize)]
pub struct Latency {
    /// Number of requests.
    pub count: u64,
    /// Their mean.
    pub mean: f64,
    /// The median.
    pub p50: f64,
    /// 95 % took no longer.
    pub p95: f64,
    /// 99 % took no longer.
    pub p99: f64,
    /// The longest.
    pub max: f64,
}

/// Report of a client group.
#[derive(Clone, Debug, Serialize)]
pub struct GroupReport {
    /// Clients in the group.
    pub clients: u32,
    /// As in [`Report`].
    pub throughput: BTreeMap<&'static str, f64>,
    /// As in [`Report`].
    pub operations: BTreeMap<&'static str, OperationReport>,
    /// As in [`Report`].
    pub latency: BTreeMap<&'static str, Latency>,
    /// Its share of all throughput; none if no window qualifies.
    pub share: Option<Share>,
}

/// A group's share of throughput, over the windows in which every group had requests in progress
/// all the time.
#[derive(Clone, Debug, Serialize)]
pub struct Share {
    /// The mean over the windows.
    pub mean: f64,
    /// Their standard deviation.
    pub sd: f64,
    /// Length of a window.
    pub window_s: f64,
    /// Start of the first window.
    pub from_s: f64,
    /// End of the last window.
    pub to_s: f64,
    /// Number of windows.
    pub windows: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Figures and warnings that are taken at the end of a run.
pub(super) struct AtEnd {
    pub caches: Vec<CacheReport>,
    pub unwritten: Option<UnwrittenReport>,
    pub warnings: Vec<RunWarning>,
    pub trainings: Vec<TrainingReport>,
}

/// Sums up a run that has ended.
pub(super) fn report(
    system: &System,
    recorder: &Recorder,
    scenario: &Scenario,
    stop: StopReport,
    at_end: AtEnd,
    wall_seconds: f64,
) -> Report {
    let net = &system.net;
    let all: Vec<usize> = (0..recorder.groups()).collect();
    let buffer = buffer_of_writes(scenario);
    let (throughput, operations) = rates(recorder, &all, buffer);
    let machine = scenario.clients.machine();
    let closing_writes_back = machine.is_some_and(|it| it.attributes.closing_writes_back());
    let synced_writes = synced_writes(recorder, closing_writes_back);
    let latencies = latency(recorder, &all, |cell| Some(&cell.latency), []);
    let late = |cell: &&Cell| cell.response.is_some();
    let any_late = cells(recorder, &all).any(|(_, cell)| late(&cell));
    let unfinished = recorder.unfinished.report();
    let any_left = unfinished.as_ref().is_some_and(|it| it.count > 0);
    let from_intended = match any_late || any_left {
        false => BTreeMap::new(),
        true => latency(
            recorder,
            &all,
            |cell| cell.response.as_ref().or(Some(&cell.latency)),
            recorder.unfinished.latencies(),
        ),
    };
    let reports = net.reports();
    let mean_latency = latencies.get("all").filter(|it| it.count > 0);
    let mean_latency = mean_latency.map_or(0.0, |it| it.mean);
    let requests = recorder.requests();
    let daemon = scenario.parallel();
    let daemon = daemon.map(|it| (&it.servers.daemon, it.servers.machine().is_some()));
    let mut stations: Vec<StationReport> = reports.iter().filter_map(stations::station).collect();
    if let Some(links) = &system.links {
        stations.extend(links::stations(links, net));
    }
    let breakdown = match &scenario.kind {
        SystemKind::Local(_) => local::breakdown(&reports, mean_latency),
        SystemKind::Parallel(parallel) => {
            let parts = ServicePart::new(&recorder.jobs, parallel);
            let mut all = attribution::breakdown(net, &reports, mean_latency, requests, &parts);
            stations::least_alone(&mut all, &stations, requests, &parts);
            all
        }
    };
    let has_buffered_writes = operations.values().any(|it| it.into.is_some());
    if let Some(write_back) = write_back(scenario, &operations, has_buffered_writes) {
        stations::mark_deferred(&mut stations, write_back);
    }
    let links = system.links.as_ref();
    let packets = links.and_then(|links| links.packets.as_ref());
    let think = recorder.mean_think();
    let processes: u64 = scenario
        .workload
        .iter()
        .map(|it| clients(scenario, it).len() as u64 * u64::from(scenario.clients.processes))
        .sum();
    let each = processes as f64 / requests.max(1) as f64;
    let seconds = (net.measured().as_seconds() * each).max(think + mean_latency);
    let turn = Turn {
        seconds,
        think: match at_end.trainings.first() {
            // Accelerators compute while their loaders request.
            Some(training) => training.figures.accelerator_time.computing * seconds,
            // A process may think before its first or after its last request, outside the run.
            None => think * (1.0 - each).max(0.0),
        },
        latency: mean_latency,
    };
    let is_open = scenario.workload.iter().all(|it| it.kind.is_open());
    let falls_behind = recorder.unfinished.falls_behind();
    let arrivals = (is_open && !falls_behind).then(|| of_arrivals(&stations));
    let mut bottleneck = arrivals.flatten().unwrap_or_else(|| match daemon {
        None => local::bottleneck(&stations, &breakdown, turn),
        Some((daemon, true)) => servers::bottleneck(&stations, &breakdown, turn, daemon),
        Some((_, false)) => bottleneck(&stations, &breakdown, turn),
    });
    if is_open && falls_behind && !bottleneck.saturated {
        bottleneck.sentence.push_str(
            " The processes do not keep up with the load: each issues a request only when its last \
             is done.",
        );
    }
    if breakdown.is_empty() && !operations.is_empty() {
        "No request took any time.".clone_into(&mut bottleneck.sentence);
    }
    let (servers, copies) = server_reports::servers(&system.servers, net);
    name_servers(&mut bottleneck, &system.servers, &servers);
    let left_out = unmodelled::left_out(system, scenario, &operations);
    let mut warnings = at_end.warnings;
    let writes_are_synced = synced_writes.is_some();
    warnings.extend(rate_warnings::warnings(
        scenario,
        &throughput,
        &operations,
        writes_are_synced,
    ));
    let phases = phases(recorder, scenario);
    Report {
        io500: io500(scenario, &phases),
        phases,
        scenario: ScenarioReport {
            name: scenario.name.clone(),
            description: scenario.description.clone(),
            toml: scenario.to_canonical_toml(),
        },
        seed: scenario.run.seed,
        version: env!("CARGO_PKG_VERSION"),
        simulated_seconds: net.now().as_seconds(),
        wall_seconds,
        events: net.firings() + net.events(),
        stop,
        throughput,
        operations,
        synced_writes,
        latency: latencies,
        latency_from_intended: from_intended,
        unfinished,
        groups: groups(recorder, scenario),
        stations,
        servers,
        copies,
        breakdown,
        caches: at_end.caches,
        unwritten: at_end.unwritten,
        packets: packets.map(PacketCounts::report),
        failures: outages(system),
        left_out,
        replays: replays(system),
        bottleneck,
        warnings,
        trainings: at_end.trainings,
    }
}

fn replays(system: &System) -> Vec<ReplayReport> {
    let flags = system.recorded_flags.iter();
    flags
        .map(|(&workload, &flags)| ReplayReport { workload, flags })
        .collect()
}

/// Where writes of the run were acknowledged early, if nothing made sure that they ended in time.
fn write_back(
    scenario: &Scenario,
    operations: &BTreeMap<&'static str, OperationReport>,
    has_buffered_writes: bool,
) -> Option<WriteBack> {
    let did = |operation: Operation| operations.contains_key(operation.name());
    if !did(Operation::Write) || did(Operation::Sync) {
        return None;
    }
    let SystemKind::Parallel(parallel) = &scenario.kind else {
        return Some(WriteBack::Client);
    };
    if has_buffered_writes {
        return Some(WriteBack::Client);
    }
    let alike = parallel.servers.alike();
    let mut kinds = alike.iter().map(|it| &it.servers.kind);
    let buffers = kinds.any(|kind| match kind {
        ServerKind::SimpleServer(simple) => simple.memory.dirty_limit.0 > 0,
        ServerKind::MachineServer(_) => true,
    });
    buffers.then_some(WriteBack::Server)
}

/// Every operation seen in some groups.
fn cells<'a>(
    recorder: &'a Recorder,
    groups: &'a [usize],
) -> impl Iterator<Item = (Operation, &'a Cell)> {
    let all = groups
        .iter()
        .flat_map(|&group| Operation::ALL.iter().map(move |&it| (group, it)));
    all.filter_map(|(group, operation)| Some((operation, recorder.seen(group, operation)?)))
        .filter(|(_, cell)| cell.count + cell.failed > 0)
}

type Rates = (
    BTreeMap<&'static str, f64>,
    BTreeMap<&'static str, OperationReport>,
);

/// Returns the memory that takes buffered writes before they return, if they are not charged with
/// the way to the servers.
fn buffer_of_writes(scenario: &Scenario) -> Option<&'static str> {
    scenario.clients.machine()?;
    scenario.parallel().map(|_| "client caches")
}

fn rates(recorder: &Recorder, groups: &[usize], buffer: Option<&'static str>) -> Rates {
    let mut by_operation: BTreeMap<&'static str, Cell> = BTreeMap::new();
    for (operation, cell) in cells(recorder, groups) {
        let sum = by_operation
            .entry(operation.name())
            .or_insert_with(Cell::new);
        sum.count += cell.count;
        sum.bytes += cell.bytes;
        sum.buffered += cell.buffered;
        sum.failed += cell.failed;
        sum.activity.join(&cell.activity);
    }
    let per = |amount: u64, seconds: f64| (seconds > 0.0).then(|| amount as f64 / seconds);
    let operations: BTreeMap<&'static str, OperationReport> = by_operation
        .into_iter()
        .map(|(name, cell)| {
            let active_seconds = cell.activity.total().as_seconds();
            let per_second = per(cell.count, active_seconds);
            let Cell {
                count,
                bytes,
                buffered,
                failed,
                ..
            } = cell;
            let into = buffer.filter(|_| name == Operation::Write.name() && buffered > 0);
            (
                name,
                OperationReport {
                    count,
                    bytes,
                    failed,
                    per_second,
                    active_seconds,
                    into,
                },
            )
        })
        .collect();
    let moving = operations
        .iter()
        .filter(|(_, operation)| operation.bytes > 0);
    let throughput = moving
        .map(|(&name, operation)| {
            let rate = per(operation.bytes, operation.active_seconds);
            (name, rate.unwrap_or(f64::INFINITY))
        })
        .collect();
    (throughput, operations)
}

fn latency<'a>(
    recorder: &Recorder,
    groups: &[usize],
    of: impl Fn(&Cell) -> Option<&Latencies>,
    unfinished: impl IntoIterator<Item = (&'static str, &'a Latencies)>,
) -> BTreeMap<&'static str, Latency> {
    let mut sums: BTreeMap<&'static str, Latencies> = BTreeMap::new();
    for (operation, cell) in cells(recorder, groups) {
        for name in ["all", operation.name()] {
            if let Some(more) = of(cell) {
                sums.entry(name).or_insert_with(Latencies::new).merge(more);
            }
        }
    }
    for (operation, more) in unfinished {
        for name in ["all", operation] {
            sums.entry(name).or_insert_with(Latencies::new).merge(more);
        }
    }
    let sum_up = |all: Latencies| Latency {
        count: all.count(),
        mean: all.mean(),
        p50: all.quantile(0.50),
        p95: all.quantile(0.95),
        p99: all.quantile(0.99),
        max: all.most(),
    };
    sums.into_iter()
        .map(|(name, latencies)| (name, sum_up(latencies)))
        .collect()
}

fn groups(recorder: &Recorder, scenario: &Scenario) -> IndexMap<String, GroupReport> {
    let sizes = scenario.clients.group_sizes();
    let report = |(group, (name, clients)): (usize, &(&str, u32))| {
        let (throughput, operations) = rates(recorder, &[group], buffer_of_writes(scenario));
        let latency = latency(recorder, &[group], |cell| Some(&cell.latency), []);
        let share = share(recorder, group);
        let report = GroupReport {
            clients: *clients,
            throughput,
            operations,
            latency,
            share,
        };
        ((*name).to_owned(), report)
    };
    sizes.iter().enumerate().map(report).collect()
}

fn share(recorder: &Recorder, group: usize) -> Option<Share> {
    let own = column(group, Operation::ALL[0])..column(group + 1, Operation::ALL[0]);
    let mut shares = Vec::new();
    let (mut from_s, mut to_s) = (f64::INFINITY, 0.0);
    let window_s = recorder.series.window_seconds();
    for (start, bytes) in recorder.series.backlogged() {
        let total: u64 = bytes.iter().sum();
        if total > 0 {
            shares.push(bytes[own.clone()].iter().sum::<u64>() as f64 / total as f64);
            from_s = start.min(from_s);
            to_s = start + window_s;
        }
    }
    let windows = shares.len();
    if windows == 0 {
        return None;
    }
    let mean = shares.iter().sum::<f64>() / windows as f64;
    let squares: f64 = shares.iter().map(|share| (share - mean).powi(2)).sum();
    let sd = if windows > 1 {
        (squares / (windows - 1) as f64).sqrt()
    } else {
        0.0
    };
    Some(Share {
        mean,
        sd,
        window_s,
        from_s,
        to_s,
        windows,
    })
}
