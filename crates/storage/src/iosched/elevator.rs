//! Parts shared by schedulers that distinguish processes: the nearest request (`anticipatory`,
//! `cfq`, `bfq`), and a queue per process (`cfq`, `bfq`).

use headrace_net::{Span, Time};
use headrace_spec::{IoClass, IoPriority};

use super::requests::{List, RequestId, Requests, Tree};

/// Limit and cost factor of backward seeks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Backward {
    pub most: u64,
    pub penalty: u64,
}

/// The nearest request: ahead of the head, or not far behind it; if there is
/// none, the lowest. Source: cfq_choose_req in block/cfq-iosched.c, Linux 4.20;
/// as_choose_req and bfq_choose_req are alike.
pub(super) fn nearest(
    tree: &Tree,
    head: u64,
    backward: Backward,
    requests: &Requests,
) -> Option<RequestId> {
    let ahead = requests.at_or_after(tree, head);
    let behind = requests.before(tree, head).filter(|&id| {
        let way = head - requests.get(id).address;
        way <= backward.most
    });
    match (ahead, behind) {
        (Some(ahead), Some(behind)) => {
            let forth = requests.get(ahead).address - head;
            let back = (head - requests.get(behind).address).saturating_mul(backward.penalty);
            Some(if forth <= back { ahead } else { behind })
        }
        (None, None) => requests.at_or_after(tree, 0),
        (ahead, behind) => ahead.or(behind),
    }
}

/// A mean in which every new sample weighs an eighth of all: Linux's `ttime_mean` and `seek_mean`.
/// In contrast to Linux's whole numbers, it does not round.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Mean {
    samples: f64,
    total: f64,
}

impl Mean {
    pub fn add(&mut self, sample: f64) {
        self.samples = (7.0 * self.samples + 1.0) / 8.0;
        self.total = (7.0 * self.total + sample) / 8.0;
    }

    /// None before the first sample.
    pub fn get(&self) -> Option<f64> {
        (self.samples > 0.0).then(|| self.total / self.samples)
    }

    /// The weight of all samples; near 1 after many.
    pub fn samples(&self) -> f64 {
        self.samples
    }
}

/// Time between a request's completion and the next request of its process.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Thinking {
    finished: Option<Time>,
    mean: Mean,
}

impl Thinking {
    /// It asks; pauses longer than twice `longest` count as that
    /// (__cfq_update_io_thinktime).
    pub fn asks(&mut self, now: Time, longest: Span) {
        if let Some(finished) = self.finished {
            let thought = now.since(finished).0.min(2 * longest.0);
            self.mean.add(thought as f64);
        }
    }

    /// Completes its request.
    pub fn finishes(&mut self, now: Time) {
        self.finished = Some(now);
    }

    /// Returns the time when something was last done for it.
    pub fn finished(&self) -> Option<Time> {
        self.finished
    }

    /// The mean, once there are enough samples for one (`sample_valid`).
    pub fn mean(&self) -> Option<f64> {
        self.mean
            .get()
            .filter(|_| self.mean.samples() > 80.0 / 256.0)
    }
}

/// Bitmap of a process's last 32 requests that were far from their predecessor (`seek_history`).
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Seeks {
    end: Option<u64>,
    far: u32,
}

impl Seeks {
    /// Nearer than this is not far: CFQQ_SEEK_THR and BFQQ_SEEK_THR, 800 sectors.
    const NEAR: u64 = 800 * 512;

    pub fn asks(&mut self, address: u64, end: u64) {
        let far = self
            .end
            .is_some_and(|end| end.abs_diff(address) > Seeks::NEAR);
        self.far = self.far << 1 | u32::from(far);
        self.end = Some(end);
    }

    /// More than an eighth was far (CFQQ_SEEKY, BFQQ_SEEKY).
    pub fn many(&self) -> bool {
        self.far.count_ones() > 32 / 8
    }
}

/// Behaviour of a scheduler with a queue per process.
#[derive(Clone, Copy, Debug)]
pub(super) struct Habits {
    /// Duration for which synchronous requests and others may wait until one goes first.
    pub expire_sync: Span,
    pub expire_async: Span,
    /// Duration for which the device is left idle for a process's next request.
    pub idle: Span,
    pub backward: Backward,
}

