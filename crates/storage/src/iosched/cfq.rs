//! Time slices for processes in turn: `cfq`, complete fair queueing.
//!
//! After block/cfq-iosched.c (Linux 4.20, the last). Every process has a queue
//! for its synchronous requests; all others are in one queue for each priority.
//! The queue in service has the device for its time slice, from its first
//! completion on: `slice_sync` or `slice_async` at priority 4, a fifth of that
//! more or less for each priority. The nearest of its requests goes next, only
//! the first of a slice may be an expired one. If the queue is empty, the device
//! is left idle `slice_idle` long for the process to ask again, if it usually
//! does in that time and does not seek much. Then comes the queue with the lowest
//! key: the time it was put in line, later for lower priorities, less what its
//! last slice had left or plus what it took too much. A synchronous request
//! interrupts a slice of asynchronous ones.
//!
//! Not modelled: groups and their weights, real-time and idle classes, the
//! separate turns of processes that seek (they are in turn with all others, and
//! nothing is idled for them), shorter slices where many are in line
//! (target_latency), the slow start of asynchronous requests after synchronous
//! ones, cooperating processes, that nothing is idled for on solid-state drives
//! with command queueing (give `slice_idle = "0 s"`).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use headrace_net::{Span, Time};
use headrace_spec::Cfq as Spec;

use super::elevator::{Backward, Lines, Seeks, Thinking, nearest};
use super::requests::{List, Request, RequestId, Requests, Tree};
use super::{IoScheduler, Merging, Next, span};

/// The priority of a process that has none: IOPRIO_BE_NORM.
pub(super) const NORMAL: u32 = 4;

/// A queue, of a process or of asynchronous requests.
#[derive(Clone, Debug)]
struct Line {
    synchronous: bool,
    priority: u32,
    sorted: Tree,
    aged: List,
    out: u32,
    /// What is left of its last slice, or was taken too much, in picoseconds.
    left: i128,
    /// Its entry in the order of service; entries with other numbers are stale.
    entry: Option<u64>,
    thinking: Thinking,
    seeks: Seeks,
}

/// The queue that has the device.
#[derive(Clone, Copy, Debug)]
struct Active {
    line: usize,
    /// When its slice ends; none before its first completion.
    ends: Option<Time>,
    /// Requests that it has sent.
    sent: u32,
}

