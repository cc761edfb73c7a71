//! A parallel file system: clients, network, data and metadata servers.

use headrace_net::{Builder, Page, Span, Time, To};
use headrace_spec::{Access, Position, Scenario, Topology, Workload, WorkloadKind};

use super::{Error, Options, System, span};
use crate::app::{self, Workloads};
use crate::measure::Recorder;
use crate::network::{self, Hosts};
use crate::tokens::{Job, Request, Role};
use crate::{client, metadata, qos, server};

/// Builds the scenario's net.
pub(super) fn build(scenario: &Scenario, options: Options) -> Result<System, Error> {
    let hosts = Hosts {
        clients: scenario.clients.count,
        servers: scenario.servers.count,
        metadata: scenario.metadata.servers,
    };
    check_size(scenario, hosts)?;
    let workloads = workloads(scenario)?;
    let total_requests = workloads.total_requests();
    let groups = scenario.clients.group_sizes().len();
    let window: Option<Span> = scenario.run.window.map(span);

    let mut builder = Builder::new("system", scenario.run.seed);
    let mut page = builder.root();
    let recorder = page.store("recorder", |_| {
        Recorder::new(groups, window, options.keep_requests)
    });
    let latency = page.tally("latency");
    let stop_after = scenario.run.stop.requests;
    let warm_up = Time::ZERO + span(scenario.run.warm_up);
    let processes = page.page("processes", |page| {
        app::processes(page, workloads, recorder, latency, stop_after, warm_up)
    });
    let clients = page.fold("client", hosts.clients, |page| client_host(page, scenario));
    let network = network::build(&mut page, scenario, hosts);
    let servers = page.fold("server", hosts.servers, |page| server_host(page, scenario));
    let names = page.fold("metadata", hosts.metadata, |page| {
        metadata::server(page, scenario)
    });
    let gateway = match scenario.scheduler.position {
        Position::Gateway => page.page("gateway", |page| qos::build(page, scenario)),
        Position::Client | Position::Server => None,
    };

    page.connect(
        processes.request,
        clients.request.by(|it: &Request| it.process.client),
    );
    page.connect(clients.complete, processes.complete);
    page.connect(clients.ask, network.from_clients);
    page.connect(names.send, network.from_metadata);
    page.connect(network.to_metadata, names.receive.by(server_of));
    page.connect(network.to_clients, clients.receive.by(client_of));
    let (mut out, mut back): (To<Job>, To<Job>) = (network.from_clients, network.from_servers);
    if let Some(gateway) = gateway {
        page.connect(gateway.dispatched, out);
        page.connect(gateway.returned, back);
        (out, back) = (gateway.submit.into(), gateway.finished.into());
    }
    page.connect(clients.send, out);
    page.connect(servers.send, back);
    page.connect(network.to_servers, servers.receive.by(server_of));
    Ok(System {
        net: builder.compile()?,
        recorder,
        latency,
        total_requests,
    })
}

/// Hosts and links that can be simulated: some kilobytes each.
const MOST_HOSTS: u64 = 2_000_000;

/// Says no to more than memory could hold, before anything is made.
fn check_size(scenario: &Scenario, hosts: Hosts) -> Result<(), Error> {
    let links = match scenario.network.topology {
        Topology::Star => 0,
        Topology::Pairs => {
            u64::from(hosts.clients) * (u64::from(hosts.servers) + u64::from(hosts.metadata))
        }
    };
    let processes = u64::from(hosts.clients) * u64::from(scenario.clients.processes);
    for (field, what, number) in [
        ("clients.count", "clients", u64::from(hosts.clients)),
        ("servers.count", "servers", u64::from(hosts.servers)),
        (
            "metadata.servers",
            "metadata servers",
            u64::from(hosts.metadata),
        ),
        ("clients.processes", "processes in all", processes),
        ("network.topology = \"pairs\"", "links between hosts", links),
    ] {
        if number > MOST_HOSTS {
            return Err(Error::TooLarge(format!(
                "{field}: {number} {what}; expected at most {MOST_HOSTS}"
            )));
        }
    }
    Ok(())
}

