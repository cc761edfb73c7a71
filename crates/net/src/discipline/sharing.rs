use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::discipline::{Discipline, ServiceTime, Station};
use crate::slab::Slot;
use crate::time::{Span, Time};
use crate::token::Token;

/// Processor sharing: `servers` processors' worth of speed is divided evenly
/// among the tokens present, none getting more than one processor.
///
/// A virtual clock runs at the speed one token gets; a token leaves when the
/// clock has advanced by its work. Arrivals cost O(log n), whatever the number
/// of tokens (Parekh and Gallager 1993 use the same clock for fluid fair
/// queueing). Rounded to whole picoseconds, up.
#[derive(Clone, Debug)]
pub struct Sharing<S> {
    servers: u32,
    service: S,
    /// Work done so far for a token that was always here, in picoseconds.
    clock: f64,
    clock_at: Time,
    /// Tokens by the clock's reading at which they leave; the second number
    /// keeps equal ones in order of arrival.
    leaving: BinaryHeap<Reverse<(Finish, u64, Slot)>>,
    arrivals: u64,
    /// Time and tag of the event for the next departure. Events with other tags are obsolete.
    pending: Option<Time>,
    tag: u32,
}

/// A reading of a virtual clock; always finite, so the order is total.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub(super) struct Finish(pub f64);

impl Eq for Finish {}

#[expect(
    clippy::derive_ord_xor_partial_ord,
    reason = "agrees for finite values"
)]
impl Ord for Finish {
    fn cmp(&self, other: &Finish) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl<S> Sharing<S> {
    /// This many processors (at least one), shared evenly.
    pub fn new(servers: u32, service: S) -> Sharing<S> {
        Sharing {
            servers: servers.max(1),
            service,
            clock: 0.0,
            clock_at: Time::ZERO,
            leaving: BinaryHeap::new(),
            arrivals: 0,
            pending: None,
            tag: 0,
        }
    }

    /// The clock's speed now: what share of a processor one token gets.
    fn speed(&self) -> f64 {
        let present = self.leaving.len() as f64;
        (f64::from(self.servers) / present).min(1.0)
    }

    fn advance(&mut self, now: Time) {
        if !self.leaving.is_empty() {
            self.clock += self.speed() * now.since(self.clock_at).0 as f64;
        }
        self.clock_at = now;
    }

    /// Makes sure of an event no later than the next departure. One that comes
    /// too early only looks again; one that would come too late is replaced.
    fn arm<T: Token>(&mut self, station: &mut Station<'_, T>) {
        let Some(&Reverse((Finish(finish), _, _))) = self.leaving.peek() else {
            return;
        };
        let left = ((finish - self.clock) / self.speed()).max(0.0);
        let due = station.now() + Span(libm::ceil(left) as u64);
        if self.pending.is_none_or(|time| due < time) {
            self.tag = self.tag.wrapping_add(1);
            self.pending = Some(due);
            station.wake_at(due, self.tag);
        }
    }
}

impl<T: Token, S: ServiceTime<T>> Discipline<T> for Sharing<S> {
    fn arrive(&mut self, slot: Slot, station: &mut Station<'_, T>) {
        self.advance(station.now());
        let work = station.service(&mut self.service, slot);
        let finish = Finish(self.clock + work.0 as f64);
        self.leaving.push(Reverse((finish, self.arrivals, slot)));
        self.arrivals += 1;
        if self.leaving.len() as u64 <= u64::from(self.servers) {
            station.start_serving();
        }
        self.arm(station);
    }

    fn wake(&mut self, tag: u32, station: &mut Station<'_, T>) {
        if tag != self.tag {
            return;
        }
        self.pending = None;
        self.advance(station.now());
        // The event was rounded up to a picosecond; half of one is the most
        // that rounding of the clock itself can lack here.
        while let Some(&Reverse((Finish(finish), _, slot))) = self.leaving.peek() {
            if finish - self.clock > 0.5 * self.speed() {
                break;
            }
            self.leaving.pop();
            if (self.leaving.len() as u64) < u64::from(self.servers) {
                station.stop_serving();
            }
            station.release(slot);
        }
        if self.leaving.is_empty() {
            // An empty station forgets its past: the clock stays exact.
            self.clock = 0.0;
        }
        self.arm(station);
    }

    fn name(&self) -> String {
        match self.servers {
            1 => "processor sharing".to_owned(),
            servers => format!("processor sharing, {servers} processors"),
        }
    }

    fn servers(&self) -> Option<u32> {
        Some(self.servers)
    }

    fn service(&self) -> Option<Span> {
        self.service.constant()
    }
}
