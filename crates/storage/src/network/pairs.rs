//! Pairs: every client has a separate link to every server. It suits bandwidths that were measured
//! between one client and one server at a time (Liu et al. 2011, PFSsim, §5).
//!
//! ```text
//!   client: server link ×m: (up) ─▶ server        metadata link ×k: (up) ─▶
//!                         ◀─ (down) ◀─                            ◀─ (down)
//! ```
//!
//! Not modelled: the card that the links of one host share.

use headrace_net::{Node, Page, Port, Span};
use headrace_spec::{Duplex, Parallel};

use super::{ClientAttachment, Hosts, Link, Side, Wire, server_of};
use crate::tokens::Job;

pub(super) fn client(page: &mut Page<'_>, scenario: &Parallel, hosts: Hosts) -> ClientAttachment {
    let network = &scenario.network;
    let latency = Span::from_seconds(network.latency.0);
    let link = Link::new(network.bandwidth, &Wire::new(network), latency, |_| {
        Side::Whole
    });
    let to_servers = page.output("to servers");
    let to_metadata = page.output("to metadata");
    let from_servers = page.input("from servers");
    let from_metadata = page.input("from metadata");
    let received = page.place("received");
    let data = page.fold("server link", hosts.servers, |page| {
        pair(page, &link, network.duplex, to_servers, received)
    });
    let names = page.fold("metadata link", hosts.metadata, |page| {
        pair(page, &link, network.duplex, to_metadata, received)
    });
    page.connect(from_servers, data.down.by(server_of));
    page.connect(from_metadata, names.down.by(server_of));
    ClientAttachment {
        send: data.up.by(server_of),
        ask: names.up.by(server_of),
        received,
        to_servers,
        to_metadata,
        from_servers,
        from_metadata,
        detour: None,
    }
}

struct Pair {
    up: Port<Job>,
    down: Port<Job>,
}

/// The link between one client and one server: from the client to `arrived`,
/// back to `returned`.
fn pair(
    page: &mut Page<'_>,
    link: &Link,
    duplex: Duplex,
    arrived: Port<Job>,
    returned: Node<Job>,
) -> Pair {
    let ports = Pair {
        up: page.input("up"),
        down: page.input("down"),
    };
    match duplex {
        Duplex::Full => {
            let up = page.station("upward", link.clone());
            let down = page.station("downward", link.clone());
            page.connect(ports.up, up);
            page.connect(ports.down, down);
            page.connect(up, arrived);
            page.connect(down, returned);
        }
        Duplex::Half => {
            let both = page.station("both ways", link.clone());
            page.connect(ports.up, both);
            page.connect(ports.down, both);
            let (arrived, returned) = (arrived.into(), returned.into());
            page.transition("sort").take(both).route(
                [arrived, returned],
                move |_, job: &mut Job, ()| {
                    if job.direction.answers() {
                        returned
                    } else {
                        arrived
                    }
                },
            );
        }
    }
    ports
}
