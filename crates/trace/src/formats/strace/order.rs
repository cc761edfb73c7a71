//! Puts records into the order of their starts.
//!
//! strace prints a call that others overlap when it ends. A record waits here until no call is in
//! progress that began before it and may give a record itself. That needs little memory as long as
//! calls are short. Beyond [`Order::LIMIT`] waiting records, the earliest goes on without waiting,
//! and records that then arrive too late are counted.

use std::cmp::Ordering;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

use crate::Record;

#[derive(Debug, Default)]
pub(super) struct Order {
    ready: VecDeque<Record>,
    waiting: BinaryHeap<Waiting>,
    /// Starts of calls in progress, with their processes.
    under_way: BTreeSet<(i64, u32)>,
    given: u64,
    last_ns: i64,
}

#[derive(Debug, PartialEq, Eq)]
struct Waiting {
    sequence: u64,
    record: Record,
}

impl Ord for Waiting {
    /// The earliest is the greatest, as the heap gives the greatest first.
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |it: &Self| (it.record.time_ns, it.sequence);
        key(other).cmp(&key(self))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Order {
    /// The most records that wait: 3 MB of them.
    pub(super) const LIMIT: usize = 1 << 16;

    /// A call has begun.
    pub(super) fn begin(&mut self, time_ns: i64, process: u32) {
        self.under_way.insert((time_ns, process));
    }

    /// A call has ended, and its records been put.
    pub(super) fn end(&mut self, time_ns: i64, process: u32) {
        self.under_way.remove(&(time_ns, process));
        self.release();
    }

    /// The process of a call in progress has another number.
    pub(super) fn rename(&mut self, call: (i64, u32), process: u32) {
        if self.under_way.remove(&call) {
            self.under_way.insert((call.0, process));
        }
    }

    /// Takes a record; tells whether it comes too late for the order.
    pub(super) fn put(&mut self, record: Record) -> bool {
        if self.under_way.is_empty() && self.waiting.is_empty() {
            return self.give(record);
        }
        self.given += 1;
        self.waiting.push(Waiting {
            sequence: self.given,
            record,
        });
        let late = record.time_ns < self.last_ns;
        if self.waiting.len() > Self::LIMIT
            && let Some(first) = self.waiting.pop()
        {
            self.give(first.record);
        }
        late
    }

    /// Lets go what needs to wait no longer.
    pub(super) fn release(&mut self) {
        let before = self.under_way.first().map_or(i64::MAX, |it| it.0);
        while let Some(first) = self.waiting.peek()
            && first.record.time_ns <= before
            && let Some(first) = self.waiting.pop()
        {
            self.give(first.record);
        }
    }

    /// Lets everything go: the trace is at its end.
    pub(super) fn finish(&mut self) {
        self.under_way.clear();
        self.release();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ready.is_empty() && self.waiting.is_empty()
    }

    pub(super) fn next(&mut self) -> Option<Record> {
        self.ready.pop_front()
    }

    fn give(&mut self, record: Record) -> bool {
        let late = record.time_ns < self.last_ns;
        self.last_ns = self.last_ns.max(record.time_ns);
        self.ready.push_back(record);
        late
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Operation;

    fn record(time_ns: i64, file: u32) -> Record {
        let operation = Operation::Read;
        Record {
            time_ns,
            duration_ns: 0,
            offset: 0,
            size: 0,
            process: 0,
            file,
            operation,
            flags: crate::Flags::NONE,
            other: Record::NO_FILE,
        }
    }

    fn times(order: &mut Order) -> Vec<i64> {
        std::iter::from_fn(|| order.next())
            .map(|it| it.time_ns)
            .collect()
    }

    #[test]
    fn records_wait_for_calls_that_began_before_them() {
        let mut order = Order::default();
        order.begin(10, 1);
        assert!(!order.put(record(20, 0)));
        assert!(!order.put(record(30, 0)));
        assert_eq!(times(&mut order), Vec::<i64>::new());
        assert!(!order.put(record(10, 0)));
        order.end(10, 1);
        assert_eq!(times(&mut order), [10, 20, 30]);
        assert!(!order.put(record(40, 0)));
        assert!(order.put(record(39, 0)));
        assert_eq!(times(&mut order), [40, 39]);
    }

    #[test]
    fn records_of_one_time_keep_their_order() {
        let mut order = Order::default();
        order.begin(1, 1);
        for file in 0..100 {
            order.put(record(5, file));
        }
        order.finish();
        let files: Vec<_> = std::iter::from_fn(|| order.next())
            .map(|it| it.file)
            .collect();
        assert_eq!(files, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn a_call_that_never_ends_does_not_fill_the_memory() {
        let mut order = Order::default();
        order.begin(0, 1);
        for time in 1..=3 * Order::LIMIT as i64 {
            assert!(!order.put(record(time, 0)));
            assert!(order.waiting.len() <= Order::LIMIT);
        }
        assert_eq!(times(&mut order).len(), 2 * Order::LIMIT);
        assert!(order.put(record(0, 0)));
    }
}