/// A queue for each process.
#[derive(Debug)]
pub struct Cfq {
    spec: Spec,
    lines: Vec<Line>,
    of_process: Lines,
    of_priority: Lines,
    /// By key: (key, entry, line).
    order: BinaryHeap<Reverse<(i128, u64, usize)>>,
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
            spec: spec.clone(),
            lines: Vec::new(),
            of_process: Lines::default(),
            of_priority: Lines::default(),
            order: BinaryHeap::new(),
            entries: 0,
            busy: 0,
            active: None,
            out: [0; 2],
            head: 0,
        }
    }

    fn line_of(&mut self, request: &Request) -> usize {
        let Cfq {
            spec,
            lines,
            of_process,
            of_priority,
            ..
        } = self;
        let process = request.process as usize;
        let priority = spec
            .priorities
            .as_ref()
            .and_then(|all| all.get(process).copied());
        let priority = priority.unwrap_or(NORMAL);
        let synchronous = request.synchronous;
        let make = || {
            lines.push(Line {
                synchronous,
                priority,
                sorted: Tree::default(),
                aged: List::default(),
                out: 0,
                left: 0,
                entry: None,
                thinking: Thinking::default(),
                seeks: Seeks::default(),
            });
            lines.len() as u32 - 1
        };
        let line = if synchronous {
            of_process.of(request.process, make)
        } else {
            of_priority.of(priority, make)
        };
        line as usize
    }

    /// The length of a slice (cfq_prio_slice).
    fn slice(&self, synchronous: bool, priority: u32) -> Span {
        let base = if synchronous {
            self.spec.slice_sync
        } else {
            self.spec.slice_async
        };
        let base = span(base).0;
        Span((base / 5).saturating_mul(u64::from(5 + NORMAL - priority)))
    }

    /// Puts a queue in line (cfq_service_tree_add), before all others if it
    /// `interrupts`.
    fn enqueue(&mut self, line: usize, interrupts: bool, now: Time) {
        let Line {
            synchronous,
            priority,
            left,
            entry,
            ..
        } = self.lines[line];
        if entry.is_none() && self.active.is_none_or(|active| active.line != line) {
            self.busy += 1;
        }
        let key = if interrupts {
            let first = self
                .order
                .peek()
                .map_or(i128::from(now.0), |first| first.0.0);
            first - 1_000_000_000_000
        } else {
            let [most, own] = [(true, 0), (synchronous, priority)]
                .map(|(synchronous, priority)| i128::from(self.slice(synchronous, priority).0));
            let others = self.busy.saturating_sub(1) as i128;
            i128::from(now.0) + others * (most - own) - left
        };
        self.lines[line].left = 0;
        self.entries += 1;
        self.lines[line].entry = Some(self.entries);
        self.order.push(Reverse((key, self.entries, line)));
    }

    /// Takes the device from the active queue. `counted`: what is left of its
    /// slice, or overdrawn, counts the next time.
    fn expire(&mut self, counted: bool, now: Time) {
        let Some(active) = self.active.take() else {
            return;
        };
        let line = &mut self.lines[active.line];
        if let (true, Some(ends)) = (counted, active.ends) {
            line.left = i128::from(ends.0) - i128::from(now.0);
        }
        self.busy -= 1;
        if !line.aged.is_empty() {
            self.enqueue(active.line, false, now);
        }
    }

    /// The queue with the lowest key.
    fn first_in_line(&mut self) -> Option<usize> {
        while let Some(Reverse((_, entry, line))) = self.order.pop() {
            if self.lines[line].entry == Some(entry) {
                self.lines[line].entry = None;
                return Some(line);
            }
        }
        None
    }

    /// Whether to wait for a queue's next request (cfq_should_idle).
    fn idles_for(&self, line: &Line) -> bool {
        let longest = span(self.spec.slice_idle).0 as f64;
        line.synchronous
            && longest > 0.0
            && !line.seeks.many()
            && line.thinking.mean().is_none_or(|mean| mean <= longest)
    }

    /// Whether the active queue may send another request (cfq_may_dispatch).
    fn may_send(&self, line: &Line) -> bool {
        let [others, synchronous] = self.out;
        if line.synchronous {
            (others == 0 || !self.idles_for(line))
                && (self.busy == 1 || line.out < self.spec.quantum)
        } else {
            synchronous == 0 && (self.busy == 1 || line.out < self.spec.quantum)
        }
    }

    /// Asynchronous requests in a slice at most (cfq_prio_to_maxrq).
    fn most_sent(&self, line: &Line) -> u32 {
        match line.synchronous {
            true => u32::MAX,
            false => self
                .spec
                .slice_async_requests
                .saturating_mul(2 * (8 - line.priority)),
        }
    }

    fn take(&mut self, id: RequestId, requests: &mut Requests) {
        let line = &mut self.lines[requests.get(id).tag as usize];
        requests.unlink(&mut line.aged, id);
        requests.remove(&mut line.sorted, id);
    }

    /// The active queue's next request.
    fn choose(&self, active: Active, requests: &Requests) -> Option<RequestId> {
        let line = &self.lines[active.line];
        let backward = Backward {
            most: self.spec.back_seek_max.0,
            penalty: u64::from(self.spec.back_seek_penalty),
        };
        let oldest = line.aged.first();
        oldest
            .filter(|&id| active.sent == 0 && requests.get(id).deadline <= requests.now)
            .or_else(|| nearest(&line.sorted, self.head, backward, requests))
    }
}

impl IoScheduler for Cfq {
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
        let synchronous = line.synchronous;
        let waits = line.entry.is_some();
        match self.active {
            Some(active) if active.line == index => {}
            Some(active) if synchronous && !self.lines[active.line].synchronous => {
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
            if let Some(id) = self.choose(active, requests) {
                if !self.may_send(line) {
                    return Next::Nothing;
                }
                self.take(id, requests);
                self.active = Some(Active {
                    sent: active.sent + 1,
                    ..active
                });
                let line = &mut self.lines[active.line];
                line.out += 1;
                self.out[usize::from(line.synchronous)] += 1;
                self.head = requests.get(id).end();
                return Next::Dispatch(id);
            }
            if self.idles_for(line) {
                if line.out > 0 || self.busy == 1 {
                    return Next::Nothing;
                }
                let asked = line.thinking.finished().unwrap_or(Time::ZERO);
                let until = asked + span(self.spec.slice_idle);
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
        let line = &mut self.lines[index];
        line.out -= 1;
        line.thinking.finishes(now);
        let (synchronous, priority) = (line.synchronous, line.priority);
        self.out[usize::from(synchronous)] -= 1;
        let slice = self.slice(synchronous, priority);
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
