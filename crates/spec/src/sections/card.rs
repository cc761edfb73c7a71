//! `[….card]`: a host's network card.

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::{Scenario, Topology};
use crate::values::Rate;

section! {
    /// A network card.
    pub struct Card {
        /// Bytes per second in each direction; only where hosts have one: not between pairs.
        bandwidth: Option<Rate> = optional("network.bandwidth"),
    }
    check hosts_have_cards;
}

fn hosts_have_cards(card: &Card, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    let Some(parallel) = all.parallel() else {
        return match card.bandwidth {
            None => Ok(()),
            Some(_) => {
                let message = "there is no network: kind = \"local\"; leave it out";
                Err(at.error("bandwidth", message))
            }
        };
    };
    if card.bandwidth.is_some() && matches!(parallel.network.topology, Topology::Pairs(_)) {
        let message = "each pair of hosts has a link of its own, and no host one card: \
                       network.topology = \"pairs\"";
        return Err(at.error("bandwidth", message));
    }
    Ok(())
}
