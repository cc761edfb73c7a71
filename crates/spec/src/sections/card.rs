//! `[….card]`: a host's network card.

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::{Grain, Scenario, Topology};
use crate::values::{Bytes, Rate};

section! {
    /// A network card.
    pub struct Card {
        /// Bytes per second in each direction; only where hosts have one: not between pairs.
        bandwidth: Option<Rate> = optional("network.bandwidth"),
        /// Size of a token bucket, in bytes, that fills at the card's `bandwidth`. While it holds
        /// tokens, bytes pass at `network.bandwidth` (Linux, `tc qdisc … tbf rate … burst …`). Each
        /// direction has its own, or both share one where the network is half duplex. Not with
        /// `network.grain = "flow"`.
        burst: Option<Bytes> = optional("every byte passes at the card's bandwidth"),
    }
    check hosts_have_cards;
}

fn hosts_have_cards(card: &Card, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    let Some(parallel) = all.parallel() else {
        let given = [
            ("bandwidth", card.bandwidth.is_some()),
            ("burst", card.burst.is_some()),
        ];
        return match given.into_iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((field, _)) => {
                let message = "there is no network: kind = \"local\"; leave it out";
                Err(at.error(field, message))
            }
        };
    };
    if card.bandwidth.is_some() && matches!(parallel.network.topology, Topology::Pairs(_)) {
        let message = "each pair of hosts has a link of its own, and no host one card: \
                       network.topology = \"pairs\"";
        return Err(at.error("bandwidth", message));
    }
    let Some(burst) = card.burst else {
        return Ok(());
    };
    let network = &parallel.network;
    let wrong = match card.bandwidth {
        None => "a bucket fills at a rate: expected a bandwidth of the card beside it".to_owned(),
        Some(rate) if rate > network.bandwidth => format!(
            "the bucket fills faster than bytes can pass: expected a bandwidth of the card below \
             network.bandwidth = \"{}\"",
            network.bandwidth
        ),
        Some(_) if network.grain == Grain::Flow => {
            "flows have no bursts: expected network.grain = \"message\" or \"packet\"".to_owned()
        }
        Some(_) if burst < Bytes(network.mtu.0 + network.framing.0) => format!(
            "expected at least a packet with what is around it, {} B",
            network.mtu.0 + network.framing.0
        ),
        Some(_) => return Ok(()),
    };
    Err(at.error("burst", wrong))
}
