//! `kind = "mesh"`: lines of switches in two or three dimensions.

use super::grid::{self, Grid, ServerSwitches};
use crate::Error;
use crate::declare::{Place, section};
use crate::sections::Scenario;
use crate::values::{AtLeastOne, NonEmpty, Rate, Seconds};

section! {
    /// A mesh: each switch has a link to the next and the previous one in every dimension.
    /// Messages go along the first dimension, then along the next (dimension-order routing).
    /// Clients come first, then data servers, then metadata servers. The first dimension counts
    /// fastest.
    pub struct Mesh {
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
    check fits;
}

impl Mesh {
    /// The switches and the hosts on them.
    #[must_use]
    pub fn grid(&self) -> Grid<'_> {
        Grid {
            size: &self.size,
            hosts: self.hosts,
            servers: self.servers,
            wraps: false,
        }
    }
}

fn fits(mesh: &Mesh, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    grid::check(mesh.grid(), all, at)
}
