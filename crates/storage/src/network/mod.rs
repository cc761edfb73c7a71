//! Networks: what carries jobs between clients and servers.
//!
//! A network is written in two steps. Each host's page gets its attachment (a card, its ends of
//! links, or nothing), and the page around the hosts joins them. At the grain of messages every
//! card or link is a station of its own (`star`, `pairs`). At the others the network is one station
//! (`flow`, `packet`, `credits`), with the links of `fabric`.
//!
//! | `network.grain` | unit in transit | queueing |
//! | --- | --- | --- |
//! | `message` | a whole message | first come, first served at every card |
//! | `flow` | a message with file data, over its path | none: all share each link max-min fair |
//! | `packet` | TCP segments, one packet each | at every port; lost where a queue is full |
//! | `packet` with credits | packets of messages | at every link, until the receiver has room |
//!
//! # Agreement
//!
//! The tests in `tests/models/networks` check the grains against each other and against known
//! answers.
//!
//! - One message alone takes its bytes over the slowest link, and the latency. With messages it
//!   takes a packet's time more, for the second card.
//! - Equal transfers that start together at one port end when all their bytes have passed it. This
//!   holds at every grain to 1 %, if no packet is lost.
//! - With random losses, a long transfer gets 1.31 MSS / (RTT √p), to 10 % (Mathis et al., CCR
//!   1997, table 1).
//! - With credits, a buffer of a round trip's bytes carries the full rate, and a smaller one
//!   carries buffer / round trip, to 1 %.
//!
//! # Differences
//!
//! - **Order.** With messages, a card serves one message after the other, so the first of two takes
//!   half as long. With flows and packets both share the card. Means differ, but the end of the
//!   last does not.
//! - **Lockstep.** With perfectly equal sharing, clients that visit servers in the same order stay
//!   together once they meet. All of them then queue at one server while the others idle. Four
//!   clients that write 64 KiB to one of four servers in turn take up to four times as long with
//!   flows as with messages. Bursts of real cards break this up. Messages suit many small
//!   synchronous requests, flows few large ones.
//! - **Loss.** Only packets without credits are lost. Where many servers answer one client
//!   together, throughput collapses at that grain only (incast: Phanishayee et al., FAST 2008). If
//!   the end of an answer is lost, no acknowledgement reports it, and the port idles until the
//!   server's timer expires.
//! - **Start.** Slow start takes a round trip for each doubling of `tcp.initial_window`. The other
//!   grains start at full rate.
//!
//! # Several devices behind a card
//!
//! With `servers.targets`, layouts spread files over the devices of each server, and a page cache
//! is divided equally among them. With `servers.streaming`, a simple device is a part of the paths
//! of flows, so data is written while it arrives. Without it, a job is received completely and then
//! written. This is right for jobs that are small compared with the server's concurrent work, and
//! twice too slow for one large job alone.
//!
//! # Latencies and rates
//!
//! `network.latency` is that of a whole path. `network.switch.latency` adds to it for each switch,
//! except with `pairs`. Rates and latencies of single links need the grains of flows or packets.
//! Rates inside switches need flows, or packets without credits. `network.duplex = "half"` applies
//! to cards.
//!
//! # Omissions
//!
//! Not modelled: failures of links and switches; a page cache that the devices of a server share on
//! demand.

mod bucket;
mod credits;
mod destinations;
mod event_list;
mod fabric;
mod flow;
mod link;
mod link_loads;
mod no_nic;
mod packet;
mod pairs;
mod star;

pub use bucket::Bucket;
pub use fabric::{Fabric, LinkGroup, Path, Routes};
pub use link::{Link, Side, Wire};
pub use link_loads::{Carried, LinkLoads};
pub use packet::{PacketCounts, PacketReport};

use headrace_net::{Node, Page, Port, To};
use headrace_spec::{
    Card, Clients, FlowControl, Grain, Network, Parallel, Position, Scheduler, Topology,
};

use self::destinations::Destinations;
use self::event_list::EventList;
use crate::duplex::Duplex;
use crate::host_pages::{JoinPages, each};
use crate::qos::SchedulerPorts;
use crate::tokens::{Direction, Job, Role};

