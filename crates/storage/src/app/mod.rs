//! Applications in a simulation: the processes of each workload, their requests, and the calls that
//! the machine makes for them.

mod collective;
mod library;
mod page;

pub use collective::CollectiveApplication;
pub use page::{ApplicationPorts, End, Existing, Workloads, processes};

use headrace_spec::{Cpu, Ior, Pipeline, Scenario, ServerKind, SystemKind, Workload, WorkloadKind};
use headrace_workload::{
    Application, Calling, IorApplication, PipelineApplication, StartAndDelay, TraceError,
    TraceReplayApplication, seed_of_places, sequence,
};

/// The application of the n-th workload for all its processes, on the machines that the
/// scenario models.
///
/// # Errors
/// The error of the workload's source, such as a trace.
pub fn build(
    scenario: &Scenario,
    number: usize,
    processes: u32,
) -> Result<Box<dyn Application>, TraceError> {
    let workload = &scenario.workload[number];
    let application: Box<dyn Application> = match &workload.kind {
        WorkloadKind::Ior(spec) => ior(scenario, number, spec, processes),
        WorkloadKind::Pipeline(spec) => Box::new(pipeline(scenario, workload, spec, processes)),
        WorkloadKind::TraceReplay(spec) => {
            let volume = volume(scenario, spec.output_volume.as_deref());
            let replay = TraceReplayApplication::new(spec)?.with_output_volume(volume);
            let replay = match answers_before_the_device(scenario) {
                true => replay.without_synchronous_writes(BEFORE_THE_DEVICE),
                false => replay,
            };
            // A local file system alone knows which changes reading the data needs.
            let replay = match scenario.parallel() {
                Some(_) => replay.with_whole_syncs(),
                None => replay,
            };
            // A machine that caches pages reads none past the end of a file.
            let caches_pages =
                scenario.parallel().is_none() || scenario.clients.machine().is_some();
            Box::new(match workload.io.cached || caches_pages {
                true => replay.with_existing_files(),
                false => replay,
            })
        }
        _ => return sequence(scenario, number, processes),
    };
    Ok(StartAndDelay::around(application, workload, scenario))
}

/// Why synchronous writes are left out where servers have a write-back cache without a file system.
const BEFORE_THE_DEVICE: &str =
    "O_SYNC: a simple server with memory.cache answers a write before its device has it";

/// Returns true if a write ends before its device has the data, however the file was opened.
fn answers_before_the_device(scenario: &Scenario) -> bool {
    let servers = scenario.parallel().map(|parallel| &parallel.servers);
    scenario.clients.machine().is_none()
        && servers.is_some_and(|servers| match &servers.kind {
            ServerKind::SimpleServer(spec) => {
                spec.memory.cache.0 > 0 && spec.memory.dirty_limit.0 > 0
            }
            ServerKind::MachineServer(_) => false,
        })
}

/// The processor that the processes of a scenario run on, if it is modelled.
fn processor(scenario: &Scenario) -> Option<&Cpu> {
    match &scenario.kind {
        SystemKind::Local(local) => Some(&local.machine.cpu),
        SystemKind::Parallel(_) => scenario.clients.machine().map(|machine| &machine.cpu),
    }
}

fn ior(scenario: &Scenario, number: usize, spec: &Ior, processes: u32) -> Box<dyn Application> {
    let workload = &scenario.workload[number];
    let seed = seed_of_places(scenario, number);
    let spec = spec.on_clients_of(scenario);
    let (spec, compute) = library::calls(scenario, workload, &spec);
    let existing = workload.io.existing;
    let ior = IorApplication::calling(&spec, processes, seed, compute, existing);
    match (workload.collective.two_phase(), scenario.parallel()) {
        (Some(spec), Some(parallel)) => Box::new(CollectiveApplication::new(
            scenario, parallel, workload, spec, ior,
        )),
        _ => Box::new(ior),
    }
}

/// The number of a local machine's volume.
fn volume(scenario: &Scenario, name: Option<&str>) -> Option<u8> {
    match &scenario.kind {
        SystemKind::Local(local) => local.machine.volume_number(name?),
        SystemKind::Parallel(_) => None,
    }
}

fn pipeline(
    scenario: &Scenario,
    workload: &Workload,
    spec: &Pipeline,
    pipelines: u32,
) -> PipelineApplication {
    let (buffer, library) = library::gathered(scenario, workload, spec.request.0, spec.input.0);
    let calls = Calling {
        buffer,
        library,
        machine: matches!(scenario.kind, SystemKind::Local(_)),
        output_volume: volume(scenario, spec.output_volume.as_deref()),
    };
    PipelineApplication::calling(spec, pipelines, workload.io.existing, calls)
}
