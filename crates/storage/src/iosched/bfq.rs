//! `bfq`, budget fair queueing: budgets of bytes for processes by weight.
//!
//! After P. Valente, F. Checconi: High throughput disk scheduling with fair bandwidth distribution,
//! IEEE Transactions on Computers 59(9), 2010, and block/bfq-iosched.c with block/bfq-wf2q.c (Linux
//! 6.6). Every process has a queue for its synchronous requests; all others are in one. The queue
//! in service has the device until it has used its budget, or has nothing to ask for, or
//! `timeout_sync` is over. B-WF2Q+ chooses the queue with the earliest virtual finish among those
//! whose virtual start has come. The finish is the start plus the budget over the weight. A queue
//! is charged for its bytes, three times for asynchronous ones. A queue that timed out with a third
//! of its budget left is charged for its time. The next budget grows with what a queue could use
//! and shrinks if it left the device idle. While a queue is empty, the device idles for its process
//! for `slice_idle`. It does so if the process usually issues a request in time, and either seeks
//! little or has a different weight.
//!
//! Each priority class has a virtual time of its own. Queues of a higher class precede and
//! interrupt those of lower ones. The idle class has a turn in 200 ms, and is never idled for. A
//! queue's weight comes from its level of priority; one that was empty interrupts another of less
//! weight if it would be next.
//!
//! Not modelled: raised weights of interactive and soft real-time processes (`low_latency`);
//! groups; the measured peak rate (`max_budget` is fixed); merging of cooperating queues; injection
//! and bursts; slow processes, other than by the time-out.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use headrace_net::{Span, Time};
use headrace_spec::{Bfq as Spec, IoClass, IoPriority};

use super::elevator::{Backward, Habits, Numbers, OwnQueue};
use super::requests::{Request, RequestId, Requests};
use super::{IoScheduler, Merging, Next};
use crate::time_conversion::span;

/// Weight for each level above the lowest, which has one of these
/// (BFQ_WEIGHT_CONVERSION_COEFF).
const WEIGHT: u32 = 10;

/// The idle class has the device this long after its last turn: BFQ_CL_IDLE_TIMEOUT,
/// HZ/5.
const IDLE_CLASS: Span = Span::from_millis(200);

/// Cost factor of asynchronous requests (bfq_async_charge_factor).
const ASYNC_CHARGE: u64 = 3;

/// A queue, of a process or of asynchronous requests.
#[derive(Clone, Debug)]
struct Line {
    queue: OwnQueue,
    weight: f64,
    /// The bytes of its next turn, and those it paid for in this one.
    budget: u64,
    paid: u64,
    /// Virtual times.
    start: f64,
    finish: f64,
    /// It is in line.
    waits: bool,
}

impl Line {
    fn class(&self) -> IoClass {
        self.queue.priority.class()
    }
}

/// Why a queue loses the device (enum bfqq_expiration).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Why {
    TooIdle,
    TimedOut,
    Exhausted,
    Empty,
    Interrupted,
}

/// Queues by virtual time: the time's bits (it is never negative), an order
/// among equals, the queue.
type ByTime = BinaryHeap<Reverse<(u64, u64, usize)>>;

/// The queues of a priority class (struct bfq_service_tree).
#[derive(Default, Debug)]
struct Class {
    /// Its virtual time.
    now: f64,
    /// The weights of all its queues in line and in service.
    weights: f64,
    /// Queues that have not started, by start; those that have, by finish.
    later: ByTime,
    eligible: ByTime,
}

impl Class {
    fn is_empty(&self) -> bool {
        self.eligible.is_empty() && self.later.is_empty()
    }
}

/// A budget for each process.
#[derive(Debug)]
pub struct Bfq {
    spec: Spec,
    habits: Habits,
    lines: Vec<Line>,
    of_process: Numbers,
    asynchronous: Numbers,
    classes: [Class; 3],
    /// Time when the idle class could last have the device.
    idle_class: Time,
    entries: u64,
    active: Option<usize>,
    since: Time,
    head: u64,
    /// Processes differ in weight or class.
    asymmetric: bool,
}

