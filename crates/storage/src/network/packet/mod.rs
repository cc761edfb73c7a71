//! The grain of packets: messages are streams of TCP segments, each in a packet. A packet is stored
//! and forwarded at every switch. It waits in a queue of limited length at every port, and is lost
//! where that is full. A link can corrupt a packet, which its receiver drops
//! (`network.error_rate`).
//!
//! Every pair of hosts has a connection each way, open from the start, that carries its messages in
//! order. The latency of a path is passed in equal parts on its links. A host's own queue has no
//! limit, because TCP's window bounds it. Every segment is acknowledged at once by a separate
//! packet, which can be lost too. The omissions of a connection are those of [`sender`]. Links with
//! credits are [`super::credits`].
//!
//! # Incast
//!
//! In `scenarios/incast.toml`, a client reads blocks striped over servers, 256 KiB from each,
//! through a port with room for 64 KiB. MB/s by the number of servers:
//!
//! | `tcp.minimum_timeout` | 1 | 2 | 4 | 8 | 16 | 32 | 64 |
//! | --- | --- | --- | --- | --- | --- | --- | --- |
//! | 200 ms | 112 | 113 | 117 | 10.1 | 7.7 | 9.5 | 10.7 |
//! | 1 ms | 112 | 113 | 117 | 118 | 117 | 112 | 104 |
//!
//! Real switches show the same shape (Phanishayee et al., FAST 2008; Vasudevan et al., SIGCOMM
//! 2009). The number of servers at which throughput falls depends on the queue, the initial window,
//! and the omitted details of TCP.
//!
//! # Omissions
//!
//! Not modelled: the omissions of the sender of a connection; connecting and closing; shared
//! buffers of switches; priorities; lossless Ethernet.

mod connection;
mod counts;
mod port;
mod receiver;
mod sender;

pub use counts::{PacketCounts, PacketReport};

use std::collections::HashMap;
use std::sync::Arc;

use headrace_net::{Discipline, Page, Port as PagePort, Slot, Span, Station, Time, WaitId};
use headrace_spec::{Network, Parallel};

use self::connection::Connection;
use self::port::Port;
use self::sender::Settings;
use super::{Carried, Destinations, EventList, Fabric, LinkLoads, Path, Wire};
use crate::tokens::Job;

