//! `[network]`: what connects clients and servers.

use crate::Error;
use crate::declare::{Place, section};
use crate::links::LinkName;
use crate::sections::{Scenario, Tcp, Topology};
use crate::values::{AtLeastOne, Bytes, Part, Rate, Seconds, choice};

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

choice! {
    /// Behaviour of a port whose receiver has no room.
    pub enum FlowControl {
        /// A full queue drops packets, and TCP retransmits them.
        None = "none",
        /// The sender waits for credits of the receiver, and no packet is dropped.
        Credits = "credits",
    }
}

section! {
    /// A switch, the same wherever the topology does not say otherwise.
    pub struct Switch {
        /// Time to forward a packet or message, for each switch on the path.
        latency: Seconds = default("0 s", "`network.latency` counts it") aka ["delay"],
        /// Bytes per second of all packets together inside a switch. Not with
        /// `network.grain = "message"` or `network.flow_control = "credits"`.
        bandwidth: Option<Rate> = optional("a switch never blocks: its ports alone limit it") aka ["rate", "speed", "backplane"],
    }
}

section! {
    /// Link-level flow control of InfiniBand: the receiver of a link grants credits for blocks of
    /// 64 B of its buffer, for each virtual lane.
    pub struct Credits {
        /// Room for packets at the receiving end of a link, for each virtual lane: at least a
        /// packet.
        buffer: Bytes = default("128 KiB", "declared default: credits for 2048 blocks of 64 B (InfiniBand Architecture Specification volume 1, section 7.9)"),
        /// Virtual lanes of a link for data. The receiving host's number selects one. A torus
        /// has twice as many, because packets change lanes at its datelines.
        lanes: u32 as AtLeastOne = default(1, "declared default: one lane for all data (InfiniBand Architecture Specification volume 1, chapter 7, Link Layer)") aka ["virtual_lanes"],
        /// Switches forward a packet as soon as its headers have arrived. Otherwise they store it
        /// first.
        cut_through: bool = default(true, "virtual cut-through (Kermani and Kleinrock 1979), as switches of InfiniBand do"),
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
        /// them. With `flow_control = "credits"` packets wait instead.
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
        /// Most bytes per second of a client's connection to a server, headers included, in each
        /// direction. A core or a window limits a stream of TCP. Only with
        /// `network.grain = "flow"`.
        connection_rate: Option<Rate> = optional("as much as its ports"),
        /// Duplex mode of a link: both directions at once, or one at a time.
        duplex: Duplex = default("full", "switched Ethernet, IEEE 802.3"),
        /// Room for packets at each port of a switch, the one being sent included; only
        /// with `network.grain = "packet"` and without credits.
        queue: Bytes = default("128 KiB", "within the 32 KB to 1 MB a port that Phanishayee et al., FAST 2008, look at") aka ["buffer"],
        /// The connections; only with `network.grain = "packet"` and without credits.
        tcp: Tcp = section(),
        /// Probability that a link corrupts a packet, which its receiver then drops. Only with
        /// `network.grain = "packet"` and without credits: TCP retransmits it.
        error_rate: f64 as Part = default(0.0, "IEEE 802.3 and InfiniBand demand bit error rates of at most 1e-12: nearly no packet") aka ["packet_error_rate"],
        /// Behaviour of a port whose receiver has no room; only with `network.grain = "packet"`.
        flow_control: FlowControl = default("none", "Ethernet, IEEE 802.3, without pause frames"),
        /// Credits; only with `network.flow_control = "credits"`.
        credits: Credits = section(),
        /// The switches.
        switch: Switch = section() aka ["switches"],
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
    if network.grain != Grain::Flow && network.connection_rate.is_some() {
        let message = format!(
            "only flows have a limit of their own: expected network.grain = \"flow\" in place of \
             \"{}\"",
            network.grain.word()
        );
        return Err(at.error("connection_rate", message));
    }
    switches_suit_the_grain(network, at)?;
    if network.error_rate >= 1.0 {
        let message = "no packet would ever arrive: expected less than 1";
        return Err(at.error("error_rate", message));
    }
    if network.grain == Grain::Packet {
        packets_are_packets(network, at)?;
        return credits_suit_packets(network, at);
    }
    let grain = network.grain.word();
    if network.error_rate > 0.0 {
        let message = format!(
            "only packets are corrupted and sent again: expected network.grain = \"packet\" in \
             place of \"{grain}\""
        );
        return Err(at.error("error_rate", message));
    }
    if network.flow_control == FlowControl::Credits {
        let message = format!(
            "credits are granted for packets: expected network.grain = \"packet\" in place of \
             \"{grain}\""
        );
        return Err(at.error("flow_control", message));
    }
    Ok(())
}

fn switches_suit_the_grain(network: &Network, at: &Place<'_>) -> Result<(), Error> {
    let at = at.field("switch");
    if network.switch.latency.0 > 0.0 && matches!(network.topology, Topology::Pairs(_)) {
        let message = "there is no switch between pairs of hosts: network.topology = \"pairs\"; \
                       leave it out";
        return Err(at.error("latency", message));
    }
    if network.switch.bandwidth.is_some() {
        let message = if network.grain == Grain::Message {
            "at the grain of messages only cards carry load: expected network.grain = \"flow\" or \
             \"packet\""
        } else if network.flow_control == FlowControl::Credits {
            "switches with credits are crossbars that never block: leave it out"
        } else {
            return Ok(());
        };
        return Err(at.error("bandwidth", message));
    }
    Ok(())
}

/// Bytes of a credit (InfiniBand Architecture Specification volume 1, section 7.9).
pub const CREDIT_BLOCK: u64 = 64;

/// The most virtual lanes for data: the sixteenth is for management (InfiniBand Architecture
/// Specification volume 1, chapter 7, Link Layer).
const MOST_LANES: u32 = 15;

fn credits_suit_packets(network: &Network, at: &Place<'_>) -> Result<(), Error> {
    if network.flow_control != FlowControl::Credits {
        return Ok(());
    }
    if network.error_rate > 0.0 {
        let message = "links with credits lose no packet in this model: expected 0, or \
                       network.flow_control = \"none\"";
        return Err(at.error("error_rate", message));
    }
    if network.duplex == Duplex::Half {
        let message = "credits return beside the data: expected \"full\" with \
                       network.flow_control = \"credits\"";
        return Err(at.error("duplex", message));
    }
    let at = at.field("credits");
    let packet = network.mtu.0 + network.framing.0;
    let blocks = packet.div_ceil(CREDIT_BLOCK);
    if network.credits.buffer.0 / CREDIT_BLOCK < blocks {
        let message = format!(
            "a packet of {packet} B takes {blocks} blocks of 64 B: expected at least {} B",
            blocks * CREDIT_BLOCK
        );
        return Err(at.error("buffer", message));
    }
    let classes = network.topology.lane_classes();
    if network.credits.lanes > MOST_LANES / classes {
        let message = format!("expected at most {} virtual lanes", MOST_LANES / classes);
        return Err(at.error("lanes", message));
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
