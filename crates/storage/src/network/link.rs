//! One direction of a link, or one side of a network card: messages in order of arrival, at its
//! bandwidth.
//!
//! A message with d bytes of file data has d + `message` bytes. Its packets have at most `mtu` −
//! `header` bytes, each with `header` and `framing` added. Messages share no packets.
//!
//! A link is cut-through at the grain of packets: a message moves on when its first packet has been
//! sent. Two links of equal speed in a row thus cost one transmission, one more packet time, and
//! the latency. The receiving side delivers a whole message, no earlier than the arrival of the
//! sender's last bit.
//!
//! Not modelled: interleaving of messages packet by packet (a smaller `layout.packet` comes
//! closer); full queues and loss; TCP's windows.

use std::collections::VecDeque;
use std::sync::Arc;

use headrace_net::{Discipline, Slot, Span, Station, Time};
use headrace_spec::{Network, Rate};

use super::Bucket;
use crate::tokens::Job;

/// Encoding of messages on the wire.
#[derive(Clone, Copy, Debug)]
pub struct Wire {
    /// Data bytes in a full packet.
    payload: u64,
    /// Bytes around the data of each packet: headers and framing.
    overhead: u64,
    /// Bytes of a message without file data.
    message: u64,
}

impl Wire {
    /// Packets as the scenario says.
    pub fn new(network: &Network) -> Wire {
        let Network {
            mtu,
            header,
            framing,
            message,
            ..
        } = network;
        Wire {
            payload: (mtu.0 - header.0).max(1),
            overhead: header.0 + framing.0,
            message: message.0,
        }
    }

    /// Bytes on the wire for a message with `data` bytes of file data. Every packet carries its
    /// headers and framing, and each message fills packets of its own. The sum saturates, because a
    /// trace may request any size.
    pub fn bytes(&self, data: u64) -> u64 {
        let bytes = data.saturating_add(self.message);
        let packets = bytes.div_ceil(self.payload);
        bytes.saturating_add(packets.saturating_mul(self.overhead))
    }

    /// Bytes on the wire for each byte of data, where packets are full.
    pub fn packet_per_data(&self) -> f64 {
        self.packet() as f64 / self.payload as f64
    }

    /// Data bytes in a full packet.
    pub fn payload(&self) -> u64 {
        self.payload
    }

    /// Bytes of a message that takes `wire` bytes on the wire, without headers and framing.
    pub fn content(&self, wire: u64) -> u64 {
        let packets = wire.div_ceil(self.packet());
        wire.saturating_sub(packets.saturating_mul(self.overhead))
    }

    /// Bytes on the wire of a message without file data that has a size of its own.
    pub fn bytes_of(&self, message: u64) -> u64 {
        let packets = message.div_ceil(self.payload).max(1);
        message.saturating_add(packets.saturating_mul(self.overhead))
    }

    /// Bytes on the wire of the first packet of a message with `left` bytes left, and true if it
    /// is the last.
    pub fn first_packet(&self, left: u64) -> (u32, bool) {
        let bytes = left.min(self.payload) + self.overhead;
        (bytes as u32, left <= self.payload)
    }

    fn packet(&self) -> u64 {
        self.payload + self.overhead
    }
}

/// A link that sends messages in the order they come, at a rate.
///
/// Cut-through at the grain of packets: the message moves on when its first
/// packet has been sent. So a path of equal links costs one transmission of the
/// message and a packet time per hop. The receiving side serves it at its own
/// rate and delivers no earlier than the sender's last bit can be there.
///
/// Not modelled: interleaving of messages packet by packet on one link (a
/// smaller `layout.packet` brings it closer), full queues, loss and TCP.
#[derive(Clone, Debug)]
pub struct Link {
    kind: Arc<LinkKind>,
    bucket: Option<Box<Bucket>>,
    /// Time when all that has come will have been sent.
    free: Time,
    /// Messages that have come, and those of them that it delays by the latency.
    messages: u64,
    delayed: u64,
    /// The first message on its way to be released, and its time. Most links never have another.
    next: Option<(Time, Slot)>,
    /// Messages that are released after it, by time.
    later: VecDeque<(Time, Slot)>,
}

/// Properties shared by all links of a kind, of which there can be a million.
#[derive(Debug)]
struct LinkKind {
    picoseconds_per_byte: f64,
    packet: u64,
    packet_time: Span,
    latency: Span,
    side: fn(&Job) -> Side,
}

