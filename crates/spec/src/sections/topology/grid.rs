//! Grids of switches in two or three dimensions: the common part of tori and meshes.

use super::needs_a_whole_network;
use crate::Error;
use crate::declare::Place;
use crate::sections::Scenario;
use crate::values::choice;

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
pub(super) fn check(grid: Grid<'_>, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
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
