//! `[network.topology]`: how hosts and switches are joined.

mod fat_tree;
mod graph;
mod grid;
mod leaf_spine;
mod pairs;
mod star;

pub use fat_tree::FatTree;
pub use graph::{Graph, GraphLink, GraphSwitch};
pub use grid::{Grid, Mesh, ServerSwitches, Torus};
pub use leaf_spine::{ClientLeaves, LeafSpine};
pub use pairs::Pairs;
pub use star::Star;

use crate::Error;
use crate::declare::{Place, kinds};
use crate::sections::{Grain, Scenario};

kinds! {
    /// Topology of hosts and switches.
    pub enum Topology default "star", "switched Ethernet" {
        Star = "star",
        Pairs = "pairs",
        LeafSpine = "leaf-spine",
        FatTree = "fat-tree",
        Graph = "graph",
        Torus = "torus",
        Mesh = "mesh",
    }
}

impl Topology {
    /// Sets of virtual lanes that keep packets from waiting for each other in a circle.
    #[must_use]
    pub fn lane_classes(&self) -> u32 {
        match self {
            Topology::Torus(_) => 2,
            _ => 1,
        }
    }

    /// The grid of a torus or mesh.
    #[must_use]
    pub fn grid(&self) -> Option<Grid<'_>> {
        match self {
            Topology::Torus(torus) => Some(torus.grid()),
            Topology::Mesh(mesh) => Some(mesh.grid()),
            _ => None,
        }
    }
}

/// Only whole networks know switches that are links of each other.
fn needs_a_whole_network(all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    match all.parallel().map(|parallel| parallel.network.grain) {
        Some(Grain::Message) => {
            let message = "between switches, messages share links: expected network.grain = \
                           \"flow\" beside it";
            Err(at.error("kind", message))
        }
        _ => Ok(()),
    }
}