/// The hosts that a network connects, by kind.
#[derive(Clone, Copy, Debug)]
pub struct Hosts {
    /// Clients.
    pub clients: u32,
    /// Data servers.
    pub servers: u32,
    /// Metadata servers with hosts of their own.
    pub metadata: u32,
}

/// Attachment of a client to the network.
pub struct ClientAttachment {
    /// Destination of jobs for data servers.
    pub send: To<Job>,
    /// Destination of jobs for metadata servers.
    pub ask: To<Job>,
    /// Returned messages.
    pub received: Node<Job>,
    to_servers: Port<Job>,
    to_metadata: Port<Job>,
    from_servers: Port<Job>,
    from_metadata: Port<Job>,
    /// The way past schedulers in the network, if the client's links are in its page.
    detour: Option<Detour>,
}

/// The way of a client's jobs past the schedulers in the network, which stand before its links.
#[derive(Clone, Copy)]
struct Detour {
    /// Jobs for the schedulers, and those that they have dispatched.
    jobs: Port<Job>,
    dispatched: Port<Job>,
    /// Answers for the schedulers, and those that they have seen.
    answers: Port<Job>,
    returned: Port<Job>,
}

impl Detour {
    fn join(join: &mut JoinPages<'_, '_>, all: &[Detour]) -> Detour {
        Detour {
            jobs: join.output("jobs", all.iter().map(|it| it.jobs)),
            dispatched: join.input("dispatched", all.iter().map(|it| it.dispatched)),
            answers: join.output("answers", all.iter().map(|it| it.answers)),
            returned: join.input("returned", all.iter().map(|it| it.returned)),
        }
    }
}

impl ClientAttachment {
    /// Joins the clients' pages: gives the ports of all.
    pub(crate) fn join(join: &mut JoinPages<'_, '_>, all: &[ClientAttachment]) -> Option<Self> {
        let first = all.first()?;
        Some(ClientAttachment {
            send: first.send,
            ask: first.ask,
            received: first.received,
            to_servers: join.output("to servers", all.iter().map(|it| it.to_servers)),
            to_metadata: join.output("to metadata", all.iter().map(|it| it.to_metadata)),
            from_servers: join.input("from servers", all.iter().map(|it| it.from_servers)),
            from_metadata: join.input("from metadata", all.iter().map(|it| it.from_metadata)),
            detour: each(all, |it| it.detour).map(|all| Detour::join(join, &all)),
        })
    }

    /// The same with a way past schedulers, before jobs enter the client's links and behind where
    /// answers leave them.
    fn past_schedulers(self, page: &mut Page<'_>) -> ClientAttachment {
        let detour = Detour {
            jobs: page.output("jobs"),
            dispatched: page.input("dispatched"),
            answers: page.output("answers"),
            returned: page.input("returned"),
        };
        page.connect(detour.dispatched, self.send);
        let received = page.place("past schedulers");
        page.connect(detour.returned, received);
        let (answer, here): (To<Job>, To<Job>) = (detour.answers.into(), received.into());
        page.transition("answers or names")
            .take(self.received)
            .route([answer, here], move |_, job: &mut Job, ()| match job.role {
                Role::Data => answer,
                Role::Metadata => here,
            });
        ClientAttachment {
            send: detour.jobs.into(),
            received,
            detour: Some(detour),
            ..self
        }
    }

    /// Both directions of jobs for data servers; answers of metadata servers arrive here too.
    pub fn duplex(&self) -> Duplex {
        Duplex {
            send: self.send,
            received: self.received,
        }
    }
}

/// A client's ports to the servers.
#[derive(Clone, Copy)]
pub struct ClientPorts {
    /// Destination of jobs for data servers, and returned messages.
    pub data: Duplex,
    /// Destination of metadata requests.
    pub ask: To<Job>,
    /// Output and input of lock messages, if locks are modelled.
    pub locks: Option<Duplex>,
}

/// Attachment of a data or metadata server to the network.
pub struct ServerAttachment {
    /// Destination of returned jobs.
    pub send: To<Job>,
    /// Arrived messages.
    pub received: Node<Job>,
    sent: Port<Job>,
    receive: Port<Job>,
}

