//! `[….card]`: a host's network card.

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::{Grain, Parallel, Scenario, Topology};
use crate::values::{AtLeastOne, Bytes, Rate, choice};

choice! {
    /// Choice of a port.
    pub enum Spread {
        /// A hash of the connection: all of its messages take one port.
        Hash = "hash",
        /// Each message takes the next port.
        RoundRobin = "round-robin",
    }
}

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
        /// Ports, each with the card's `bandwidth`: links of a bond, or rails. Only with
        /// `network.grain = "flow"`.
        ports: u32 as AtLeastOne = default(1, "one port"),
        /// Choice of a port. A network of several rails chooses round robin (Lustre Operations
        /// Manual, chapter LNet Software Multi-Rail).
        spread: Spread = default("hash", "link aggregation sends each conversation over one link, in order: IEEE 802.1AX, clause 6.2.4"),
    }
    check hosts_have_cards;
}

fn hosts_have_cards(card: &Card, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    let Some(parallel) = all.parallel() else {
        let given = [
            ("bandwidth", card.bandwidth.is_some()),
            ("burst", card.burst.is_some()),
            ("ports", card.ports > 1),
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
    ports_suit_the_grain(card, parallel, at)?;
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

/// The most ports of a card: each message has a number that chooses one.
const MOST_PORTS: u32 = 16;

fn ports_suit_the_grain(card: &Card, all: &Parallel, at: &Place<'_>) -> Result<(), Error> {
    if card.ports > MOST_PORTS {
        return Err(at.error("ports", format!("expected at most {MOST_PORTS}")));
    }
    if card.ports > 1 && all.network.grain != Grain::Flow {
        let message = format!(
            "messages and packets have one port: expected network.grain = \"flow\" in place of \
             \"{}\"",
            all.network.grain.word()
        );
        return Err(at.error("ports", message));
    }
    Ok(())
}