impl Bfq {
    /// An empty scheduler.
    pub fn new(spec: &Spec) -> Bfq {
        Bfq {
            habits: Habits {
                expire_sync: span(spec.fifo_expire_sync),
                expire_async: span(spec.fifo_expire_async),
                idle: span(spec.slice_idle),
                backward: Backward {
                    most: spec.back_seek_max.0,
                    penalty: u64::from(spec.back_seek_penalty),
                },
            },
            lines: Vec::new(),
            of_process: Numbers::default(),
            asynchronous: Numbers::default(),
            classes: Default::default(),
            idle_class: Time::ZERO,
            entries: 0,
            active: None,
            since: Time::ZERO,
            head: 0,
            asymmetric: false,
            spec: spec.clone(),
        }
    }

    fn line_of(&mut self, request: &Request) -> usize {
        let Bfq {
            spec,
            lines,
            of_process,
            asynchronous,
            asymmetric,
            ..
        } = self;
        let Request {
            synchronous,
            priority,
            process,
            ..
        } = *request;
        let listed = spec.weights.as_ref().filter(|_| synchronous);
        let listed = listed.and_then(|all| all.get(process as usize).copied());
        // bfq_ioprio_to_weight
        let by_level = u32::from(IoPriority::LEVELS - priority.level()) * WEIGHT;
        let weight = f64::from(listed.unwrap_or(by_level));
        let make = || {
            let most = spec.max_budget.0;
            // bfq_asymmetric_scenario
            *asymmetric |= lines.iter().any(|line| {
                synchronous
                    && line.queue.synchronous
                    && (line.weight != weight || line.class() != priority.class())
            });
            lines.push(Line {
                queue: OwnQueue::new(synchronous, priority),
                weight,
                // bfq_init_bfqq
                budget: if synchronous { most / 3 * 2 } else { most },
                paid: 0,
                start: 0.0,
                finish: 0.0,
                waits: false,
            });
            lines.len() as u32 - 1
        };
        let line = if synchronous {
            of_process.of(process, priority, make)
        } else {
            asynchronous.of(0, priority, make)
        };
        line as usize
    }

    fn price(&self, line: &Line, id: RequestId, requests: &Requests) -> u64 {
        let factor = if line.queue.synchronous {
            1
        } else {
            ASYNC_CHARGE
        };
        requests.get(id).size.saturating_mul(factor)
    }

    /// Puts a queue in line: one that goes on starts where it finished, one that
    /// was empty not before now.
    fn enqueue(&mut self, index: usize, goes_on: bool) {
        let line = &mut self.lines[index];
        let class = &mut self.classes[line.class() as usize];
        line.start = match goes_on {
            true => line.finish,
            false => line.finish.max(class.now),
        };
        line.finish = line.start + line.budget.max(1) as f64 / line.weight;
        line.waits = true;
        class.weights += line.weight;
        self.entries += 1;
        let (into, time) = if line.start <= class.now {
            (&mut class.eligible, line.finish)
        } else {
            (&mut class.later, line.start)
        };
        into.push(Reverse((time.to_bits(), self.entries, index)));
    }

    /// The class that is next: the highest, but now and then the idle one
    /// (bfq_lookup_next_entity).
    fn next_class(&mut self, now: Time) -> Option<usize> {
        if now > self.idle_class + IDLE_CLASS {
            self.idle_class = now;
            if !self.classes[IoClass::Idle as usize].is_empty() {
                return Some(IoClass::Idle as usize);
            }
        }
        self.classes.iter().position(|class| !class.is_empty())
    }

    /// Takes the queue that is next by B-WF2Q+ out of the line.
    fn first_in_line(&mut self, now: Time) -> Option<usize> {
        let class = self.next_class(now)?;
        let class = &mut self.classes[class];
        if class.eligible.is_empty()
            && let Some(Reverse((start, ..))) = class.later.peek()
        {
            class.now = class.now.max(f64::from_bits(*start));
        }
        while let Some(&Reverse((start, entry, index))) = class.later.peek()
            && f64::from_bits(start) <= class.now
        {
            class.later.pop();
            let finish = self.lines[index].finish;
            class
                .eligible
                .push(Reverse((finish.to_bits(), entry, index)));
        }
        let Reverse((_, _, index)) = class.eligible.pop()?;
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
        let class = &mut self.classes[line.class() as usize];
        let left = line.budget.saturating_sub(line.paid);
        if why == Why::TimedOut && left >= line.budget / 3 {
            let all = span(self.spec.timeout_sync).0.max(1) as f64;
            let part = (now.since(self.since).0 as f64 / all).min(1.0);
            let charged = line.paid.max((most as f64 * part) as u64);
            class.now += (charged - line.paid) as f64 / class.weights;
            line.paid = charged;
        }
        class.weights -= line.weight;
        line.finish = line.start + line.paid as f64 / line.weight;
        // __bfq_bfqq_recalc_budget
        let budget = line.budget;
        line.budget = match why {
            Why::Interrupted => budget,
            _ if !line.queue.synchronous => most,
            Why::TooIdle if line.queue.out > 0 => budget.saturating_mul(2).min(most),
            Why::TooIdle if budget > 5 * least => budget - 4 * least,
            Why::TooIdle => least,
            Why::TimedOut => budget.saturating_mul(2).min(most),
            Why::Exhausted => budget.saturating_mul(4).min(most),
            Why::Empty => line.paid.max(least).min(most),
        };
        if !line.queue.is_empty() {
            self.enqueue(index, true);
        }
    }

