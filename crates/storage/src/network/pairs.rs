//! Pairs: every client has a link of its own to every server. For bandwidths
//! that were measured between one client and one server at a time, as those of
//! Liu et al. 2011 (PFSsim, §5).
//!
//! ```text
//!   client ×n: server ×m: (up) ─▶        metadata ×k: (up) ─▶
//!                         ◀─ (down)                   ◀─ (down)
//! ```

use headrace_net::{Page, Port, Span};
use headrace_spec::{Duplex, Scenario};

use super::{Hosts, Link, Network, Side, Wire, client, server};
use crate::tokens::{Direction, Job, Role};

pub(super) fn pairs(page: &mut Page<'_>, scenario: &Scenario, hosts: Hosts) -> Network {
    let network = &scenario.network;
    let wire = Wire::new(network);
    let latency = Span::from_seconds(network.latency.0);
    let link = Link::new(network.bandwidth, &wire, latency, |_| Side::Whole);
    let to_clients = page.output("to clients");
    let to_servers = page.output("to servers");
    let to_metadata = page.output("to metadata");
    let ends = page.fold("client", hosts.clients, |page| {
        let up = page.input::<Job>("up");
        let from_servers = page.input("from servers");
        let from_metadata = page.input("from metadata");
        let data = page.fold("server", hosts.servers, |page| {
            pair(page, &link, network.duplex, to_servers, to_clients)
        });
        let names = page.fold("metadata", hosts.metadata, |page| {
            pair(page, &link, network.duplex, to_metadata, to_clients)
        });
        let outward = page.place("outward");
        let (to_data, to_names) = (data.up.by(server), names.up.by(server));
        page.connect(up, outward);
        page.transition("choose link").take(outward).route(
            [to_data, to_names],
            move |_, job: &mut Job, ()| match job.role {
                Role::Data => to_data,
                Role::Metadata => to_names,
            },
        );
        page.connect(from_servers, data.down.by(server));
        page.connect(from_metadata, names.down.by(server));
        Ends {
            up,
            from_servers,
            from_metadata,
        }
    });
    Network {
        from_clients: ends.up.by(client),
        from_servers: ends.from_servers.by(client),
        from_metadata: ends.from_metadata.by(client),
        to_clients,
        to_servers,
        to_metadata,
    }
}

struct Ends {
    up: Port<Job>,
    from_servers: Port<Job>,
    from_metadata: Port<Job>,
}

struct Pair {
    up: Port<Job>,
    down: Port<Job>,
}

/// The link between one client and one server; `arrived` and `returned` are
/// the network's ways out.
fn pair(
    page: &mut Page<'_>,
    link: &Link,
    duplex: Duplex,
    arrived: Port<Job>,
    returned: Port<Job>,
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
                move |_, job: &mut Job, ()| match job.direction {
                    Direction::Out => arrived,
                    Direction::Back => returned,
                },
            );
        }
    }
    ports
}
