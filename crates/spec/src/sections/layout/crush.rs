//! `kind = "crush"`: objects on servers by a hash, as Ceph places them.

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::{Parallel, Scenario};
use crate::values::{AtLeastOne, Bytes, NonEmpty, Positive, choice};

choice! {
    /// The unit that holds at most one copy of an object.
    pub enum FailureDomain {
        /// A server.
        Server = "server",
        /// A rack of servers.
        Rack = "rack",
    }
}

section! {
    /// Objects of equal size, each with servers of its own that a hash chooses by their weights.
    /// CRUSH has straw2 buckets, racks of servers below one root (Weil, Brandt, Miller, Maltzahn:
    /// SC 2006).
    pub struct Crush {
        /// Size of an object: the contiguous bytes of a file on one server.
        unit: Bytes = default("4 MiB", "Ceph, src/include/fs_types.h: file_layout_t::get_default, object_size of 1 << 22") aka ["object_size", "stripe", "stripe_unit"],
        /// Weight of each server, by number: its share of the objects, in Ceph its capacity in TiB.
        weights: Option<Vec<f64>> as Option<NonEmpty<Positive>> = optional("all servers have the same weight") aka ["weight"],
        /// The unit that holds at most one copy of an object: a `server`, or a
        /// `rack` (`replication.servers_per_rack`).
        domain: FailureDomain = default("server", "Ceph, osd_crush_chooseleaf_type = 1: copies on different hosts") aka ["failure_domain"],
        /// Number of groups that objects are hashed to; those of a group have the same servers.
        placement_groups: Option<u32> as Option<AtLeastOne> = optional("each object is placed for itself") aka ["pg_num", "groups"],
    }
}

impl Crush {
    /// Checks the fields against the servers.
    pub(super) fn fits(
        &self,
        layout: &super::Layout,
        all: &Scenario,
        parallel: &Parallel,
        at: &Place<'_>,
    ) -> Result<(), Error> {
        if self.unit.0 == 0 {
            return Err(at.error("unit", r#"expected a size of more than 0 such as "4 MiB""#));
        }
        let servers = parallel.servers.count;
        if let Some(weights) = &self.weights
            && weights.len() != servers as usize
        {
            let message = format!(
                "these are {}: expected one for each server, servers.count = {servers}",
                weights.len()
            );
            return Err(at.error("weights", message));
        }
        let racks = servers.div_ceil(parallel.servers_per_rack());
        if self.domain == FailureDomain::Rack && parallel.replication.pieces() > racks {
            let message = format!(
                "there are fewer racks than copies or pieces: {racks}; expected \"server\", or \
                 replication.servers_per_rack of less"
            );
            return Err(at.error("domain", message));
        }
        let message = if layout.pool.is_some() {
            "objects go to all servers: expected no pool"
        } else if all.workload.iter().any(|it| it.layout.is_some()) {
            "all files have objects of layout.unit: leave the workloads' own layouts out"
        } else if parallel.servers.machine().is_some() {
            "on a [servers.machine] objects are not modelled: expected simple servers"
        } else {
            return Ok(());
        };
        Err(at.error("kind", message))
    }
}
