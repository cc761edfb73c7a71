//! `kind = "two-dimensional"`: stripes over one group of servers after the other.

use super::FirstServer;
use crate::Error;
use crate::declare::{Place, section};
use crate::sections::Scenario;
use crate::values::{AtLeastOne, Bytes};

section! {
    /// All servers in groups: a number of stripes over the servers of one group, then as many over
    /// those of the next. OrangeFS has this distribution (two-dimensional stripes,
    /// src/io/description/dist-twod-stripe.c). Servers that are left over belong to the last group.
    pub struct TwoDimensional {
        /// Size of a strip: the contiguous bytes of a file on one server.
        unit: Bytes = default("64 KiB", "OrangeFS, pvfs2-dist-twod-stripe.h: PVFS_DIST_TWOD_STRIPE_DEFAULT_STRIP_SIZE")
            aka ["strip", "strip_size", "stripe"],
        /// Number of groups; with fewer servers each server is a group.
        groups: u32 as AtLeastOne = default(2, "OrangeFS, pvfs2-dist-twod-stripe.h: PVFS_DIST_TWOD_STRIPE_DEFAULT_GROUPS")
            aka ["num_groups"],
        /// Strips on each server of a group before the next group's turn.
        factor: u32 as AtLeastOne = default(256, "OrangeFS, pvfs2-dist-twod-stripe.h: PVFS_DIST_TWOD_STRIPE_DEFAULT_FACTOR")
            aka ["group_strip_factor"],
        /// Server that holds the first strip of a file.
        first: FirstServer = default("round-robin", "spreads the first strips evenly")
            aka ["start"],
    }
    check strips_have_a_size;
}

/// The most strips until a pattern repeats: each takes some bytes on every client.
const MOST_STRIPS: u64 = 1_000_000;

/// The largest strips: the whole pattern has a number of bytes.
const LARGEST_STRIP: u64 = 1 << 40;

impl TwoDimensional {
    /// Returns the number of groups for a number of servers.
    #[must_use]
    pub fn groups_of(&self, servers: u32) -> u32 {
        self.groups.min(servers)
    }
}

fn strips_have_a_size(
    layout: &TwoDimensional,
    _all: &Scenario,
    at: &Place<'_>,
) -> Result<(), Error> {
    if layout.unit.0 == 0 || layout.unit.0 > LARGEST_STRIP {
        let message = r#"expected a size from 1 B to 1 TiB such as "64 KiB""#;
        return Err(at.error("unit", message));
    }
    Ok(())
}

impl TwoDimensional {
    /// Refuses patterns that are too long for the number of targets.
    pub(super) fn fits(&self, targets: u32, at: &Place<'_>) -> Result<(), Error> {
        let strips = u64::from(self.factor) * u64::from(targets);
        if strips > MOST_STRIPS {
            let message = format!(
                "these are {strips} strips until all servers had their turn: expected at most \
                 {MOST_STRIPS}"
            );
            return Err(at.error("factor", message));
        }
        Ok(())
    }
}
