//! A connection: the messages from one host to another, in order.

use std::collections::VecDeque;

use headrace_net::{Slot, Time};

use super::receiver::Receiver;
use super::sender::{Sender, Settings};
use crate::network::Path;

#[derive(Clone, Debug)]
pub(super) struct Connection {
    /// The links of data, and of acknowledgements.
    pub out: Path,
    pub back: Path,
    pub sender: Sender,
    pub receiver: Receiver,
    /// The first segment that was never sent.
    pub fresh: u64,
    /// Time when its timer's event is due.
    pub timer: Option<Time>,
    /// Messages that are not acknowledged.
    messages: VecDeque<Message>,
    /// Number delivered.
    delivered: usize,
}

#[derive(Clone, Copy, Debug)]
struct Message {
    /// The segment after its last.
    end: u64,
    /// Bytes of its last segment.
    last: u64,
    slot: Slot,
}

impl Connection {
    pub fn new(out: Path, back: Path, settings: Settings) -> Connection {
        Connection {
            out,
            back,
            sender: Sender::new(settings),
            receiver: Receiver::default(),
            fresh: 0,
            timer: None,
            messages: VecDeque::new(),
            delivered: 0,
        }
    }

    /// A message is to be sent; gives how many segments it fills, its own alone and at
    /// least one.
    pub fn write(&mut self, bytes: u64, segment: u64, slot: Slot) -> u64 {
        let segments = bytes.div_ceil(segment).max(1);
        self.messages.push_back(Message {
            end: self.sender.end() + segments,
            last: bytes - (segments - 1) * segment,
            slot,
        });
        segments
    }

    /// Data bytes of an unacknowledged segment; `full` are those of a full one.
    pub fn bytes_of(&self, segment: u64, full: u64) -> u64 {
        let at = self.messages.partition_point(|it| it.end <= segment);
        match self.messages.get(at) {
            Some(message) if message.end == segment + 1 => message.last,
            _ => full,
        }
    }

    /// Gives the messages all of whose segments have come, each once.
    pub fn deliver(&mut self, expected: u64, mut give: impl FnMut(Slot)) {
        while let Some(message) = self.messages.get(self.delivered)
            && message.end <= expected
        {
            give(message.slot);
            self.delivered += 1;
        }
    }

    /// Gives the messages that have not been delivered.
    pub fn undelivered(&self, mut give: impl FnMut(Slot)) {
        for message in self.messages.range(self.delivered..) {
            give(message.slot);
        }
    }

    /// Forgets messages that are acknowledged.
    pub fn forget(&mut self) {
        let acknowledged = self.sender.acknowledged();
        while let Some(message) = self.messages.front()
            && message.end <= acknowledged
        {
            self.messages.pop_front();
            self.delivered -= 1;
        }
    }
}
