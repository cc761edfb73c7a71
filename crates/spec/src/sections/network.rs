//! `[network]`: what connects clients and servers.

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::Scenario;
use crate::values::{Bytes, Rate, Seconds, choice};

choice! {
    /// Which hosts share which links.
    pub enum Topology {
        /// Every host has one card, and all cards meet in one switch.
        Star = "star",
        /// Every client has a link of its own to every server: for bandwidths
        /// that were measured between pairs of hosts.
        Pairs = "pairs",
    }
}

choice! {
    /// Whether a link carries both directions at once.
    pub enum Duplex {
        /// Both directions at full bandwidth.
        Full = "full",
        /// Both directions share the bandwidth.
        Half = "half",
    }
}

section! {
    /// The network.
    pub struct Network {
        /// `star`: one card per host, one switch between them; `pairs`: a link of
        /// its own between every client and every server, for measurements that
        /// are given per pair.
        topology: Topology = default("star", "switched Ethernet"),
        /// Bytes per second of a link in each direction, headers included.
        bandwidth: Rate = required("1 Gbit/s") aka ["rate", "speed"],
        /// Time from one end to the other, one way, for the first bit.
        latency: Seconds = required("0.2 ms") aka ["delay"],
        /// Largest packet, its headers included.
        mtu: Bytes = default("1500 B", "IEEE 802.3: the payload of an Ethernet frame"),
        /// Headers inside each packet.
        header: Bytes = default("40 B", "IPv4 (RFC 791) and TCP (RFC 9293) without options: 20 B each"),
        /// What the wire carries around each packet.
        framing: Bytes = default("38 B", "IEEE 802.3: preamble and delimiter 8 B, header 14 B, check sequence 4 B, gap 12 B"),
        /// Whether a link carries both directions at once.
        duplex: Duplex = default("full", "switched Ethernet, IEEE 802.3"),
        /// Size of a message without file data: a request or an acknowledgement.
        message: Bytes = default("156 B", "an NFSv3 READ call: record mark 4 B, call header 24 B, AUTH_SYS about 40 B, verifier 8 B (RFC 5531), file handle 68 B, offset and count 12 B (RFC 1813)"),
    }
    check packets_carry_data;
}

fn packets_carry_data(network: &Network, _all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    let Network { mtu, header, .. } = network;
    if mtu <= header {
        let message = format!("expected more than the header: network.header = \"{header}\"");
        return Err(at.error("mtu", message));
    }
    Ok(())
}
