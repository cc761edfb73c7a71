//! Writing phases that end at a time, after which all processes come equally far: IOR's `-D` with
//! stoneWallingWearOut, and mdtest's `-W`.
//!
//! ```text
//!   write until the deadline ─▶ (all have stopped: the most that one did) ─▶ each goes on to as much
//! ```
//!
//! Not modelled: the message by which processes learn the most, which a barrier stands for.

use headrace_net::{Span, Time};
use headrace_spec::Seconds;

/// The deadline of the writing phases of a workload, and how far its processes came.
#[derive(Clone, Debug)]
pub struct Stonewall {
    /// None if phases end with their work.
    deadline: Option<Span>,
    ranks: Vec<Rank>,
    /// The last phase that a process stopped in, and the most steps that one had done by then.
    phase: Option<u32>,
    most: u64,
    /// True if the deadline of that phase has passed for a process, and of an earlier phase for
    /// none.
    passed: bool,
    missed: bool,
}

/// State of a process in its last writing phase.
#[derive(Clone, Copy, Default, Debug)]
struct Rank {
    phase: Option<u32>,
    since: Time,
    stopped: bool,
}

impl Stonewall {
    /// A deadline for `processes` processes; a time of 0 is none.
    #[must_use]
    pub fn new(time: Seconds, processes: u32) -> Stonewall {
        let deadline = (time.0 > 0.0).then(|| Span::from_seconds(time.0));
        let ranks = deadline.map_or(0, |_| processes as usize);
        Stonewall {
            deadline,
            ranks: vec![Rank::default(); ranks],
            phase: None,
            most: 0,
            passed: false,
            missed: false,
        }
    }

    /// Returns true if all processes did all of their work before the deadline of a phase.
    #[must_use]
    pub fn is_missed(&self) -> bool {
        self.missed || self.phase.is_some() && !self.passed
    }

    /// Returns true if there is a deadline.
    #[must_use]
    pub fn is_given(&self) -> bool {
        self.deadline.is_some()
    }

    /// Takes over the most steps of processes elsewhere, and returns those of all.
    pub fn farthest(&mut self, elsewhere: u64) -> u64 {
        self.most = self.most.max(elsewhere);
        self.most
    }

    /// Returns true, once a phase, if a process stops here to wait for the others. It has done
    /// `done` steps of a writing phase, and either all of them or the deadline has passed.
    pub fn stops(&mut self, rank: u32, phase: u32, done: u64, all: u64, now: Time) -> bool {
        let Some(deadline) = self.deadline else {
            return false;
        };
        let own = &mut self.ranks[rank as usize];
        if own.phase != Some(phase) {
            *own = Rank {
                phase: Some(phase),
                since: now,
                stopped: false,
            };
        }
        // IOR and mdtest look at the clock behind each step.
        let passed = done > 0 && now.since(own.since) > deadline;
        if own.stopped || !passed && done < all {
            return false;
        }
        own.stopped = true;
        if self.phase != Some(phase) {
            self.missed = self.is_missed();
            (self.phase, self.most, self.passed) = (Some(phase), 0, false);
        }
        self.passed |= passed;
        self.most = self.most.max(done);
        true
    }

    /// Most steps of a process in a phase: as many as the fastest had done by the deadline, as soon
    /// as that is known.
    #[must_use]
    pub fn limit(&self, rank: u32, phase: u32, writes: bool) -> u64 {
        let known = match self.ranks.get(rank as usize) {
            None => false,
            Some(own) if writes => own.phase == Some(phase) && own.stopped,
            Some(_) => self.phase.is_some(),
        };
        if known { self.most } else { u64::MAX }
    }
}