/// The requests of one process, or all asynchronous ones: the waiting ones, by age and by address,
/// and the process's pattern. struct cfq_queue and struct bfq_queue have these in common.
#[derive(Clone, Debug)]
pub(super) struct OwnQueue {
    pub synchronous: bool,
    pub priority: IoPriority,
    /// Requests at the device.
    pub out: u32,
    sorted: Tree,
    aged: List,
    thinking: Thinking,
    seeks: Seeks,
}

impl OwnQueue {
    /// An empty queue for requests like this one.
    pub fn new(synchronous: bool, priority: IoPriority) -> OwnQueue {
        OwnQueue {
            synchronous,
            priority,
            out: 0,
            sorted: Tree::default(),
            aged: List::default(),
            thinking: Thinking::default(),
            seeks: Seeks::default(),
        }
    }

    /// Returns true if nothing waits.
    pub fn is_empty(&self) -> bool {
        self.aged.is_empty()
    }

    /// The requests that wait, for others to go along with.
    pub fn sorted(&mut self) -> &mut Tree {
        &mut self.sorted
    }

    /// Handles an arrived request and assigns the number of its queue.
    pub fn add(&mut self, id: RequestId, number: usize, habits: &Habits, requests: &mut Requests) {
        let now = requests.now;
        let expire = match self.synchronous {
            true => habits.expire_sync,
            false => habits.expire_async,
        };
        let request = requests.get_mut(id);
        request.tag = number as u32;
        request.deadline = now + expire;
        if self.synchronous {
            self.thinking.asks(now, habits.idle);
            self.seeks.asks(request.address, request.end());
        }
        requests.push(&mut self.aged, id);
        requests.insert(&mut self.sorted, id);
    }

    /// A request went along in another, which has its age and deadline if that is
    /// earlier.
    pub fn absorbed(&mut self, id: RequestId, into: RequestId, requests: &mut Requests) {
        let deadline = requests.get(id).deadline;
        if deadline < requests.get(into).deadline {
            requests.get_mut(into).deadline = deadline;
            requests.move_before(&mut self.aged, id, into);
        }
        self.take(id, requests);
    }

    /// A request waits no more.
    pub fn take(&mut self, id: RequestId, requests: &mut Requests) {
        requests.unlink(&mut self.aged, id);
        requests.remove(&mut self.sorted, id);
    }

    /// The next request: the nearest to the head, but an expired one at the
    /// `beginning` of a turn.
    pub fn choose(
        &self,
        beginning: bool,
        head: u64,
        habits: &Habits,
        requests: &Requests,
    ) -> Option<RequestId> {
        let oldest = self.aged.first();
        oldest
            .filter(|&id| beginning && requests.get(id).deadline <= requests.now)
            .or_else(|| nearest(&self.sorted, head, habits.backward, requests))
    }

    /// Returns true if the process seeks too much to be waited for.
    pub fn seeks(&self) -> bool {
        self.seeks.many()
    }

    /// Returns true if the process is waited for at all, and usually asks again in time.
    pub fn asks_again(&self, habits: &Habits) -> bool {
        let longest = habits.idle.0 as f64;
        self.synchronous
            && self.priority.class() != IoClass::Idle
            && longest > 0.0
            && self.thinking.mean().is_none_or(|mean| mean <= longest)
    }

    /// Until when the process is waited for.
    pub fn waited_until(&self, habits: &Habits) -> Time {
        self.thinking.finished().unwrap_or(Time::ZERO) + habits.idle
    }

    /// The device is done with one of its requests.
    pub fn finished(&mut self, now: Time) {
        self.out -= 1;
        self.thinking.finishes(now);
    }
}

/// A number of its own for each process and priority, counted from 0. Requests that the
/// kernel makes with its own priority do not count as those of a process.
#[derive(Default, Debug)]
pub(super) struct Numbers {
    of: Vec<[u32; IoPriority::COUNT]>,
}

impl Numbers {
    /// The number, made by `make` if there is none.
    pub fn of(&mut self, process: u32, priority: IoPriority, make: impl FnOnce() -> u32) -> u32 {
        let process = process as usize;
        if process >= self.of.len() {
            self.of.resize(process + 1, [u32::MAX; IoPriority::COUNT]);
        }
        let number = &mut self.of[process][priority.number()];
        if *number == u32::MAX {
            *number = make();
        }
        *number
    }
}
