//! Budgets of bytes for processes by weight: `bfq`, budget fair queueing.
//!
//! After P. Valente, F. Checconi: High throughput disk scheduling with fair
//! bandwidth distribution, IEEE Transactions on Computers 59(9), 2010, and
//! block/bfq-iosched.c with block/bfq-wf2q.c (Linux 6.6). Every process has a
//! queue for its synchronous requests; all others are in one. The queue in
//! service has the device until it has used its budget, or has nothing to ask
//! for, or `timeout_sync` is over. B-WF2Q+ chooses the next: of the queues whose
//! virtual start has come, the one with the earliest virtual finish, which is its
//! start plus its budget over its weight. A queue pays for the bytes that it
//! sends, three times if nobody waits for them; one that timed out with a third
//! of its budget left pays for its time. The next budget grows with what a queue
//! could use and shrinks if it left the device idle. While a queue is empty, the
//! device is left idle `slice_idle` long for its process, if that usually asks
//! again in time and either does not seek much or has another weight than others.
//!
//! Not modelled: raised weights of interactive and soft real-time processes
//! (low_latency), groups, the measured peak rate (`max_budget` is fixed), merging
//! of cooperating queues, injection, bursts, processes punished for slowness by
//! anything but the time-out.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use headrace_net::Time;
use headrace_spec::Bfq as Spec;

use super::elevator::{Backward, Lines, Seeks, Thinking, nearest};
use super::requests::{List, Request, RequestId, Requests, Tree};
use super::{IoScheduler, Merging, Next, span};

/// The weight of a process that has none: BFQ_WEIGHT_LEGACY_DFL.
const WEIGHT: u32 = 100;

/// What nobody waits for is paid so many times (bfq_async_charge_factor).
const ASYNC_CHARGE: u64 = 3;

/// A queue, of a process or of the asynchronous requests.
#[derive(Clone, Debug)]
struct Line {
    synchronous: bool,
    weight: f64,
    sorted: Tree,
    aged: List,
    out: u32,
    /// The bytes of its next turn, and those it paid for in this one.
    budget: u64,
    paid: u64,
    /// Virtual times.
    start: f64,
    finish: f64,
    /// It is in line.
    waits: bool,
    thinking: Thinking,
    seeks: Seeks,
}

/// Why a queue loses the device (enum bfqq_expiration).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Why {
    TooIdle,
    TimedOut,
    Exhausted,
    Empty,
}

/// Queues by virtual time: the time's bits (it is never negative), an order
/// among equals, the queue.
type ByTime = BinaryHeap<Reverse<(u64, u64, usize)>>;

/// A budget for each process.
#[derive(Debug)]
pub struct Bfq {
    spec: Spec,
    lines: Vec<Line>,
    of_process: Lines,
    asynchronous: Option<usize>,
    now: f64,
    /// The weights of all queues in line and in service.
    weights: f64,
    /// Queues that have not started, by start; those that have, by finish.
    later: ByTime,
    eligible: ByTime,
    entries: u64,
    active: Option<usize>,
    since: Time,
    head: u64,
    asymmetric: bool,
}

impl Bfq {
    /// An empty scheduler.
    pub fn new(spec: &Spec) -> Bfq {
        let weights = spec.weights.as_deref().unwrap_or_default();
        Bfq {
            lines: Vec::new(),
            of_process: Lines::default(),
            asynchronous: None,
            now: 0.0,
            weights: 0.0,
            later: BinaryHeap::new(),
            eligible: BinaryHeap::new(),
            entries: 0,
            active: None,
            since: Time::ZERO,
            head: 0,
            asymmetric: weights.iter().any(|&weight| weight != WEIGHT),
            spec: spec.clone(),
        }
    }

