//! A local file system on every client.

use headrace_net::Builder;
use headrace_spec::{Local, Scenario};

use super::{Error, Options, System, workload_processes};
use crate::device::network;
use crate::localfs::{self, Callers};
use crate::tokens::Request;

/// Builds the scenario's net.
pub(super) fn build(
    scenario: &Scenario,
    local: &Local,
    options: Options<'_>,
) -> Result<System, Error> {
    let mut builder = Builder::new("system", scenario.run.seed);
    let mut page = builder.root();
    let work = workload_processes::write(&mut page, scenario, options, None)?;
    let callers = Callers::processes(scenario, &local.machine);
    let files = |client: u32| {
        let all = work.existing.iter();
        let own = all.filter(|file| file.client.is_none_or(|its| its == client));
        own.map(|file| file.stored(scenario, file.size)).collect()
    };
    let machines = page.fold("client", scenario.clients.count, |page| {
        localfs::machine(page, &local.machine, &callers, files, None)
    });
    page.connect(
        work.ports.request,
        machines.request.by(|it: &Request| it.process.client),
    );
    page.connect(machines.complete, work.ports.complete);
    if let (Some(target), Some(ports)) = (network::shared(&local.machine.device), machines.target) {
        network::join(&mut page, target, scenario.clients.count, ports);
    }
    Ok(System {
        net: builder.compile()?,
        workloads: work.ports.workloads,
        recorder: work.recorder,
        latency: work.latency,
        total_requests: work.total_requests,
        left_out: work.left_out,
        recorded_flags: work.recorded_flags,
        links: None,
        failing: None,
        servers: Vec::new(),
    })
}