/// Side of the network that a link belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The sender's: the head goes on after one packet.
    Sending,
    /// The receiver's: the message is delivered whole.
    Receiving,
    /// Both ends of a link between two hosts at once.
    Whole,
}

impl Link {
    /// An idle link. Sent data arrives at the other end after `latency`.
    pub fn new(rate: Rate, wire: &Wire, latency: Span, side: fn(&Job) -> Side) -> Link {
        let picoseconds_per_byte = 1e12 / rate.0;
        Link {
            kind: Arc::new(LinkKind {
                picoseconds_per_byte,
                packet: wire.packet(),
                packet_time: time(wire.packet(), picoseconds_per_byte),
                latency,
                side,
            }),
            bucket: None,
            free: Time::ZERO,
            messages: 0,
            delayed: 0,
            next: None,
            later: VecDeque::new(),
        }
    }

    /// The same link, with a bucket of tokens for sending.
    #[must_use]
    pub fn with(self, bucket: Option<Bucket>) -> Link {
        Link {
            bucket: bucket.map(Box::new),
            ..self
        }
    }

    /// Transmission time of bytes that begin now, and of their first packet.
    #[inline]
    fn times(&mut self, now: Time, bytes: u64) -> (Span, Span) {
        let packet = bytes.min(self.kind.packet);
        let whole = time(bytes, self.kind.picoseconds_per_byte);
        let first = match packet == bytes {
            true => whole,
            false => self.kind.packet_time,
        };
        match &mut self.bucket {
            None => (whole, first),
            Some(bucket) => {
                let start = now.max(self.free);
                let first = bucket.time(start, packet, first);
                let whole = bucket.time(start, bytes, whole);
                bucket.pass(start, bytes, whole);
                self.free = start + whole;
                (whole, first)
            }
        }
    }
}

/// Transmission time of bytes.
#[inline]
fn time(bytes: u64, picoseconds_per_byte: f64) -> Span {
    Span((bytes as f64 * picoseconds_per_byte + 0.5) as u64)
}

impl Discipline<Job> for Link {
    #[inline]
    fn arrive(&mut self, slot: Slot, station: &mut Station<'_, Job>) {
        let job = station.token(slot);
        let (wire, tail, side) = (job.wire, job.tail, (self.kind.side)(job));
        let latency = self.kind.latency;
        let (sending, head) = self.times(station.now(), wire);
        let (start, end) = station.book(slot, sending);
        self.messages += 1;
        self.delayed += u64::from(side != Side::Receiving);
        let release = match side {
            Side::Sending => {
                station.token_mut(slot).tail = end + latency;
                start + head + latency
            }
            Side::Receiving => {
                // A slower sender keeps the message from being whole.
                station.wait_besides(tail.since(end));
                end.max(tail)
            }
            Side::Whole => end + latency,
        };
        let Some((time, first)) = self.next else {
            station.wake_at(release, 0);
            self.next = Some((release, slot));
            return;
        };
        if release < time {
            station.wake_at(release, 0);
            self.next = Some((release, slot));
            self.later.push_front((time, first));
            return;
        }
        // Mostly the last; a slow sender's message can be overtaken.
        let overtaken = |(time, _): &&(Time, Slot)| *time > release;
        match self.later.iter().rev().take_while(overtaken).count() {
            0 => self.later.push_back((release, slot)),
            behind => {
                let position = self.later.len() - behind;
                self.later.insert(position, (release, slot));
            }
        }
    }

    #[inline]
    fn wake(&mut self, _: u32, station: &mut Station<'_, Job>) {
        let now = station.now();
        let mut released = false;
        while let Some((time, slot)) = self.next
            && time <= now
        {
            self.next = self.later.pop_front();
            station.release(slot);
            released = true;
        }
        // Only the wake-up that released something was the one for the first.
        if let Some((time, _)) = self.next
            && released
        {
            station.wake_at(time, 0);
        }
    }

    fn level(&self) -> Option<f64> {
        self.bucket.as_deref().map(Bucket::level)
    }

    fn delay(&self) -> f64 {
        self.kind.latency.as_seconds() * self.delayed as f64 / self.messages.max(1) as f64
    }

    fn name(&self) -> String {
        let rate = Rate(1e12 / self.kind.picoseconds_per_byte);
        format!("link, {rate}")
    }
}
