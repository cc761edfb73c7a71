//! Star: every host has one card, and all cards meet in one switch that never blocks.
//!
//! ```text
//!   client: (card sending) ─▶ [switch] ─▶ server: (card receiving) ─▶
//!           ◀─ (card receiving) ◀──────────────── (card sending)
//! ```
//!
//! Not modelled: congestion inside the switch; its buffers; several switches.

use headrace_net::{Node, Page, Port, Span, To};
use headrace_spec::{Card, Duplex, Network, Parallel, Spread};

use super::fabric::rate_of;
use super::{ClientAttachment, Link, ServerAttachment, Side, Wire};
use crate::tokens::{Direction, Job, Role};

pub(super) fn client(page: &mut Page<'_>, scenario: &Parallel, spec: &Card) -> ClientAttachment {
    let to_servers = page.output("to servers");
    let to_metadata = page.output("to metadata");
    let from_servers = page.input("from servers");
    let from_metadata = page.input("from metadata");
    let (data, names): (To<Job>, To<Job>) = (to_servers.into(), to_metadata.into());
    let by_role = move |job: &Job| match job.role {
        Role::Data => data,
        Role::Metadata => names,
    };
    let card = card(page, "card", &scenario.network, spec, Direction::Out);
    if scenario.metadata.network.own().is_some() {
        let network = scenario.metadata_network();
        let ports = (to_metadata, from_metadata);
        let second = apart(page, &network, ports);
        let received = page.place("received");
        page.connect(second.1, received);
        card.joined(page, "switch", data, received.into());
        page.connect(from_servers, card.receive());
        return ClientAttachment {
            send: card.send().into(),
            ask: second.0,
            received,
            to_servers,
            to_metadata,
            from_servers,
            from_metadata,
            detour: None,
        };
    }
    let received = match card {
        CardLinks::Full { sending, receiving } => {
            page.transition("switch")
                .take(sending)
                .route([data, names], move |_, job, ()| by_role(job));
            receiving
        }
        CardLinks::Half { link } => {
            let received = page.place("received");
            let here: To<Job> = received.into();
            page.transition("switch")
                .take(link)
                .route([data, names, here], move |_, job, ()| match job.direction {
                    Direction::Back => here,
                    _ => by_role(job),
                });
            received
        }
    };
    page.connect(from_servers, card.receive());
    page.connect(from_metadata, card.receive());
    ClientAttachment {
        send: card.send().into(),
        ask: card.send().into(),
        received,
        to_servers,
        to_metadata,
        from_servers,
        from_metadata,
        detour: None,
    }
}

/// A client's second card, for a network of the metadata servers' own: its sending and receiving
/// ends.
fn apart(
    page: &mut Page<'_>,
    network: &Network,
    (to, from): (Port<Job>, Port<Job>),
) -> (To<Job>, Node<Job>) {
    let whole = Card {
        bandwidth: None,
        burst: None,
        ports: 1,
        spread: Spread::Hash,
    };
    let card = card(page, "metadata card", network, &whole, Direction::Out);
    let received = page.place("names received");
    card.joined(page, "metadata switch", to.into(), received.into());
    page.connect(from, card.receive());
    (card.send().into(), received)
}

pub(super) fn server(page: &mut Page<'_>, network: &Network, spec: &Card) -> ServerAttachment {
    let sent = page.output("sent");
    let receive = page.input("receive");
    let card = card(page, "card", network, spec, Direction::Back);
    let received = match card {
        CardLinks::Full { sending, receiving } => {
            page.connect(sending, sent);
            receiving
        }
        CardLinks::Half { link } => {
            let received = page.place("received");
            let (away, here): (To<Job>, To<Job>) = (sent.into(), received.into());
            page.transition("switch").take(link).route(
                [away, here],
                move |_, job: &mut Job, ()| {
                    if job.direction.answers() { away } else { here }
                },
            );
            received
        }
    };
    page.connect(receive, card.receive());
    ServerAttachment {
        send: card.send().into(),
        received,
        sent,
        receive,
    }
}

/// The links of a card: one for each direction, or one for both.
#[derive(Clone, Copy)]
enum CardLinks {
    Full {
        sending: Node<Job>,
        receiving: Node<Job>,
    },
    Half {
        link: Node<Job>,
    },
}

impl CardLinks {
    fn send(self) -> Node<Job> {
        match self {
            CardLinks::Full { sending, .. } => sending,
            CardLinks::Half { link } => link,
        }
    }

    /// Attaches a client's card: sent messages go `out`, received messages arrive `here`.
    fn joined(self, page: &mut Page<'_>, name: &str, out: To<Job>, here: To<Job>) {
        match self {
            CardLinks::Full { sending, receiving } => {
                page.connect(sending, out);
                page.connect(receiving, here);
            }
            CardLinks::Half { link } => {
                page.transition(name)
                    .take(link)
                    .route([out, here], move |_, job: &mut Job, ()| {
                        match job.direction {
                            Direction::Out => out,
                            _ => here,
                        }
                    });
            }
        }
    }

    fn receive(self) -> Node<Job> {
        match self {
            CardLinks::Full { receiving, .. } => receiving,
            CardLinks::Half { link } => link,
        }
    }
}

/// The card of a host that sends jobs travelling in direction `sends`.
fn card(
    page: &mut Page<'_>,
    name: &str,
    network: &Network,
    card: &Card,
    sends: Direction,
) -> CardLinks {
    let wire = Wire::new(network);
    let latency = Span::from_seconds(network.latency.0 + network.switch.latency.0);
    let (rate, bucket) = rate_of(card, network.bandwidth);
    match network.duplex {
        Duplex::Full => {
            let sending = Link::new(rate, &wire, latency, |_| Side::Sending).with(bucket.clone());
            let receiving = Link::new(rate, &wire, Span::ZERO, |_| Side::Receiving).with(bucket);
            CardLinks::Full {
                sending: page.station(&format!("{name} sending"), sending),
                receiving: page.station(&format!("{name} receiving"), receiving),
            }
        }
        Duplex::Half => {
            let side = match sends {
                Direction::Out => sends_out,
                _ => sends_back,
            };
            let link = Link::new(rate, &wire, latency, side).with(bucket);
            CardLinks::Half {
                link: page.station(&format!("{name} sending and receiving"), link),
            }
        }
    }
}

fn sends_out(job: &Job) -> Side {
    match job.direction {
        Direction::Out => Side::Sending,
        _ => Side::Receiving,
    }
}

fn sends_back(job: &Job) -> Side {
    match job.direction {
        Direction::Back => Side::Sending,
        _ => Side::Receiving,
    }
}
