//! `[network]`: what connects clients and servers.

use crate::Error;
use crate::declare::{Place, section};
use crate::links::LinkName;
use crate::sections::{Scenario, Tcp, Topology};
use crate::values::{Bytes, Rate, Seconds, choice};

choice! {
    /// Granularity of messages in the network model.
    pub enum Grain {
        /// One piece that each card sends and receives in turn.
        Message = "message",
        /// A flow that shares every link of its path with the others.
        Flow = "flow",
        /// Packets that wait in queues of limited length and can be lost.
        Packet = "packet",
    }
}

choice! {
    /// Duplex mode of a link: both directions at once, or one at a time.
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
        /// Topology of hosts and switches. A kind without fields may be given by name alone, as in
        /// `topology = "pairs"`.
        topology: Topology = section(),
        /// `message`: each card sends and receives one message after the other. `flow`: all
        /// messages with file data share the links of their paths, max-min fair. `packet`: each
        /// switch stores and forwards packets and drops them when a queue is full; TCP retransmits
        /// them.
        grain: Grain = default("message", "first come, first served, as a card's queue does"),
        /// Least time between two findings of the rates of flows; only with
        /// `network.grain = "flow"`.
        interval: Seconds = default("0 s", "rates are right at every instant"),
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
        /// Duplex mode of a link: both directions at once, or one at a time.
        duplex: Duplex = default("full", "switched Ethernet, IEEE 802.3"),
        /// Room for packets at each port of a switch, the one being sent included; only
        /// with `network.grain = "packet"`.
        queue: Bytes = default("128 KiB", "within the 32 KB to 1 MB a port that Phanishayee et al., FAST 2008, look at") aka ["buffer"],
        /// The connections; only with `network.grain = "packet"`.
        tcp: Tcp = section(),
        /// Size of a message without file data: a request or an acknowledgement.
        message: Bytes = default("156 B", "an NFSv3 READ call: record mark 4 B, call header 24 B, AUTH_SYS about 40 B, verifier 8 B (RFC 5531), file handle 68 B, offset and count 12 B (RFC 1813)"),
    }
    check network_fits;
}

fn network_fits(network: &Network, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    packets_carry_data(network, all, at)?;
    if network.grain != Grain::Flow && network.interval.0 > 0.0 {
        let message = format!(
            "only flows have rates: expected network.grain = \"flow\" in place of \"{}\"",
            network.grain.word()
        );
        return Err(at.error("interval", message));
    }
    if network.grain == Grain::Packet {
        return packets_are_packets(network, at);
    }
    Ok(())
}

/// The largest packet of IPv4 (RFC 791), with something to spare.
const LARGEST: Bytes = Bytes(65_536);

fn packets_are_packets(network: &Network, at: &Place<'_>) -> Result<(), Error> {
    for (field, bytes) in [("mtu", network.mtu), ("framing", network.framing)] {
        if bytes > LARGEST {
            let message = "expected at most 64 KiB with network.grain = \"packet\": the largest \
                           packet of IPv4 (RFC 791)";
            return Err(at.error(field, message));
        }
    }
    let whole = network.mtu.0 + network.framing.0;
    if network.queue.0 < whole {
        let message = format!("expected room for a packet with what is around it, {whole} B");
        return Err(at.error("queue", message));
    }
    let segment = Bytes(network.mtu.0 - network.header.0);
    if network.tcp.window < segment {
        let message = format!("expected at least a segment, {segment} (network.mtu - header)");
        return Err(at.field("tcp").error("window", message));
    }
    Ok(())
}

fn packets_carry_data(network: &Network, _all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    let Network { mtu, header, .. } = network;
    if mtu <= header {
        let message = format!("expected more than the header: network.header = \"{header}\"");
        return Err(at.error("mtu", message));
    }
    Ok(())
}
