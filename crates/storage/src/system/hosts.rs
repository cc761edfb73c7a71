//! The hosts of a parallel file system: clients, data servers and metadata servers.
//!
//! A host is a list of stages around the way of its jobs, from its attachment to the network
//! inwards. Most scenarios have few of them.
//!
//! ```text
//!   client:   card ─ processor ─ (locks) ─ attempts ─ messages ─ scheduler ─ RPC limit ─ code
//!                  ─ client
//!   server:   card ─ gate ─ processor ─ (copies) ─ (names) ─ locks ─ messages ─ code
//!                  ─ chain ─ receive buffers ─ scheduler ─ server
//!   metadata: card ─ gate ─ processor ─ scheduler ─ metadata server
//! ```
//!
//! The word in parentheses separates jobs of one kind from the others.

use headrace_net::{Page, Port, Span, Store, To};
use headrace_spec::{MetadataHosts, Parallel, Position, Scenario};
use headrace_workload::Directories;

use crate::client::in_flight::InFlight;
use crate::client::{BreakPorts, ClientContext};
use crate::duplex::Duplex;
use crate::erasure_code::{self, CodedFiles};
use crate::failure::{Crash, Failing};
use crate::host_pages::{HostNumbers, JoinPages, each};
use crate::layout::Placements;
use crate::network::{self, ClientAttachment, ClientPorts, Hosts, ServerAttachment};
use crate::processors::{Kind, Shared};
use crate::qos::{Ask, JobCounter, SchedulerPorts, Schedulers, Watch};
use crate::server::{InitialFiles, Served};
use crate::tokens::{Job, Request, Role};
use crate::{client, failure, messages, metadata, processors, qos, server};

/// Parts of a scenario that hosts are written from.
#[derive(Clone, Copy)]
pub(super) struct HostSpec<'a> {
    /// The hosts' numbers.
    pub numbers: &'a HostNumbers,
    pub scenario: &'a Scenario,
    pub parallel: &'a Parallel,
    pub hosts: Hosts,
    /// Directories of the files.
    pub directories: &'a Directories,
    pub schedulers: Schedulers<'a>,
    /// None if no server fails.
    pub failing: Option<Failing>,
    /// Views of the servers that schedulers have.
    pub watches: &'a [Watch],
    /// Placements of the caller's own.
    pub placements: &'a Placements<'a>,
    /// Sizes of files in stripes of a code, if there is one.
    pub coded: Option<Store<CodedFiles>>,
}

/// A client's ways in and out.
pub(super) struct ClientHost {
    pub request: Port<Request>,
    pub complete: Port<Request>,
    pub attachment: ClientAttachment,
    pub shared: Option<Shared>,
    pub breaks: Option<BreakPorts>,
    /// Where its scheduler learns of the servers.
    pub news: Vec<To<Job>>,
}

impl ClientHost {
    /// Joins the pages of heterogeneous clients.
    pub fn join(join: &mut JoinPages<'_, '_>, mut all: Vec<ClientHost>) -> Option<ClientHost> {
        if all.len() < 2 {
            return all.pop();
        }
        let request = join.input("request", all.iter().map(|it| it.request));
        let complete = join.output("complete", all.iter().map(|it| it.complete));
        let shared = each(&all, |it| it.shared);
        let breaks = each(&all, |it| it.breaks);
        let news = all.iter().flat_map(|it| it.news.clone()).collect();
        let attachments: Vec<ClientAttachment> = all.into_iter().map(|it| it.attachment).collect();
        Some(ClientHost {
            request,
            complete,
            attachment: ClientAttachment::join(join, &attachments)?,
            shared: shared.map(|all| Shared::join(join, &all)),
            breaks: breaks.map(|all| BreakPorts::of_pages(join, &all)),
            news,
        })
    }
}

/// Writes the page of a client.
pub(super) fn client_host(
    page: &mut Page<'_>,
    spec: HostSpec<'_>,
    context: &ClientContext,
) -> ClientHost {
    let HostSpec {
        scenario, parallel, ..
    } = spec;
    let clients = &scenario.clients;
    let request = page.input("request");
    let complete = page.output("complete");
    let attachment = network::attach_client(page, parallel, &clients.card, spec.hosts);
    let scheduler = qos::build(page, spec.schedulers, Position::Client, |copy| {
        spec.numbers.of(copy)
    });
    let news = scheduler.as_ref().and_then(qos::news_of_copies);
    let news = Vec::from_iter(news);

    let way = attachment.duplex();
    let host = processors::host(page, parallel, Kind::Client, way, attachment.ask);
    let (locks, way) = lock_messages(page, parallel, host.duplex);
    let (way, ask) = failure::client(page, spec.failing, spec.numbers.clone(), way, host.ask);
    let way = messages::client(page, parallel, way);
    let way = client_scheduler(page, ["back", "sort"], scheduler, way);
    let per = clients.rpc.per;
    let in_flight = clients.rpc.in_flight.limit().map(|most| {
        qos::named(page, "rpc", Span::ZERO, |_| {
            Box::new(InFlight::new(most, per))
        })
    });
    let way = client_scheduler(page, ["answered rpc", "sort rpc"], in_flight, way);
    let way = erasure_code::client(page, scenario, parallel, spec.coded, spec.failing, way);
    let ports = ClientPorts {
        data: way,
        ask,
        locks,
    };
    let breaks = client::client(page, scenario, parallel, context, request, complete, ports);
    ClientHost {
        request,
        complete,
        attachment,
        shared: host.shared,
        breaks,
        news,
    }
}

