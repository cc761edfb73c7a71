//! The sending side of a connection: TCP's windows and timers, counted in segments.
//!
//! Slow start, congestion avoidance, fast retransmit and fast recovery follow RFC 5681, partial
//! acknowledgements RFC 6582 (NewReno). The retransmission timer follows RFC 6298, with the
//! scenario's minimum timeout. Every acknowledgement of new data measures a round trip, by the
//! timestamps of RFC 7323. So a doubled timeout is dropped as soon as retransmitted data has
//! arrived.
//!
//! Not modelled: selective acknowledgements (RFC 2018); delayed acknowledgements; limited transmit
//! (RFC 3042); CUBIC (RFC 9438); pacing; congestion notification.

use headrace_net::{Span, Time};

/// Constant settings of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    /// The congestion window at the start and after a pause, in segments.
    pub initial_window: f64,
    /// The most segments in progress: what the receiver has room for.
    pub most: f64,
    pub minimum_timeout: Span,
    /// The round trip that opening the connection has measured, on an idle path.
    pub handshake: Span,
}

/// A timeout does not grow beyond this (RFC 6298, 2.5).
const LONGEST_TIMEOUT: Span = Span(60_000_000_000_000);

/// Clock granularity (RFC 6298, 2: G). Linux measures round trips in microseconds
/// (net/ipv4/tcp_input.c: tcp_rtt_estimator).
const GRANULARITY: Span = Span(1_000_000);

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
    /// The segment that the timer ran out for last.
    timed_out: Option<u64>,
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
            timed_out: None,
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

    /// Returns the expiry of the retransmission timer, if armed.
    pub fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    /// Queues segments and returns those to send now.
    pub fn write(&mut self, segments: u64, now: Time, out: &mut Vec<u64>) {
        // After a pause nothing is known of the path any more (RFC 5681, 4.1).
        if self.end == self.acknowledged && now.since(self.last_sent) > self.timeout {
            self.window = self.window.min(self.settings.initial_window);
        }
        self.end += segments;
        self.send(now, out);
    }

    /// Everything before this segment has come; what made it so was sent at `echo`.
    pub fn acknowledge(&mut self, segment: u64, echo: Time, now: Time, out: &mut Vec<u64>) {
        if segment > self.acknowledged {
            self.measure(now.since(echo));
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
        match self.recovers {
            // The next segment was lost, too.
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
            self.deadline = Some(now + self.timeout);
            out.push(self.acknowledged);
        }
    }

    /// The timer has run out.
    pub fn time_out(&mut self, now: Time, out: &mut Vec<u64>) {
        // Once for a segment, however often it is lost (RFC 5681, 3.1).
        if self.timed_out != Some(self.acknowledged) {
            self.threshold = self.half();
            self.timed_out = Some(self.acknowledged);
        }
        self.window = 1.0;
        self.recovers = None;
        self.recovered = self.fresh;
        self.duplicates = 0;
        self.next = self.acknowledged;
        self.timeout = Span(self.timeout.0.saturating_mul(2)).min(LONGEST_TIMEOUT);
        self.deadline = None;
        self.send(now, out);
    }

    /// Half of the data in flight, at least two segments (RFC 5681, equation 4).
    fn half(&self) -> f64 {
        let under_way = (self.next - self.acknowledged) as f64;
        (under_way / 2.0).max(2.0)
    }

    fn send(&mut self, now: Time, out: &mut Vec<u64>) {
        // In recovery the window grows beyond what the receiver has room for.
        let room = self.window.min(self.settings.most);
        while self.next < self.end && ((self.next - self.acknowledged) as f64) < room.floor() {
            out.push(self.next);
            self.next += 1;
            self.fresh = self.fresh.max(self.next);
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
        let margin = (4.0 * variation).max(GRANULARITY.0 as f64);
        let timeout = Span((smoothed + margin) as u64);
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
        assert_eq!(
            sent(|out| sender.acknowledge(1, at(0), at(10), out)),
            [2, 3]
        );
        assert_eq!(
            sent(|out| sender.acknowledge(2, at(0), at(10), out)),
            [4, 5]
        );
    }

    /// RFC 5681, equation 3: a segment more for each round trip.
    #[test]
    fn congestion_avoidance_lets_one_segment_more_in_each_round_trip() {
        let mut sender = sender();
        (sender.window, sender.threshold) = (10.0, 10.0);
        let mut under_way = sent(|out| sender.write(1000, at(0), out)).len() as u64;
        assert_eq!(under_way, 10);
        let mut acknowledged = 0;
        for round in 1..=20 {
            let (sent_at, now) = (at(10 * (round - 1)), at(10 * round));
            let mut out = Vec::new();
            for _ in 0..under_way {
                acknowledged += 1;
                sender.acknowledge(acknowledged, sent_at, now, &mut out);
            }
            assert!(out.len() as u64 - under_way <= 1, "{out:?}");
            under_way = out.len() as u64;
        }
        // A bit less: the window grows by its own inverse while it grows.
        assert!((28..=30).contains(&under_way), "{under_way}");
    }

    #[test]
    fn a_third_duplicate_is_a_loss_and_the_window_is_halved() {
        let mut sender = sender();
        sender.window = 8.0;
        assert_eq!(sent(|out| sender.write(100, at(0), out)).len(), 8);
        let mut acknowledge = |segment: u64, now: u64| {
            let sent = sent(|out| sender.acknowledge(segment, at(0), at(now), out));
            (sent, sender.window)
        };
        // Segment 0 is lost; 1 to 7 come.
        assert!(acknowledge(0, 10).0.is_empty());
        assert!(acknowledge(0, 10).0.is_empty());
        assert_eq!(acknowledge(0, 10).0, [0]);
        // Half of eight, and three for departed segments; each further one lets one in.
        assert!(acknowledge(0, 10).0.is_empty());
        assert_eq!(acknowledge(0, 10).0, [8]);
        assert_eq!(acknowledge(0, 10).0, [9]);
        assert_eq!(acknowledge(0, 10).0, [10]);
        // The hole is filled: the window is the half, three of which are in progress.
        assert_eq!(acknowledge(8, 20), (vec![11], 4.0));
    }

    /// RFC 6582, 3.2: in recovery, a partial acknowledgement gives the next hole, without three
    /// more duplicates and without halving again.
    #[test]
    fn a_second_loss_of_the_same_window_is_sent_again_at_once() {
        let mut sender = sender();
        sender.window = 8.0;
        sent(|out| sender.write(100, at(0), out));
        // Segments 0 and 4 are lost; six come.
        let all: Vec<u64> = (0..6)
            .flat_map(|_| sent(|out| sender.acknowledge(0, at(0), at(10), out)))
            .collect();
        assert_eq!(all, [0, 8, 9]);
        // Segment 0 has come: everything before 4 is here. The window of ten is deflated by four
        // and has one more for the departed segment.
        assert_eq!(
            sent(|out| sender.acknowledge(4, at(10), at(20), out)),
            [4, 10]
        );
        assert!((sender.window - 7.0).abs() < 1e-9);
        assert!((sender.threshold - 4.0).abs() < 1e-9);
        // All that was in progress at the loss has come.
        sent(|out| sender.acknowledge(10, at(20), at(30), out));
        assert!((sender.window - 4.0).abs() < 1e-9 && sender.recovers.is_none());
    }

    #[test]
    fn without_acknowledgements_the_timer_starts_anew_with_one_segment() {
        let mut sender = sender();
        sender.window = 16.0;
        assert_eq!(sent(|out| sender.write(100, at(0), out)).len(), 16);
        assert_eq!(sender.deadline(), Some(at(200)));
        assert_eq!(sent(|out| sender.time_out(at(200), out)), [0]);
        // It is doubled each time; the threshold is halved once (RFC 5681, 3.1).
        assert_eq!(sender.deadline(), Some(at(600)));
        assert_eq!(sent(|out| sender.time_out(at(600), out)), [0]);
        assert_eq!(sender.deadline(), Some(at(1400)));
        assert!((sender.threshold - 8.0).abs() < 1e-9);
        // The retransmitted segment has arrived and gives its round trip: 10 ms.
        assert_eq!(
            sent(|out| sender.acknowledge(1, at(600), at(610), out)),
            [1, 2]
        );
        assert_eq!(sender.deadline(), Some(at(810)));
    }

    /// RFC 6298, 2.2 and 2.3, worked out by hand.
    #[test]
    fn the_timeout_is_the_round_trip_and_four_times_its_variation() {
        let mut sender = Sender::new(Settings {
            minimum_timeout: Span(0),
            ..sender().settings
        });
        // The handshake's 10 ms, and a variation of half of it.
        assert_eq!(sender.timeout, Span(30 * MILLISECOND));
        sender.measure(Span(18 * MILLISECOND));
        // 0.75 × 5 + 0.25 × 8 = 5.75 ms, and 0.875 × 10 + 0.125 × 18 = 11 ms.
        assert_eq!(sender.timeout, Span(34 * MILLISECOND));
        for _ in 0..200 {
            sender.measure(Span(11 * MILLISECOND));
        }
        // Nothing varies any more: what the clock cannot tell is left.
        assert!(sender.timeout.0.abs_diff(11 * MILLISECOND + GRANULARITY.0) < 10);
    }
}
