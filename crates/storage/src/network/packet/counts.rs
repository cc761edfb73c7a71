//! Packet counts of a network.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use headrace_net::Span;
use serde::Serialize;

/// Counts that a network at the grain of packets keeps while it runs; copies count
/// together.
#[derive(Clone, Debug)]
pub struct PacketCounts(Arc<Counts>);

#[derive(Debug)]
struct Counts {
    sent: AtomicU64,
    sent_again: AtomicU64,
    timeouts: AtomicU64,
    corrupted: AtomicU64,
    /// Picoseconds for which links had packets and no credits.
    without_credits: AtomicU64,
    /// By link.
    lost: Box<[AtomicU64]>,
    /// True if the links have credits.
    credits: bool,
}

/// Packet report of a run.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct PacketReport {
    /// Packets that hosts have sent, acknowledgements among them.
    pub sent: u64,
    /// Packets dropped at a full queue on any link of the path.
    pub lost: u64,
    /// Segments that were sent once more.
    pub sent_again: u64,
    /// Retransmission timers that ran out.
    pub timeouts: u64,
    /// Packets that a link corrupted.
    pub corrupted: u64,
    /// Seconds for which links had packets and no credits, all links together; none without
    /// credits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_credits: Option<f64>,
}

impl PacketCounts {
    /// Counts of 0 for `links` links.
    pub fn new(links: usize, credits: bool) -> PacketCounts {
        PacketCounts(Arc::new(Counts {
            sent: AtomicU64::new(0),
            sent_again: AtomicU64::new(0),
            timeouts: AtomicU64::new(0),
            corrupted: AtomicU64::new(0),
            without_credits: AtomicU64::new(0),
            credits,
            lost: (0..links).map(|_| AtomicU64::new(0)).collect(),
        }))
    }

    /// A host has sent a packet.
    pub fn sent(&self) {
        self.0.sent.fetch_add(1, Relaxed);
    }

    /// Accounts for a retransmitted segment.
    pub fn sent_again(&self) {
        self.0.sent_again.fetch_add(1, Relaxed);
    }

    /// A timer has run out.
    pub fn timed_out(&self) {
        self.0.timeouts.fetch_add(1, Relaxed);
    }

    /// A packet has found the queue of a link full.
    pub fn lost(&self, link: u32) {
        self.0.lost[link as usize].fetch_add(1, Relaxed);
    }

    /// A link has corrupted a packet.
    pub fn corrupted(&self) {
        self.0.corrupted.fetch_add(1, Relaxed);
    }

    /// A link has had packets, and no credits for this long.
    pub fn without_credits(&self, time: Span) {
        self.0.without_credits.fetch_add(time.0, Relaxed);
    }

    /// Returns the packets lost at these links.
    pub fn lost_at(&self, links: std::ops::Range<u32>) -> u64 {
        links
            .map(|link| self.0.lost[link as usize].load(Relaxed))
            .sum()
    }

    /// All that was counted.
    pub fn report(&self) -> PacketReport {
        PacketReport {
            sent: self.0.sent.load(Relaxed),
            lost: self.lost_at(0..self.0.lost.len() as u32),
            sent_again: self.0.sent_again.load(Relaxed),
            timeouts: self.0.timeouts.load(Relaxed),
            corrupted: self.0.corrupted.load(Relaxed),
            without_credits: (self.0.credits)
                .then(|| Span(self.0.without_credits.load(Relaxed)).as_seconds()),
        }
    }

    /// Resets the counts.
    pub fn reset(&self) {
        let each = [
            &self.0.sent,
            &self.0.sent_again,
            &self.0.timeouts,
            &self.0.corrupted,
            &self.0.without_credits,
        ];
        for count in each.into_iter().chain(&self.0.lost) {
            count.store(0, Relaxed);
        }
    }
}
