//! The sending side of a connection: TCP's windows and timers, counted in segments.
//!
//! Slow start, congestion avoidance, fast retransmit and fast recovery as RFC 5681
//! has them, partial acknowledgements as RFC 6582 (NewReno), retransmission timer as
//! RFC 6298, with a least timeout of the scenario's.
//!
//! Not modelled: selective acknowledgements (RFC 2018), limited transmit (RFC 3042),
//! CUBIC (RFC 9438), pacing, congestion notification.

use headrace_net::{Span, Time};

/// What does not change in a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    /// The congestion window at the start and after a pause, in segments.
    pub initial_window: f64,
    /// The most segments under way: what the receiver has room for.
    pub most: f64,
    pub minimum_timeout: Span,
    /// The round trip that opening the connection has measured, on an idle path.
    pub handshake: Span,
}

/// A timeout does not grow beyond this (RFC 6298, 2.5).
const LONGEST_TIMEOUT: Span = Span(60_000_000_000_000);

/// Duplicate acknowledgements that mean a loss (RFC 5681, 3.2).
const DUPLICATES: u32 = 3;

#[derive(Clone, Debug)]
pub(super) struct Sender {
    settings: Settings,
    /// Segments that there are to send, by number: all below.
    end: u64,
    /// The first that is not acknowledged, the next to send, and the first that was
    /// never sent.
    acknowledged: u64,
    next: u64,
    fresh: u64,
    window: f64,
    threshold: f64,
    duplicates: u32,
    /// In fast recovery, until this is acknowledged.
    recovers: Option<u64>,
    /// No duplicates before this mean anything.
    recovered: u64,
    /// The segment whose round trip is being measured.
    timed: Option<(u64, Time)>,
    /// Smoothed round trip and its variation, in picoseconds.
    round_trip: Option<(f64, f64)>,
    timeout: Span,
    deadline: Option<Time>,
    last_sent: Time,
}

impl Sender {
    pub fn new(settings: Settings) -> Sender {
        let mut sender = Sender {
            settings,
            end: 0,
            acknowledged: 0,
            next: 0,
            fresh: 0,
            window: settings.initial_window,
            threshold: f64::INFINITY,
            duplicates: 0,
            recovers: None,
            recovered: 0,
            timed: None,
            round_trip: None,
            timeout: settings.minimum_timeout,
            deadline: None,
            last_sent: Time::ZERO,
        };
        sender.measure(settings.handshake);
        sender
    }

    /// The first segment that is not acknowledged.
    pub fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// The number of the next segment that is written.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// When the retransmission timer runs out, if it runs.
    pub fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    /// So many segments more are to be sent; gives those that go now.
    pub fn write(&mut self, segments: u64, now: Time, out: &mut Vec<u64>) {
        // After a pause nothing is known of the path any more (RFC 5681, 4.1).
        if self.end == self.acknowledged && now.since(self.last_sent) > self.timeout {
            self.window = self.window.min(self.settings.initial_window);
        }
        self.end += segments;
        self.send(now, out);
    }

    /// Everything before this segment has come.
    pub fn acknowledge(&mut self, segment: u64, now: Time, out: &mut Vec<u64>) {
        if segment > self.acknowledged {
            self.advance(segment, now, out);
        } else if segment == self.acknowledged && self.next > segment {
            self.duplicate(now, out);
        }
        self.send(now, out);
    }

    fn advance(&mut self, segment: u64, now: Time, out: &mut Vec<u64>) {
        let newly = (segment - self.acknowledged) as f64;
        self.acknowledged = segment;
        self.next = self.next.max(segment);
        self.duplicates = 0;
        if let Some((timed, sent)) = self.timed
            && timed < segment
        {
            self.timed = None;
            self.measure(now.since(sent));
        }
        match self.recovers {
            // What comes next was lost, too.
            Some(until) if segment < until => {
                self.window = (self.window - newly + 1.0).max(1.0);
                out.push(segment);
            }
            Some(_) => {
                self.window = self.threshold;
                self.recovers = None;
            }
            None if self.window < self.threshold => self.window += 1.0,
            None => self.window += 1.0 / self.window,
        }
        self.window = self.window.min(self.settings.most);
        self.deadline = (self.next > segment).then(|| now + self.timeout);
    }

    fn duplicate(&mut self, now: Time, out: &mut Vec<u64>) {
        self.duplicates += 1;
        if self.recovers.is_some() {
            // A segment has left the network: another may enter.
            self.window += 1.0;
        } else if self.duplicates == DUPLICATES && self.acknowledged >= self.recovered {
            self.threshold = self.half();
            self.window = self.threshold + f64::from(DUPLICATES);
            self.recovers = Some(self.fresh);
            self.recovered = self.fresh;
            self.timed = None;
            self.deadline = Some(now + self.timeout);
            out.push(self.acknowledged);
        }
    }

