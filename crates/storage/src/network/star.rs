//! Star: every host has one card, and all cards meet in one switch that never
//! blocks.
//!
//! ```text
//!   client card ×n: (send) ─▶ [switch] ─▶ server card ×m: (receive) ─▶
//!                 ◀─ (receive) ◀─ [switch] ◀─ (send)
//! ```

use headrace_net::{Node, Page, Port, Span, To};
use headrace_spec::{Card, Duplex, Rate, Scenario};

use super::{Hosts, Link, Network, Side, Wire, client, server};
use crate::tokens::{Direction, Job, Role};

pub(super) fn star(page: &mut Page<'_>, scenario: &Scenario, hosts: Hosts) -> Network {
    let network = &scenario.network;
    let cards = Cards {
        wire: Wire::new(network),
        latency: Span::from_seconds(network.latency.0),
        duplex: network.duplex,
        bandwidth: network.bandwidth,
    };
    let to_clients = page.output("to clients");
    let to_servers = page.output("to servers");
    let to_metadata = page.output("to metadata");
    let clients = page.fold("client card", hosts.clients, |page| {
        cards.card(page, &scenario.clients.card, Direction::Out)
    });
    let servers = page.fold("server card", hosts.servers, |page| {
        cards.card(page, &scenario.servers.card, Direction::Back)
    });
    let metadata = page.fold("metadata card", hosts.metadata, |page| {
        cards.card(page, &scenario.metadata.card, Direction::Back)
    });
    // The switch: by role on the way out, by client on the way back.
    let (data, names) = (servers.receive.by(server), metadata.receive.by(server));
    let switch = page.place("switch");
    page.connect(clients.sent, switch);
    page.transition("forward")
        .take(switch)
        .route([data, names], move |_, job: &mut Job, ()| match job.role {
            Role::Data => data,
            Role::Metadata => names,
        });
    page.connect(servers.sent, clients.receive.by(client));
    page.connect(metadata.sent, clients.receive.by(client));
    page.connect(clients.received, to_clients);
    page.connect(servers.received, to_servers);
    page.connect(metadata.received, to_metadata);
    Network {
        from_clients: clients.send.by(client),
        from_servers: servers.send.by(server),
        from_metadata: metadata.send.by(server),
        to_clients,
        to_servers,
        to_metadata,
    }
}

struct Cards {
    wire: Wire,
    latency: Span,
    duplex: Duplex,
    bandwidth: Rate,
}

/// A card's ports: `send` to `sent`, `receive` to `received`.
struct CardPorts {
    send: Port<Job>,
    sent: Port<Job>,
    receive: Port<Job>,
    received: Port<Job>,
}

impl Cards {
    /// A network card; the host sends jobs that travel in direction `sends`.
    fn card(&self, page: &mut Page<'_>, card: &Card, sends: Direction) -> CardPorts {
        let rate = card.bandwidth.unwrap_or(self.bandwidth);
        let ports = CardPorts {
            send: page.input("send"),
            sent: page.output("sent"),
            receive: page.input("receive"),
            received: page.output("received"),
        };
        let (sent, received): (To<Job>, To<Job>) = (ports.sent.into(), ports.received.into());
        match self.duplex {
            Duplex::Full => {
                let send = Link::new(rate, &self.wire, self.latency, |_| Side::Sending);
                let receive = Link::new(rate, &self.wire, Span::ZERO, |_| Side::Receiving);
                let (send, receive) = (
                    page.station("sending", send),
                    page.station("receiving", receive),
                );
                page.connect(ports.send, send);
                page.connect(ports.receive, receive);
                page.connect(send, sent);
                page.connect(receive, received);
            }
            Duplex::Half => {
                let side = match sends {
                    Direction::Out => sends_out,
                    Direction::Back => sends_back,
                };
                let link = Link::new(rate, &self.wire, self.latency, side);
                let link: Node<Job> = page.station("sending and receiving", link);
                page.connect(ports.send, link);
                page.connect(ports.receive, link);
                page.transition("sort")
                    .take(link)
                    .route([sent, received], move |_, job, ()| {
                        if job.direction == sends {
                            sent
                        } else {
                            received
                        }
                    });
            }
        }
        ports
    }
}

fn sends_out(job: &Job) -> Side {
    match job.direction {
        Direction::Out => Side::Sending,
        Direction::Back => Side::Receiving,
    }
}

fn sends_back(job: &Job) -> Side {
    match job.direction {
        Direction::Back => Side::Sending,
        Direction::Out => Side::Receiving,
    }
}
