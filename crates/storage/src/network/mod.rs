//! Networks: what carries jobs between clients and servers.
//!
//! A network is written in two steps: each host's page gets its attachment
//! (a card, or its ends of links), and the page around the hosts joins them.
//! To add a topology, write a file with functions like those of `star` and name
//! it here.

mod link;
mod pairs;
mod star;

pub use link::{Link, Side, Wire};

use headrace_net::{Node, Page, Port, To};
use headrace_spec::{Card, Parallel, Topology};

use crate::qos::SchedulerPorts;
use crate::tokens::Job;

/// The hosts that a network connects, by kind.
#[derive(Clone, Copy, Debug)]
pub struct Hosts {
    /// Clients.
    pub clients: u32,
    /// Data servers.
    pub servers: u32,
    /// Metadata servers.
    pub metadata: u32,
}

/// How a client is attached to the network.
pub struct ClientAttachment {
    /// Where it sends jobs for data servers.
    pub send: To<Job>,
    /// Where it sends jobs for metadata servers.
    pub ask: To<Job>,
    /// What has come back to it.
    pub received: Node<Job>,
    to_servers: Port<Job>,
    to_metadata: Port<Job>,
    from_servers: Port<Job>,
    from_metadata: Port<Job>,
}

/// How a data or metadata server is attached to the network.
pub struct ServerAttachment {
    /// Where it sends jobs back.
    pub send: To<Job>,
    /// What has arrived at it.
    pub received: Node<Job>,
    sent: Port<Job>,
    receive: Port<Job>,
}

/// Attaches a client with this card, in whose page this is called.
pub fn attach_client(
    page: &mut Page<'_>,
    scenario: &Parallel,
    card: &Card,
    hosts: Hosts,
) -> ClientAttachment {
    match scenario.network.topology {
        Topology::Star => star::client(page, scenario, card),
        Topology::Pairs => pairs::client(page, scenario, hosts),
    }
}

/// Attaches a data or metadata server with this card, in whose page this is called.
pub fn attach_server(page: &mut Page<'_>, scenario: &Parallel, card: &Card) -> ServerAttachment {
    match scenario.network.topology {
        Topology::Star => star::server(page, scenario, card),
        Topology::Pairs => pairs::server(page),
    }
}

/// Schedulers that stand between clients and data servers.
pub enum Between {
    /// One for all.
    Gateway(SchedulerPorts),
    /// One for each data server, numbered as these.
    Proxies(SchedulerPorts),
}

/// Joins the hosts, through the schedulers between them if there are any.
pub fn join(
    page: &mut Page<'_>,
    clients: &ClientAttachment,
    servers: &ServerAttachment,
    metadata: &ServerAttachment,
    between: Option<Between>,
) {
    let (to_servers, to_clients) = (
        servers.receive.by(server_of),
        clients.from_servers.by(client_of),
    );
    match between {
        None => {
            page.connect(clients.to_servers, to_servers);
            page.connect(servers.sent, to_clients);
        }
        Some(Between::Gateway(gateway)) => {
            page.connect(clients.to_servers, gateway.submit);
            page.connect(gateway.dispatched, to_servers);
            page.connect(servers.sent, gateway.finished);
            page.connect(gateway.returned, to_clients);
        }
        Some(Between::Proxies(proxies)) => {
            page.connect(clients.to_servers, proxies.submit.by(server_of));
            page.connect(proxies.dispatched, to_servers);
            page.connect(servers.sent, proxies.finished.by(server_of));
            page.connect(proxies.returned, to_clients);
        }
    }
    page.connect(clients.to_metadata, metadata.receive.by(server_of));
    page.connect(metadata.sent, clients.from_metadata.by(client_of));
}

fn client_of(job: &Job) -> u32 {
    job.client
}

fn server_of(job: &Job) -> u32 {
    job.server
}
