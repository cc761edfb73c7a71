//! An output port: a queue with a limit, and the link behind it.

use std::collections::VecDeque;

use headrace_net::{Span, Time};

use crate::network::bucket::Bucket;

/// A port that sends packets first come, first served, and drops those that find
/// its queue full (drop tail).
#[derive(Clone, Debug)]
pub(super) struct Port {
    picoseconds_per_byte: f64,
    bucket: Option<Bucket>,
    free: Time,
    /// Packets in the queue, the one being sent among them: when their last bit will
    /// have been sent, and their bytes.
    queue: VecDeque<(Time, u32)>,
    queued: u64,
}

impl Port {
    /// An idle port.
    pub fn new(bytes_per_second: f64, bucket: Option<Bucket>) -> Port {
        Port {
            picoseconds_per_byte: 1e12 / bytes_per_second,
            bucket,
            free: Time::ZERO,
            queue: VecDeque::new(),
            queued: 0,
        }
    }

    /// A packet arrives. Returns the time when its last bit will have been sent. None if it is
    /// dropped: with it, more than `most` bytes would be here.
    pub fn send(&mut self, now: Time, bytes: u32, most: u64) -> Option<Time> {
        while let Some(&(sent, bytes)) = self.queue.front()
            && sent <= now
        {
            self.queue.pop_front();
            self.queued -= u64::from(bytes);
        }
        if self.queued + u64::from(bytes) > most {
            return None;
        }
        let start = now.max(self.free);
        let mut time = Span((f64::from(bytes) * self.picoseconds_per_byte + 0.5) as u64);
        if let Some(bucket) = &mut self.bucket {
            time = bucket.time(start, u64::from(bytes), time);
            bucket.pass(start, u64::from(bytes), time);
        }
        self.free = start + time;
        self.queue.push_back((self.free, bytes));
        self.queued += u64::from(bytes);
        Some(self.free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NANOSECOND: u64 = 1000;

    #[test]
    fn packets_wait_for_each_other_and_the_last_is_dropped() {
        // A byte takes 1 ns; 3,000 bytes may be here.
        let mut port = Port::new(1e9, None);
        let send = |port: &mut Port, now: u64| {
            let sent = port.send(Time(now * NANOSECOND), 1500, 3000);
            sent.map(|time| time.0 / NANOSECOND)
        };
        assert_eq!(send(&mut port, 0), Some(1500));
        assert_eq!(send(&mut port, 100), Some(3000));
        assert_eq!(send(&mut port, 1499), None);
        assert_eq!(send(&mut port, 1500), Some(4500));
        assert_eq!(send(&mut port, 9000), Some(10_500));
    }

    #[test]
    fn a_bucket_lets_pass_what_it_has_saved_up() {
        // 1 GB/s as long as there are tokens; 10 MB/s, 100 ns a byte, from then on.
        let bucket = Bucket::new(headrace_spec::Rate(1e7), headrace_spec::Bytes(2000));
        let mut port = Port::new(1e9, Some(bucket));
        let sent = |port: &mut Port, now: u64| {
            let time = port.send(Time(now * NANOSECOND), 1000, u64::MAX);
            time.map_or(0, |time| time.0 / NANOSECOND)
        };
        assert_eq!(sent(&mut port, 0), 1000);
        // A thousandth of the bucket came while the first packet passed: 10 tokens.
        assert_eq!(sent(&mut port, 0), 2000);
        // 20 tokens are left: 980 bytes at 100 ns each.
        assert_eq!(sent(&mut port, 0), 2000 + 98_000);
        // After 100 us without anything 1,000 bytes are saved up.
        assert_eq!(sent(&mut port, 200_000), 201_000);
    }
}