/// Separates messages about locks from what else a client receives, if there are any.
fn lock_messages(
    page: &mut Page<'_>,
    parallel: &Parallel,
    outside: Duplex,
) -> (Option<Duplex>, Duplex) {
    if parallel.locks.extent().is_none() {
        return (None, outside);
    }
    let places = ["about locks", "not about locks"];
    let (received, others) = outside.separate(page, "locks or answers", places, |job| {
        job.message.is_about_locks()
    });
    let locks = Duplex {
        received,
        ..outside
    };
    (Some(locks), others)
}

/// Puts a scheduler between a client and its network, if there is one. The names are of the place
/// where jobs come back, and of the transition that finds those that were scheduled.
fn client_scheduler(
    page: &mut Page<'_>,
    [place, transition]: [&str; 2],
    scheduler: Option<SchedulerPorts>,
    outside: Duplex,
) -> Duplex {
    let Some(scheduler) = scheduler else {
        return outside;
    };
    page.connect(scheduler.dispatched, outside.send);
    // Answers of metadata servers were not scheduled.
    let back = page.place(place);
    let (job, answer): (To<Job>, To<Job>) = (scheduler.finished.into(), back.into());
    page.transition(transition).take(outside.received).route(
        [job, answer],
        move |_, it: &mut Job, ()| {
            if it.role == Role::Data { job } else { answer }
        },
    );
    page.connect(scheduler.returned, back);
    Duplex {
        send: scheduler.submit.into(),
        received: back,
    }
}

/// Puts a scheduler between a server and its network, if schedulers stand there.
fn server_scheduler(
    page: &mut Page<'_>,
    spec: HostSpec<'_>,
    position: Position,
    outside: Duplex,
) -> (Option<To<Job>>, Duplex) {
    // Metadata servers are numbered after data servers, and their schedulers from 0.
    let number_of = |copy| match position {
        Position::Metadata => copy,
        _ => spec.numbers.of(copy),
    };
    let Some(scheduler) = qos::build(page, spec.schedulers, position, number_of) else {
        return (None, outside);
    };
    let dispatched = page.place("dispatched");
    page.connect(outside.received, scheduler.submit);
    page.connect(scheduler.dispatched, dispatched);
    page.connect(scheduler.returned, outside.send);
    let inside = Duplex {
        send: scheduler.finished.into(),
        received: dispatched,
    };
    (qos::news_of_copies(&scheduler), inside)
}

/// A data server's ways in and out.
pub(super) struct ServerHost {
    pub attachment: ServerAttachment,
    pub shared: Option<Shared>,
    pub names: Option<NamePorts>,
    /// Place where a failure clears its memory.
    pub forget: Option<Port<Crash>>,
    /// Its ways to its partner's devices.
    pub partner: Option<server::PartnerPorts>,
    /// Place for orders to copy data to other servers.
    pub order: Option<Port<Job>>,
    /// Where its scheduler learns of the servers.
    pub news: Vec<To<Job>>,
    /// The place of requests for reports, for each view of the servers.
    pub asks: Vec<Port<Ask>>,
    /// Count of answered jobs.
    pub served: Store<Served>,
}