    /// Returns true if the scheduler should idle for a queue's next request (bfq_better_to_idle).
    fn idles_for(&self, line: &Line) -> bool {
        line.queue.asks_again(&self.habits) && (self.asymmetric || !line.queue.seeks())
    }

    /// Returns true if a queue that was empty takes the device from the one in service. It is of a
    /// higher class, or of a higher weight and would be next (bfq_bfqq_higher_class_or_weight,
    /// next_queue_may_preempt).
    fn interrupts(&self, line: &Line, active: &Line) -> bool {
        let now = self.classes[line.class() as usize].now;
        match line.class().cmp(&active.class()) {
            Ordering::Less => true,
            Ordering::Greater => false,
            Ordering::Equal => {
                line.weight > active.weight && line.start <= now && line.finish < active.finish
            }
        }
    }

    fn others_wait(&self) -> bool {
        !self.classes.iter().all(Class::is_empty)
    }
}

impl IoScheduler for Bfq {
    fn add(&mut self, id: RequestId, requests: &mut Requests) {
        let index = self.line_of(requests.get(id));
        let line = &mut self.lines[index];
        line.queue.add(id, index, &self.habits, requests);
        if line.waits || self.active == Some(index) {
            return;
        }
        self.enqueue(index, false);
        if let Some(active) = self.active
            && self.interrupts(&self.lines[index], &self.lines[active])
        {
            self.expire(Why::Interrupted, requests.now);
        }
    }

    fn merges(&mut self, request: &Request) -> Merging<'_> {
        let line = self.line_of(request);
        Merging::Sorted {
            tree: self.lines[line].queue.sorted(),
            front: true,
        }
    }

    fn absorbed(&mut self, id: RequestId, into: RequestId, requests: &mut Requests) {
        let line = &mut self.lines[requests.get(id).tag as usize];
        line.queue.absorbed(id, into, requests);
    }

    fn next(&mut self, requests: &mut Requests) -> Next {
        let now = requests.now;
        loop {
            let Some(index) = self.active else {
                let Some(index) = self.first_in_line(now) else {
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
            if over && line.paid > 0 && !(line.queue.is_empty() && self.idles_for(line)) {
                self.expire(Why::TimedOut, now);
                continue;
            }
            let (first, habits) = (line.paid == 0, &self.habits);
            if let Some(id) = line.queue.choose(first, self.head, habits, requests) {
                let price = self.price(line, id, requests);
                // A first request is always paid for.
                if line.paid > 0 && line.paid.saturating_add(price) > line.budget {
                    self.expire(Why::Exhausted, now);
                    continue;
                }
                let line = &mut self.lines[index];
                line.queue.take(id, requests);
                line.queue.out += 1;
                line.paid += price;
                let class = &mut self.classes[line.class() as usize];
                class.now += price as f64 / class.weights;
                self.head = requests.get(id).end();
                return Next::Dispatch(id);
            }
            if !self.idles_for(line) {
                self.expire(Why::Empty, now);
                continue;
            }
            if line.queue.out > 0 || !self.others_wait() {
                return Next::Nothing;
            }
            let until = line.queue.waited_until(&self.habits);
            if now < until {
                return Next::Wait(until);
            }
            self.expire(Why::TooIdle, now);
        }
    }

    fn finished(&mut self, id: RequestId, requests: &mut Requests) {
        let line = &mut self.lines[requests.get(id).tag as usize];
        line.queue.finished(requests.now);
    }

    fn name(&self) -> String {
        "bfq".to_owned()
    }
}
