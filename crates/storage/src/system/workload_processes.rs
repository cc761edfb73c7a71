//! The processes of a scenario's workloads, and the recorders of their
//! requests: the part that every kind of system has.

use std::collections::BTreeMap;
use std::sync::Arc;

use headrace_net::{Node, Page, Span, Store, TallyId, Time};
use headrace_spec::{Scenario, SystemKind, Workload, WorkloadKind};
use headrace_workload::{Directories, LeftOut, RecordedFlags, clients};

use super::{Error, Options};
use crate::app::{self, ApplicationPorts, End, Existing, Workloads};
use crate::locks::NOBODY;
use crate::measure::{Recorder, SingleRequests, Unfinished};
use crate::time_conversion::span;

/// The processes, as a system sees them.
pub(super) struct Work {
    pub ports: ApplicationPorts,
    pub recorder: Store<Recorder>,
    pub latency: TallyId,
    pub total_requests: Option<u64>,
    /// Operations of the workloads that no process requests.
    pub left_out: Vec<LeftOut>,
    /// Counts of the open flags that their sources record, by workload.
    pub recorded_flags: BTreeMap<usize, RecordedFlags>,
    /// Files that are there before the run; see [`Workloads::existing`].
    pub existing: Vec<Existing>,
    /// Directories of the files.
    pub directories: Directories,
}

/// Writes the page of the processes; `over` hears of the end of the workload, if it is
/// not the end of the run.
pub(super) fn write(
    page: &mut Page<'_>,
    scenario: &Scenario,
    options: Options<'_>,
    over: Option<Node<()>>,
) -> Result<Work, Error> {
    let workloads = workloads(scenario)?;
    let total_requests = workloads.total_requests();
    let left_out = workloads.left_out();
    let recorded_flags = workloads.recorded_flags();
    let machines =
        matches!(scenario.kind, SystemKind::Local(_)) || scenario.clients.machine().is_some();
    let below_servers = scenario
        .parallel()
        .is_some_and(|it| it.servers.machine().is_some());
    let existing = match machines || below_servers || over.is_some() {
        true => workloads.existing(),
        false => Vec::new(),
    };
    let directories = workloads.directories();
    let groups = scenario.clients.group_sizes().len();
    let window: Option<Span> = scenario.run.window.map(span);
    let recorder = page.store("recorder", |_| {
        let open = scenario.workload.iter().map(|it| it.kind.is_open());
        let unfinished = Unfinished::new(open);
        let single = match (options.requests_to, options.keep_requests) {
            (Some(to), _) => SingleRequests::Sent(Vec::new(), Arc::clone(to)),
            (None, true) => SingleRequests::Kept(Vec::new()),
            (None, false) => SingleRequests::Dropped,
        };
        let unbuffered = scenario.workload.iter();
        let unbuffered = unbuffered.map(|it| it.io.direct || it.io.synchronous);
        Recorder::new(groups, window, single, unfinished, unbuffered.collect())
    });
    let latency = page.tally("latency");
    let end = End {
        stop_after: scenario.run.stop.requests,
        warm_up: Time::ZERO + span(scenario.run.warm_up),
        over,
    };
    let accounts = scenario.parallel().is_some();
    let ports = page.page("processes", |page| {
        app::processes(page, workloads, recorder, latency, end, machines, accounts)
    });
    Ok(Work {
        ports,
        recorder,
        latency,
        total_requests,
        left_out,
        recorded_flags,
        existing,
        directories,
    })
}

/// The processes of all workloads, and the clients they run on.
fn workloads(scenario: &Scenario) -> Result<Workloads, Error> {
    let mut workloads = Workloads::new(scenario.clients.group_of_each());
    let mut files: u64 = 0;
    // Partners tell their parts of a file apart by its number's highest bit.
    let partners = scenario
        .parallel()
        .is_some_and(|it| it.servers.partner(0).is_some());
    let bits = if partners { 31 } else { 32 };
    if scenario.workload.len() >= usize::from(NOBODY) {
        return Err(Error::TooLarge(format!(
            "workload: {} workloads; expected fewer than {NOBODY}",
            scenario.workload.len()
        )));
    }
    for (number, workload) in scenario.workload.iter().enumerate() {
        let clients = clients(scenario, workload);
        shares_files(scenario, number, clients.len() as u32)?;
        // A scenario that loaded has no more than fit.
        let processes = (clients.len() as u32).saturating_mul(scenario.clients.processes);
        let application = app::build(scenario, number, processes)?;
        files += u64::from(application.files());
        if files >= (1 << bits) - 1 {
            return Err(Error::TooLarge(format!(
                "workload.files: {files} files in all; expected fewer than 2^{bits}"
            )));
        }
        workloads.add(application, &clients, volume_of(scenario, workload));
    }
    Ok(workloads)
}

/// Refuses a process that uses files of another client's local file system.
fn shares_files(scenario: &Scenario, number: usize, clients: u32) -> Result<(), Error> {
    let rank_shift = match &scenario.workload[number].kind {
        WorkloadKind::Ior(ior) => ior.rank_shift,
        WorkloadKind::Mdtest(mdtest) => mdtest.rank_shift,
        _ => 0,
    };
    match scenario.local().is_some() && !rank_shift.is_multiple_of(clients.max(1)) {
        false => Ok(()),
        true => Err(Error::TooLarge(format!(
            "workload.{number}.rank_shift = {rank_shift}: the files of another client lie on its \
             own machine; expected 0 or a multiple of the {clients} clients"
        ))),
    }
}

/// The volume of the machines that a workload's files lie on.
fn volume_of(scenario: &Scenario, workload: &Workload) -> u8 {
    match (&scenario.kind, &workload.io.volume) {
        (SystemKind::Local(local), Some(name)) => local.machine.volume_number(name).unwrap_or(0),
        _ => 0,
    }
}
