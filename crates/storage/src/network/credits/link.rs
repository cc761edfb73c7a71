//! A link with credits, and the buffers at its far end.

use std::collections::VecDeque;

use headrace_net::{Span, Time};
use headrace_spec::CREDIT_BLOCK;

use super::Packet;
use crate::network::Bucket;

/// Where a packet waits for a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Input {
    /// In a buffer behind another link.
    Buffer { link: u32, lane: u32 },
    /// In a host's memory.
    Host { pair: u32 },
}

#[derive(Clone, Debug)]
pub(super) struct Link {
    picoseconds_per_byte: f64,
    bucket: Option<Bucket>,
    /// The packet that is being sent, and where it waited.
    sending: Option<(Input, Packet)>,
    /// Since it has had packets and no credits.
    stalled: Option<Time>,
    /// The lane that is served next if it can be.
    next: u32,
    lanes: Vec<Lane>,
}

#[derive(Clone, Debug)]
struct Lane {
    /// Free blocks of the buffer, as far as the sender knows.
    credits: u64,
    /// Inputs whose first packet is to be sent on this lane, in turn.
    waiting: VecDeque<Input>,
    buffer: VecDeque<Packet>,
    /// True if the buffer's first packet competes for its next link, or is being sent.
    active: bool,
}

/// Blocks of a buffer that a packet takes.
pub(super) fn blocks(bytes: u32) -> u64 {
    u64::from(bytes).div_ceil(CREDIT_BLOCK)
}

impl Link {
    /// An idle link, with a buffer of `buffer` bytes for each lane.
    pub fn new(bytes_per_second: f64, bucket: Option<Bucket>, lanes: u32, buffer: u64) -> Link {
        let lane = Lane {
            credits: buffer / CREDIT_BLOCK,
            waiting: VecDeque::new(),
            buffer: VecDeque::new(),
            active: false,
        };
        Link {
            picoseconds_per_byte: 1e12 / bytes_per_second,
            bucket,
            sending: None,
            stalled: None,
            next: 0,
            lanes: vec![lane; lanes as usize],
        }
    }

    /// The first packet of a buffer.
    pub fn first(&self, lane: u32) -> Option<Packet> {
        self.lanes[lane as usize].buffer.front().copied()
    }

    /// Removes the first packet of a buffer.
    pub fn remove(&mut self, lane: u32) {
        self.lanes[lane as usize].buffer.pop_front();
    }

    /// Stores a packet in a buffer; gives whether nothing of it competed for a link.
    pub fn store(&mut self, lane: u32, packet: Packet) -> bool {
        let it = &mut self.lanes[lane as usize];
        it.buffer.push_back(packet);
        !it.active
    }

    /// Says whether a buffer's first packet competes for its next link.
    pub fn set_active(&mut self, lane: u32, active: bool) {
        self.lanes[lane as usize].active = active;
    }

    /// Adds an input that has a packet for a lane.
    pub fn wait(&mut self, lane: u32, input: Input) {
        self.lanes[lane as usize].waiting.push_back(input);
    }

    /// Credits have come back.
    pub fn credit(&mut self, lane: u32, blocks: u64) {
        self.lanes[lane as usize].credits += blocks;
    }

    /// The next lane with a packet and credits for it, and where that packet is; `bytes` gives the
    /// size of an input's first packet. None while a packet is being sent.
    pub fn choose(&self, bytes: impl Fn(Input) -> u32) -> Option<(u32, Input)> {
        if self.sending.is_some() {
            return None;
        }
        let count = self.lanes.len() as u32;
        let mut lanes = (0..count).map(|further| (self.next + further) % count);
        lanes.find_map(|lane| {
            let it = &self.lanes[lane as usize];
            let &input = it.waiting.front()?;
            (blocks(bytes(input)) <= it.credits).then_some((lane, input))
        })
    }

    /// Nothing can be sent: if there is a packet and the link is free, it is for want of credits.
    pub fn stall(&mut self, now: Time) {
        let waits = self.lanes.iter().any(|it| !it.waiting.is_empty());
        if waits && self.sending.is_none() && self.stalled.is_none() {
            self.stalled = Some(now);
        }
    }

    /// Something can be sent; gives how long there were no credits for it.
    pub fn go_on(&mut self, now: Time) -> Span {
        self.stalled
            .take()
            .map_or(Span::ZERO, |since| now.since(since))
    }

    /// Sends a packet that was chosen; gives when its first `head` bytes and its last bit have
    /// left.
    pub fn send(
        &mut self,
        now: Time,
        lane: u32,
        input: Input,
        packet: Packet,
        head: u32,
    ) -> (Time, Time) {
        let it = &mut self.lanes[lane as usize];
        it.waiting.pop_front();
        it.credits -= blocks(packet.bytes);
        self.next = (lane + 1) % self.lanes.len() as u32;
        self.sending = Some((input, packet));
        let time = |bytes: u32, per_byte: f64| Span((f64::from(bytes) * per_byte + 0.5) as u64);
        let per_byte = self.picoseconds_per_byte;
        let mut whole = time(packet.bytes, per_byte);
        if let Some(bucket) = &mut self.bucket {
            whole = bucket.time(now, u64::from(packet.bytes), whole);
            bucket.pass(now, u64::from(packet.bytes), whole);
        }
        // No bit leaves before it has come.
        let end = (now + whole).max(packet.tail);
        let head = time(head.min(packet.bytes), per_byte);
        ((now + head).min(end), end)
    }

    /// The packet that was being sent has left; gives where it waited.
    pub fn left(&mut self) -> Option<(Input, Packet)> {
        self.sending.take()
    }
}
