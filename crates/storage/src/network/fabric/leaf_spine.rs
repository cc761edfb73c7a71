//! Leaf–spine: hosts on leaf switches, each with a link to every spine.
//!
//! ```text
//!   spine 0      spine 1       …
//!     │ ╲        ╱ │                leaf up / leaf down
//!   leaf 0      leaf 1         …
//!   │ │ │       │ │ │               cards
//! ```

use headrace_spec::{ClientLeaves, LeafSpine, Rate};

use super::{LinkGroup, Links, Path, Routes};
use crate::network::Hosts;

struct Switches {
    hosts: Hosts,
    per_leaf: u32,
    /// Number of leaves that clients share with data servers, if any.
    shared: Option<u32>,
    /// Leaves of clients, and of clients and data servers.
    leaves: [u32; 2],
    /// All leaves; spines are numbered behind them.
    all: u32,
    spines: u32,
    /// The first link from a leaf, and the first to one.
    up: u32,
    down: u32,
}

/// Adds the links between the tiers.
pub(super) fn routes(
    spec: &LeafSpine,
    hosts: Hosts,
    bandwidth: Rate,
    links: &mut Links,
) -> Box<dyn Routes> {
    let leaves = |hosts: u32| hosts.div_ceil(spec.hosts);
    let of_servers = leaves(hosts.servers);
    let (of_clients, shared) = match spec.clients {
        ClientLeaves::Own => (leaves(hosts.clients), None),
        ClientLeaves::WithServers => (0, Some(of_servers)),
    };
    let of_both = of_clients + of_servers;
    let all = of_both + leaves(hosts.metadata);
    let rate = spec.uplink.unwrap_or(bandwidth);
    let count = all * spec.spines;
    let (spines, latency) = (spec.spines, spec.uplink_latency);
    let up = links.add("leaf up", count, spines, rate, up_name);
    links.leave(latency, move |number| number / spines);
    let down = links.add("leaf down", count, spines, rate, down_name);
    links.leave(latency, move |number| all + number % spines);
    Box::new(Switches {
        hosts,
        per_leaf: spec.hosts,
        shared,
        leaves: [of_clients, of_both],
        all,
        spines,
        up,
        down,
    })
}

fn up_name(group: &LinkGroup, number: u32) -> String {
    let (leaf, spine) = (number / group.per_switch, number % group.per_switch);
    format!("leaf {leaf} up to spine {spine}")
}

fn down_name(group: &LinkGroup, number: u32) -> String {
    let (leaf, spine) = (number / group.per_switch, number % group.per_switch);
    format!("leaf {leaf} down from spine {spine}")
}

impl Switches {
    fn leaf(&self, host: u32) -> u32 {
        let servers = self.hosts.clients;
        let metadata = servers + self.hosts.servers;
        if host < servers {
            match self.shared {
                Some(leaves) => host % leaves,
                None => host / self.per_leaf,
            }
        } else if host < metadata {
            self.leaves[0] + (host - servers) / self.per_leaf
        } else {
            self.leaves[1] + (host - metadata) / self.per_leaf
        }
    }
}

impl Routes for Switches {
    fn between(&self, from: u32, to: u32, key: u64, path: &mut Path) {
        let (from, to) = (self.leaf(from), self.leaf(to));
        if from != to {
            let spine = (key % u64::from(self.spines)) as u32;
            path.push(self.up + from * self.spines + spine);
            path.push(self.down + to * self.spines + spine);
        }
    }

    fn switches(&self) -> u32 {
        self.all + self.spines
    }

    fn switch_of(&self, host: u32) -> u32 {
        self.leaf(host)
    }

    fn longest(&self) -> usize {
        2
    }
}
