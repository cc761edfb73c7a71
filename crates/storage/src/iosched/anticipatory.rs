//! `anticipatory`: waits for the next read of the process just served.
//!
//! After block/as-iosched.c (Linux 2.6.32, the last) and S. Iyer, P. Druschel:
//! Anticipatory scheduling: a disk scheduling framework to overcome deceptive
//! idleness in synchronous I/O, SOSP 2001. Synchronous requests and the others
//! go in batches of limited time, each batch by address, as expired deadlines
//! let them. Within a batch of synchronous requests, the device is left idle
//! after a request until its process asks for the next. It idles for
//! `antic_expire` at most, unless
//!
//! - the process has another request waiting or at the device,
//! - a request lies nearer than the process's usual next one (4 MiB ahead or 2
//!   MiB behind, doubled every millisecond) or its mean distance,
//! - the process thinks longer than that in the mean,
//! - a synchronous request has expired.
//!
//! Not modelled: processes that end, and the statistics of whether they do; cooperating processes;
//! tuning of a batch of writes to its time (it ends by time alone).

use headrace_net::{Span, Time};
use headrace_spec::Anticipatory as Spec;

use super::elevator::{Backward, Mean, nearest};
use super::requests::{List, Request, RequestId, Requests, Tree};
use super::{IoScheduler, Merging, Next};
use crate::time_conversion::span;

const ASYNC: usize = 0;
const SYNC: usize = 1;

/// MAXBACK in block/as-iosched.c: 1024 * 1024 sectors; backwards counts twice.
const BACKWARD: Backward = Backward {
    most: (1 << 20) * 512,
    penalty: 2,
};

/// Distance at which a request counts as close: 8192 sectors (as_close_req).
const NEAR: u64 = 8192 * 512;

/// Waiting makes no more requests near after this long (as_close_req).
const NEAR_UNTIL: Span = Span::from_millis(20);

/// Longer pauses count as this long: HZ/50 (MAX_THINKTIME).
const LONGEST_THINKING: Span = Span::from_millis(20);

/// I/O statistics of a process (struct as_io_context).
#[derive(Clone, Copy, Default, Debug)]
struct Habits {
    waiting: u32,
    out: u32,
    finished: Option<Time>,
    /// The end of its last request.
    end: Option<u64>,
    thinking: Mean,
    distance: Mean,
}

/// The process served last, while its next request may be worth a wait.
#[derive(Clone, Copy, Debug)]
struct Anticipated {
    process: u32,
    /// Time when its request was done; none if it is still out.
    finished: Option<Time>,
}

/// Batches of synchronous and other requests.
#[derive(Debug)]
pub struct Anticipatory {
    expire: [Span; 2],
    batch_expire: [Span; 2],
    patience: Span,
    sorted: [Tree; 2],
    aged: [List; 2],
    /// Time when the oldest request of each sort was last looked at.
    looked: [Time; 2],
    /// The end of the last request of each sort.
    head: [u64; 2],
    batch: usize,
    batch_ends: Time,
    /// The batch has changed; it begins when all that is out is done.
    changing: bool,
    out: u32,
    last: Option<Anticipated>,
    habits: Vec<Habits>,
}

impl Anticipatory {
    /// An empty scheduler.
    pub fn new(spec: &Spec) -> Anticipatory {
        Anticipatory {
            expire: [span(spec.write_expire), span(spec.read_expire)],
            batch_expire: [span(spec.write_batch_expire), span(spec.read_batch_expire)],
            patience: span(spec.antic_expire),
            sorted: Default::default(),
            aged: Default::default(),
            looked: [Time::ZERO; 2],
            head: [0; 2],
            batch: SYNC,
            batch_ends: Time::ZERO + span(spec.read_batch_expire),
            changing: false,
            out: 0,
            last: None,
            habits: Vec::new(),
        }
    }

    fn habits(&mut self, process: u32) -> &mut Habits {
        let process = process as usize;
        if process >= self.habits.len() {
            self.habits.resize(process + 1, Habits::default());
        }
        &mut self.habits[process]
    }

    /// Returns true if a request is about as near as the one that is waited for.
    fn near(&self, request: &Request, last: &Anticipated, now: Time) -> bool {
        let waited = last
            .finished
            .map_or(Span::ZERO, |finished| now.since(finished));
        if waited > NEAR_UNTIL || waited > self.patience {
            return true;
        }
        let doublings = waited.0 / Span::from_millis(1).0;
        let ahead = NEAR << doublings;
        let (head, at) = (self.head[SYNC], request.address);
        if head <= at.saturating_add(ahead / 2) && at <= head.saturating_add(ahead) {
            return true;
        }
        let usual = self.habits[last.process as usize].distance.get();
        usual.is_some_and(|usual| usual > head.abs_diff(at) as f64)
    }

    /// Until when to leave the device idle although `best` may wait.
    fn anticipates(&self, best: Option<RequestId>, requests: &Requests) -> Option<Time> {
        let last = self.last?;
        let habits = &self.habits[last.process as usize];
        let until = last.finished? + self.patience;
        let best = best.map(|id| requests.get(id));
        let needless = requests.now >= until
            || best.is_some_and(|best| best.process == last.process)
            || habits.waiting > 0
            || habits.out > 0
            || best.is_some_and(|best| self.near(best, &last, requests.now))
            || habits
                .thinking
                .get()
                .is_some_and(|mean| mean > self.patience.0 as f64);
        (!needless).then_some(until)
    }

