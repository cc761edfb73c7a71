//! A parallel file system: clients, network, data and metadata servers.

use headrace_net::{Builder, Page, Port, Span, Time, To};
use headrace_spec::{Access, Position, Scenario, Topology, Workload, WorkloadKind};

use super::{Error, Options, System, span};
use crate::app::{self, Workloads};
use crate::measure::Recorder;
use crate::network::{self, ClientAttachment, Hosts, ServerAttachment};
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
    let clients = page.fold("client", hosts.clients, |page| {
        client_host(page, scenario, hosts)
    });
    let servers = page.fold("server", hosts.servers, |page| server_host(page, scenario));
    let names = page.fold("metadata", hosts.metadata, |page| {
        let attachment = network::attach_server(page, scenario, &scenario.metadata.card);
        metadata::server(page, scenario, attachment.received, attachment.send);
        attachment
    });
    let gateway = match scenario.scheduler.position {
        Position::Gateway => page.page("gateway", |page| qos::build(page, scenario)),
        Position::Client | Position::Server => None,
    };
    network::join(&mut page, &clients.attachment, &servers, &names, gateway);
    page.connect(
        processes.request,
        clients.request.by(|it: &Request| it.process.client),
    );
    page.connect(clients.complete, processes.complete);
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

/// A client's ways in and out.
struct ClientHost {
    request: Port<Request>,
    complete: Port<Request>,
    attachment: ClientAttachment,
}

/// A client, with its scheduler if schedulers stand there.
fn client_host(page: &mut Page<'_>, scenario: &Scenario, hosts: Hosts) -> ClientHost {
    let request = page.input("request");
    let complete = page.output("complete");
    let attachment = network::attach_client(page, scenario, hosts);
    let scheduler = match scenario.scheduler.position {
        Position::Client => qos::build(page, scenario),
        Position::Gateway | Position::Server => None,
    };
    let (send, received) = match scheduler {
        None => (attachment.send, attachment.received),
        Some(scheduler) => {
            page.connect(scheduler.dispatched, attachment.send);
            // Answers of metadata servers were not scheduled.
            let back = page.place("back");
            let (job, answer): (To<Job>, To<Job>) = (scheduler.finished.into(), back.into());
            page.transition("sort").take(attachment.received).route(
                [job, answer],
                move |_, it: &mut Job, ()| {
                    if it.role == Role::Data { job } else { answer }
                },
            );
            page.connect(scheduler.returned, back);
            (scheduler.submit.into(), back)
        }
    };
    let ask = attachment.ask;
    client::client(
        page,
        scenario,
        request,
        complete,
        client::Network {
            send,
            ask,
            received,
        },
    );
    ClientHost {
        request,
        complete,
        attachment,
    }
}

/// A data server, with its scheduler if schedulers stand there.
fn server_host(page: &mut Page<'_>, scenario: &Scenario) -> ServerAttachment {
    let attachment = network::attach_server(page, scenario, &scenario.servers.card);
    let scheduler = match scenario.scheduler.position {
        Position::Server => qos::build(page, scenario),
        Position::Gateway | Position::Client => None,
    };
    match scheduler {
        None => server::server(page, scenario, attachment.received, attachment.send),
        Some(scheduler) => {
            let dispatched = page.place("dispatched");
            page.connect(attachment.received, scheduler.submit);
            page.connect(scheduler.dispatched, dispatched);
            page.connect(scheduler.returned, attachment.send);
            server::server(page, scenario, dispatched, scheduler.finished.into());
        }
    }
    attachment
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
