//! The grain of packets with credits, as on InfiniBand (Architecture Specification volume 1,
//! section 7.9). A sender must hold credits for the receiver's buffer before it sends a packet. No
//! packet is lost.
//!
//! ```text
//!   host ─▶ card ═▶ buffer ─▶ link ═▶ buffer ─▶ link ═▶ host
//!             ◀─ credits ─┘     ◀─ credits ─┘
//! ```
//!
//! Every link has virtual lanes. At its far end, each lane has a buffer, first in, first out. The
//! first packet of a buffer waits for its next link and for credits there. Packets behind it wait
//! too: head-of-line blocking, from which congestion trees grow. A link serves its lanes, and the
//! inputs of a lane, in turn. A buffer sends one packet at a time, and its space is granted again
//! when the packet has left. The credits take the latency of the link back. A host takes arrived
//! packets at once.
//!
//! Two hosts exchange messages through a queue pair each way, which sends one message after the
//! other. A host serves its queue pairs in turn, by the packet.
//!
//! With `credits.cut_through`, a packet competes for its next link when its headers are at a
//! switch, otherwise when it has arrived completely. Packets can wait for each other's credits in a
//! circle, and then forever. No topology permits that. Trees and meshes have no circles, and
//! packets change lanes in a torus. A graph whose shortest paths have circles is refused.
//!
//! Not modelled: acknowledgements and retransmission of reliable connections; bandwidth of flow
//! control packets; weights and priorities of lanes (VL arbitration tables); congestion control
//! (annex A10); adaptive routing.

mod link;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use headrace_net::{Discipline, Page, Port, Slot, Span, Station, Time};
use headrace_spec::Network;

use self::link::{Input, Link};
use super::{Carried, Destinations, EventList, Fabric, LinkLoads, PacketCounts, Path, Wire};
use crate::tokens::Job;

/// The page of the network; gives where messages go in and what its links carry.
///
/// ```text
///   submit ─▶ (packets) ─▶ [arrive] ─▶ host
/// ```
pub(super) fn network(
    page: &mut Page<'_>,
    spec: &Network,
    fabric: Fabric,
    to: Destinations,
) -> (Port<Job>, LinkLoads) {
    let fabric = Arc::new(fabric);
    let submit = page.input("submit");
    let carried = page.store("bytes carried", |_| Carried::new(fabric.rates().len()));
    let counts = PacketCounts::new(fabric.rates().len(), true);
    let packets = page.stations("packets", |_| {
        CreditLinks::new(spec, fabric.clone(), counts.clone())
    });
    page.connect(submit, packets);
    let paths = fabric.clone();
    let arrives = page.transition("arrive").take(packets).with(carried);
    arrives.route(to.all(), move |_, job, carried| {
        carried.add(paths.path(job).links(), job.wire);
        to.of(job)
    });
    let loads = LinkLoads {
        carried,
        fabric,
        page: "system/network",
        station: "system/network/packets",
        packets: Some(counts),
    };
    (submit, loads)
}

/// A packet at the near end of a link of its path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Packet {
    pair: u32,
    /// Number of that link on the path.
    hop: u8,
    bytes: u32,
    /// The slot of its message, if it is the last of it.
    last: Option<u32>,
    /// Time when its last bit is there.
    tail: Time,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Event {
    /// The last bit of a packet has left by a link.
    Left { link: u32 },
    /// A packet can go on at the far end of a link.
    Arrives {
        link: u32,
        lane: u32,
        packet: Packet,
    },
    /// Credits have come back to a link.
    Credits { link: u32, lane: u32, blocks: u64 },
}

/// The messages from one host to another.
#[derive(Clone, Debug)]
struct QueuePair {
    path: Path,
    /// Its virtual lane among those of a class.
    lane: u32,
    /// Messages, and the bytes of each that are not sent.
    messages: VecDeque<(Slot, u64)>,
    /// True if it competes for its card's link, or sends.
    active: bool,
}