/// Says no to shared files whose last byte has no number.
fn check_offsets(workload: &Workload, processes: u32) -> Result<(), Error> {
    let WorkloadKind::Ior(ior) = &workload.kind else {
        return Ok(());
    };
    let blocks = u64::from(ior.segments) * u64::from(processes);
    if ior.access == Access::Shared && ior.block.0.checked_mul(blocks).is_none() {
        return Err(Error::TooLarge(format!(
            "workload.block = \"{}\": {blocks} blocks of that size make a shared file of more \
             than 16 EiB",
            ior.block
        )));
    }
    Ok(())
}

fn server_of(job: &Job) -> u32 {
    job.server
}

fn client_of(job: &Job) -> u32 {
    job.client
}

/// A client, with its scheduler if schedulers stand there.
fn client_host(page: &mut Page<'_>, scenario: &Scenario) -> client::ClientPorts {
    let scheduler = match scenario.scheduler.position {
        Position::Client => qos::build(page, scenario),
        Position::Gateway | Position::Server => None,
    };
    let Some(scheduler) = scheduler else {
        return client::client(page, scenario);
    };
    let inner = page.page("file client", |page| client::client(page, scenario));
    let ports = client::ClientPorts {
        request: page.input("request"),
        complete: page.output("complete"),
        send: page.output("send"),
        ask: page.output("ask"),
        receive: page.input("receive"),
    };
    page.connect(ports.request, inner.request);
    page.connect(inner.complete, ports.complete);
    page.connect(inner.send, scheduler.submit);
    page.connect(scheduler.dispatched, ports.send);
    page.connect(inner.ask, ports.ask);
    // Answers of metadata servers were not scheduled.
    let arrived = page.place("arrived");
    page.connect(ports.receive, arrived);
    let (job, answer): (To<Job>, To<Job>) = (scheduler.finished.into(), inner.receive.into());
    page.transition("sort")
        .take(arrived)
        .route([job, answer], move |_, it: &mut Job, ()| {
            if it.role == Role::Data { job } else { answer }
        });
    page.connect(scheduler.returned, inner.receive);
    ports
}

/// A data server, with its scheduler if schedulers stand there.
fn server_host(page: &mut Page<'_>, scenario: &Scenario) -> metadata::ServerPorts {
    let scheduler = match scenario.scheduler.position {
        Position::Server => qos::build(page, scenario),
        Position::Gateway | Position::Client => None,
    };
    let Some(scheduler) = scheduler else {
        return server::server(page, scenario);
    };
    let inner = page.page("file server", |page| server::server(page, scenario));
    let ports = metadata::ServerPorts {
        receive: page.input("receive"),
        send: page.output("send"),
    };
    page.connect(ports.receive, scheduler.submit);
    page.connect(scheduler.dispatched, inner.receive);
    page.connect(inner.send, scheduler.finished);
    page.connect(scheduler.returned, ports.send);
    ports
}

/// The processes of all workloads, and the clients they run on.
fn workloads(scenario: &Scenario) -> Result<Workloads, Error> {
    let sizes = scenario.clients.group_sizes();
    let groups: Vec<u8> = sizes
        .iter()
        .zip(0_u8..=u8::MAX)
        .flat_map(|((_, clients), group)| std::iter::repeat_n(group, *clients as usize))
        .collect();
    if groups.len() < scenario.clients.count as usize {
        return Err(Error::TooLarge(format!(
            "clients.groups: {} groups; expected at most 256",
            sizes.len()
        )));
    }
    let mut workloads = Workloads::new(groups.clone());
    let mut files: u64 = 0;
    for workload in &scenario.workload {
        let group = workload.group.as_ref();
        let of_group = |client: &u32| {
            group.is_none_or(|name| sizes[usize::from(groups[*client as usize])].0 == name)
        };
        let clients: Vec<u32> = (0..scenario.clients.count).filter(of_group).collect();
        let processes = (clients.len() as u32).checked_mul(scenario.clients.processes);
        let processes = processes
            .filter(|&number| number < u32::MAX / 2)
            .ok_or_else(|| {
                Error::TooLarge(
                    "clients.processes: expected fewer than 2^31 processes in all".to_owned(),
                )
            })?;
        check_offsets(workload, processes)?;
        let application = app::build(scenario, workload, processes)?;
        files += u64::from(application.files());
        if files >= u64::from(u32::MAX) {
            return Err(Error::TooLarge(format!(
                "workload.files: {files} files in all; expected fewer than 2^32"
            )));
        }
        workloads.add(application, &clients);
    }
    Ok(workloads)
}