    fn line_of(&mut self, request: &Request) -> usize {
        let Bfq {
            spec,
            lines,
            of_process,
            asynchronous,
            ..
        } = self;
        let synchronous = request.synchronous;
        let weight = spec.weights.as_ref().filter(|_| synchronous);
        let weight = weight.and_then(|all| all.get(request.process as usize).copied());
        let mut make = || {
            let most = spec.max_budget.0;
            lines.push(Line {
                synchronous,
                weight: f64::from(weight.unwrap_or(WEIGHT)),
                sorted: Tree::default(),
                aged: List::default(),
                out: 0,
                // bfq_init_bfqq
                budget: if synchronous { most / 3 * 2 } else { most },
                paid: 0,
                start: 0.0,
                finish: 0.0,
                waits: false,
                thinking: Thinking::default(),
                seeks: Seeks::default(),
            });
            lines.len() as u32 - 1
        };
        if synchronous {
            of_process.of(request.process, make) as usize
        } else {
            *asynchronous.get_or_insert_with(|| make() as usize)
        }
    }

    fn price(&self, line: &Line, id: RequestId, requests: &Requests) -> u64 {
        let factor = if line.synchronous { 1 } else { ASYNC_CHARGE };
        requests.get(id).size.saturating_mul(factor)
    }

    /// Puts a queue in line: one that goes on starts where it finished, one that
    /// was empty not before now.
    fn enqueue(&mut self, index: usize, goes_on: bool) {
        let line = &mut self.lines[index];
        line.start = match goes_on {
            true => line.finish,
            false => line.finish.max(self.now),
        };
        line.finish = line.start + line.budget.max(1) as f64 / line.weight;
        line.waits = true;
        let (start, finish) = (line.start, line.finish);
        self.weights += line.weight;
        self.entries += 1;
        if start <= self.now {
            self.eligible
                .push(Reverse((finish.to_bits(), self.entries, index)));
        } else {
            self.later
                .push(Reverse((start.to_bits(), self.entries, index)));
        }
    }

    /// Takes the queue that is next by B-WF2Q+ out of the line.
    fn first_in_line(&mut self) -> Option<usize> {
        if self.eligible.is_empty()
            && let Some(Reverse((start, ..))) = self.later.peek()
        {
            self.now = self.now.max(f64::from_bits(*start));
        }
        while let Some(&Reverse((start, entry, index))) = self.later.peek()
            && f64::from_bits(start) <= self.now
        {
            self.later.pop();
            let finish = self.lines[index].finish;
            self.eligible
                .push(Reverse((finish.to_bits(), entry, index)));
        }
        let Reverse((_, _, index)) = self.eligible.pop()?;
        self.lines[index].waits = false;
        Some(index)
    }

    /// Takes the device from the queue in service (bfq_bfqq_expire).
    fn expire(&mut self, why: Why, now: Time) {
        let Some(index) = self.active.take() else {
            return;
        };
        let most = self.spec.max_budget.0.max(1);
        let least = most / 32;
        let line = &mut self.lines[index];
        let left = line.budget.saturating_sub(line.paid);
        if why == Why::TimedOut && left >= line.budget / 3 {
            let all = span(self.spec.timeout_sync).0.max(1) as f64;
            let part = (now.since(self.since).0 as f64 / all).min(1.0);
            let charged = line.paid.max((most as f64 * part) as u64);
            self.now += (charged - line.paid) as f64 / self.weights;
            line.paid = charged;
        }
        self.weights -= line.weight;
        line.finish = line.start + line.paid as f64 / line.weight;
        // __bfq_bfqq_recalc_budget
        let budget = line.budget;
        line.budget = match why {
            _ if !line.synchronous => most,
            Why::TooIdle if line.out > 0 => budget.saturating_mul(2).min(most),
            Why::TooIdle if budget > 5 * least => budget - 4 * least,
            Why::TooIdle => least,
            Why::TimedOut => budget.saturating_mul(2).min(most),
            Why::Exhausted => budget.saturating_mul(4).min(most),
            Why::Empty => line.paid.max(least).min(most),
        };
        if !line.aged.is_empty() {
            self.enqueue(index, true);
        }
    }

    /// Whether to wait for a queue's next request (bfq_better_to_idle).
    fn idles_for(&self, line: &Line) -> bool {
        let longest = span(self.spec.slice_idle).0 as f64;
        line.synchronous
            && longest > 0.0
            && (self.asymmetric || !line.seeks.many())
            && line.thinking.mean().is_none_or(|mean| mean <= longest)
    }