/// All links, as the discipline of one station. A message is in it from the first time that a bit
/// of it could be sent until its last byte has arrived.
#[derive(Clone)]
struct CreditLinks {
    fabric: Arc<Fabric>,
    latency: Span,
    wire: Wire,
    /// Bytes after which a switch forwards a packet.
    head: u32,
    /// Virtual lanes of a class.
    lanes: u32,
    links: Vec<Link>,
    pairs: Vec<QueuePair>,
    /// By sending and receiving host.
    between: HashMap<(u32, u32), u32>,
    events: EventList<Event>,
    /// Messages that are inside.
    messages: u64,
    /// Latencies of links and switches besides `latency` that messages had, in all.
    further_latency: Span,
    arrived: u64,
    counts: PacketCounts,
}

impl CreditLinks {
    fn new(spec: &Network, fabric: Arc<Fabric>, counts: PacketCounts) -> CreditLinks {
        let credits = &spec.credits;
        let lanes = credits.lanes * spec.topology.lane_classes();
        let links = (0..).zip(fabric.rates());
        let links = links.map(|(link, &rate)| {
            let bucket = fabric.bucket(link);
            Link::new(rate, bucket, lanes, credits.buffer.0)
        });
        CreditLinks {
            links: links.collect(),
            fabric,
            latency: Span::from_seconds(spec.latency.0),
            wire: Wire::new(spec),
            head: match credits.cut_through {
                true => (spec.header.0 + spec.framing.0) as u32,
                false => u32::MAX,
            },
            lanes: credits.lanes,
            pairs: Vec::new(),
            between: HashMap::new(),
            events: EventList::new(),
            messages: 0,
            further_latency: Span::ZERO,
            arrived: 0,
            counts,
        }
    }

    fn pair(&mut self, from: u32, to: u32) -> u32 {
        let (pairs, fabric, lanes) = (&mut self.pairs, &self.fabric, self.lanes);
        *self.between.entry((from, to)).or_insert_with(|| {
            pairs.push(QueuePair {
                path: fabric.between(from, to),
                lane: to % lanes,
                messages: VecDeque::new(),
                active: false,
            });
            pairs.len() as u32 - 1
        })
    }

    /// The first packet of an input.
    fn first(&self, input: Input) -> Option<Packet> {
        match input {
            Input::Buffer { link, lane } => self.links[link as usize].first(lane),
            Input::Host { pair } => {
                let &(slot, bytes) = self.pairs[pair as usize].messages.front()?;
                let (bytes, all) = self.wire.first_packet(bytes);
                Some(Packet {
                    pair,
                    hop: 0,
                    bytes,
                    last: all.then_some(slot.0),
                    tail: Time::ZERO,
                })
            }
        }
    }

    /// Removes the first packet of an input.
    fn remove(&mut self, input: Input, packet: Packet) {
        match input {
            Input::Buffer { link, lane } => self.links[link as usize].remove(lane),
            Input::Host { pair } => {
                self.counts.sent();
                let messages = &mut self.pairs[pair as usize].messages;
                if packet.last.is_some() {
                    messages.pop_front();
                } else if let Some((_, bytes)) = messages.front_mut() {
                    *bytes -= self.wire.payload();
                }
            }
        }
    }

    /// Lets an input compete for the link that its first packet takes; gives that link.
    fn compete(&mut self, input: Input) -> Option<u32> {
        let packet = self.first(input);
        let active = packet.is_some();
        match input {
            Input::Buffer { link, lane } => self.links[link as usize].set_active(lane, active),
            Input::Host { pair } => self.pairs[pair as usize].active = active,
        }
        let packet = packet?;
        let pair = &self.pairs[packet.pair as usize];
        let hop = usize::from(packet.hop);
        let link = pair.path.links()[hop];
        let lane = pair.path.lane_class(hop) * self.lanes + pair.lane;
        self.links[link as usize].wait(lane, input);
        Some(link)
    }

