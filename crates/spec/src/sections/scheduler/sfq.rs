//! `kind = "sfq"`: start-time fair queueing with depth, SFQ(D).

use crate::Error;
use crate::declare::{Place, section};
use crate::names;
use crate::sections::{Position, Scenario, Weights};
use crate::tree::Table;
use crate::values::AtLeastOne;

section! {
    /// Start-time fair queueing, SFQ(D): groups get service in proportion to
    /// their weights (Jin, Chase, Kaur: SIGMETRICS 2004).
    pub struct Sfq {
        /// How many jobs a scheduler lets be out at once, D: before a server, with
        /// that server; at a gateway, with all servers together.
        depth: u32 as AtLeastOne = required(4),
        /// The weight of each group; 1 for a group that is not named. They differ
        /// only where a scheduler sees several groups: not on a client.
        weights: Weights = default(Table::default(), "equal shares") aka ["weight", "shares"],
    }
    check weights_have_effect;
}

fn weights_have_effect(sfq: &Sfq, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    let groups: Vec<&str> = all.clients.groups.names().collect();
    match sfq
        .weights
        .0
        .iter()
        .find(|(name, _)| !groups.contains(&name.as_str()))
    {
        Some((name, _)) => {
            let known = names::or(&groups);
            let hint = names::hint(name, &groups);
            let message = format!("expected a group of clients.groups, {known}{hint}");
            Err(at.field("weights").error(name, message))
        }
        None if at_clients(all) && differ(&sfq.weights, &groups) => {
            let message = "each client is of one group, so its scheduler has nothing to weigh: \
                           scheduler.position = \"client\"; expected equal weights, or a scheduler \
                           at the \"server\" or \"gateway\"";
            Err(at.error("weights", message))
        }
        None => Ok(()),
    }
}

fn at_clients(all: &Scenario) -> bool {
    all.parallel()
        .is_some_and(|parallel| parallel.scheduler.position == Position::Client)
}

fn differ(weights: &Weights, groups: &[&str]) -> bool {
    let mut all = groups.iter().map(|group| weights.of(group));
    let first = all.next();
    all.any(|weight| Some(weight) != first)
}
