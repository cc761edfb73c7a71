//! `kind = "sfq-plus"`: SFQ(D)+, fair queueing for jobs of different sizes.

use super::groups;
use crate::Error;
use crate::declare::{Place, section};
use crate::sections::{Scenario, Weights};
use crate::tree::Table;
use crate::values::Bytes;

section! {
    /// SFQ(D)+: as `sfq`, but the depth is counted in bytes. A small job may fill the depth that a
    /// large one that is next leaves free (Zhao, Xu: vPFS+, MSST 2019).
    pub struct SfqPlus {
        /// Maximum bytes of dispatched jobs. A larger job goes when nothing else is out.
        depth: Bytes = required("1 MiB"),
        /// The weight of each group; 1 for a group that is not named. They differ
        /// only where a scheduler sees several groups: not on a client.
        weights: Weights = default(Table::default(), "equal shares") aka ["weight", "shares"],
    }
    check check;
}

fn check(sfq: &SfqPlus, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    groups::weighed(&sfq.weights, all, at)
}