    fn others_wait(&self) -> bool {
        !(self.eligible.is_empty() && self.later.is_empty())
    }

    fn choose(&self, line: &Line, requests: &Requests) -> Option<RequestId> {
        let backward = Backward {
            most: self.spec.back_seek_max.0,
            penalty: u64::from(self.spec.back_seek_penalty),
        };
        let oldest = line.aged.first();
        oldest
            .filter(|&id| line.paid == 0 && requests.get(id).deadline <= requests.now)
            .or_else(|| nearest(&line.sorted, self.head, backward, requests))
    }

    fn take(&mut self, id: RequestId, requests: &mut Requests) {
        let line = &mut self.lines[requests.get(id).tag as usize];
        requests.unlink(&mut line.aged, id);
        requests.remove(&mut line.sorted, id);
    }
}

impl IoScheduler for Bfq {
    fn add(&mut self, id: RequestId, requests: &mut Requests) {
        let now = requests.now;
        let index = self.line_of(requests.get(id));
        let line = &mut self.lines[index];
        let expire = match line.synchronous {
            true => self.spec.fifo_expire_sync,
            false => self.spec.fifo_expire_async,
        };
        let request = requests.get_mut(id);
        request.tag = index as u32;
        request.deadline = now + span(expire);
        if line.synchronous {
            line.thinking.asks(now, span(self.spec.slice_idle));
            line.seeks.asks(request.address, request.end());
        }
        requests.push(&mut line.aged, id);
        requests.insert(&mut line.sorted, id);
        if !line.waits && self.active != Some(index) {
            self.enqueue(index, false);
        }
    }

    fn merges(&mut self, request: &Request) -> Merging<'_> {
        let line = self.line_of(request);
        Merging::Sorted {
            tree: &mut self.lines[line].sorted,
            front: true,
        }
    }

    fn absorbed(&mut self, id: RequestId, into: RequestId, requests: &mut Requests) {
        let deadline = requests.get(id).deadline;
        if deadline < requests.get(into).deadline {
            requests.get_mut(into).deadline = deadline;
            let line = &mut self.lines[requests.get(id).tag as usize];
            requests.move_before(&mut line.aged, id, into);
        }
        self.take(id, requests);
    }

    fn next(&mut self, requests: &mut Requests) -> Next {
        let now = requests.now;
        loop {
            let Some(index) = self.active else {
                let Some(index) = self.first_in_line() else {
                    return Next::Nothing;
                };
                self.lines[index].paid = 0;
                self.active = Some(index);
                self.since = now;
                continue;
            };
            let line = &self.lines[index];
            // One that is waited for is let ask again, so that it stays in line
            // (bfq_bfqq_must_idle).
            let over = now >= self.since + span(self.spec.timeout_sync);
            if over && line.paid > 0 && !(line.aged.is_empty() && self.idles_for(line)) {
                self.expire(Why::TimedOut, now);
                continue;
            }
            if let Some(id) = self.choose(line, requests) {
                let price = self.price(line, id, requests);
                // A first request is always paid for.
                if line.paid > 0 && line.paid.saturating_add(price) > line.budget {
                    self.expire(Why::Exhausted, now);
                    continue;
                }
                self.take(id, requests);
                self.now += price as f64 / self.weights;
                let line = &mut self.lines[index];
                line.paid += price;
                line.out += 1;
                self.head = requests.get(id).end();
                return Next::Dispatch(id);
            }
            if !self.idles_for(line) {
                self.expire(Why::Empty, now);
                continue;
            }
            if line.out > 0 || !self.others_wait() {
                return Next::Nothing;
            }
            let asked = line.thinking.finished().unwrap_or(Time::ZERO);
            let until = asked + span(self.spec.slice_idle);
            if now < until {
                return Next::Wait(until);
            }
            self.expire(Why::TooIdle, now);
        }
    }

    fn finished(&mut self, id: RequestId, requests: &mut Requests) {
        let line = &mut self.lines[requests.get(id).tag as usize];
        line.out -= 1;
        line.thinking.finishes(requests.now);
    }

    fn name(&self) -> String {
        "bfq".to_owned()
    }
}