impl ServerAttachment {
    /// Joins the servers' pages: gives the ports of all.
    pub(crate) fn join(join: &mut JoinPages<'_, '_>, all: &[ServerAttachment]) -> Option<Self> {
        let first = all.first()?;
        Some(ServerAttachment {
            send: first.send,
            received: first.received,
            sent: join.output("sent", all.iter().map(|it| it.sent)),
            receive: join.input("receive", all.iter().map(|it| it.receive)),
        })
    }

    /// Both directions.
    pub fn duplex(&self) -> Duplex {
        Duplex {
            send: self.send,
            received: self.received,
        }
    }
}

/// Attaches a client with this card, in whose page this is called.
pub fn attach_client(
    page: &mut Page<'_>,
    scenario: &Parallel,
    card: &Card,
    hosts: Hosts,
) -> ClientAttachment {
    let attachment = match (scenario.network.grain, &scenario.network.topology) {
        (Grain::Message, Topology::Pairs(_)) => pairs::client(page, scenario, hosts),
        (Grain::Message, _) => star::client(page, scenario, card),
        (Grain::Flow | Grain::Packet, _) => return no_nic::client(page),
    };
    let in_network =
        |scheduler: &&Scheduler| matches!(scheduler.position, Position::Gateway | Position::Proxy);
    let mut schedulers = scenario.scheduler.iter().filter(in_network);
    // The kind "none" builds no page that jobs could pass on their way.
    match schedulers.any(|scheduler| !scheduler.is_none()) {
        true => attachment.past_schedulers(page),
        false => attachment,
    }
}

/// Attaches a data or metadata server with this card to its network, in whose page
/// this is called.
pub fn attach_server(
    page: &mut Page<'_>,
    scenario: &Parallel,
    network: &Network,
    card: &Card,
) -> ServerAttachment {
    match (scenario.network.grain, &scenario.network.topology) {
        // A pair's link is in the client's page.
        (Grain::Message, Topology::Pairs(_)) => no_nic::server(page),
        (Grain::Message, _) => star::server(page, network, card),
        (Grain::Flow | Grain::Packet, _) => no_nic::server(page),
    }
}

/// The hosts' ways to the network.
pub struct Attachments {
    /// The clients'.
    pub clients: ClientAttachment,
    /// The data servers'.
    pub servers: ServerAttachment,
    /// The metadata servers', if they have hosts of their own.
    pub metadata: Option<ServerAttachment>,
}

/// Schedulers that stand between clients and data servers: at every grain, where jobs enter the
/// network, and where they leave it on their way back. A scheduler that counts its jobs counts
/// them from the first link to the last, and the latency of both ways.
#[derive(Clone, Copy, Default)]
pub struct NetworkSchedulers {
    /// One for all, nearer to the clients.
    pub gateway: Option<SchedulerPorts>,
    /// One for each data server, numbered as these.
    pub proxies: Option<SchedulerPorts>,
}

impl NetworkSchedulers {
    /// Where jobs enter the first of them, if there is one.
    fn submit(&self) -> Option<To<Job>> {
        let proxies = self.proxies.map(|it| it.submit.by(server_of));
        self.gateway.map(|it| it.submit.into()).or(proxies)
    }

    /// Where jobs that come back enter the first of them, if there is one.
    pub fn finished(&self) -> Option<To<Job>> {
        let gateway = self.gateway.map(|it| it.finished.into());
        self.proxies.map(|it| it.finished.by(server_of)).or(gateway)
    }
}

