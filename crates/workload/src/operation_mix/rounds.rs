//! Operations on the common file that several processes execute at the same moment (Wang 2002,
//! section 3.3.6).
//!
//! ```text
//!   a process draws one ─▶ (waits) ─┐
//!   others end what they do ─▶ (wait) ─┴─ all are there ─▶ each carries out its own
//! ```
//!
//! The process that draws one is the primary: it begins a round. Requested processes join the
//! oldest round that lacks them before they do anything else, so no two rounds wait for each other.
//! With the last one comes the go-ahead.
//!
//! If some processes run elsewhere, a round has begun when all have been notified, in one order for
//! all. A primary whose round is not yet announced joins announced rounds, and then returns to its
//! own. Otherwise two that begin at the same moment would wait for each other.

use std::collections::{HashMap, VecDeque};

use headrace_net::{Span, Time};
use headrace_spec::MixedOperation;

use crate::{Ask, RoundCounts, RoundMessage};

/// Rounds that were begun.
#[derive(Debug, Default)]
pub struct Rounds {
    /// True if some processes run elsewhere.
    among_several: bool,
    /// Local rounds not yet announced to all places.
    untold: VecDeque<Primary>,
    /// Number of rounds announced to all places.
    told: u64,
    /// Rounds that have not started, oldest first.
    waiting: VecDeque<Round>,
    /// Operations that may start and that processes have not taken yet.
    ready: HashMap<u32, Ask>,
    woken: VecDeque<u32>,
    /// For those elsewhere.
    messages: VecDeque<RoundMessage>,
    whole: u64,
}

/// Process that begins a round.
#[derive(Clone, Copy, Debug)]
pub struct Primary {
    pub rank: u32,
    /// Participant that it represents: itself, or its client.
    pub seat: u32,
    pub ask: Ask,
    /// True if the primary has since joined an older round.
    away: bool,
}

#[derive(Debug)]
struct Round {
    number: u64,
    /// True if a process here has begun it.
    own: bool,
    /// Duration for which its primary thinks.
    after: Span,
    /// The primary that has not come back.
    away: Option<Primary>,
    /// Operations of its processes, by rank.
    asks: Vec<(u32, Ask)>,
    /// Whom it lacks: processes, or clients of which any process will do.
    lacks: Vec<u32>,
    /// True if all local processes have joined, and the other places know.
    all_here: bool,
    /// The operation that all execute.
    call: MixedOperation,
}

impl Rounds {
    /// Declares that some processes run elsewhere.
    pub fn among_several(&mut self) {
        self.among_several = true;
    }

    /// Returns true if some processes run elsewhere.
    pub fn are_among_several(&self) -> bool {
        self.among_several
    }

    /// Something to be said to those elsewhere.
    pub fn say(&mut self, message: RoundMessage) {
        self.messages.push_back(message);
    }

    /// Returns the next message for the other places.
    pub fn message(&mut self) -> Option<RoundMessage> {
        self.messages.pop_front()
    }

    /// Takes the operation that a process may start now.
    pub fn take(&mut self, rank: u32, now: Time) -> Option<Ask> {
        let mut ask = self.ready.remove(&rank)?;
        if let Some(intended) = ask.intended {
            ask.after = intended.since(now);
        }
        Some(ask)
    }

    /// Returns true if a process waits in a round for others.
    pub fn holds(&self, rank: u32) -> bool {
        let mut asks = self.waiting.iter().flat_map(|round| &round.asks);
        asks.any(|(of, _)| *of == rank)
    }

    /// Returns the operations of a process that were not issued because the run ended while it
    /// waited.
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

    /// The operation of the oldest round that lacks a process; none if one that the process itself
    /// has begun is older.
    pub fn wants(&self, rank: u32, seat: u32) -> Option<MixedOperation> {
        let concerns = |round: &&Round| round.is_of(rank) || round.lacks.contains(&seat);
        let round = self.waiting.iter().find(concerns)?;
        (!round.is_of(rank)).then_some(round.call)
    }

    /// A process begins a round, which begins when all have been notified.
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

    /// A process that has begun a round elsewhere returns; returns true if it has.
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

    /// All places have been notified of a round. They know its primary if it was begun here, for
    /// whom the process that asks is none other. It lacks those that `lacks` gives, knowing the
    /// primary.
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

    /// If a round is complete, all go, or those elsewhere are notified. Returns true if so.
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

    /// Lets all of a round go: at the last one's time, if they have times of their own. The think
    /// time of the primary is added. One of them may be the one that asks.
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

    /// Returns the number of rounds begun here.
    pub fn counts(&self) -> RoundCounts {
        let own = self.waiting.iter().filter(|round| round.own).count();
        RoundCounts {
            whole: self.whole,
            broken_off: (own + self.untold.len()) as u64,
        }
    }
}

impl Round {
    /// Returns true if it waits for a process that has begun it to come back.
    fn is_of(&self, rank: u32) -> bool {
        self.away.is_some_and(|it| it.rank == rank)
    }
}
