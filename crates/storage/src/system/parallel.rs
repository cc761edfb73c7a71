//! A parallel file system: clients, network, data and metadata servers.

use std::cell::RefCell;

use headrace_net::{Builder, Node, Page, Port, Span, To};
use headrace_spec::{MetadataHosts, Parallel, Position, Scenario};

use super::{Error, Options, System, workload_processes};
use crate::client::in_flight::InFlight;
use crate::client::{BreakPorts, Changes, ClientContext};
use crate::failure::{Crash, Failing};
use crate::layout::{FirstTargets, Layouts, ReplicaPlacement};
use crate::localfs::{Callers, Sizes};
use crate::locks::Oplocks;
use crate::network::{
    self, Attachments, Between, ClientAttachment, ClientPorts, Hosts, ServerAttachment,
};
use crate::processors::{Kind, Shared};
use crate::qos::{SchedulerPorts, Schedulers};
use crate::server::InitialFiles;
use crate::tokens::{Job, Message, Request, Role};
use crate::{client, failure, messages, metadata, processors, qos, server};

/// Builds the scenario's net.
pub(super) fn build(
    scenario: &Scenario,
    parallel: &Parallel,
    options: Options<'_>,
) -> Result<System, Error> {
    let hosts = Hosts {
        clients: scenario.clients.count,
        servers: parallel.servers.count,
        metadata: match parallel.metadata.on {
            MetadataHosts::Own => parallel.metadata.servers,
            MetadataHosts::DataServers | MetadataHosts::EveryDataServer => 0,
        },
    };
    let schedulers = Schedulers::new(parallel, &scenario.clients.groups, options.schedulers);
    let mut builder = Builder::new("system", scenario.run.seed);
    let mut page = builder.root();
    let failing = failure::failures(&mut page, scenario, parallel);
    let over = failing.and_then(|it| it.repairing).map(|it| it.over);
    let work = workload_processes::write(&mut page, scenario, options, over)?;
    let mut sizes = Sizes::default();
    for file in &work.existing {
        sizes.grow(file.file, file.size);
    }
    let context = ClientContext {
        callers: Callers::clients(scenario),
        sizes: page.store("file sizes", move |_| sizes.clone()),
        directories: work.directories.clone(),
        changes: (scenario.clients.machine())
            .map(|_| page.store("changes", |_| Changes::default())),
        layouts: Layouts::new(scenario, parallel, &work.directories, page.seed()),
        first_targets: page.store("first targets", |_| FirstTargets::default()),
        oplocks: oplocks(scenario).map(|oplocks| page.store("oplocks", move |_| oplocks.clone())),
    };
    let clients = page.fold("client", hosts.clients, |page| {
        client_host(
            page, scenario, parallel, &context, hosts, schedulers, failing,
        )
    });
    let layouts = &context.layouts;
    let copies = ReplicaPlacement::new(parallel, page.seed());
    let first_targets = RefCell::new(FirstTargets::default());
    let files = |server: u32| {
        let mut first_targets = first_targets.borrow_mut();
        let parts = work.existing.iter().map(|file| {
            let place = copies.place(file.file, 0, server);
            let size = place.map_or(0, |(it, _)| {
                let layout = layouts.file(file.file, &mut first_targets);
                layout.part(file.size, it)
            });
            file.stored(scenario, size)
        });
        parts.filter(|part| part.size > 0).collect()
    };
    let initial_files = InitialFiles {
        callers: Callers::daemon(scenario, parallel.servers.daemon.synchronous),
        files: &files,
    };
    let servers = page.fold("server", hosts.servers, |page| {
        server_host(page, parallel, &initial_files, schedulers, failing)
    });
    let (names, metadata_cpu, forget_names) = match servers.names {
        Some(for_names) => {
            let forget = names_on_servers(&mut page, parallel, for_names, failing);
            (None, None, forget)
        }
        None => {
            let (attachment, shared, forget) = page.fold("metadata", hosts.metadata, |page| {
                metadata_host(page, parallel, schedulers, failing)
            });
            (Some(attachment), shared, forget)
        }
    };
    if let Some(partner) = servers.partner {
        partner.join(&mut page);
    }
    if let Some(failing) = failing {
        let forget = [servers.forget, forget_names];
        let forget = forget.map(|port| port.map(|it| it.by(|crash: &Crash| crash.server)));
        failure::clock(&mut page, failing, parallel, forget);
        if let (Some(repairing), Some(order)) = (failing.repairing, servers.order) {
            let order = order.by(|job: &Job| job.server);
            failure::plan(&mut page, failing, repairing, order);
        }
    }
    processors::join(
        &mut page,
        parallel,
        [clients.shared, servers.shared, metadata_cpu],
    );
    let position = parallel.scheduler.position;
    let between = between(&mut page, position, hosts, schedulers, failing);
    let attachments = Attachments {
        clients: clients.attachment,
        servers: servers.attachment,
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
    if let Some(breaks) = clients.breaks {
        breaks.join(&mut page);
    }
    let mut net = builder.compile()?;
    let mut first_targets = first_targets.into_inner();
    if let Some(failing) = failing {
        let world = &mut net.store_mut(failing.store, 0).world;
        for file in &work.existing {
            let layout = layouts.file(file.file, &mut first_targets);
            world.has(file.file, file.size, |place| layout.part(file.size, place));
        }
    }
    *net.store_mut(context.first_targets, 0) = first_targets;
    Ok(System {
        net,
        workloads: work.ports.workloads,
        recorder: work.recorder,
        latency: work.latency,
        total_requests: work.total_requests,
        left_out: work.left_out,
        links,
        failing,
    })
}

/// The locks under which clients cache, if they do.
fn oplocks(scenario: &Scenario) -> Option<Oplocks> {
    let machine = scenario.clients.machine()?;
    let locks = machine.attributes.oplocks()?;
    Some(Oplocks::new(locks.level_two))
}

/// A client's ways in and out.
struct ClientHost {
    request: Port<Request>,
    complete: Port<Request>,
    attachment: ClientAttachment,
    shared: Option<Shared>,
    breaks: Option<BreakPorts>,
}

/// A client, with its scheduler if schedulers stand there.
fn client_host(
    page: &mut Page<'_>,
    scenario: &Scenario,
    parallel: &Parallel,
    context: &ClientContext,
    hosts: Hosts,
    schedulers: Schedulers<'_>,
    failing: Option<Failing>,
) -> ClientHost {
    let clients = &scenario.clients;
    let request = page.input("request");
    let complete = page.output("complete");
    let attachment = network::attach_client(page, parallel, &clients.card, hosts);
    let scheduler = qos::build(page, schedulers, Position::Client);
    let send = [attachment.send, attachment.ask];
    let host = processors::host(page, parallel, Kind::Client, send, attachment.received);
    let (locks, received) = about_locks(page, parallel, host.received);
    let network = ClientPorts {
        send: host.send,
        ask: host.ask,
        received,
        locks: locks.map(|received| (host.send, received)),
    };
    let network = failure::client(page, failing, network);
    let (ask, locks) = (network.ask, network.locks);
    let mut way = messages::client(page, parallel, (network.send, network.received));
    if let Some(scheduler) = scheduler {
        way = through(page, ["back", "sort"], &scheduler, way);
    }
    if let Some(most) = clients.rpc.in_flight.limit() {
        let lines = qos::named(page, "rpc", Span::ZERO, |_| Box::new(InFlight::new(most)));
        way = through(page, ["answered rpc", "sort rpc"], &lines, way);
    }
    let (send, received) = way;
    let shared = host.shared;
    let breaks = client::client(
        page,
        scenario,
        parallel,
        context,
        request,
        complete,
        ClientPorts {
            send,
            ask,
            received,
            locks,
        },
    );
    ClientHost {
        request,
        complete,
        attachment,
        shared,
        breaks,
    }
}

/// Tells what is about locks, if there are any, from what else a client has received.
fn about_locks(
    page: &mut Page<'_>,
    parallel: &Parallel,
    received: Node<Job>,
) -> (Option<Node<Job>>, Node<Job>) {
    if parallel.locks.extent().is_none() {
        return (None, received);
    }
    let (locks, others) = (page.place("about locks"), page.place("not about locks"));
    let (to_locks, to_others): (To<Job>, To<Job>) = (locks.into(), others.into());
    page.transition("locks or answers").take(received).route(
        [to_locks, to_others],
        move |_, job: &mut Job, ()| match job.message.is_about_locks() {
            true => to_locks,
            false => to_others,
        },
    );
    (Some(locks), others)
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

/// A server's way from and to the clients, behind its scheduler if it has one.
fn behind(
    page: &mut Page<'_>,
    scheduler: Option<SchedulerPorts>,
    (send, received): (To<Job>, Node<Job>),
) -> (To<Job>, Node<Job>) {
    let Some(scheduler) = scheduler else {
        return (send, received);
    };
    let dispatched = page.place("dispatched");
    page.connect(received, scheduler.submit);
    page.connect(scheduler.dispatched, dispatched);
    page.connect(scheduler.returned, send);
    (scheduler.finished.into(), dispatched)
}

/// A data server's ways in and out.
struct ServerHost {
    attachment: ServerAttachment,
    shared: Option<Shared>,
    names: Option<NamePorts>,
    /// Place where a failure clears its memory.
    forget: Option<Port<Crash>>,
    /// Its ways to its partner's devices.
    partner: Option<server::PartnerPorts>,
    /// Place for orders to copy data to other servers.
    order: Option<Port<Job>>,
}

/// A data server, with its scheduler if schedulers stand there.
fn server_host(
    page: &mut Page<'_>,
    parallel: &Parallel,
    initial_files: &InitialFiles<'_>,
    schedulers: Schedulers<'_>,
    failing: Option<Failing>,
) -> ServerHost {
    let attachment =
        network::attach_server(page, parallel, &parallel.network, &parallel.servers.card);
    let ports = (attachment.send, attachment.received);
    let (send, received) = failure::availability_gate(page, failing, 0, ports);
    let host = processors::host(page, parallel, Kind::Server, [send; 2], received);
    let way = (host.send, host.received);
    let (copying, received) = failure::sort(page, parallel, failing, way);
    let (names, received) = match parallel.metadata.on {
        MetadataHosts::Own => (None, received),
        MetadataHosts::DataServers | MetadataHosts::EveryDataServer => {
            let (names, received) = name_ports(page, host.send, received);
            (Some(names), received)
        }
    };
    let for_daemon = names.as_ref().map(|it| it.1);
    let received = server::locks(page, parallel, host.send, received);
    let way = messages::server(page, parallel, (host.send, received));
    let way = server::replication_chain(page, parallel, failing, way);
    let (send, received) = server::receive_buffers(page, parallel, way);
    let scheduler = qos::build(page, schedulers, Position::Server);
    let way = behind(page, scheduler, (send, received));
    let (send, received) = failure::join(page, copying.as_ref(), way);
    let server::Ports { forget, partner } = server::server(
        page,
        parallel,
        initial_files,
        for_daemon,
        received,
        send,
        failing,
    );
    ServerHost {
        attachment,
        shared: host.shared,
        names: names.map(|it| it.0),
        forget,
        partner,
        order: copying.map(|it| it.order),
    }
}

/// A data server's ways to the metadata server on it, and back.
#[derive(Clone, Copy)]
struct NamePorts {
    ask: Port<Job>,
    answer: Port<Job>,
}

/// Tells what concerns names from what concerns data, where a data server is a metadata
/// server too: the ports, what the daemon does for names, and what is left.
fn name_ports(
    page: &mut Page<'_>,
    send: To<Job>,
    received: Node<Job>,
) -> ((NamePorts, server::Names), Node<Job>) {
    let ask = page.output("to names");
    let answer = page.input("from names");
    let (names, data) = (page.place("for names"), page.place("for data"));
    let (to_names, to_data): (To<Job>, To<Job>) = (names.into(), data.into());
    page.transition("names or data").take(received).route(
        [to_names, to_data],
        move |_, job: &mut Job, ()| match job.role {
            Role::Metadata => to_names,
            Role::Data => to_data,
        },
    );
    let answered = page.place("names answered");
    page.connect(answer, answered);
    page.transition("answer names")
        .take(answered)
        .put(send, |_, job: Job, ()| job);
    let ports = NamePorts { ask, answer };
    let names = server::Names {
        received: names,
        processed: ask.into(),
    };
    ((ports, names), data)
}

/// The metadata servers that are on data servers: what is left of them is where
/// entries are kept. Gives where they lose their memory.
fn names_on_servers(
    page: &mut Page<'_>,
    parallel: &Parallel,
    servers: NamePorts,
    failing: Option<Failing>,
) -> Option<Port<Crash>> {
    let (ask, answer, forget) = page.fold("metadata", parallel.metadata_servers(), |page| {
        let (ask, answer) = (page.input("ask"), page.output("answers"));
        let received = page.place("received");
        page.connect(ask, received);
        let forget = metadata::server(page, parallel, received, answer.into(), failing);
        (ask, answer, forget)
    });
    page.connect(servers.ask, ask.by(|job: &Job| job.server));
    page.connect(answer, servers.answer.by(|job: &Job| job.server));
    forget
}

/// A metadata server, with its scheduler if schedulers stand there.
fn metadata_host(
    page: &mut Page<'_>,
    parallel: &Parallel,
    schedulers: Schedulers<'_>,
    failing: Option<Failing>,
) -> (ServerAttachment, Option<Shared>, Option<Port<Crash>>) {
    let network = parallel.metadata_network();
    let attachment = network::attach_server(page, parallel, &network, &parallel.metadata.card);
    let ports = (attachment.send, attachment.received);
    let first = parallel.servers.count;
    let (send, received) = failure::availability_gate(page, failing, first, ports);
    let host = processors::host(page, parallel, Kind::Server, [send; 2], received);
    let scheduler = qos::build(page, schedulers, Position::Metadata);
    let (send, received) = behind(page, scheduler, (host.send, host.received));
    let forget = metadata::server(page, parallel, received, send, failing);
    (attachment, host.shared, forget)
}

/// The schedulers that stand in the network, if they do.
fn between(
    page: &mut Page<'_>,
    position: Position,
    hosts: Hosts,
    schedulers: Schedulers<'_>,
    failing: Option<Failing>,
) -> Option<Between> {
    let build = |page: &mut Page<'_>| {
        let scheduler = qos::build(page, schedulers, position);
        scheduler.map(|it| failure::lossy_scheduler(page, failing, it))
    };
    let between = match position {
        Position::Gateway => page.page("gateway", build).map(Between::Gateway),
        Position::Proxy => page
            .fold("proxy", hosts.servers, build)
            .map(Between::Proxies),
        Position::Client | Position::Server | Position::Metadata => None,
    };
    if let Some(given_up) = failing.and_then(|it| it.given_up) {
        let to: Option<To<Job>> = between.as_ref().map(|it| match it {
            Between::Gateway(gateway) => gateway.finished.into(),
            Between::Proxies(proxies) => proxies.finished.by(|job: &Job| job.server),
        });
        let tell = page.transition("tell schedulers").take(given_up);
        match to {
            Some(to) => tell.put(to, |_, job: Job, ()| Job {
                message: Message::Failed,
                ..job
            }),
            None => tell.fires(|_, _: Job, ()| {}),
        }
    }
    between
}