/// Joins the hosts, through the schedulers between them if there are any. Gives the
/// links that are no stations of their own.
pub fn join(
    page: &mut Page<'_>,
    scenario: &Parallel,
    cards: &Clients,
    hosts: Hosts,
    attachments: &Attachments,
    between: NetworkSchedulers,
) -> Option<LinkLoads> {
    let Attachments {
        clients,
        servers,
        metadata,
    } = attachments;
    let to_clients = clients.from_servers.by(client_of);
    let names = ["answered by servers", "answers or locks"];
    let (from_servers, back) = match clients.detour {
        Some(detour) => {
            let back = detour.returned.by(client_of);
            let answers = past_schedulers(page, scenario, between.finished(), names, back);
            page.connect(detour.answers, answers);
            (to_clients, back)
        }
        None => {
            let finished = between.finished();
            let from = past_schedulers(page, scenario, finished, names, to_clients);
            (from, to_clients)
        }
    };
    // Messages between servers go past the schedulers that stand in between.
    let mut to_servers = servers.receive.by(server_of);
    let between_servers = servers.receive.by(receiving_server);
    // Those without hosts are on the data servers.
    let to_metadata = metadata.as_ref().unwrap_or(servers).receive.by(server_of);
    let answers = clients.from_metadata.by(client_of);
    let mut links = None;
    if scenario.network.grain == Grain::Message {
        if scenario.servers_talk() {
            let sent = page.place("sent by servers");
            page.connect(servers.sent, sent);
            page.transition("to clients or servers").take(sent).route(
                [from_servers, between_servers],
                move |_, job: &mut Job, ()| {
                    if job.direction.between_servers() {
                        between_servers
                    } else {
                        from_servers
                    }
                },
            );
        } else {
            page.connect(servers.sent, from_servers);
        }
        page.connect(clients.to_metadata, to_metadata);
        if let Some(metadata) = metadata {
            page.connect(metadata.sent, answers);
        }
    } else {
        let destinations = Destinations {
            servers: between_servers,
            metadata: to_metadata,
            from_servers,
            from_metadata: answers,
        };
        let fabric = Fabric::new(scenario, cards, hosts, page.seed());
        let (submit, loads) = page.page("network", |page| match scenario.network.grain {
            Grain::Packet if scenario.network.flow_control == FlowControl::Credits => {
                credits::network(page, &scenario.network, fabric, destinations)
            }
            Grain::Packet => packet::network(page, scenario, fabric, destinations),
            _ => flow::network(page, &scenario.network, fabric, destinations),
        });
        page.connect(servers.sent, submit);
        page.connect(clients.to_metadata, submit);
        if let Some(metadata) = metadata {
            page.connect(metadata.sent, submit);
        }
        to_servers = submit.into();
        links = Some(loads);
    }
    let names = ["sent by clients", "jobs or locks"];
    let (jobs, onward) = match clients.detour {
        Some(detour) => {
            page.connect(clients.to_servers, to_servers);
            (detour.jobs, detour.dispatched.by(client_of))
        }
        None => (clients.to_servers, to_servers),
    };
    let from_clients = past_schedulers(page, scenario, between.submit(), names, onward);
    page.connect(jobs, from_clients);
    if let Some(gateway) = between.gateway {
        let proxies = between.proxies.map(|it| it.submit.by(server_of));
        page.connect(gateway.dispatched, proxies.unwrap_or(onward));
        page.connect(gateway.returned, back);
    }
    if let Some(proxies) = between.proxies {
        let gateway = between.gateway.map(|it| it.finished.into());
        page.connect(proxies.dispatched, onward);
        page.connect(proxies.returned, gateway.unwrap_or(back));
    }
    links
}

/// Returns the destination of jobs for a scheduler, of lock messages and of pings, which bypass
/// schedulers in the network.
fn past_schedulers(
    page: &mut Page<'_>,
    scenario: &Parallel,
    scheduler: Option<To<Job>>,
    [place, transition]: [&str; 2],
    past: To<Job>,
) -> To<Job> {
    let jobs_only = scenario.locks.extent().is_none() && scenario.failures().is_empty();
    let scheduler = match scheduler {
        None => return past,
        Some(scheduler) if jobs_only => return scheduler,
        Some(scheduler) => scheduler,
    };
    let place = page.place(place);
    page.transition(transition).take(place).route(
        [scheduler, past],
        move |_, job: &mut Job, ()| match job.message.is_job() {
            false => past,
            true => scheduler,
        },
    );
    place.into()
}

fn client_of(job: &Job) -> u32 {
    job.client
}

fn server_of(job: &Job) -> u32 {
    job.server
}

/// The server that a message goes to.
fn receiving_server(job: &Job) -> u32 {
    match job.direction {
        Direction::FromNextCopy => job.client,
        _ => job.server,
    }
}
