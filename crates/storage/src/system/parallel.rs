//! A parallel file system: clients, network, data and metadata servers.

use std::cell::RefCell;

use headrace_net::{Builder, Page, Port, To};
use headrace_spec::{Daemon, MetadataHosts, Parallel, Position, Scenario};

use super::hosts::{self, ClientHost, HostSpec, NamePorts, ServerHost};
use super::server_reports::ServerPage;
use super::{Error, Options, System, workload_processes};
use crate::client::{Changes, ClientContext};
use crate::duplex::Duplex;
use crate::erasure_code::CodedFiles;
use crate::failure::Crash;
use crate::host_pages::{HostNumbers, JoinPages};
use crate::layout::{CodedStripes, FirstTargets, Layouts, ReplicaPlacement};
use crate::localfs::{Callers, Sizes, StoredFile};
use crate::locks::Oplocks;
use crate::network::{self, Attachments, Hosts, NetworkSchedulers};
use crate::qos::{Schedulers, Watch};
use crate::server::InitialFiles;
use crate::tokens::{Job, Message, Request};
use crate::{failure, metadata, processors, qos};

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
    let coded_stripes = CodedStripes::new(parallel);
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
    let placements = options.placements.unwrap_or(&|_| None);
    let context = ClientContext {
        numbers: HostNumbers::From(0),
        callers: Callers::clients(scenario),
        sizes: page.store("file sizes", move |_| sizes.clone()),
        directories: work.directories.clone(),
        changes: (scenario.clients.machine())
            .map(|_| page.store("changes", |_| Changes::default())),
        layouts: Layouts::new(
            scenario,
            parallel,
            &work.directories,
            page.seed(),
            placements,
        ),
        first_targets: page.store("first targets", |_| FirstTargets::default()),
        recorder: work.recorder,
        oplocks: oplocks(scenario).map(|oplocks| page.store("oplocks", move |_| oplocks.clone())),
    };
    let coded = coded_stripes.map(|_| page.store("coded files", |_| CodedFiles::default()));
    let watches = Watch::all(&mut page, parallel);
    let all_hosts = HostNumbers::From(0);
    let spec = HostSpec {
        numbers: &all_hosts,
        scenario,
        parallel,
        hosts,
        directories: &work.directories,
        schedulers,
        failing,
        watches: &watches,
        placements,
        coded,
    };
    let clients = clients(&mut page, spec, &context)?;
    let layouts = &context.layouts;
    let copies = ReplicaPlacement::new(parallel, page.seed());
    let first_targets = RefCell::new(FirstTargets::default());
    let files = |server: u32| {
        let mut first_targets = first_targets.borrow_mut();
        let parts = work.existing.iter().map(|file| {
            let place = copies.place(file.file, 0, server);
            let size = place.map_or(0, |(it, copy)| {
                let layout = layouts.file(file.file, &mut first_targets);
                let bytes = layout.part(file.size, it);
                coded_stripes.map_or(bytes, |it| it.part(bytes, copy))
            });
            file.stored(scenario, size)
        });
        parts.filter(|part| part.size > 0).collect()
    };
    let (servers, server_pages) = servers(&mut page, spec, &files)?;
    let (names, metadata_cpu, forget_names) = match servers.names {
        Some(for_names) => {
            let forget = names_on_servers(&mut page, spec, for_names);
            (None, None, forget)
        }
        None => {
            let numbers = HostNumbers::From(hosts.servers);
            let spec = HostSpec {
                numbers: &numbers,
                ..spec
            };
            let metadata = page.fold("metadata", hosts.metadata, |page| {
                hosts::metadata_host(page, spec)
            });
            (Some(metadata.attachment), metadata.shared, metadata.forget)
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
    let between = between(&mut page, spec);
    for (watch, ask) in watches.iter().zip(&servers.asks) {
        let news = match watch.position() {
            Position::Client => clients.news.clone(),
            Position::Server => servers.news.clone(),
            Position::Gateway => {
                Vec::from_iter(between.gateway.and_then(|it| it.news).map(To::from))
            }
            Position::Proxy => {
                Vec::from_iter(between.proxies.as_ref().and_then(qos::news_of_copies))
            }
            Position::Metadata => Vec::new(),
        };
        watch.join(&mut page, *ask, news);
    }
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
    if let Some(wrong) = first_targets.take_failure() {
        return Err(Error::Placement(wrong));
    }
    if let Some(failing) = failing {
        let world = &mut net.store_mut(failing.store, 0).world;
        for file in &work.existing {
            let layout = layouts.file(file.file, &mut first_targets);
            world.has(file.file, file.size, |place| layout.part(file.size, place));
        }
    }
    if let Some(coded) = coded {
        let files = net.store_mut(coded, 0);
        let places = copies.block().map_or(copies.places(), |_| 1);
        for file in &work.existing {
            let layout = layouts.file(file.file, &mut first_targets);
            for place in 0..places {
                let end = match copies.block() {
                    Some(_) => file.size,
                    None => layout.part(file.size, place),
                };
                files.grow(file.file, place, end);
            }
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
        recorded_flags: work.recorded_flags,
        links,
        failing,
        servers: server_pages,
    })
}

/// Writes the pages of the clients: one for each group that differs from the others.
fn clients(
    page: &mut Page<'_>,
    spec: HostSpec<'_>,
    context: &ClientContext,
) -> Result<ClientHost, Error> {
    let all = &spec.scenario.clients;
    if all.unlike().is_empty() {
        return Ok(page.fold("client", all.count, |page| {
            hosts::client_host(page, spec, context)
        }));
    }
    let (mut pages, mut numbers) = (Vec::new(), Vec::new());
    for alike in all.alike() {
        let mut scenario = spec.scenario.clone();
        scenario.clients = alike.clients;
        let own = HostNumbers::new(&alike.numbers);
        let context = ClientContext {
            numbers: own.clone(),
            layouts: Layouts::new(
                &scenario,
                spec.parallel,
                &context.directories,
                page.seed(),
                spec.placements,
            ),
            ..context.clone()
        };
        let spec = HostSpec {
            numbers: &own,
            scenario: &scenario,
            ..spec
        };
        let name = page_name("client", alike.group.as_deref());
        let copies = alike.numbers.len() as u32;
        numbers.push(alike.numbers);
        pages.push(page.fold(&name, copies, |page| {
            hosts::client_host(page, spec, &context)
        }));
    }
    let mut join = JoinPages::new(page, "client", &numbers);
    ClientHost::join(&mut join, pages).ok_or_else(no_hosts)
}

/// Writes the pages of the servers: one for each group that differs from the others.
fn servers(
    page: &mut Page<'_>,
    spec: HostSpec<'_>,
    files: &dyn Fn(u32) -> Vec<StoredFile>,
) -> Result<(ServerHost, Vec<ServerPage>), Error> {
    let all = &spec.parallel.servers;
    let initial = |daemon: &Daemon| Callers::daemon(spec.scenario, daemon.synchronous);
    if all.groups().is_empty() {
        let callers = initial(&all.daemon);
        let initial_files = InitialFiles { callers, files };
        let host = page.fold("server", all.count, |page| {
            hosts::server_host(page, spec, &initial_files)
        });
        let server_page = ServerPage::new(None, 0..all.count, host.served);
        return Ok((host, vec![server_page]));
    }
    let (mut pages, mut numbers, mut about) = (Vec::new(), Vec::new(), Vec::new());
    for alike in all.alike() {
        let callers = initial(&alike.servers.daemon);
        let parallel = Parallel {
            servers: alike.servers,
            ..spec.parallel.clone()
        };
        let own = HostNumbers::From(alike.numbers.start);
        let files = |copy: u32| files(own.of(copy));
        let initial_files = InitialFiles {
            callers,
            files: &files,
        };
        let spec = HostSpec {
            numbers: &own,
            parallel: &parallel,
            ..spec
        };
        let name = page_name("server", alike.group.as_deref());
        let copies = alike.numbers.len() as u32;
        let host = page.fold(&name, copies, |page| {
            hosts::server_host(page, spec, &initial_files)
        });
        let numbered = alike.numbers.clone();
        about.push(ServerPage::new(alike.group, numbered, host.served));
        numbers.push(alike.numbers.collect());
        pages.push(host);
    }
    let mut join = JoinPages::new(page, "server", &numbers);
    let host = ServerHost::join(&mut join, pages).ok_or_else(no_hosts)?;
    Ok((host, about))
}

/// The name of a page of hosts.
fn page_name(kind: &str, group: Option<&str>) -> String {
    match group {
        None => kind.to_owned(),
        Some(group) => format!("{kind} {group}"),
    }
}

/// A scenario that loaded has hosts of every kind.
fn no_hosts() -> Error {
    Error::TooLarge("internal error: the scenario has no hosts; please report it".to_owned())
}

/// The locks under which clients cache, if they do.
fn oplocks(scenario: &Scenario) -> Option<Oplocks> {
    let machine = scenario.clients.machine()?;
    let locks = machine.attributes.oplocks()?;
    Some(Oplocks::new(locks.level_two))
}

/// The metadata servers that are on data servers: the remaining part of them is
/// the store of entries. Gives where they lose their memory.
fn names_on_servers(
    page: &mut Page<'_>,
    spec: HostSpec<'_>,
    servers: NamePorts,
) -> Option<Port<Crash>> {
    let HostSpec {
        parallel,
        directories,
        failing,
        ..
    } = spec;
    let (ask, answer, forget) = page.fold("metadata", parallel.metadata_servers(), |page| {
        let (ask, answer) = (page.input("ask"), page.output("answers"));
        let received = page.place("received");
        page.connect(ask, received);
        let way = Duplex {
            send: answer.into(),
            received,
        };
        let forget = metadata::server(page, parallel, directories, way, failing);
        (ask, answer, forget)
    });
    page.connect(servers.ask, ask.by(|job: &Job| job.server));
    page.connect(answer, servers.answer.by(|job: &Job| job.server));
    forget
}

/// The schedulers that stand in the network, if they do.
fn between(page: &mut Page<'_>, spec: HostSpec<'_>) -> NetworkSchedulers {
    let HostSpec { hosts, failing, .. } = spec;
    let stands = |position| {
        let mut schedulers = spec.parallel.scheduler.iter();
        schedulers.any(|it| it.position == position)
    };
    let build = |page: &mut Page<'_>, position| {
        let scheduler = qos::build(page, spec.schedulers, position, |copy| copy);
        scheduler.map(|it| failure::lossy_scheduler(page, failing, it))
    };
    let mut between = NetworkSchedulers::default();
    if stands(Position::Gateway) {
        between.gateway = page.page("gateway", |page| build(page, Position::Gateway));
    }
    if stands(Position::Proxy) {
        let copies = hosts.servers;
        between.proxies = page.fold("proxy", copies, |page| build(page, Position::Proxy));
    }
    if let Some(given_up) = failing.and_then(|it| it.given_up) {
        let tell = page.transition("tell schedulers").take(given_up);
        match between.finished() {
            Some(to) => tell.put(to, |_, job: Job, ()| Job {
                message: Message::Failed,
                ..job
            }),
            None => tell.fires(|_, _: Job, ()| {}),
        }
    }
    between
}
