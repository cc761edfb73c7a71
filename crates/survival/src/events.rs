//! The events of a mission, in the order of time.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A disk fails.
    Failure,
    /// A disk fails by the hazard that biasing adds.
    BiasedFailure,
    /// A failed disk is noticed.
    Noticed,
    /// A spare arrives in a pool.
    SpareArrival,
    /// A rebuild ends.
    Repaired,
    /// A disk is replaced by plan.
    Planned,
    /// All disks are replaced by plan.
    AllPlanned,
    /// A domain fails; the item is the kind of domain.
    DomainFailure,
    /// An outage ends.
    OutageEnd,
}

/// An event.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// Time in seconds.
    pub time: f64,
    /// The kind of the event.
    pub kind: Kind,
    /// Disk, pool or domain.
    pub item: u32,
    /// Number of the life of the disk, or of the window of the group, that it belongs to.
    pub serial: u32,
}

impl PartialEq for Event {
    fn eq(&self, other: &Event) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Event {}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Event) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Event {
    /// The earliest is the greatest: it leaves the heap first.
    fn cmp(&self, other: &Event) -> Ordering {
        other
            .time
            .total_cmp(&self.time)
            .then_with(|| other.item.cmp(&self.item))
    }
}

/// Events to come, the earliest first.
#[derive(Debug, Default)]
pub struct Agenda {
    heap: BinaryHeap<Event>,
    end: f64,
}

impl Agenda {
    /// Forgets everything; nothing at or after `end` will happen.
    pub fn reset(&mut self, end: f64) {
        self.heap.clear();
        self.end = end;
    }

    /// Adds an event, unless the mission is over by then.
    #[inline]
    pub fn add(&mut self, time: f64, kind: Kind, item: u32, serial: u32) {
        if time < self.end {
            self.heap.push(Event {
                time,
                kind,
                item,
                serial,
            });
        }
    }

    /// Takes the next event.
    #[inline]
    pub fn next(&mut self) -> Option<Event> {
        self.heap.pop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_comes_first_and_nothing_after_the_end() {
        let mut agenda = Agenda::default();
        agenda.reset(10.0);
        for (time, item) in [(7.0, 1), (3.0, 2), (12.0, 3), (3.0, 0)] {
            agenda.add(time, Kind::Failure, item, 0);
        }
        let order: Vec<u32> = std::iter::from_fn(|| agenda.next().map(|it| it.item)).collect();
        assert_eq!(order, [0, 2, 1]);
    }
}
