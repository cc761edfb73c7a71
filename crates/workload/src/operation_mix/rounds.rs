//! Operations on the common file that several processes carry out at the same moment (Wang
//! 2002, section 3.3.6).
//!
//! ```text
//!   a process draws one ─▶ (waits) ─┐
//!   others end what they do ─▶ (wait) ─┴─ all are there ─▶ each carries out its own
//! ```
//!
//! Whoever draws one is the primary: it begins a round. Processes that are asked for join the
//! oldest round that lacks them before they do anything else, and so no two rounds wait for
//! each other. With the last one comes the go-ahead.

use std::collections::{HashMap, VecDeque};

use headrace_net::Time;
use headrace_spec::MixedOperation;

use crate::{Ask, RoundCounts};

/// Rounds that were begun.
#[derive(Debug, Default)]
pub struct Rounds {
    /// Those that lack somebody, the oldest first.
    waiting: VecDeque<Round>,
    /// What processes were given the go-ahead for, and have not taken yet.
    ready: HashMap<u32, Ask>,
    woken: VecDeque<u32>,
    whole: u64,
}

#[derive(Debug)]
struct Round {
    /// What its processes do, by their ranks.
    asks: Vec<(u32, Ask)>,
    /// Whom it lacks: processes, or clients of which any process will do.
    lacks: Vec<u32>,
    /// The operation that all carry out.
    call: MixedOperation,
}

impl Rounds {
    /// What a process was given the go-ahead for.
    pub fn take(&mut self, rank: u32, now: Time) -> Option<Ask> {
        let mut ask = self.ready.remove(&rank)?;
        if let Some(intended) = ask.intended {
            ask.after = intended.since(now);
        }
        Some(ask)
    }

    /// The operation of the oldest round that lacks somebody.
    pub fn wants(&self, seat: u32) -> Option<MixedOperation> {
        let mut waiting = self.waiting.iter();
        let lacking = waiting.find(|round| round.lacks.contains(&seat));
        lacking.map(|round| round.call)
    }

    /// A process begins a round that lacks these.
    pub fn begin(&mut self, rank: u32, ask: Ask, call: MixedOperation, lacks: Vec<u32>) {
        self.waiting.push_back(Round {
            asks: vec![(rank, ask)],
            lacks,
            call,
        });
        self.go_ahead(self.waiting.len() - 1, rank);
    }

    /// A process joins the oldest round that lacks it, or its client.
    pub fn join(&mut self, seat: u32, rank: u32, ask: Ask) {
        let lacking = |round: &Round| round.lacks.contains(&seat);
        if let Some(place) = self.waiting.iter().position(lacking) {
            let round = &mut self.waiting[place];
            round.lacks.retain(|it| *it != seat);
            round.asks.push((rank, ask));
            self.go_ahead(place, rank);
        }
    }

    /// Lets all of a round go if it lacks nobody: at the last one's time, if they come at times
    /// of their own, and after as long as its primary thinks.
    fn go_ahead(&mut self, place: usize, last: u32) {
        if !self.waiting[place].lacks.is_empty() {
            return;
        }
        let Some(round) = self.waiting.remove(place) else {
            return;
        };
        self.whole += 1;
        let intended = round.asks.iter().filter_map(|(_, ask)| ask.intended).max();
        let after = round.asks[0].1.after;
        for (rank, ask) in round.asks {
            let ask = Ask {
                intended,
                after,
                ..ask
            };
            self.ready.insert(rank, ask);
            if rank != last {
                self.woken.push_back(rank);
            }
        }
    }

    /// A process that was given the go-ahead while it waited.
    pub fn woken(&mut self) -> Option<u32> {
        self.woken.pop_front()
    }

    /// How many there were.
    pub fn counts(&self) -> RoundCounts {
        RoundCounts {
            whole: self.whole,
            broken_off: self.waiting.len() as u64,
        }
    }
}
