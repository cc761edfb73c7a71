//! `kind = "fat-tree"`: three tiers of equal switches.

use super::needs_a_whole_network;
use crate::Error;
use crate::declare::{Place, section};
use crate::sections::Scenario;
use crate::values::{AtLeastOne, Rate, Seconds};

section! {
    /// A k-ary fat tree (Al-Fares, Loukissas and Vahdat, SIGCOMM 2008): k pods of k/2
    /// edge and k/2 aggregation switches, (k/2)² core switches, k³/4 hosts. Clients come first, then data servers, then metadata
    /// servers. A hash of the two hosts, with the run's seed, chooses among equal paths.
    pub struct FatTree {
        /// Ports of a switch, k: an even number.
        arity: u32 as AtLeastOne = required(4) aka ["k", "ports"],
        /// Bytes per second of a link between two switches, in each direction.
        bandwidth: Option<Rate> = optional("network.bandwidth, as in the paper") aka ["rate", "link_bandwidth"],
        /// Latency of a link between two switches, besides `network.latency`.
        latency: Seconds = default("0 s", "`network.latency` counts it") aka ["link_latency"],
    }
    check hosts_fit;
}

impl FatTree {
    /// Returns the maximum number of hosts.
    #[must_use]
    pub fn hosts(&self) -> u64 {
        hosts(self.arity)
    }
}

fn hosts(arity: u32) -> u64 {
    u64::from(arity).pow(3) / 4
}

/// The most ports of a switch: 2^21 hosts, more than can be simulated.
const MOST_PORTS: u32 = 204;

fn hosts_fit(tree: &FatTree, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    needs_a_whole_network(all, at)?;
    let arity = tree.arity;
    if !arity.is_multiple_of(2) || arity > MOST_PORTS {
        let message = format!("expected an even number of at most {MOST_PORTS}");
        return Err(at.error("arity", message));
    }
    let Some(parallel) = all.parallel() else {
        return Ok(());
    };
    let [clients, servers, metadata] = [
        all.clients.count,
        parallel.servers.count,
        parallel.metadata_servers(),
    ]
    .map(u64::from);
    let (wanted, room) = (clients + servers + metadata, tree.hosts());
    if wanted > room {
        let enough = (2..=MOST_PORTS)
            .step_by(2)
            .find(|&arity| hosts(arity) >= wanted);
        let hint = enough.map_or_else(String::new, |arity| format!("; expected at least {arity}"));
        let message = format!(
            "it has room for {room} hosts (k³/4), and there are {wanted}: {clients} clients, \
             {servers} servers and {metadata} metadata servers{hint}"
        );
        return Err(at.error("arity", message));
    }
    Ok(())
}
