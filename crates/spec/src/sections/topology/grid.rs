//! `kind = "torus"` and `kind = "mesh"`: grids of switches in two or three dimensions.

use super::needs_a_whole_network;
use crate::Error;
use crate::declare::{Place, section};
use crate::sections::Scenario;
use crate::values::{AtLeastOne, NonEmpty, Rate, Seconds, choice};

choice! {
    /// Switches of the data and metadata servers.
    pub enum ServerSwitches {
        /// Those behind the last client.
        Last = "last",
        /// Switches at equal distances, in the order of their numbers.
        Spread = "spread",
    }
}

/// Switches of a torus or mesh, and the hosts on them.
#[derive(Clone, Copy, Debug)]
pub struct Grid<'a> {
    /// Switches in each dimension.
    pub size: &'a [u32],
    /// Hosts on each switch.
    pub hosts: u32,
    /// Switches of the servers.
    pub servers: ServerSwitches,
    /// True if the last switch of a dimension has a link to the first.
    pub wraps: bool,
    /// Rate of a link between two switches; none: that of the network.
    pub bandwidth: Option<Rate>,
    /// Latency of a link between two switches.
    pub latency: Seconds,
}

/// Declares the section of a kind of grid.
macro_rules! grid {
    ($(#[doc = $doc:literal])+ $name:ident, wraps = $wraps:literal, check = $check:ident) => {
        section! {
            $(#[doc = $doc])+
            pub struct $name {
                /// Switches in each of two or three dimensions, at least 2 each.
                size: Vec<u32> as NonEmpty<AtLeastOne> = required([4, 4]) aka ["dimensions", "shape"],
                /// Hosts on each switch.
                hosts: u32 as AtLeastOne = default(1, "one compute node at each switch, as in Blue Gene/L (Gara et al. 2005)") aka ["hosts_per_switch"],
                /// Switches of the data and metadata servers.
                servers: ServerSwitches = default("last", "storage has switches of its own"),
                /// Bytes per second of a link between two switches, in each direction.
                bandwidth: Option<Rate> = optional("network.bandwidth") aka ["rate", "link_bandwidth"],
                /// Latency of a link between two switches, besides `network.latency`.
                latency: Seconds = default("0 s", "`network.latency` counts it") aka ["link_latency"],
            }
            check $check;
        }

        impl $name {
            /// The switches and the hosts on them.
            #[must_use]
            pub fn grid(&self) -> Grid<'_> {
                Grid {
                    size: &self.size,
                    hosts: self.hosts,
                    servers: self.servers,
                    wraps: $wraps,
                    bandwidth: self.bandwidth,
                    latency: self.latency,
                }
            }
        }

        fn $check(of: &$name, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
            check(of.grid(), all, at)
        }
    };
}

grid! {
    /// A torus (k-ary n-cube, Dally 1990). Each switch has a link to the next and the previous one
    /// in every dimension, and the last has one to the first. Messages go along the first dimension
    /// by the shorter way, then along the next (dimension-order routing). Where both ways of a
    /// dimension are equally long, a hash of the two hosts, with the run's seed, chooses one.
    /// Clients come first, then data servers, then metadata servers. The first dimension counts
    /// fastest.
    Torus, wraps = true, check = torus_fits
}

grid! {
    /// A mesh: each switch has a link to the next and the previous one in every dimension.
    /// Messages go along the first dimension, then along the next (dimension-order routing).
    /// Clients come first, then data servers, then metadata servers. The first dimension counts
    /// fastest.
    Mesh, wraps = false, check = mesh_fits
}

/// The most switches: more than the largest tori that were built.
const MOST_SWITCHES: u64 = 1 << 20;

/// The most links between two switches on a path.
const MOST_HOPS: u32 = 24;

impl Grid<'_> {
    /// Returns the number of switches.
    #[must_use]
    pub fn switches(&self) -> u64 {
        let size = self.size.iter().map(|&it| u64::from(it));
        size.fold(1, u64::saturating_mul)
    }

    /// Returns the longest path between two switches, in links.
    #[must_use]
    pub fn diameter(&self) -> u32 {
        let size = self.size.iter();
        let each = size.map(|&it| if self.wraps { it / 2 } else { it - 1 });
        each.fold(0, u32::saturating_add)
    }

    /// Returns the number of links between switches, one for each direction.
    #[must_use]
    pub fn links(&self) -> u64 {
        2 * self.size.len() as u64 * self.switches()
    }
}

/// Checks a grid, which is the scenario's topology.
fn check(grid: Grid<'_>, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    needs_a_whole_network(all, at)?;
    if !matches!(grid.size.len(), 2 | 3) || grid.size.iter().any(|&it| it < 2) {
        let message = "expected two or three dimensions of at least 2 switches, such as [4, 4, 2]";
        return Err(at.error("size", message));
    }
    let switches = grid.switches();
    if switches > MOST_SWITCHES {
        let message = format!("these are {switches} switches: expected at most {MOST_SWITCHES}");
        return Err(at.error("size", message));
    }
    let hops = grid.diameter();
    if hops > MOST_HOPS {
        let message = format!(
            "its longest path has {hops} links between switches: expected at most {MOST_HOPS}"
        );
        return Err(at.error("size", message));
    }
    let Some(parallel) = all.parallel() else {
        return Ok(());
    };
    let kinds = [
        all.clients.count,
        parallel.servers.count,
        parallel.metadata_servers(),
    ];
    let [clients, servers, metadata] = kinds.map(u64::from);
    let wanted = clients + servers + metadata;
    let room = switches * u64::from(grid.hosts);
    if wanted > room {
        let message = format!(
            "{switches} switches have room for {room} hosts, and there are {wanted}: {clients} \
             clients, {servers} servers and {metadata} metadata servers; expected at least {}",
            wanted.div_ceil(switches)
        );
        return Err(at.error("hosts", message));
    }
    Ok(())
}