    /// The timer has run out.
    pub fn time_out(&mut self, now: Time, out: &mut Vec<u64>) {
        self.threshold = self.half();
        self.window = 1.0;
        self.recovers = None;
        self.recovered = self.fresh;
        self.duplicates = 0;
        self.timed = None;
        self.next = self.acknowledged;
        self.timeout = Span(self.timeout.0.saturating_mul(2)).min(LONGEST_TIMEOUT);
        self.deadline = None;
        self.send(now, out);
    }

    /// Half of what is under way, at least two segments (RFC 5681, equation 4).
    fn half(&self) -> f64 {
        let under_way = (self.next - self.acknowledged) as f64;
        (under_way / 2.0).max(2.0)
    }

    fn send(&mut self, now: Time, out: &mut Vec<u64>) {
        // In recovery the window grows beyond what the receiver has room for.
        let room = self.window.min(self.settings.most);
        while self.next < self.end && ((self.next - self.acknowledged) as f64) < room.floor() {
            if self.next >= self.fresh {
                // Only segments sent once tell a round trip (RFC 6298, 3).
                self.timed = self.timed.or(Some((self.next, now)));
                self.fresh = self.next + 1;
            }
            out.push(self.next);
            self.next += 1;
        }
        if !out.is_empty() {
            self.last_sent = now;
        }
        if self.deadline.is_none() && self.next > self.acknowledged {
            self.deadline = Some(now + self.timeout);
        }
    }

    /// RFC 6298, 2.2 and 2.3.
    fn measure(&mut self, round_trip: Span) {
        let new = round_trip.0 as f64;
        let (smoothed, variation) = match self.round_trip {
            None => (new, new / 2.0),
            Some((smoothed, variation)) => (
                0.875 * smoothed + 0.125 * new,
                0.75 * variation + 0.25 * (smoothed - new).abs(),
            ),
        };
        self.round_trip = Some((smoothed, variation));
        let timeout = Span((smoothed + 4.0 * variation) as u64);
        let least = self.settings.minimum_timeout;
        self.timeout = timeout.max(least).min(LONGEST_TIMEOUT.max(least));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: u64 = 1_000_000_000;

    fn sender() -> Sender {
        Sender::new(Settings {
            initial_window: 2.0,
            most: 1000.0,
            minimum_timeout: Span(200 * MILLISECOND),
            handshake: Span(10 * MILLISECOND),
        })
    }

    fn at(milliseconds: u64) -> Time {
        Time(milliseconds * MILLISECOND)
    }

    fn sent(call: impl FnOnce(&mut Vec<u64>)) -> Vec<u64> {
        let mut out = Vec::new();
        call(&mut out);
        out
    }

    #[test]
    fn slow_start_doubles_the_window_each_round_trip() {
        let mut sender = sender();
        assert_eq!(sent(|out| sender.write(100, at(0), out)), [0, 1]);
        assert_eq!(sent(|out| sender.acknowledge(1, at(10), out)), [2, 3]);
        assert_eq!(sent(|out| sender.acknowledge(2, at(10), out)), [4, 5]);
    }

    #[test]
    fn a_third_duplicate_is_a_loss_and_the_window_is_halved() {
        let mut sender = sender();
        sender.window = 8.0;
        assert_eq!(sent(|out| sender.write(100, at(0), out)).len(), 8);
        // Segment 0 is lost; 1 to 7 come.
        assert!(sent(|out| sender.acknowledge(0, at(10), out)).is_empty());
        assert!(sent(|out| sender.acknowledge(0, at(10), out)).is_empty());
        assert_eq!(sent(|out| sender.acknowledge(0, at(10), out)), [0]);
        // Half of eight, and three for what has left; each further one lets one in.
        assert!(sent(|out| sender.acknowledge(0, at(10), out)).is_empty());
        assert_eq!(sent(|out| sender.acknowledge(0, at(10), out)), [8]);
        assert_eq!(sent(|out| sender.acknowledge(0, at(10), out)), [9]);
        assert_eq!(sent(|out| sender.acknowledge(0, at(10), out)), [10]);
        // The hole is filled: the window is the half, three of which are under way.
        assert_eq!(sent(|out| sender.acknowledge(8, at(20), out)), [11]);
        assert!((sender.window - 4.0).abs() < 1e-9);
    }

    #[test]
    fn without_acknowledgements_the_timer_starts_anew_with_one_segment() {
        let mut sender = sender();
        sent(|out| sender.write(10, at(0), out));
        assert_eq!(sender.deadline(), Some(at(200)));
        assert_eq!(sent(|out| sender.time_out(at(200), out)), [0]);
        // It is doubled, and stays so until a round trip is measured again.
        assert_eq!(sender.deadline(), Some(at(600)));
        assert_eq!(sent(|out| sender.acknowledge(2, at(210), out)), [2, 3]);
        assert_eq!(sender.deadline(), Some(at(610)));
        assert_eq!(sent(|out| sender.acknowledge(3, at(220), out)), [4]);
        // Segment 2 took 10 ms: that and four times its variation are less than the least.
        assert_eq!(sender.deadline(), Some(at(420)));
    }
}
