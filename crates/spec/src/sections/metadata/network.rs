//! `[metadata.network]`: by which network clients reach the metadata servers.

use crate::Error;
use crate::declare::{Place, kinds, section};
use crate::links::LinkName;
use crate::sections::{Grain, Network, Scenario, Topology};
use crate::values::{Bytes, Rate, Seconds};

section! {
    /// The way to the metadata servers.
    pub struct MetadataNetwork {
        /// Network to the metadata servers.
        #[serde(flatten)]
        kind: WhichNetwork = kinds(),
    }
}

kinds! {
    /// Network to the metadata servers.
    pub enum WhichNetwork default "shared", "one network for all" {
        SharedNetwork = "shared",
        OwnNetwork = "own",
    }
}

section! {
    /// The one that leads to the data servers.
    pub struct SharedNetwork {}
}

section! {
    /// A network apart, of which every client has a card besides the one for data: a
    /// local network for names beside one for storage. A star at the grain of messages.
    pub struct OwnNetwork {
        /// A link of the catalogue: it gives `bandwidth`, `mtu`, `header` and `framing`
        /// where the file does not.
        link: Option<String> as Option<LinkName> = optional("what is given below"),
        /// Bytes per second of a link in each direction, headers included.
        bandwidth: Rate = required("1 Gbit/s") aka ["rate", "speed"],
        /// Time from one end to the other, one way, for the first bit.
        latency: Seconds = required("0.2 ms") aka ["delay"],
        /// Largest packet, its headers included.
        mtu: Bytes = default("1500 B", "IEEE 802.3: the payload of an Ethernet frame"),
        /// Headers inside each packet.
        header: Bytes = default("40 B", "IPv4 (RFC 791) and TCP (RFC 9293) without options: 20 B each"),
        /// Framing bytes of each packet on the wire.
        framing: Bytes = default("38 B", "IEEE 802.3: preamble and delimiter 8 B, header 14 B, check sequence 4 B, gap 12 B"),
    }
    check a_star_of_messages;
}

impl MetadataNetwork {
    /// The network, if it is one of its own.
    #[must_use]
    pub fn own(&self) -> Option<&OwnNetwork> {
        match &self.kind {
            WhichNetwork::SharedNetwork(_) => None,
            WhichNetwork::OwnNetwork(own) => Some(own),
        }
    }
}

impl OwnNetwork {
    /// The network, with all else like another.
    pub(super) fn over(&self, other: &Network) -> Network {
        Network {
            link: self.link.clone(),
            bandwidth: self.bandwidth,
            latency: self.latency,
            mtu: self.mtu,
            header: self.header,
            framing: self.framing,
            ..other.clone()
        }
    }
}

/// The largest packet (RFC 2675).
const LARGEST: Bytes = Bytes(crate::limits::LARGEST_PACKET);

fn a_star_of_messages(own: &OwnNetwork, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    let OwnNetwork { mtu, header, .. } = own;
    if mtu <= header {
        let path = at.field("header").path;
        let message = format!("expected more than the header: {path} = \"{header}\"");
        return Err(at.error("mtu", message));
    }
    for (field, bytes) in [("mtu", own.mtu), ("framing", own.framing)] {
        if bytes > LARGEST {
            let message = "expected at most 4 GiB, the largest packet that IPv6 allows (RFC 2675)";
            return Err(at.error(field, message));
        }
    }
    let Some(parallel) = all.parallel() else {
        return Ok(());
    };
    let network = &parallel.network;
    if network.grain != Grain::Message || !matches!(network.topology, Topology::Star(_)) {
        let message = "a network of the metadata servers' own is possible beside a star of \
                       messages only: expected network.grain = \"message\" and \
                       network.topology = \"star\"";
        return Err(at.error("kind", message));
    }
    let least = (network.message.0 as f64) / Seconds::LONGEST.0;
    if own.bandwidth.0 <= least {
        let message = "a message takes longer than 213 days, the most that simulated time can \
                       hold: expected a higher rate";
        return Err(at.error("bandwidth", message));
    }
    Ok(())
}
