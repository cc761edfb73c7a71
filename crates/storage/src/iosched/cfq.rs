//! `cfq`, complete fair queueing: time slices for processes in turn.
//!
//! After block/cfq-iosched.c (Linux 4.20, the last). Every process has a queue for its synchronous
//! requests; all others are in one queue for each priority. The queue in service owns the device
//! for its time slice, which starts at its first completion. The slice is `slice_sync` or
//! `slice_async` at priority 4, a fifth of that more or less for each priority. The nearest of its
//! requests goes next, only the first of a slice may be an expired one. If the queue is empty, the
//! device idles for `slice_idle`, if the process usually asks again in that time and does not seek
//! much. The queue with the lowest key is next. The key is the time of its queueing, later for
//! lower priorities, less the rest of its last slice or plus its excess. A synchronous request
//! interrupts a slice of asynchronous ones.
//!
//! Real-time queues precede all others and preempt them. Idle-class queues are served when no other
//! queue waits, one request each in turn, and all others preempt them. The device never idles for
//! them.
//!
//! Not modelled: groups and their weights; the separate turns of processes that seek: they are in
//! turn with all others, without idling; shorter slices where many processes wait
//! (`target_latency`); the slow start of asynchronous requests after synchronous ones; cooperating
//! processes; solid-state drives with command queueing, where the kernel does not idle (`slice_idle
//! = "0 s"` has the effect).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use headrace_net::{Span, Time};
use headrace_spec::{Cfq as Spec, IoClass, IoPriority};

use super::elevator::{Backward, Habits, Numbers, OwnQueue};
use super::requests::{Request, RequestId, Requests};
use super::{IoScheduler, Merging, Next};
use crate::time_conversion::span;

/// The priority whose slice is the base: IOPRIO_BE_NORM.
const NORMAL: u64 = 4;

/// A queue, of a process or of asynchronous requests.
#[derive(Clone, Debug)]
struct Line {
    queue: OwnQueue,
    /// Unused part of its last slice, or overrun if negative, in picoseconds.
    left: i128,
    /// Its entry in the order of service; entries with other numbers are stale.
    entry: Option<u64>,
}

impl Line {
    fn class(&self) -> IoClass {
        self.queue.priority.class()
    }

    /// Returns true if its requests take the device from another queue (cfq_should_preempt).
    fn interrupts(&self, other: &Line) -> bool {
        match (self.class(), other.class()) {
            (IoClass::Idle, _) => false,
            (_, IoClass::Idle) => true,
            (IoClass::BestEffort, IoClass::Realtime) => false,
            (IoClass::Realtime, IoClass::BestEffort) => true,
            _ => self.queue.synchronous && !other.queue.synchronous,
        }
    }
}

/// The queue that has the device.
#[derive(Clone, Copy, Debug)]
struct Active {
    line: usize,
    /// Time when its slice ends; none before its first completion.
    ends: Option<Time>,
    /// Requests that it has sent.
    sent: u32,
}

/// A queue for each process.
#[derive(Debug)]
pub struct Cfq {
    spec: Spec,
    habits: Habits,
    lines: Vec<Line>,
    of_process: Numbers,
    asynchronous: Numbers,
    /// Entries of each class by key: (key, entry, line).
    order: [BinaryHeap<Reverse<(i128, u64, usize)>>; 3],
    entries: u64,
    busy: usize,
    active: Option<Active>,
    out: [u32; 2],
    head: u64,
}

impl Cfq {
    /// An empty scheduler.
    pub fn new(spec: &Spec) -> Cfq {
        Cfq {
            habits: Habits {
                expire_sync: span(spec.fifo_expire_sync),
                expire_async: span(spec.fifo_expire_async),
                idle: span(spec.slice_idle),
                backward: Backward {
                    most: spec.back_seek_max.0,
                    penalty: u64::from(spec.back_seek_penalty),
                },
            },
            spec: spec.clone(),
            lines: Vec::new(),
            of_process: Numbers::default(),
            asynchronous: Numbers::default(),
            order: Default::default(),
            entries: 0,
            busy: 0,
            active: None,
            out: [0; 2],
            head: 0,
        }
    }

    fn line_of(&mut self, request: &Request) -> usize {
        let process = request.process as usize;
        let listed = self.spec.priorities.as_ref();
        let level = listed.and_then(|all| all.get(process).copied());
        let priority = level.map_or(request.priority, |level| {
            IoPriority::new(IoClass::BestEffort, u8::try_from(level).unwrap_or(u8::MAX))
        });
        let (synchronous, lines) = (request.synchronous, &mut self.lines);
        let make = || {
            lines.push(Line {
                queue: OwnQueue::new(synchronous, priority),
                left: 0,
                entry: None,
            });
            lines.len() as u32 - 1
        };
        let line = if synchronous {
            self.of_process.of(request.process, priority, make)
        } else {
            self.asynchronous.of(0, priority, make)
        };
        line as usize
    }

    /// The length of a slice (cfq_prio_slice).
    fn slice(&self, synchronous: bool, level: u8) -> Span {
        let base = if synchronous {
            self.spec.slice_sync
        } else {
            self.spec.slice_async
        };
        let base = span(base).0;
        let fifths = 5 + NORMAL - u64::from(level);
        Span((base / 5).saturating_mul(fifths))
    }

