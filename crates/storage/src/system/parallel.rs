//! A parallel file system: clients, network, data and metadata servers.

use headrace_net::{Builder, Page, Port, Span, Time, To};
use headrace_spec::{Position, Scenario};

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
    let mut workloads = Workloads::new(groups.clone());
    let mut files: u64 = 0;
    for workload in &scenario.workload {
        let group = workload.group.as_ref();
        let of_group = |client: &u32| {
            group.is_none_or(|name| sizes[usize::from(groups[*client as usize])].0 == name)
        };
        let clients: Vec<u32> = (0..scenario.clients.count).filter(of_group).collect();
        // A scenario that loaded has no more than fit.
        let processes = (clients.len() as u32).saturating_mul(scenario.clients.processes);
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
