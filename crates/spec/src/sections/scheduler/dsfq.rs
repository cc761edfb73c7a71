//! `kind = "dsfq"`: fair queueing over all servers together.

use super::groups;
use crate::Error;
use crate::declare::{Place, section};
use crate::sections::{Scenario, Weights};
use crate::tree::Table;
use crate::values::{AtLeastOne, Seconds};

section! {
    /// Distributed start-time fair queueing, DSFQ: groups get service in proportion to their
    /// weights over all schedulers. The schedulers exchange the requested service of each group
    /// (Wang, Merchant: FAST 2007).
    pub struct Dsfq {
        /// Maximum number of dispatched jobs.
        depth: u32 as AtLeastOne = required(4),
        /// The weight of each group; 1 for a group that is not named. They differ
        /// only where a scheduler sees several groups: not on a client.
        weights: Weights = default(Table::default(), "equal shares") aka ["weight", "shares"],
        /// Minimum interval between two messages about a group to all other schedulers. Changes in
        /// between are sent with the next message.
        message_interval: Seconds = default("0 s", "every job is told of at once, as Wang and Merchant's coordinators do with each request, FAST 2007"),
    }
    check check;
}

fn check(dsfq: &Dsfq, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    groups::weighed(&dsfq.weights, all, at)
}
