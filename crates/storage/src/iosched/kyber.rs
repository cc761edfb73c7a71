//! `kyber`: tokens for reads and writes by their latency.
//!
//! After block/kyber-iosched.c (Linux 4.20 and later). Reads and writes are domains of their own,
//! served in turn in batches of 16 reads and 8 writes by order of arrival. A request needs a token
//! of its domain to be at the device. Latencies are counted in quarters of the domain's target,
//! eight bins of them. Tokens are adjusted 100 ms after a completion, once a domain has 500 samples
//! or its first is a second old. If a tenth of any domain's requests exceeded the target at the
//! device, all tokens are adjusted. Each domain's are multiplied by its 99th percentile of total
//! latency over the target. A domain over target gets more tokens even if the device is not the
//! cause.
//!
//! Not modelled: one queue for each processor; discards and flushes as domains (flushes bypass the
//! scheduler); the limit of asynchronous requests (three quarters of all).

use headrace_net::{Span, Time};
use headrace_spec::Kyber as Spec;

use super::requests::{List, Request, RequestId, Requests};
use super::{IoScheduler, Merging, Next};
use crate::time_conversion::span;

/// Tokens of reads and writes at most (kyber_depth).
const TOKENS: [u32; 2] = [256, 128];

/// Requests of a batch (kyber_batch_size).
const BATCH: [u32; 2] = [16, 8];

/// Bins of latency: the first four are within the target.
const BINS: usize = 8;
const GOOD: usize = 4;

/// Interval after which tokens are recounted: HZ / 10.
const INTERVAL: Span = Span::from_millis(100);

/// Samples that a percentile is taken of, or those of so long.
const SAMPLES: u32 = 500;
const LONGEST: Span = Span::from_millis(1000);

/// Latencies of one sort.
#[derive(Clone, Copy, Default, Debug)]
struct Histogram {
    bins: [u32; BINS],
}

impl Histogram {
    fn add(&mut self, latency: Span, target: Span) {
        let bin = latency.0.saturating_sub(1) / (target.0 / GOOD as u64).max(1);
        self.bins[(bin as usize).min(BINS - 1)] += 1;
    }

    fn samples(&self) -> u32 {
        self.bins.iter().sum()
    }

    /// The bin of the `percent`-th percentile.
    fn percentile(&self, percent: u32) -> usize {
        let mut rank = (self.samples() * percent).div_ceil(100);
        for (bin, &count) in self.bins[..BINS - 1].iter().enumerate() {
            if count >= rank {
                return bin;
            }
            rank -= count;
        }
        BINS - 1
    }
}

/// Reads or writes.
#[derive(Clone, Debug)]
struct Domain {
    waiting: List,
    target: Span,
    tokens: u32,
    out: u32,
    total: Histogram,
    device: Histogram,
    /// Time at which the samples must suffice for a percentile, for each histogram.
    total_due: Option<Time>,
    device_due: Option<Time>,
    /// The last 99th percentile, until tokens were taken for it.
    remembered: Option<usize>,
}

/// Takes a percentile and empties the histogram, if there are enough samples.
fn percentile(
    histogram: &mut Histogram,
    due: &mut Option<Time>,
    percent: u32,
    now: Time,
) -> Option<usize> {
    let samples = histogram.samples();
    if samples == 0 {
        return None;
    }
    let until = *due.get_or_insert(now + LONGEST);
    if samples < SAMPLES && now < until {
        return None;
    }
    *due = None;
    let bin = histogram.percentile(percent);
    *histogram = Histogram::default();
    Some(bin)
}

/// Reads and writes with tokens.
#[derive(Debug)]
pub struct Kyber {
    domains: [Domain; 2],
    serving: usize,
    batched: u32,
    /// Time when tokens are recounted.
    due: Option<Time>,
}

impl Kyber {
    /// An empty scheduler.
    pub fn new(spec: &Spec) -> Kyber {
        let domain = |domain: usize, target| Domain {
            waiting: List::default(),
            target: span(target),
            tokens: TOKENS[domain],
            out: 0,
            total: Histogram::default(),
            device: Histogram::default(),
            total_due: None,
            device_due: None,
            remembered: None,
        };
        Kyber {
            domains: [domain(0, spec.read_latency), domain(1, spec.write_latency)],
            serving: 0,
            batched: 0,
            due: None,
        }
    }

    /// kyber_timer_fn
    fn count_tokens(&mut self, now: Time) {
        let mut slow = false;
        for domain in &mut self.domains {
            let p90 = percentile(&mut domain.device, &mut domain.device_due, 90, now);
            slow |= p90.is_some_and(|bin| bin >= GOOD);
        }
        for (domain, most) in self.domains.iter_mut().zip(TOKENS) {
            let p99 = percentile(&mut domain.total, &mut domain.total_due, 99, now);
            let p99 = if slow {
                p99.or(domain.remembered.take())
            } else {
                domain.remembered = p99.or(domain.remembered);
                p99
            };
            if slow {
                domain.remembered = None;
            }
            if let Some(bin) = p99.filter(|&bin| slow || bin >= GOOD) {
                let scaled = domain.tokens * (bin as u32 + 1) / GOOD as u32;
                domain.tokens = scaled.clamp(1, most);
            }
        }
    }

    fn send(&mut self, domain: usize, requests: &mut Requests) -> Option<RequestId> {
        let Domain {
            waiting,
            tokens,
            out,
            ..
        } = &mut self.domains[domain];
        if *out >= *tokens {
            return None;
        }
        let id = requests.pop(waiting)?;
        *out += 1;
        self.batched += 1;
        Some(id)
    }
}

impl IoScheduler for Kyber {
    fn add(&mut self, id: RequestId, requests: &mut Requests) {
        let domain = usize::from(requests.get(id).writes());
        requests.push(&mut self.domains[domain].waiting, id);
    }

    fn merges(&mut self, request: &Request) -> Merging<'_> {
        Merging::Latest(&self.domains[usize::from(request.writes())].waiting)
    }

    fn absorbed(&mut self, id: RequestId, _: RequestId, requests: &mut Requests) {
        let domain = usize::from(requests.get(id).writes());
        requests.unlink(&mut self.domains[domain].waiting, id);
    }

    fn next(&mut self, requests: &mut Requests) -> Next {
        if self.batched < BATCH[self.serving]
            && let Some(id) = self.send(self.serving, requests)
        {
            return Next::Dispatch(id);
        }
        self.batched = 0;
        for _ in 0..self.domains.len() {
            self.serving = (self.serving + 1) % self.domains.len();
            if let Some(id) = self.send(self.serving, requests) {
                return Next::Dispatch(id);
            }
        }
        Next::Nothing
    }

    fn finished(&mut self, id: RequestId, requests: &mut Requests) {
        let now = requests.now;
        let request = requests.get(id);
        let domain = &mut self.domains[usize::from(request.writes())];
        domain.out -= 1;
        domain.total.add(now.since(request.arrived), domain.target);
        domain.device.add(now.since(request.issued), domain.target);
        match self.due {
            None => self.due = Some(now + INTERVAL),
            Some(due) if now >= due => {
                self.due = None;
                self.count_tokens(now);
            }
            Some(_) => {}
        }
    }

    fn name(&self) -> String {
        "kyber".to_owned()
    }
}
