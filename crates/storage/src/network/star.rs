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
    // The switch sends jobs on by role on their way out, by client on the way back.
    let to_data = page.input::<Job>("to data card");
    let to_names = page.input::<Job>("to metadata card");
    let to_client = page.input::<Job>("to client card");
    let clients = page.fold("client card", hosts.clients, |page| {
        cards.card(
            page,
            &scenario.clients.card,
            Direction::Out,
            Onward::ByRole(to_data.into(), to_names.into()),
            to_clients,
        )
    });
    let servers = page.fold("server card", hosts.servers, |page| {
        cards.card(
            page,
            &scenario.servers.card,
            Direction::Back,
            Onward::To(to_client.into()),
            to_servers,
        )
    });
    let metadata = page.fold("metadata card", hosts.metadata, |page| {
        cards.card(
            page,
            &scenario.metadata.card,
            Direction::Back,
            Onward::To(to_client.into()),
            to_metadata,
        )
    });
    page.connect(to_data, servers.receive.by(server));
    page.connect(to_names, metadata.receive.by(server));
    page.connect(to_client, clients.receive.by(client));
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

/// A card's ways in.
struct CardPorts {
    send: Port<Job>,
    receive: Port<Job>,
}

impl Cards {
    /// A network card. The host sends jobs that travel in direction `sends`;
    /// they go `onward`. What it receives goes to `host`.
    fn card(
        &self,
        page: &mut Page<'_>,
        card: &Card,
        sends: Direction,
        onward: Onward,
        host: Port<Job>,
    ) -> CardPorts {
        let rate = card.bandwidth.unwrap_or(self.bandwidth);
        let ports = CardPorts {
            send: page.input("send"),
            receive: page.input("receive"),
        };
        let host: To<Job> = host.into();
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
                page.connect(receive, host);
                match onward {
                    Onward::To(to) => page.connect(send, to),
                    Onward::ByRole(data, names) => page
                        .transition("switch")
                        .take(send)
                        .route([data, names], move |_, job, ()| onward.of(job)),
                }
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
                let of = move |job: &Job| {
                    if job.direction == sends {
                        onward.of(job)
                    } else {
                        host
                    }
                };
                let switch = page.transition("switch").take(link);
                match onward {
                    Onward::To(to) => switch.route([to, host], move |_, job, ()| of(job)),
                    Onward::ByRole(data, names) => {
                        switch.route([data, names, host], move |_, job, ()| of(job));
                    }
                }
            }
        }
        ports
    }
}

/// Where the switch sends what a card has sent.
#[derive(Clone, Copy)]
enum Onward {
    To(To<Job>),
    /// To the data servers or to the metadata servers.
    ByRole(To<Job>, To<Job>),
}

impl Onward {
    fn of(self, job: &Job) -> To<Job> {
        match (self, job.role) {
            (Onward::To(to), _) | (Onward::ByRole(to, _), Role::Data) => to,
            (Onward::ByRole(_, to), Role::Metadata) => to,
        }
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