    /// The oldest request if it has expired; looked at no more often than
    /// requests expire (as_fifo_expired).
    fn expired(&mut self, sort: usize, requests: &Requests) -> Option<RequestId> {
        if requests.now.since(self.looked[sort]) < self.expire[sort] {
            return None;
        }
        self.looked[sort] = requests.now;
        let oldest = self.aged[sort].first();
        oldest.filter(|&id| requests.get(id).deadline <= requests.now)
    }

    fn nearest(&self, sort: usize, requests: &Requests) -> Option<RequestId> {
        nearest(&self.sorted[sort], self.head[sort], BACKWARD, requests)
    }

    fn take(&mut self, id: RequestId, requests: &mut Requests) {
        let sort = sort(requests.get(id));
        requests.unlink(&mut self.aged[sort], id);
        requests.remove(&mut self.sorted[sort], id);
        if sort == SYNC {
            let process = requests.get(id).process;
            self.habits(process).waiting -= 1;
        }
    }
}

fn sort(request: &Request) -> usize {
    request.tag as usize
}

impl IoScheduler for Anticipatory {
    fn add(&mut self, id: RequestId, requests: &mut Requests) {
        let now = requests.now;
        let request = requests.get_mut(id);
        let sort = usize::from(request.synchronous);
        request.tag = sort as u32;
        request.deadline = now + self.expire[sort];
        let Request {
            process, address, ..
        } = *request;
        let end = request.end();
        requests.push(&mut self.aged[sort], id);
        requests.insert(&mut self.sorted[sort], id);
        if sort == SYNC {
            let habits = self.habits(process);
            if habits.waiting + habits.out == 0
                && let Some(finished) = habits.finished
            {
                let thought = now.since(finished).min(LONGEST_THINKING);
                habits.thinking.add(thought.0 as f64);
            }
            if let Some(last) = habits.end {
                habits.distance.add(last.abs_diff(address) as f64);
            }
            habits.end = Some(end);
            habits.waiting += 1;
        }
    }

    fn merges(&mut self, request: &Request) -> Merging<'_> {
        Merging::Sorted {
            tree: &mut self.sorted[usize::from(request.synchronous)],
            front: true,
        }
    }

    fn absorbed(&mut self, id: RequestId, into: RequestId, requests: &mut Requests) {
        let deadline = requests.get(id).deadline;
        if deadline < requests.get(into).deadline {
            let sort = sort(requests.get(id));
            requests.get_mut(into).deadline = deadline;
            requests.move_before(&mut self.aged[sort], id, into);
        }
        self.take(id, requests);
    }

    fn next(&mut self, requests: &mut Requests) -> Next {
        let now = requests.now;
        let [others, reads] = [ASYNC, SYNC].map(|sort| !self.aged[sort].is_empty());
        if !(others || reads) {
            return Next::Nothing;
        }
        let mut chosen = None;
        let over = reads && others && now >= self.batch_ends;
        if !(self.changing || over) {
            let batch = self.batch;
            let best = self.nearest(batch, requests);
            if batch == SYNC {
                chosen = self.expired(SYNC, requests);
                if chosen.is_none()
                    && let Some(until) = self.anticipates(best, requests)
                {
                    return Next::Wait(until);
                }
                if reads && !others {
                    self.batch_ends = now + self.batch_expire[SYNC];
                }
            } else if best.is_some() {
                chosen = self.expired(ASYNC, requests);
            }
            chosen = chosen.or(best);
        }
        let id = match chosen {
            Some(id) => id,
            None => {
                if !self.changing {
                    let next = if reads && !(others && self.batch == SYNC) {
                        SYNC
                    } else {
                        ASYNC
                    };
                    self.changing = next != self.batch;
                    self.batch = next;
                    if !self.changing {
                        self.batch_ends = now + self.batch_expire[next];
                    }
                }
                if self.changing && self.out > 0 {
                    return Next::Nothing;
                }
                if self.changing {
                    self.batch_ends = now + self.batch_expire[self.batch];
                    self.changing = false;
                }
                let oldest = self.aged[self.batch].first();
                let first = match self.batch {
                    SYNC => oldest,
                    _ => self
                        .expired(ASYNC, requests)
                        .or(self.nearest(ASYNC, requests)),
                };
                match first {
                    Some(id) => id,
                    None => return Next::Nothing,
                }
            }
        };
        self.take(id, requests);
        self.out += 1;
        let request = *requests.get(id);
        self.head[self.batch] = request.end();
        self.last = (self.batch == SYNC).then(|| {
            self.habits(request.process).out += 1;
            Anticipated {
                process: request.process,
                finished: None,
            }
        });
        Next::Dispatch(id)
    }

    fn finished(&mut self, id: RequestId, requests: &mut Requests) {
        self.out -= 1;
        let now = requests.now;
        let request = requests.get(id);
        if sort(request) == ASYNC {
            return;
        }
        let process = request.process;
        let habits = self.habits(process);
        habits.out -= 1;
        habits.finished = Some(now);
        if let Some(last) = &mut self.last
            && last.process == process
        {
            last.finished = Some(now);
        }
    }

    fn name(&self) -> String {
        "anticipatory".to_owned()
    }
}
