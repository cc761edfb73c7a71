//! The queue of future events: a four-ary heap ordered by (time, sequence).
//!
//! Four children fit two cache lines and halve the depth of a binary heap. The
//! sequence number makes the order total, so equal times leave in the order of
//! request, on every machine.

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
    /// The first event has been taken and its position is free. Most events cause another one,
    /// which then sinks from there: one pass through the heap instead of two.
    first_is_taken: bool,
    sequence: u64,
    peak: usize,
}

const CHILDREN: usize = 4;

impl EventHeap {
    /// The most events that were ever pending at once.
    pub fn peak(&self) -> usize {
        self.peak
    }

    /// Number of pending events.
    pub fn len(&self) -> usize {
        self.events.len() - usize::from(self.first_is_taken)
    }

    /// The pending events, in no order.
    pub fn pending(&self) -> impl Iterator<Item = &Event> {
        self.events.iter().skip(usize::from(self.first_is_taken))
    }

    pub fn bytes(&self) -> usize {
        self.events.capacity() * size_of::<Event>()
    }

    /// Returns the next event and leaves it there.
    #[inline]
    pub fn next(&mut self) -> Option<Event> {
        if self.first_is_taken {
            self.fill_first();
        }
        self.events.first().copied()
    }

    /// Takes the event that [`EventHeap::next`] has just returned.
    #[inline]
    pub fn take_next(&mut self) {
        self.first_is_taken = true;
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
        if self.first_is_taken {
            self.first_is_taken = false;
            self.sink(event);
        } else {
            self.rise(event);
        }
    }

    /// Fills the first position with the last event.
    #[inline(never)]
    fn fill_first(&mut self) {
        self.first_is_taken = false;
        if let Some(last) = self.events.pop()
            && !self.events.is_empty()
        {
            self.sink(last);
        }
    }

    /// Adds an event at the end and moves it up to its position.
    fn rise(&mut self, event: Event) {
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

    /// Moves an event from the free first position down to its own.
    fn sink(&mut self, event: Event) {
        let events = self.events.as_mut_slice();
        let mut hole = 0;
        loop {
            let start = hole * CHILDREN + 1;
            let (child, key) = match events.get(start..start + CHILDREN) {
                Some(&[a, b, c, d]) => least_of_four(start, [a, b, c, d].map(|it| it.key())),
                _ => {
                    let children = events.iter().map(Event::key).zip(0..).skip(start);
                    let Some((key, child)) = children.min() else {
                        break;
                    };
                    (child, key)
                }
            };
            if event.key() <= key {
                break;
            }
            events[hole] = events[child];
            hole = child;
        }
        events[hole] = event;
    }
}

/// The position and key of the least of four neighbours, found without branches that depend on
/// their order.
#[inline]
fn least_of_four(start: usize, [a, b, c, d]: [u128; CHILDREN]) -> (usize, u128) {
    let left = if b < a { (start + 1, b) } else { (start, a) };
    let right = if d < c {
        (start + 3, d)
    } else {
        (start + 2, c)
    };
    if right.1 < left.1 { right } else { left }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pop(heap: &mut EventHeap) -> Option<(u64, u32)> {
        let event = heap.next()?;
        heap.take_next();
        Some((event.time, event.tag))
    }

    proptest! {
        /// Against the obvious twin: a vector. True takes, false puts.
        #[test]
        fn leaves_in_order_of_time_then_of_arrival(
            steps in prop::collection::vec((any::<bool>(), 0_u64..20), 0..400),
        ) {
            let mut heap = EventHeap::default();
            let mut twin: Vec<(u64, u32)> = Vec::new();
            let mut most = 0;
            for (tag, (take, time)) in (0_u32..).zip(steps) {
                if take {
                    let expected = twin.iter().min().copied();
                    twin.retain(|event| Some(*event) != expected);
                    let got = pop(&mut heap);
                    prop_assert_eq!(got, expected);
                } else {
                    heap.push(Time(time), 0, 0, tag, Kind::Wake);
                    twin.push((time, tag));
                }
                most = most.max(twin.len());
                prop_assert_eq!(heap.peak(), most);
            }
            twin.sort_unstable();
            for expected in twin {
                prop_assert_eq!(pop(&mut heap), Some(expected));
            }
            prop_assert!(heap.next().is_none());
        }
    }
}
