//! The queue of future events: a four-ary heap ordered by (time, sequence).
//!
//! Four children fit two cache lines and halve the depth of a binary heap;
//! the sequence number makes the order total, so equal times leave in the
//! order in which they were asked for, on every machine.

use crate::time::Time;

/// Kind of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A token put with a delay enters its node; the tag is its slot.
    Token,
    /// A discipline asked to be woken; the tag is its own.
    Wake,
    /// A message for a discipline; the tag is the message's slot.
    Message,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    time: u64,
    sequence: u64,
    pub node: u32,
    pub copy: u32,
    pub tag: u32,
    pub kind: Kind,
}

impl Event {
    pub fn time(&self) -> Time {
        Time(self.time)
    }

    #[inline]
    fn key(&self) -> u128 {
        (u128::from(self.time) << 64) | u128::from(self.sequence)
    }
}

#[derive(Default, Debug)]
pub(crate) struct EventHeap {
    events: Vec<Event>,
    sequence: u64,
    peak: usize,
}

const CHILDREN: usize = 4;

impl EventHeap {
    /// The most events that were ever pending at once.
    pub fn peak(&self) -> usize {
        self.peak
    }

    pub fn bytes(&self) -> usize {
        self.events.capacity() * size_of::<Event>()
    }

    #[inline]
    pub fn next_time(&self) -> Option<Time> {
        self.events.first().map(Event::time)
    }

    /// Returns the time and node of the next event.
    pub fn next(&self) -> Option<(Time, u32)> {
        self.events.first().map(|event| (event.time(), event.node))
    }

    #[inline]
    pub fn push(&mut self, time: Time, node: u32, copy: u32, tag: u32, kind: Kind) {
        let event = Event {
            time: time.0,
            sequence: self.sequence,
            node,
            copy,
            tag,
            kind,
        };
        self.sequence += 1;
        let mut hole = self.events.len();
        self.events.push(event);
        self.peak = self.peak.max(self.events.len());
        while hole > 0 {
            let parent = (hole - 1) / CHILDREN;
            if self.events[parent].key() <= event.key() {
                break;
            }
            self.events[hole] = self.events[parent];
            hole = parent;
        }
        self.events[hole] = event;
    }

    #[inline]
    pub fn pop(&mut self) -> Option<Event> {
        let last = self.events.pop()?;
        let Some(&first) = self.events.first() else {
            return Some(last);
        };
        let len = self.events.len();
        let mut hole = 0;
        loop {
            let start = hole * CHILDREN + 1;
            if start >= len {
                break;
            }
            let end = (start + CHILDREN).min(len);
            let mut least = start;
            let mut least_key = self.events[start].key();
            for child in start + 1..end {
                let key = self.events[child].key();
                if key < least_key {
                    least = child;
                    least_key = key;
                }
            }
            if last.key() <= least_key {
                break;
            }
            self.events[hole] = self.events[least];
            hole = least;
        }
        self.events[hole] = last;
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn leaves_in_order_of_time_then_of_arrival(times in prop::collection::vec(0_u64..20, 0..200)) {
            let mut heap = EventHeap::default();
            for (tag, &time) in times.iter().enumerate() {
                heap.push(Time(time), 0, 0, tag as u32, Kind::Wake);
            }
            let mut expected: Vec<(u64, u32)> =
                times.iter().enumerate().map(|(tag, &time)| (time, tag as u32)).collect();
            expected.sort();
            let mut got = Vec::new();
            while let Some(event) = heap.pop() {
                got.push((event.time().0, event.tag));
            }
            prop_assert_eq!(got, expected);
        }
    }
}
