//! Applications in a simulation: the processes of each workload, what they ask for, and
//! what the machine that runs them makes of it.

mod collective;
mod library;
mod page;
mod pipeline;

pub use collective::CollectiveApplication;
pub use page::{ApplicationPorts, End, Existing, Workloads, processes};
pub use pipeline::PipelineApplication;

use headrace_spec::{Scenario, Workload, WorkloadKind};
use headrace_workload::{
    Application, IorApplication, MdtestApplication, OperationMixApplication, TraceError,
    TraceReplayApplication,
};

/// The application of a workload for so many processes.
///
/// # Errors
/// What is wrong with the workload's source, such as a trace.
pub fn build(
    scenario: &Scenario,
    workload: &Workload,
    processes: u32,
) -> Result<Box<dyn Application>, TraceError> {
    Ok(match &workload.kind {
        WorkloadKind::Ior(ior) => {
            let (spec, compute) = library::calls(scenario, workload, ior);
            let existing = workload.io.existing;
            let seed = scenario.run.seed;
            let ior = IorApplication::calling(&spec, processes, seed, compute, existing);
            match (workload.collective.two_phase(), scenario.parallel()) {
                (Some(spec), Some(parallel)) => Box::new(CollectiveApplication::new(
                    scenario, parallel, workload, spec, ior,
                )),
                _ => Box::new(ior),
            }
        }
        WorkloadKind::Mdtest(mdtest) => Box::new(MdtestApplication::new(mdtest, processes)),
        WorkloadKind::OperationMix(mix) => {
            let per_client = scenario.clients.processes;
            let seed = scenario.run.seed;
            Box::new(OperationMixApplication::new(
                mix, processes, per_client, seed,
            ))
        }
        WorkloadKind::Pipeline(pipeline) => Box::new(PipelineApplication::new(
            scenario, workload, pipeline, processes,
        )),
        WorkloadKind::TraceReplay(replay) => Box::new(TraceReplayApplication::new(replay)?),
    })
}
