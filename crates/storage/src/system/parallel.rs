//! A parallel file system: clients, network, data and metadata servers.

use headrace_net::{Builder, Node, Page, Port, Span, To};
use headrace_spec::{Parallel, Position, Scenario};

use super::{Error, Options, System, work};
use crate::client::in_flight::InFlight;
use crate::client::{Copies, Knowledge, Layout};
use crate::localfs::{Sizes, Users};
use crate::network::{self, Attachments, Between, ClientAttachment, Hosts, ServerAttachment};
use crate::processors::{Kind, Shared};
use crate::qos::{SchedulerPorts, Schedulers};
use crate::server::Holdings;
use crate::tokens::{Job, Request, Role};
use crate::{client, messages, metadata, processors, qos, server};

/// Builds the scenario's net.
pub(super) fn build(
    scenario: &Scenario,
    parallel: &Parallel,
    options: Options<'_>,
) -> Result<System, Error> {
    let hosts = Hosts {
        clients: scenario.clients.count,
        servers: parallel.servers.count,
        metadata: parallel.metadata.servers,
    };
    let schedulers = Schedulers::new(parallel, &scenario.clients.groups, options.schedulers);
    let mut builder = Builder::new("system", scenario.run.seed);
    let mut page = builder.root();
    let work = work::write(&mut page, scenario, options)?;
    let knowledge = Knowledge {
        users: Users::clients(scenario),
        sizes: Sizes::default(),
        directories: work.directories.clone(),
    };
    for file in &work.existing {
        knowledge.sizes.grow(file.file, file.size);
    }
    let clients = page.fold("client", hosts.clients, |page| {
        client_host(page, scenario, parallel, &knowledge, hosts, schedulers)
    });
    let layout = Layout::new(scenario, parallel, page.seed());
    let copies = Copies::new(parallel, page.seed());
    let files = |server: u32| {
        let parts = work.existing.iter().map(|file| {
            let place = copies.place(file.file, server);
            let size = place.map_or(0, |(it, _)| layout.part(file.file, file.size, it));
            file.stored(scenario, size)
        });
        parts.filter(|part| part.size > 0).collect()
    };
    let holdings = Holdings {
        users: Users::daemon(scenario, parallel.servers.daemon.synchronous),
        files: &files,
    };
    let (servers, server_cpu) = page.fold("server", hosts.servers, |page| {
        server_host(page, parallel, &holdings, schedulers)
    });
    let (names, metadata_cpu) = page.fold("metadata", hosts.metadata, |page| {
        let attachment = network::attach_server(page, parallel, &parallel.metadata.card);
        let shared = metadata_host(page, parallel, &attachment, schedulers);
        (attachment, shared)
    });
    processors::join(
        &mut page,
        parallel,
        [clients.shared, server_cpu, metadata_cpu],
    );
    let between = between(&mut page, parallel.scheduler.position, hosts, schedulers);
    let attachments = Attachments {
        clients: clients.attachment,
        servers,
        metadata: names,
    };
    let links = network::join(
        &mut page,
        parallel,
        &scenario.clients,
        hosts,
        &attachments,
        between,
    );
    page.connect(
        work.ports.request,
        clients.request.by(|it: &Request| it.process.client),
    );
    page.connect(clients.complete, work.ports.complete);
    Ok(System {
        net: builder.compile()?,
        recorder: work.recorder,
        latency: work.latency,
        total_requests: work.total_requests,
        links,
    })
}

/// A client's ways in and out.
struct ClientHost {
    request: Port<Request>,
    complete: Port<Request>,
    attachment: ClientAttachment,
    shared: Option<Shared>,
}