    /// Starts to send a packet by a link, if there is one that may go.
    fn start(&mut self, link: u32, now: Time) {
        let state = &self.links[link as usize];
        let chosen = state.choose(|input| self.first(input).map_or(0, |it| it.bytes));
        let state = &mut self.links[link as usize];
        let Some((lane, input)) = chosen else {
            state.stall(now);
            return;
        };
        self.counts.without_credits(state.go_on(now));
        let Some(packet) = self.first(input) else {
            return;
        };
        self.remove(input, packet);
        let hop = usize::from(packet.hop);
        let path = &self.pairs[packet.pair as usize].path;
        let [wire, switch] = self.fabric.latencies_of_hop(path, hop, self.latency);
        let state = &mut self.links[link as usize];
        let (head, end) = state.send(now, lane, input, packet, self.head);
        self.events.push(end, Event::Left { link });
        let path = &self.pairs[packet.pair as usize].path;
        let arrives = match hop + 1 == path.links().len() {
            true => end + wire,
            false => head + wire + switch,
        };
        let packet = Packet {
            hop: packet.hop + 1,
            tail: end + wire + switch,
            ..packet
        };
        self.events
            .push(arrives, Event::Arrives { link, lane, packet });
    }

    /// Grants the room of a packet again that has passed a link, the one before its next, and has
    /// left the buffer behind it.
    fn grant(&mut self, link: u32, lane: u32, packet: Packet, now: Time) {
        let blocks = link::blocks(packet.bytes);
        let path = &self.pairs[packet.pair as usize].path;
        let hop = usize::from(packet.hop) - 1;
        let [latency, _] = self.fabric.latencies_of_hop(path, hop, self.latency);
        self.events
            .push(now + latency, Event::Credits { link, lane, blocks });
    }

    fn happens(&mut self, event: Event, station: &mut Station<'_, Job>) {
        let now = station.now();
        match event {
            Event::Left { link } => {
                if let Some((input, packet)) = self.links[link as usize].left() {
                    if let Input::Buffer { link, lane } = input {
                        self.grant(link, lane, packet, now);
                    }
                    let other = self.compete(input).filter(|&other| other != link);
                    if let Some(other) = other {
                        self.start(other, now);
                    }
                }
                self.start(link, now);
            }
            Event::Arrives { link, lane, packet } => {
                let path = &self.pairs[packet.pair as usize].path;
                if usize::from(packet.hop) == path.links().len() {
                    self.grant(link, lane, packet, now);
                    if let Some(slot) = packet.last {
                        self.messages -= 1;
                        station.stop_serving();
                        station.add_stay_as_service(Slot(slot));
                        station.release(Slot(slot));
                    }
                    return;
                }
                if self.links[link as usize].store(lane, packet)
                    && let Some(next) = self.compete(Input::Buffer { link, lane })
                {
                    self.start(next, now);
                }
            }
            Event::Credits { link, lane, blocks } => {
                self.links[link as usize].credit(lane, blocks);
                self.start(link, now);
            }
        }
    }

    /// Makes sure of a wake-up no later than the next event.
    fn arm(&mut self, station: &mut Station<'_, Job>) {
        self.events.arm(station);
        if self.events.is_empty() && self.messages > 0 {
            station.fail(
                "internal error: packets wait for each other's credits in a circle; the \
                 scenario's topology should have been refused",
            );
        }
    }
}

impl Discipline<Job> for CreditLinks {
    fn arrive(&mut self, slot: Slot, station: &mut Station<'_, Job>) {
        let now = station.now();
        let job = station.token(slot);
        let bytes = self.wire.content(job.wire);
        let (from, to) = self.fabric.hosts_of(job);
        let pair = self.pair(from, to);
        station.start_serving();
        self.messages += 1;
        self.arrived += 1;
        let further = (self.fabric).latency(&self.pairs[pair as usize].path, Span::ZERO);
        self.further_latency += further;
        let messages = &mut self.pairs[pair as usize].messages;
        messages.push_back((slot, bytes));
        if !self.pairs[pair as usize].active
            && let Some(link) = self.compete(Input::Host { pair })
        {
            self.start(link, now);
        }
        self.arm(station);
    }

    fn wake(&mut self, tag: u32, station: &mut Station<'_, Job>) {
        if !self.events.wakes(tag) {
            return;
        }
        while let Some(event) = self.events.pop_due(station.now()) {
            self.happens(event, station);
        }
        self.arm(station);
    }

    /// A message's last packet is on the way for so long.
    fn delay(&self) -> f64 {
        let further = self.further_latency.as_seconds() / self.arrived.max(1) as f64;
        self.latency.as_seconds() + further
    }

    fn name(&self) -> String {
        format!("packets through {} links with credits", self.links.len())
    }

    fn servers(&self) -> Option<u32> {
        None
    }
}
