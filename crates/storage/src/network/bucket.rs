//! A token bucket of a card (`burst`; Linux, net/sched/sch_tbf.c). Bytes pass at the full rate of
//! the link while there are tokens, and then at the rate of the tokens.
//!
//! A burst hides latency: synchronous requests lose no throughput while gaps are shorter than the
//! burst over the card's bandwidth.
//!
//! Not modelled: the queue limit of `tbf`; a peak rate other than `network.bandwidth`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use headrace_net::{Span, Time};
use headrace_spec::{Bytes, Rate};

/// A bucket of tokens, one for each byte.
#[derive(Clone, Debug)]
pub struct Bucket {
    /// Tokens per picosecond.
    rate: f64,
    most: f64,
    tokens: f64,
    at: Time,
    meter: Option<Arc<Meter>>,
}

/// Time for which a link with a bucket sends or waits for tokens. Its rate does not tell how busy
/// it is: most of the time it may not send at that rate.
#[derive(Default, Debug)]
pub struct Meter {
    /// Picoseconds of all that has begun.
    booked: AtomicU64,
    /// The end of it; from the last arrival to then the link is busy all the time.
    until: AtomicU64,
}

impl Meter {
    fn book(&self, end: Time, time: Span) {
        self.booked.fetch_add(time.0, Relaxed);
        self.until.store(end.0, Relaxed);
    }

    /// The booked bytes still to be sent.
    fn ahead(&self, now: Time) -> u64 {
        Time(self.until.load(Relaxed)).since(now).0
    }

    /// Time for which the link was busy until now.
    pub fn busy(&self, now: Time) -> Span {
        let booked = self.booked.load(Relaxed);
        Span(booked.saturating_sub(self.ahead(now)))
    }

    /// Resets the counts.
    pub fn reset(&self, now: Time) {
        self.booked.store(self.ahead(now), Relaxed);
    }
}

impl Bucket {
    /// A full bucket of this size that fills at this rate.
    pub fn new(rate: Rate, burst: Bytes) -> Bucket {
        Bucket {
            rate: rate.0 * 1e-12,
            most: burst.0 as f64,
            tokens: burst.0 as f64,
            at: Time::ZERO,
            meter: None,
        }
    }

    /// The same bucket, which reports to a meter what passes.
    #[must_use]
    pub fn with(self, meter: Arc<Meter>) -> Bucket {
        Bucket {
            meter: Some(meter),
            ..self
        }
    }

    /// The tokens that there are at this time.
    fn tokens(&self, now: Time) -> f64 {
        let more = now.since(self.at).0 as f64 * self.rate;
        (self.tokens + more).min(self.most)
    }

    /// The part of its tokens that there is.
    pub fn level(&self) -> f64 {
        self.tokens / self.most.max(1.0)
    }

    /// Duration for which bytes that begin now need to pass: at the link's rate as long as there
    /// are tokens, and then as tokens come.
    pub fn time(&self, now: Time, bytes: u64, at_full_rate: Span) -> Span {
        let missing = bytes as f64 - self.tokens(now);
        at_full_rate.max(Span((missing / self.rate).max(0.0) as u64))
    }

    /// Bytes pass, beginning at `start` and taking this long.
    pub fn pass(&mut self, start: Time, bytes: u64, time: Span) {
        // Tokens beyond the most are lost before the bytes begin, not while they pass.
        let come = time.0 as f64 * self.rate;
        self.tokens = (self.tokens(start) + come - bytes as f64).clamp(0.0, self.most);
        self.at = start + time;
        if let Some(meter) = &self.meter {
            meter.book(self.at, time);
        }
    }
}