impl ServerHost {
    /// Joins the pages of heterogeneous servers; none of them has a partner.
    pub fn join(join: &mut JoinPages<'_, '_>, mut all: Vec<ServerHost>) -> Option<ServerHost> {
        if all.len() < 2 {
            return all.pop();
        }
        let served = all.first()?.served;
        let shared = each(&all, |it| it.shared);
        let names = each(&all, |it| it.names);
        let forget = each(&all, |it| it.forget);
        let order = each(&all, |it| it.order);
        let news = all.iter().flat_map(|it| it.news.clone()).collect();
        let views = all.first().map_or(0, |it| it.asks.len());
        let asks = (0..views).map(|view| {
            join.input(
                &format!("asked for view {view}"),
                all.iter().map(|it| it.asks[view]),
            )
        });
        let asks = asks.collect();
        let attachments: Vec<ServerAttachment> = all.into_iter().map(|it| it.attachment).collect();
        Some(ServerHost {
            attachment: ServerAttachment::join(join, &attachments)?,
            shared: shared.map(|all| Shared::join(join, &all)),
            names: names.map(|all| NamePorts {
                ask: join.output("to names", all.iter().map(|it| it.ask)),
                answer: join.input("from names", all.iter().map(|it| it.answer)),
            }),
            forget: forget.map(|all| join.input("crash", all.into_iter())),
            partner: None,
            order: order.map(|all| join.input("order", all.into_iter())),
            news,
            asks,
            served,
        })
    }
}

/// Writes the page of a data server.
pub(super) fn server_host(
    page: &mut Page<'_>,
    spec: HostSpec<'_>,
    initial_files: &InitialFiles<'_>,
) -> ServerHost {
    let HostSpec {
        parallel, failing, ..
    } = spec;
    let card = &parallel.servers.card;
    let attachment = network::attach_server(page, parallel, &parallel.network, card);

    let way = failure::availability_gate(page, failing, spec.numbers.clone(), attachment.duplex());
    let host = processors::host(page, parallel, Kind::Server, way, way.send);
    let (copying, way) = failure::sort(page, parallel, failing, host.duplex);
    let (names, way) = name_messages(page, parallel, way);
    let way = server::locks(page, parallel, way);
    let way = messages::server(page, parallel, way);
    let scenario = spec.scenario;
    let way = erasure_code::server(page, scenario, parallel, spec.coded, failing, way);
    let way = server::replication_chain(page, parallel, failing, way);
    let way = server::receive_buffers(page, parallel, way);
    let (counter, way) = JobCounter::write(page, spec.watches, way);
    let (news, way) = server_scheduler(page, spec, Position::Server, way);
    let way = failure::join(page, copying.as_ref(), way);
    let (names, for_daemon) = names.unzip();
    let (ports, served) = server::server(page, parallel, initial_files, for_daemon, way, failing);
    let threads = parallel
        .servers
        .machine()
        .map(|_| parallel.servers.daemon.threads);
    let asks = counter.map(|it| it.reports(page, spec.watches, threads));
    ServerHost {
        attachment,
        shared: host.shared,
        names,
        forget: ports.forget,
        partner: ports.partner,
        order: copying.map(|it| it.order),
        news: Vec::from_iter(news),
        asks: asks.unwrap_or_default(),
        served,
    }
}

/// A data server's ways to the metadata server on it, and back.
#[derive(Clone, Copy)]
pub(super) struct NamePorts {
    pub ask: Port<Job>,
    pub answer: Port<Job>,
}

/// Separates messages about names from those about data, where a data server is a metadata server
/// too. Returns the ports, and the daemon's cost of names.
fn name_messages(
    page: &mut Page<'_>,
    parallel: &Parallel,
    outside: Duplex,
) -> (Option<(NamePorts, server::Names)>, Duplex) {
    if parallel.metadata.on == MetadataHosts::Own {
        return (None, outside);
    }
    let ask = page.output("to names");
    let answer = page.input("from names");
    let places = ["for names", "for data"];
    let (received, data) = outside.separate(page, "names or data", places, |job| {
        job.role == Role::Metadata
    });
    let answered = page.place("names answered");
    page.connect(answer, answered);
    page.transition("answer names")
        .take(answered)
        .put(outside.send, |_, job: Job, ()| job);
    let ports = NamePorts { ask, answer };
    let names = server::Names {
        received,
        processed: ask.into(),
    };
    (Some((ports, names)), data)
}

/// A metadata server's ways in and out.
pub(super) struct MetadataHost {
    pub attachment: ServerAttachment,
    pub shared: Option<Shared>,
    /// Place where a failure clears its memory.
    pub forget: Option<Port<Crash>>,
}

/// Writes the page of a metadata server with a host of its own.
pub(super) fn metadata_host(page: &mut Page<'_>, spec: HostSpec<'_>) -> MetadataHost {
    let HostSpec {
        parallel, failing, ..
    } = spec;
    let network = parallel.metadata_network();
    let attachment = network::attach_server(page, parallel, &network, &parallel.metadata.card);

    let way = failure::availability_gate(page, failing, spec.numbers.clone(), attachment.duplex());
    let host = processors::host(page, parallel, Kind::Server, way, way.send);
    let (_, way) = server_scheduler(page, spec, Position::Metadata, host.duplex);
    let forget = metadata::server(page, parallel, spec.directories, way, failing);
    MetadataHost {
        attachment,
        shared: host.shared,
        forget,
    }
}
