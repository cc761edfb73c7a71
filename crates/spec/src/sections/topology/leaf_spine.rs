//! `kind = "leaf-spine"`: two tiers of switches.

use super::needs_a_whole_network;
use crate::Error;
use crate::declare::{Place, section};
use crate::sections::Scenario;
use crate::values::{AtLeastOne, Rate, Seconds, choice};

choice! {
    /// Leaves of the clients.
    pub enum ClientLeaves {
        /// Leaves of their own, in the order of their numbers.
        Own = "own",
        /// The hosts of the data servers, in turn.
        WithServers = "with-servers",
    }
}

section! {
    /// Hosts on leaf switches, each of which has a link to every spine switch. Clients,
    /// data servers and metadata servers are on leaves of their own, in the order of
    /// their numbers, unless `clients` says otherwise. A hash of the two hosts, with the
    /// run's seed, chooses the spine.
    pub struct LeafSpine {
        /// Hosts on one leaf switch.
        hosts: u32 as AtLeastOne = required(48) aka ["hosts_per_leaf", "ports"],
        /// Spine switches.
        spines: u32 as AtLeastOne = required(4),
        /// Bytes per second of a link between a leaf and a spine, in each direction.
        uplink: Option<Rate> = optional("network.bandwidth") aka ["uplink_bandwidth"],
        /// Latency of a link between a leaf and a spine, besides `network.latency`.
        uplink_latency: Seconds = default("0 s", "`network.latency` counts it"),
        /// Leaves of the clients.
        clients: ClientLeaves = default("own", "compute nodes and file servers are in racks of their own") aka ["client_leaves"],
    }
    check is_a_whole_network;
}

fn is_a_whole_network(_: &LeafSpine, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    needs_a_whole_network(all, at)
}
