//! `kind = "free-space"`: stripes on targets with much free space.

use super::ServersPerFile;
use crate::Error;
use crate::declare::{Place, section};
use crate::sections::Parallel;
use crate::values::{Bytes, CountOr, NonEmpty, Portion};

section! {
    /// Stripes of equal size over targets that are chosen for each new file. They are used in turn
    /// while all have about the same free space, else by weights that follow it (Lustre's QOS
    /// allocator: lustre/lod/lod_qos.c, `lod_ost_alloc_qos`).
    pub struct FreeSpace {
        /// Size of a stripe: the contiguous bytes of a file on one server.
        unit: Bytes = required("1 MiB") aka ["stripe", "stripe_size", "stripe_unit"],
        /// Over how many targets one file is spread.
        servers: ServersPerFile as CountOr<ServersPerFile> = default(1, "Lustre: lfs setstripe, stripe_count 1") aka ["count", "stripe_count"],
        /// Free space of each target at the start, by number: the first target of every server,
        /// then the second. Within a pool, of its targets.
        free: Vec<Bytes> as NonEmpty<Bytes> = required(["1 TiB"]) aka ["free_space", "available"],
        /// Difference of free space from which weights are used, as a fraction of the largest.
        threshold: f64 as Portion = default(0.17, "Lustre manual, section \"Managing Free Space\": qos_threshold_rr, 17 %") aka ["qos_threshold_rr"],
        /// Weight of free space against even use of targets and servers.
        priority: f64 as Portion = default(0.91, "Lustre manual, section \"Managing Free Space\": qos_prio_free, 91 %") aka ["qos_prio_free"],
    }
}

impl FreeSpace {
    /// Checks the fields against the targets.
    pub(super) fn fits(
        &self,
        layout: &super::Layout,
        there: u32,
        parallel: &Parallel,
        at: &Place<'_>,
    ) -> Result<(), Error> {
        if self.unit.0 == 0 {
            return Err(at.error("unit", r#"expected a size of more than 0 such as "1 MiB""#));
        }
        if self.free.len() != there as usize {
            let message = format!(
                "these are {}: expected one for each target that files may lie on, {there}",
                self.free.len()
            );
            return Err(at.error("free", message));
        }
        if parallel.replication.pieces() > 1 {
            let message = "free space of replicated data is not modelled: expected \
                           replication.copies = 1 and no code, or another kind";
            return Err(at.error("kind", message));
        }
        super::striped::fits(self.servers, layout, there, parallel, at)
    }
}
