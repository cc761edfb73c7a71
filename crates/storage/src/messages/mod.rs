//! Message protocols of data and metadata: the layer between a host's jobs and its messages.
//!
//! With `messages.kind = "whole"` a job is one message each way, and needs nothing of this module.
//! With `"rendezvous"` a job that fits with its header into `eager_limit` is sent so too. A larger
//! job is negotiated first, and its data goes in buffers (OrangeFS: src/client/sysint/sys-io.sm,
//! src/io/flow/flowproto-bmi-trove):
//!
//! ```text
//!   read:  request ─▶   ◀─ ready   ◀─ data ◀─ data …
//!   write: request ─▶   ◀─ ready   data ─▶ data ─▶ …   ◀─ done
//! ```
//!
//! A read thus has at least three messages instead of two, a write at least four. Each part of the
//! data is one job for the server's scheduler, daemon and file system. At most `buffers` of a job's
//! buffers are in flight. The receiver of a stored buffer releases it with an empty packet, as TCP
//! opens its window. That packet takes no processor time. Data of several servers leaves a client
//! buffer by buffer in the order of the servers' answers.
//!
//! With RDMA ([`rdma`]) the server moves the data itself.
//!
//! Not modelled: messages that share a packet, such as the server's answer to a read and its first
//! data; flow protocols other than buffers that are sent as soon as there is room.

mod client;
mod rdma;
mod server;

pub use client::client;
pub use server::server;

use headrace_spec::{Bytes, Network};

use crate::network::Wire;
use crate::tokens::{Direction, Job, Message};

/// Sizes of messages, and the buffers in which large jobs go.
#[derive(Clone, Copy)]
struct Buffers {
    limit: u64,
    message: u64,
    buffer: u64,
    window: u64,
    wire: Wire,
    /// An empty packet.
    packet: u64,
}

impl Buffers {
    /// Jobs of more than `limit` bytes go in `buffers` buffers of this size.
    fn new(network: &Network, limit: Bytes, buffer: Bytes, buffers: u32) -> Buffers {
        Buffers {
            limit: limit.0,
            message: network.message.0,
            buffer: buffer.0,
            window: u64::from(buffers),
            wire: Wire::new(network),
            packet: network.header.0 + network.framing.0,
        }
    }

    /// Returns true if a job goes as one message each way.
    fn is_whole(&self, job: &Job) -> bool {
        job.size == 0 || job.size.saturating_add(self.message) <= self.limit
    }

    /// Bytes that are sent before the receiver makes room.
    fn at_once(&self, job: &Job) -> u64 {
        job.size.min(self.buffer.saturating_mul(self.window))
    }

    /// Returns true if the sender of a job's data still waits for room when the receiver has put so
    /// many bytes away.
    fn waits(&self, job: &Job, put_away: u64) -> bool {
        let room = self.buffer.saturating_mul(self.window);
        put_away.saturating_add(room - self.buffer) < job.size
    }

    /// The part of a job that one buffer holds, from byte `from` of the job on.
    fn part(&self, job: &Job, from: u64, message: Message) -> Job {
        let mut part = Job {
            offset: job.offset + from,
            size: self.buffer.min(job.size - from),
            message,
            ..*job
        };
        part.wire = match message {
            Message::RdmaData => self.wire.bytes_of(part.size),
            _ => self.wire.bytes(part.payload()),
        };
        part
    }

    /// A message about a job that carries none of its data.
    fn about(&self, job: &Job, message: Message) -> Job {
        let wire = match message {
            Message::Room => self.packet,
            _ => self.wire.bytes(0),
        };
        Job {
            wire,
            message,
            ..*job
        }
    }

    /// A job that its server has done, as one message would bring it.
    fn answered(&self, job: Job) -> Job {
        let mut back = Job {
            direction: Direction::Back,
            received: false,
            ..job
        };
        back.wire = self.wire.bytes(back.payload());
        back
    }
}
