//! `kind = "sfq"`: start-time fair queueing with depth, SFQ(D).

use super::groups;
use crate::Error;
use crate::declare::{Place, section};
use crate::sections::{Scenario, Weights};
use crate::tree::Table;
use crate::values::AtLeastOne;

section! {
    /// Start-time fair queueing, SFQ(D): groups get service in proportion to
    /// their weights (Jin, Chase, Kaur: SIGMETRICS 2004).
    pub struct Sfq {
        /// Maximum number D of dispatched jobs: before a server, with that server; at a gateway,
        /// with all servers together.
        depth: u32 as AtLeastOne = required(4),
        /// The weight of each group; 1 for a group that is not named. They differ
        /// only where a scheduler sees several groups: not on a client.
        weights: Weights = default(Table::default(), "equal shares") aka ["weight", "shares"],
    }
    check check;
}

fn check(sfq: &Sfq, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    groups::weighed(&sfq.weights, all, at)
}