/// The page of the network; gives where messages go in and what its links carry.
///
/// ```text
///   submit ─▶ (packets) ─▶ [arrive] ─▶ host
/// ```
pub(super) fn network(
    page: &mut Page<'_>,
    scenario: &Parallel,
    fabric: Fabric,
    to: Destinations,
) -> (PagePort<Job>, LinkLoads) {
    let fabric = Arc::new(fabric);
    let submit = page.input("submit");
    let carried = page.store("bytes carried", |_| Carried::new(fabric.rates().len()));
    let counts = PacketCounts::new(fabric.rates().len(), false);
    let timers = page.wait("waiting for retransmission");
    let packets = page.stations("packets", |_| {
        Packets::new(scenario, fabric.clone(), counts.clone(), timers)
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
        packets: Some(counts.clone()),
    };
    (submit, loads)
}

/// A packet on its way, or a timer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Event {
    /// A packet has come to the end of its n-th link.
    Arrives {
        connection: u32,
        hop: u8,
        content: Content,
    },
    /// A connection's timer may have run out.
    Timer { connection: u32 },
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Content {
    /// A segment, the packet's bytes on the wire, and when it was sent.
    Data {
        segment: u64,
        bytes: u32,
        sent: Time,
    },
    /// Everything before this segment has arrived, by data sent then.
    Acknowledgement { segment: u64, echo: Time },
}

/// The whole network, as the discipline of one station. A message is in it from the first time that
/// a bit of it could be sent until its last byte has arrived in order.
#[derive(Clone)]
pub struct Packets {
    fabric: Arc<Fabric>,
    ports: Vec<Port>,
    /// The most bytes at a port of a switch.
    queue: u64,
    /// Probability that a link corrupts a packet.
    error_rate: f64,
    latency: Span,
    settings: Settings,
    /// Data bytes of a full segment, and of its headers and framing.
    segment: u64,
    overhead: u32,
    message: u64,
    wire: Wire,
    connections: Vec<Connection>,
    /// By sending and receiving host.
    between: HashMap<(u32, u32), u32>,
    events: EventList<Event>,
    segments: Vec<u64>,
    counts: PacketCounts,
    /// Latencies of links and switches besides `latency` that messages had, in all.
    further_latency: Span,
    arrived: u64,
    /// The wait that is charged for time in which no packet of a message is in flight.
    timers: WaitId,
}

impl Packets {
    /// An idle network.
    pub fn new(
        scenario: &Parallel,
        fabric: Arc<Fabric>,
        counts: PacketCounts,
        timers: WaitId,
    ) -> Packets {
        let network: &Network = &scenario.network;
        let segment = (network.mtu.0 - network.header.0).max(1);
        let overhead = network.header.0 + network.framing.0;
        let ports = (0..).zip(fabric.rates());
        let ports = ports.map(|(link, &rate)| Port::new(rate, fabric.bucket(link)));
        let tcp = &network.tcp;
        Packets {
            ports: ports.collect(),
            fabric,
            queue: network.queue.0,
            error_rate: network.error_rate,
            latency: Span::from_seconds(network.latency.0),
            settings: Settings {
                initial_window: f64::from(tcp.initial_window),
                most: (tcp.window.0 as f64 / segment as f64).floor().max(1.0),
                minimum_timeout: Span::from_seconds(tcp.minimum_timeout.0),
                handshake: Span::from_seconds(2.0 * network.latency.0),
            },
            segment,
            overhead: overhead as u32,
            message: network.message.0,
            wire: Wire::new(network),
            connections: Vec::new(),
            between: HashMap::new(),
            events: EventList::new(),
            segments: Vec::new(),
            counts,
            further_latency: Span::ZERO,
            arrived: 0,
            timers,
        }
    }

    fn connection(&mut self, from: u32, to: u32) -> u32 {
        let (connections, fabric) = (&mut self.connections, &self.fabric);
        let mut settings = self.settings;
        *self.between.entry((from, to)).or_insert_with(|| {
            let [out, back] = [fabric.between(from, to), fabric.between(to, from)];
            let ways = [&out, &back].map(|path| fabric.latency(path, Span::ZERO));
            settings.handshake = settings.handshake + ways[0] + ways[1];
            connections.push(Connection::new(out, back, settings));
            connections.len() as u32 - 1
        })
    }

    /// A packet enters the n-th link of its path.
    fn enter(
        &mut self,
        connection: u32,
        hop: u8,
        content: Content,
        station: &mut Station<'_, Job>,
    ) {
        let now = station.now();
        let it = &self.connections[connection as usize];
        let (path, bytes): (&Path, u32) = match content {
            Content::Data { bytes, .. } => (&it.out, bytes),
            Content::Acknowledgement { .. } => (&it.back, self.overhead),
        };
        let links = path.links();
        let link = links[usize::from(hop)];
        let part = self
            .fabric
            .latency_of_hop(path, usize::from(hop), self.latency);
        let most = if hop == 0 {
            self.counts.sent();
            u64::MAX
        } else {
            self.queue
        };
        if let Some(sent) = self.ports[link as usize].send(now, bytes, most) {
            if self.error_rate > 0.0 && station.random().uniform() < self.error_rate {
                self.counts.corrupted();
                return;
            }
            let arrives = Event::Arrives {
                connection,
                hop,
                content,
            };
            self.events.push(sent + part, arrives);
        } else {
            self.counts.lost(link);
        }
    }

    /// Sends segments that the sender has given out, and sees to its timer.
    fn send(&mut self, connection: u32, station: &mut Station<'_, Job>) {
        let now = station.now();
        let mut segments = std::mem::take(&mut self.segments);
        for segment in segments.drain(..) {
            let it = &mut self.connections[connection as usize];
            if segment < it.fresh {
                self.counts.sent_again();
            }
            it.fresh = it.fresh.max(segment + 1);
            let bytes = it.bytes_of(segment, self.segment) as u32 + self.overhead;
            let sent = now;
            let data = Content::Data {
                segment,
                bytes,
                sent,
            };
            self.enter(connection, 0, data, station);
        }
        self.segments = segments;
        let it = &mut self.connections[connection as usize];
        if let Some(deadline) = it.sender.deadline()
            && it.timer.is_none_or(|timer| deadline < timer)
        {
            it.timer = Some(deadline);
            self.events.push(deadline, Event::Timer { connection });
        }
    }

    fn happens(&mut self, event: Event, station: &mut Station<'_, Job>) {
        let now = station.now();
        match event {
            Event::Timer { connection } => {
                let it = &mut self.connections[connection as usize];
                if it.timer != Some(now) {
                    return;
                }
                it.timer = None;
                if it.sender.deadline().is_some_and(|deadline| deadline <= now) {
                    self.counts.timed_out();
                    let timers = self.timers;
                    it.undelivered(|slot| station.settle_in(slot, timers));
                    it.sender.time_out(now, &mut self.segments);
                }
                self.send(connection, station);
            }
            Event::Arrives {
                connection,
                hop,
                content,
            } => {
                let it = &mut self.connections[connection as usize];
                let path = match content {
                    Content::Data { .. } => &it.out,
                    Content::Acknowledgement { .. } => &it.back,
                };
                if usize::from(hop) + 1 < path.links().len() {
                    self.enter(connection, hop + 1, content, station);
                    return;
                }
                match content {
                    Content::Data { segment, sent, .. } => {
                        let (expected, echo) = it.receiver.receive(segment, sent);
                        it.deliver(expected, |slot| {
                            station.stop_serving();
                            station.add_stay_as_service(slot);
                            station.release(slot);
                        });
                        let answer = Content::Acknowledgement {
                            segment: expected,
                            echo,
                        };
                        self.enter(connection, 0, answer, station);
                    }
                    Content::Acknowledgement { segment, echo } => {
                        // A timer that runs out has been waited for since then.
                        it.undelivered(|slot| station.settle(slot));
                        it.sender
                            .acknowledge(segment, echo, now, &mut self.segments);
                        it.forget();
                        self.send(connection, station);
                    }
                }
            }
        }
    }
}

impl Discipline<Job> for Packets {
    fn arrive(&mut self, slot: Slot, station: &mut Station<'_, Job>) {
        let now = station.now();
        let job = station.token(slot);
        let bytes = match job.message {
            message if message.is_remote_access() => self.wire.content(job.wire),
            _ => job.payload().saturating_add(self.message),
        };
        let (from, to) = self.fabric.hosts_of(job);
        let connection = self.connection(from, to);
        let it = &mut self.connections[connection as usize];
        let segments = it.write(bytes, self.segment, slot);
        self.arrived += 1;
        self.further_latency += self.fabric.latency(&it.out, Span::ZERO);
        station.start_serving();
        it.sender.write(segments, now, &mut self.segments);
        self.send(connection, station);
        self.events.arm(station);
    }

    fn wake(&mut self, tag: u32, station: &mut Station<'_, Job>) {
        if !self.events.wakes(tag) {
            return;
        }
        while let Some(event) = self.events.pop_due(station.now()) {
            self.happens(event, station);
        }
        self.events.arm(station);
    }

    /// A message's last packet is on the way for so long, however many round trips it took.
    fn delay(&self) -> f64 {
        let further = self.further_latency.as_seconds() / self.arrived.max(1) as f64;
        self.latency.as_seconds() + further
    }

    fn name(&self) -> String {
        format!("packets through {} ports", self.ports.len())
    }

    fn servers(&self) -> Option<u32> {
        None
    }
}
