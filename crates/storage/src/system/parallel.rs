//! A parallel file system: clients, network, data and metadata servers.

use headrace_net::{Builder, Page, Port, To};
use headrace_spec::{Clients, Parallel, Position, Scenario};

use super::{Error, Options, System, work};
use crate::client::Layout;
use crate::localfs::Users;
use crate::network::{self, ClientAttachment, Hosts, ServerAttachment};
use crate::server::Holdings;
use crate::tokens::{Job, Request, Role};
use crate::{client, metadata, qos, server};

/// Builds the scenario's net.
pub(super) fn build(
    scenario: &Scenario,
    parallel: &Parallel,
    options: Options,
) -> Result<System, Error> {
    let hosts = Hosts {
        clients: scenario.clients.count,
        servers: parallel.servers.count,
        metadata: parallel.metadata.servers,
    };
    let mut builder = Builder::new("system", scenario.run.seed);
    let mut page = builder.root();
    let work = work::write(&mut page, scenario, options)?;
    let clients = page.fold("client", hosts.clients, |page| {
        client_host(page, parallel, &scenario.clients, hosts)
    });
    let layout = Layout::new(parallel, page.seed());
    let files = |server: u32| {
        let parts = work.existing.iter().map(|file| {
            let size = layout.part(file.file, file.size, server);
            file.stored(scenario, size)
        });
        parts.filter(|part| part.size > 0).collect()
    };
    let holdings = Holdings {
        users: Users::daemon(scenario, parallel.servers.daemon.synchronous),
        files: &files,
    };
    let servers = page.fold("server", hosts.servers, |page| {
        server_host(page, parallel, &scenario.clients, &holdings)
    });
    let names = page.fold("metadata", hosts.metadata, |page| {
        let attachment = network::attach_server(page, parallel, &parallel.metadata.card);
        metadata::server(page, parallel, attachment.received, attachment.send);
        attachment
    });
    let gateway = match parallel.scheduler.position {
        Position::Gateway => page.page("gateway", |page| {
            qos::build(page, parallel, &scenario.clients.groups)
        }),
        Position::Client | Position::Server => None,
    };
    network::join(&mut page, &clients.attachment, &servers, &names, gateway);
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
    })
}

/// A client's ways in and out.
struct ClientHost {
    request: Port<Request>,
    complete: Port<Request>,
    attachment: ClientAttachment,
}

/// A client, with its scheduler if schedulers stand there.
fn client_host(
    page: &mut Page<'_>,
    parallel: &Parallel,
    clients: &Clients,
    hosts: Hosts,
) -> ClientHost {
    let request = page.input("request");
    let complete = page.output("complete");
    let attachment = network::attach_client(page, parallel, &clients.card, hosts);
    let scheduler = match parallel.scheduler.position {
        Position::Client => qos::build(page, parallel, &clients.groups),
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
        parallel,
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
fn server_host(
    page: &mut Page<'_>,
    parallel: &Parallel,
    clients: &Clients,
    holdings: &Holdings<'_>,
) -> ServerAttachment {
    let attachment = network::attach_server(page, parallel, &parallel.servers.card);
    let scheduler = match parallel.scheduler.position {
        Position::Server => qos::build(page, parallel, &clients.groups),
        Position::Gateway | Position::Client => None,
    };
    match scheduler {
        None => server::server(
            page,
            parallel,
            holdings,
            attachment.received,
            attachment.send,
        ),
        Some(scheduler) => {
            let dispatched = page.place("dispatched");
            page.connect(attachment.received, scheduler.submit);
            page.connect(scheduler.dispatched, dispatched);
            page.connect(scheduler.returned, attachment.send);
            server::server(
                page,
                parallel,
                holdings,
                dispatched,
                scheduler.finished.into(),
            );
        }
    }
    attachment
}
