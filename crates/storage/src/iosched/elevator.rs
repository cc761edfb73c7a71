//! Which of a process's requests is nearest: shared by `anticipatory`, `cfq`
//! and `bfq`.

use headrace_net::{Span, Time};

use super::requests::{RequestId, Requests, Tree};

/// How far behind the head a request may lie, and how much longer than the same
/// way forward its way counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Backward {
    pub most: u64,
    pub penalty: u64,
}

/// The nearest request: ahead of the head, or not far behind it; if there is
/// none, the lowest (cfq_choose_req in block/cfq-iosched.c, Linux 4.20;
/// as_choose_req and bfq_choose_req are alike).
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

/// A mean in which every new sample weighs an eighth of all: Linux's
/// `ttime_mean` and `seek_mean`. Unlike Linux's whole numbers, it does not round.
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

/// How long a process takes to ask again after what it asked for is done.
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

    /// What it asked for is done.
    pub fn finishes(&mut self, now: Time) {
        self.finished = Some(now);
    }

    /// When something was last done for it.
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

/// Which of a process's last 32 requests were far from the one before
/// (`seek_history`).
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

/// A number of its own for each process, counted from 0.
#[derive(Default, Debug)]
pub(super) struct Lines {
    of: Vec<u32>,
}

impl Lines {
    /// The process's line, made by `make` if it has none.
    pub fn of(&mut self, process: u32, make: impl FnOnce() -> u32) -> u32 {
        let process = process as usize;
        if process >= self.of.len() {
            self.of.resize(process + 1, u32::MAX);
        }
        if self.of[process] == u32::MAX {
            self.of[process] = make();
        }
        self.of[process]
    }
}
