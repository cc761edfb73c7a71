//! Future events inside a network that is one station.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use headrace_net::{Station, Time};

use crate::tokens::Job;

/// Events by time, equal times in the order in which they were added.
///
/// The kernel wakes the station for the next one only; wake-ups that others overtook are
/// recognised by their tags.
#[derive(Clone)]
pub struct EventList<E> {
    events: BinaryHeap<Reverse<(Time, u64, E)>>,
    number: u64,
    pending: Option<Time>,
    tag: u32,
}

impl<E: Ord> EventList<E> {
    /// An empty list.
    pub fn new() -> EventList<E> {
        EventList {
            events: BinaryHeap::new(),
            number: 0,
            pending: None,
            tag: 0,
        }
    }

    /// Adds an event.
    pub fn push(&mut self, time: Time, event: E) {
        self.number += 1;
        self.events.push(Reverse((time, self.number, event)));
    }

    /// Returns true if nothing is to happen.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Makes sure of a wake-up no later than the next event.
    pub fn arm(&mut self, station: &mut Station<'_, Job>) {
        if let Some(&Reverse((time, ..))) = self.events.peek()
            && self.pending.is_none_or(|pending| time < pending)
        {
            self.tag = self.tag.wrapping_add(1);
            self.pending = Some(time);
            station.wake_at(time, self.tag);
        }
    }

    /// Takes a wake-up; false if it is obsolete.
    pub fn wakes(&mut self, tag: u32) -> bool {
        let valid = tag == self.tag;
        if valid {
            self.pending = None;
        }
        valid
    }

    /// Removes the next event that is due.
    pub fn pop_due(&mut self, now: Time) -> Option<E> {
        let &Reverse((time, ..)) = self.events.peek()?;
        if time > now {
            return None;
        }
        self.events.pop().map(|Reverse((_, _, event))| event)
    }
}
