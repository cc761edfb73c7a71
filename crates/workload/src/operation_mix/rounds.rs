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
//!
//! If some processes are carried out elsewhere, a round has begun when all have been told, in
//! one order for all. A primary whose round is not told of yet joins those that are, and comes
//! back to its own: otherwise two that begin at the same moment would wait for each other.

use std::collections::{HashMap, VecDeque};

use headrace_net::{Span, Time};
use headrace_spec::MixedOperation;

use crate::{Ask, RoundCounts, RoundMessage};

/// Rounds that were begun.
#[derive(Debug, Default)]
pub struct Rounds {
    /// Whether some processes are carried out elsewhere.
    among_several: bool,
    /// Those of processes here that not all have been told of.
    untold: VecDeque<Primary>,
    /// How many all have been told of.
    told: u64,
    /// Those that have no go-ahead, the oldest first.
    waiting: VecDeque<Round>,
    /// What processes were given the go-ahead for, and have not taken yet.
    ready: HashMap<u32, Ask>,
    woken: VecDeque<u32>,
    /// For those elsewhere.
    messages: VecDeque<RoundMessage>,
    whole: u64,
}

/// Who begins a round.
#[derive(Clone, Copy, Debug)]
pub struct Primary {
    pub rank: u32,
    /// What it stands for: itself, or its client.
    pub seat: u32,
    pub ask: Ask,
    /// Whether it was called to an older round meanwhile.
    away: bool,
}

#[derive(Debug)]
struct Round {
    number: u64,
    /// Whether a process here has begun it.
    own: bool,
    /// How long its primary thinks.
    after: Span,
    /// The primary that has not come back.
    away: Option<Primary>,
    /// What its processes do, by their ranks.
    asks: Vec<(u32, Ask)>,
    /// Whom it lacks: processes, or clients of which any process will do.
    lacks: Vec<u32>,
    /// Whether it lacks nobody here, and those elsewhere know.
    all_here: bool,
    /// The operation that all carry out.
    call: MixedOperation,
}

impl Rounds {
    /// Some processes are carried out elsewhere.
    pub fn among_several(&mut self) {
        self.among_several = true;
    }

    /// Whether some processes are carried out elsewhere.
    pub fn are_among_several(&self) -> bool {
        self.among_several
    }

    /// Something to be said to those elsewhere.
    pub fn say(&mut self, message: RoundMessage) {
        self.messages.push_back(message);
    }

    /// What is to be said to those elsewhere.
    pub fn message(&mut self) -> Option<RoundMessage> {
        self.messages.pop_front()
    }

    /// What a process was given the go-ahead for.
    pub fn take(&mut self, rank: u32, now: Time) -> Option<Ask> {
        let mut ask = self.ready.remove(&rank)?;
        if let Some(intended) = ask.intended {
            ask.after = intended.since(now);
        }
        Some(ask)
    }

    /// Whether a process waits in a round for others.
    pub fn holds(&self, rank: u32) -> bool {
        let mut asks = self.waiting.iter().flat_map(|round| &round.asks);
        asks.any(|(of, _)| *of == rank)
    }

    /// What a process was given and has not issued, as the run ended while it waited for others.
    pub fn held(&mut self, rank: u32) -> Vec<Ask> {
        let own = |primary: &Primary| (primary.rank == rank).then_some(primary.ask);
        let mut held: Vec<Ask> = self.ready.remove(&rank).into_iter().collect();
        held.extend(self.untold.iter().filter_map(own));
        for round in &self.waiting {
            held.extend(round.away.as_ref().and_then(own));
            held.extend(
                round
                    .asks
                    .iter()
                    .filter(|(of, _)| *of == rank)
                    .map(|it| it.1),
            );
        }
        held
    }

    /// The operation of the oldest round that lacks somebody; none if one that the process
    /// itself has begun is older.
    pub fn wants(&self, rank: u32, seat: u32) -> Option<MixedOperation> {
        let concerns = |round: &&Round| round.is_of(rank) || round.lacks.contains(&seat);
        let round = self.waiting.iter().find(concerns)?;
        (!round.is_of(rank)).then_some(round.call)
    }

