//! Messages between the processes of a trace: pipes, sockets, starts and ends of processes.

use std::collections::{HashMap, VecDeque};

use headrace_trace::{Operation, Record};

/// A pipe or the like: bytes or wake-ups on their way.
#[derive(Default)]
struct Channel {
    /// Sent and not received.
    available: u64,
    /// Blocked processes in order of arrival, with the size that each receives.
    waiting: VecDeque<(u32, u64)>,
}

/// Totals of a channel in a trace.
#[derive(Default)]
struct Total {
    sent: u64,
    received: u64,
    /// Number of records that receive something.
    receives: u64,
}

/// The channels of a trace, and the processes that wait at them.
///
/// A channel holds from the start what the trace receives and does not show as sent. If all
/// processes wait for each other, which a part of a trace may bring about, the first one goes on.
#[derive(Default)]
pub struct Channels {
    channels: HashMap<u32, Channel>,
    /// Sums over the trace by channel.
    totals: HashMap<u32, Total>,
    /// Processes that go on.
    woken: VecDeque<u32>,
    /// Processes that neither wait nor have finished.
    running: usize,
    /// Waits that nothing in the trace ends.
    released: u64,
}

impl Channels {
    /// Takes in a record of a message before the run.
    pub fn count(&mut self, record: &Record) {
        let total = self.totals.entry(record.file).or_default();
        match record.operation {
            Operation::Send => total.sent = total.sent.saturating_add(record.size),
            Operation::Receive => {
                total.received = total.received.saturating_add(record.size);
                total.receives += u64::from(record.size > 0);
            }
            _ => {}
        }
    }

    /// Returns true if the trace has no messages.
    pub fn are_unused(&self) -> bool {
        self.totals.is_empty()
    }

    /// Number of records that receive from a channel to which nothing is sent.
    pub fn unsent(&self) -> u64 {
        let without = self.totals.values().filter(|total| total.sent == 0);
        without.map(|total| total.receives).sum()
    }

    /// Begins a run with this number of processes.
    pub fn begin(&mut self, processes: usize) {
        self.running = processes;
        for (&file, total) in &self.totals {
            let before = total.received.saturating_sub(total.sent);
            self.channels.entry(file).or_default().available = before;
        }
    }

    /// Adds to a channel. Processes that wait there for no more than it has go on.
    pub fn send(&mut self, channel: u32, size: u64) {
        let channel = self.channels.entry(channel).or_default();
        channel.available = channel.available.saturating_add(size);
        while let Some(&(rank, size)) = channel.waiting.front()
            && size <= channel.available
        {
            channel.available -= size;
            channel.waiting.pop_front();
            self.woken.push_back(rank);
            self.running += 1;
        }
    }

    /// Receives from a channel. Returns false if the process blocks until enough is sent.
    pub fn receive(&mut self, rank: u32, channel: u32, size: u64) -> bool {
        let entry = self.channels.entry(channel).or_default();
        if entry.waiting.is_empty() && size <= entry.available {
            entry.available -= size;
            return true;
        }
        entry.waiting.push_back((rank, size));
        self.stop();
        take_woken(&mut self.woken, rank)
    }

    /// A process has come to its end.
    pub fn finish(&mut self) {
        self.stop();
    }

    /// A process runs no more. If it was the last one, one of those that wait goes on.
    fn stop(&mut self) {
        self.running = self.running.saturating_sub(1);
        if self.running > 0 {
            return;
        }
        let waiting = self.channels.iter_mut().filter_map(|(&file, channel)| {
            let (rank, _) = *channel.waiting.front()?;
            Some((rank, file, channel))
        });
        if let Some((rank, _, channel)) = waiting.min_by_key(|&(rank, file, _)| (rank, file)) {
            channel.waiting.pop_front();
            channel.available = 0;
            self.woken.push_back(rank);
            self.running += 1;
            self.released += 1;
        }
    }

    /// A process that waited and goes on.
    pub fn woken(&mut self) -> Option<u32> {
        self.woken.pop_front()
    }

    /// Number of waits that nothing in the trace has ended.
    pub fn released(&self) -> u64 {
        self.released
    }
}

/// Takes a process that was woken at once from the list.
fn take_woken(woken: &mut VecDeque<u32>, rank: u32) -> bool {
    let place = woken.iter().position(|woken| *woken == rank);
    place.is_some_and(|place| woken.remove(place).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_waits_for_what_it_receives() {
        let mut channels = Channels::default();
        channels.begin(3);
        assert!(!channels.receive(0, 7, 10));
        channels.send(7, 4);
        assert_eq!(channels.woken(), None);
        // Receivers are served in the order of arrival.
        assert!(!channels.receive(1, 7, 1));
        channels.send(7, 7);
        assert_eq!((channels.woken(), channels.woken()), (Some(0), Some(1)));
        assert!(!channels.receive(2, 7, 1));
        assert_eq!(channels.released(), 0);
    }

    #[test]
    fn processes_that_wait_for_each_other_go_on() {
        let mut channels = Channels::default();
        channels.begin(2);
        assert!(!channels.receive(0, 7, 10));
        channels.finish();
        assert_eq!((channels.woken(), channels.released()), (Some(0), 1));
        // The last one goes on without a wait.
        assert!(channels.receive(0, 8, 1));
        assert_eq!((channels.woken(), channels.released()), (None, 2));
    }
}