    /// Puts a queue in line (cfq_service_tree_add), before all others of its class
    /// if it `interrupts`.
    fn enqueue(&mut self, number: usize, interrupts: bool, now: Time) {
        let line = &self.lines[number];
        if line.entry.is_none() && self.active.is_none_or(|active| active.line != number) {
            self.busy += 1;
        }
        let (class, at) = (line.class(), i128::from(now.0));
        let key = if interrupts {
            let first = self.order[class as usize].peek();
            first.map_or(at, |first| first.0.0) - 1_000_000_000_000
        } else if class == IoClass::Idle {
            at
        } else {
            let most = self.slice(true, 0).0;
            let own = self
                .slice(line.queue.synchronous, line.queue.priority.level())
                .0;
            let others = self.busy.saturating_sub(1) as i128;
            at + others * (i128::from(most) - i128::from(own)) - line.left
        };
        self.entries += 1;
        let line = &mut self.lines[number];
        line.left = 0;
        line.entry = Some(self.entries);
        self.order[class as usize].push(Reverse((key, self.entries, number)));
    }

    /// Takes the device from the active queue. `counted`: the rest of its
    /// slice, or its excess, counts the next time.
    fn expire(&mut self, counted: bool, now: Time) {
        let Some(active) = self.active.take() else {
            return;
        };
        let line = &mut self.lines[active.line];
        if let (true, Some(ends)) = (counted, active.ends) {
            line.left = i128::from(ends.0) - i128::from(now.0);
        }
        self.busy -= 1;
        if !line.queue.is_empty() {
            self.enqueue(active.line, false, now);
        }
    }

    /// The queue with the lowest key of the highest class.
    fn first_in_line(&mut self) -> Option<usize> {
        for order in &mut self.order {
            while let Some(Reverse((_, entry, line))) = order.pop() {
                if self.lines[line].entry == Some(entry) {
                    self.lines[line].entry = None;
                    return Some(line);
                }
            }
        }
        None
    }

    /// Returns true if the scheduler should idle for a queue's next request (cfq_should_idle).
    fn idles_for(&self, line: &Line) -> bool {
        line.queue.asks_again(&self.habits) && !line.queue.seeks()
    }

    /// Returns true if the active queue may send another request (cfq_may_dispatch).
    fn may_send(&self, line: &Line) -> bool {
        let [others, synchronous] = self.out;
        let drained = if line.queue.synchronous {
            others == 0 || !self.idles_for(line)
        } else {
            synchronous == 0
        };
        let most = match line.class() {
            IoClass::Idle => 1,
            _ if self.busy == 1 => u32::MAX,
            _ => self.spec.quantum,
        };
        drained && line.queue.out < most
    }

    /// Requests in a slice at most: of asynchronous ones by priority
    /// (cfq_prio_to_maxrq), of idle ones one, if others are in line.
    fn most_sent(&self, line: &Line) -> u32 {
        if line.class() == IoClass::Idle && self.busy > 1 {
            return 1;
        }
        if line.queue.synchronous {
            return u32::MAX;
        }
        let levels = u32::from(IoPriority::LEVELS - line.queue.priority.level());
        self.spec.slice_async_requests.saturating_mul(2 * levels)
    }
}

impl IoScheduler for Cfq {
    fn add(&mut self, id: RequestId, requests: &mut Requests) {
        let now = requests.now;
        let index = self.line_of(requests.get(id));
        let line = &mut self.lines[index];
        line.queue.add(id, index, &self.habits, requests);
        let line = &self.lines[index];
        let waits = line.entry.is_some();
        match self.active {
            Some(active) if active.line == index => {}
            Some(active) if line.interrupts(&self.lines[active.line]) => {
                self.expire(true, now);
                self.enqueue(index, true, now);
            }
            _ if waits => {}
            _ => self.enqueue(index, false, now),
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
            let Some(active) = self.active else {
                match self.first_in_line() {
                    None => return Next::Nothing,
                    Some(line) => {
                        self.active = Some(Active {
                            line,
                            ends: None,
                            sent: 0,
                        });
                        continue;
                    }
                }
            };
            let line = &self.lines[active.line];
            let over = active.ends.is_some_and(|ends| now >= ends);
            if over || active.sent >= self.most_sent(line) {
                self.expire(over, now);
                continue;
            }
            let (first, habits) = (active.sent == 0, &self.habits);
            if let Some(id) = line.queue.choose(first, self.head, habits, requests) {
                if !self.may_send(line) {
                    return Next::Nothing;
                }
                self.active = Some(Active {
                    sent: active.sent + 1,
                    ..active
                });
                let queue = &mut self.lines[active.line].queue;
                queue.take(id, requests);
                queue.out += 1;
                self.out[usize::from(queue.synchronous)] += 1;
                self.head = requests.get(id).end();
                return Next::Dispatch(id);
            }
            if self.idles_for(line) {
                if line.queue.out > 0 || self.busy == 1 {
                    return Next::Nothing;
                }
                let until = line.queue.waited_until(&self.habits);
                // Longer than it has its slice, it is not waited for.
                let until = active.ends.map_or(until, |ends| until.min(ends));
                if now < until {
                    return Next::Wait(until);
                }
            }
            self.expire(false, now);
        }
    }

    fn finished(&mut self, id: RequestId, requests: &mut Requests) {
        let now = requests.now;
        let index = requests.get(id).tag as usize;
        let queue = &mut self.lines[index].queue;
        queue.finished(now);
        let (synchronous, level) = (queue.synchronous, queue.priority.level());
        self.out[usize::from(synchronous)] -= 1;
        let slice = self.slice(synchronous, level);
        if let Some(active) = &mut self.active
            && active.line == index
            && active.ends.is_none()
        {
            active.ends = Some(now + slice);
        }
    }

    fn name(&self) -> String {
        "cfq".to_owned()
    }
}