    /// A process begins a round, which begins when all have been told.
    pub fn begin(&mut self, rank: u32, seat: u32, ask: Ask, call: MixedOperation) {
        self.untold.push_back(Primary {
            rank,
            seat,
            ask,
            away: false,
        });
        if self.among_several {
            let after = ask.after;
            self.say(RoundMessage::Begins { call, after });
        }
    }

    /// A process that has begun a round and was away is there again; whether it has.
    pub fn comes_back(&mut self, rank: u32) -> bool {
        if let Some(primary) = self.untold.iter_mut().find(|it| it.rank == rank) {
            primary.away = false;
            return true;
        }
        let Some(place) = self.waiting.iter().position(|round| round.is_of(rank)) else {
            return false;
        };
        let round = &mut self.waiting[place];
        if let Some(primary) = round.away.take() {
            round.asks.insert(0, (rank, primary.ask));
        }
        self.look(place, Some(rank));
        true
    }

    /// All have been told of a round; of the primary if it was begun here, for whom the process
    /// that asks is none other. It lacks those that `lacks` gives, knowing the primary.
    pub fn begins(
        &mut self,
        own: bool,
        call: MixedOperation,
        after: Span,
        lacks: impl FnOnce(Option<&Primary>) -> Vec<u32>,
    ) {
        let primary = own.then(|| self.untold.pop_front()).flatten();
        let lacks = lacks(primary.as_ref());
        // They have nothing else to do than to join it, before their own begins.
        let free = |it: &&mut Primary| !it.away && lacks.contains(&it.seat);
        for primary in self.untold.iter_mut().filter(free) {
            primary.away = true;
            self.woken.push_back(primary.rank);
        }
        let there = primary.filter(|it| !it.away);
        self.waiting.push_back(Round {
            number: self.told,
            own,
            after,
            away: primary.filter(|it| it.away),
            asks: there.iter().map(|it| (it.rank, it.ask)).collect(),
            lacks,
            all_here: false,
            call,
        });
        self.told += 1;
        self.look(self.waiting.len() - 1, there.map(|it| it.rank));
    }

    /// A process joins the oldest round that lacks it, or its client.
    pub fn join(&mut self, seat: u32, rank: u32, ask: Ask) {
        let lacking = |round: &Round| round.lacks.contains(&seat);
        if let Some(place) = self.waiting.iter().position(lacking) {
            let round = &mut self.waiting[place];
            round.lacks.retain(|it| *it != seat);
            round.asks.push((rank, ask));
            self.look(place, Some(rank));
        }
    }

    /// Whether a round lacks nobody: then all go, or those elsewhere are told.
    fn look(&mut self, place: usize, last: Option<u32>) {
        let round = &mut self.waiting[place];
        if !round.lacks.is_empty() || round.away.is_some() || round.all_here {
            return;
        }
        round.all_here = true;
        let intended = round.asks.iter().filter_map(|(_, ask)| ask.intended).max();
        let number = round.number;
        if self.among_several {
            let round = number;
            self.say(RoundMessage::AllHere { round, intended });
        } else {
            self.go_ahead(number, intended, last);
        }
    }

    /// Lets all of a round go: at the last one's time, if they come at times of their own, and
    /// after as long as its primary thinks. One of them may be the one that asks.
    pub fn go_ahead(&mut self, number: u64, intended: Option<Time>, asks: Option<u32>) {
        let place = self.waiting.iter().position(|it| it.number == number);
        let Some(round) = place.and_then(|place| self.waiting.remove(place)) else {
            return;
        };
        self.whole += u64::from(round.own);
        for (rank, ask) in round.asks {
            let ask = Ask {
                intended,
                after: round.after,
                ..ask
            };
            self.ready.insert(rank, ask);
            if Some(rank) != asks {
                self.woken.push_back(rank);
            }
        }
    }

    /// A process that was given the go-ahead while it waited, or has a round to join.
    pub fn woken(&mut self) -> Option<u32> {
        self.woken.pop_front()
    }

    /// How many were begun here.
    pub fn counts(&self) -> RoundCounts {
        let own = self.waiting.iter().filter(|round| round.own).count();
        RoundCounts {
            whole: self.whole,
            broken_off: (own + self.untold.len()) as u64,
        }
    }
}

impl Round {
    /// Whether it waits for a process that has begun it to come back.
    fn is_of(&self, rank: u32) -> bool {
        self.away.is_some_and(|it| it.rank == rank)
    }
}