/// A client, with its scheduler if schedulers stand there.
fn client_host(
    page: &mut Page<'_>,
    scenario: &Scenario,
    parallel: &Parallel,
    knowledge: &Knowledge,
    hosts: Hosts,
    schedulers: Schedulers<'_>,
) -> ClientHost {
    let clients = &scenario.clients;
    let request = page.input("request");
    let complete = page.output("complete");
    let attachment = network::attach_client(page, parallel, &clients.card, hosts);
    let scheduler = qos::build(page, schedulers, Position::Client);
    let send = [attachment.send, attachment.ask];
    let host = processors::host(page, parallel, Kind::Client, send, attachment.received);
    let mut way = messages::client(page, parallel, (host.send, host.received));
    if let Some(scheduler) = scheduler {
        way = through(page, ["back", "sort"], &scheduler, way);
    }
    if let Some(most) = clients.rpc.in_flight.limit() {
        let lines = qos::named(page, "rpc", Span::ZERO, |_| Box::new(InFlight::new(most)));
        way = through(page, ["answered rpc", "sort rpc"], &lines, way);
    }
    let (send, received) = way;
    let (ask, shared) = (host.ask, host.shared);
    client::client(
        page,
        scenario,
        parallel,
        knowledge,
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
        shared,
    }
}

/// A client's way to the servers, through a scheduler; the names are of the place
/// where jobs come back, and of the transition that tells them apart.
fn through(
    page: &mut Page<'_>,
    [place, transition]: [&str; 2],
    scheduler: &SchedulerPorts,
    (send, received): (To<Job>, Node<Job>),
) -> (To<Job>, Node<Job>) {
    page.connect(scheduler.dispatched, send);
    // Answers of metadata servers were not scheduled.
    let back = page.place(place);
    let (job, answer): (To<Job>, To<Job>) = (scheduler.finished.into(), back.into());
    page.transition(transition)
        .take(received)
        .route([job, answer], move |_, it: &mut Job, ()| {
            if it.role == Role::Data { job } else { answer }
        });
    page.connect(scheduler.returned, back);
    (scheduler.submit.into(), back)
}

/// A data server, with its scheduler if schedulers stand there.
fn server_host(
    page: &mut Page<'_>,
    parallel: &Parallel,
    holdings: &Holdings<'_>,
    schedulers: Schedulers<'_>,
) -> (ServerAttachment, Option<Shared>) {
    let attachment = network::attach_server(page, parallel, &parallel.servers.card);
    let to_clients = [attachment.send; 2];
    let host = processors::host(
        page,
        parallel,
        Kind::Server,
        to_clients,
        attachment.received,
    );
    let way = messages::server(page, parallel, (host.send, host.received));
    let way = server::chain(page, parallel, way);
    let (send, received) = server::receive_buffers(page, parallel, way);
    let scheduler = qos::build(page, schedulers, Position::Server);
    match scheduler {
        None => server::server(page, parallel, holdings, received, send),
        Some(scheduler) => {
            let dispatched = page.place("dispatched");
            page.connect(received, scheduler.submit);
            page.connect(scheduler.dispatched, dispatched);
            page.connect(scheduler.returned, send);
            server::server(
                page,
                parallel,
                holdings,
                dispatched,
                scheduler.finished.into(),
            );
        }
    }
    (attachment, host.shared)
}

/// A metadata server, with its scheduler if schedulers stand there.
fn metadata_host(
    page: &mut Page<'_>,
    parallel: &Parallel,
    attachment: &ServerAttachment,
    schedulers: Schedulers<'_>,
) -> Option<Shared> {
    let send = [attachment.send; 2];
    let host = processors::host(page, parallel, Kind::Server, send, attachment.received);
    let (send, received) = (host.send, host.received);
    let scheduler = qos::build(page, schedulers, Position::Metadata);
    match scheduler {
        None => metadata::server(page, parallel, received, send),
        Some(scheduler) => {
            let dispatched = page.place("dispatched");
            page.connect(received, scheduler.submit);
            page.connect(scheduler.dispatched, dispatched);
            page.connect(scheduler.returned, send);
            metadata::server(page, parallel, dispatched, scheduler.finished.into());
        }
    }
    host.shared
}

/// The schedulers that stand in the network, if they do.
fn between(
    page: &mut Page<'_>,
    position: Position,
    hosts: Hosts,
    schedulers: Schedulers<'_>,
) -> Option<Between> {
    match position {
        Position::Gateway => {
            let build = |page: &mut Page<'_>| qos::build(page, schedulers, position);
            page.page("gateway", build).map(Between::Gateway)
        }
        Position::Proxy => {
            let build = |page: &mut Page<'_>| qos::build(page, schedulers, position);
            page.fold("proxy", hosts.servers, build)
                .map(Between::Proxies)
        }
        Position::Client | Position::Server | Position::Metadata => None,
    }
}
