//! Operations that several processes execute at the same moment, as far as others see them.
//!
//! ```text
//!   here ── Begins ─▶ to all, in one order ─▶ Begins ─▶ processes of each place come
//!   each place ── AllHere ─▶ when all have said so ─▶ GoAhead ─▶ to all
//! ```

use std::collections::{BTreeMap, BTreeSet};

use headrace_net::{Span, Time};
use headrace_spec::MixedOperation;

/// Rounds: operations that several processes execute at the same moment.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RoundCounts {
    /// Rounds that all processes joined and that started.
    pub whole: u64,
    /// Rounds that still waited for processes when the run ended.
    pub broken_off: u64,
}

/// Message from one place, which has processes of its own, to all places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RoundMessage {
    /// A process of its own begins a round.
    Begins {
        /// Operation of the round.
        call: MixedOperation,
        /// Duration for which its process thinks, from the go-ahead on.
        after: Span,
    },
    /// All of its own have come to a round.
    AllHere {
        /// The number of the round in the order of beginning, from 0.
        round: u64,
        /// Intended start of the last of them, in an open loop.
        intended: Option<Time>,
    },
    /// None of its processes joins another round.
    Finished,
}

/// Reaction to messages at one place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RoundNews {
    /// A round begins: the same one everywhere.
    Begins {
        /// True if the round is the oldest that began here and is not yet announced.
        own: bool,
        /// Operation of the round.
        call: MixedOperation,
        /// Duration for which its primary process thinks.
        after: Span,
    },
    /// All of a round have come everywhere.
    GoAhead {
        /// The number of the round in the order of beginning, from 0.
        round: u64,
        /// Intended start of the last of all, in an open loop.
        intended: Option<Time>,
    },
}

/// Attendance of the rounds of a workload. One place keeps it, and all messages pass through it.
#[derive(Debug, Default)]
pub struct RoundKeeper {
    /// Places with processes of the workload.
    places: usize,
    begun: u64,
    /// The places whose processes have all come, and the latest time at which one of them should
    /// begin.
    here: BTreeMap<u64, (BTreeSet<u32>, Option<Time>)>,
    finished: BTreeSet<u32>,
}

/// Reaction to a message, for all places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RoundReaction {
    /// Place that began the round, or that joined it last.
    pub by: u32,
    /// Message for all places: the original, or one that combines those of all places.
    pub message: RoundMessage,
}

impl RoundReaction {
    /// Returns the reaction at one place.
    #[must_use]
    pub fn at(&self, place: u32) -> Option<RoundNews> {
        match self.message {
            RoundMessage::Begins { call, after } => {
                let own = self.by == place;
                Some(RoundNews::Begins { own, call, after })
            }
            RoundMessage::AllHere { round, intended } => {
                Some(RoundNews::GoAhead { round, intended })
            }
            RoundMessage::Finished => None,
        }
    }
}

impl RoundKeeper {
    /// Keeps the rounds of a workload that has processes on `places` hosts.
    #[must_use]
    pub fn new(places: usize) -> RoundKeeper {
        RoundKeeper {
            places,
            ..RoundKeeper::default()
        }
    }

    /// Handles a message of one place and returns the messages for all places, in order.
    pub fn hear(&mut self, by: u32, message: RoundMessage) -> Vec<RoundReaction> {
        let mut told = Vec::new();
        match message {
            RoundMessage::Begins { .. } => {
                self.here.insert(self.begun, Default::default());
                self.begun += 1;
                told.push(RoundReaction { by, message });
            }
            // A place that has finished may still say so of a round that went on without it.
            RoundMessage::AllHere { round, intended } => {
                if let Some((here, latest)) = self.here.get_mut(&round) {
                    here.insert(by);
                    *latest = (*latest).max(intended);
                }
            }
            RoundMessage::Finished => drop(self.finished.insert(by)),
        }
        let (places, finished) = (self.places, &self.finished);
        self.here.retain(|&round, (here, intended)| {
            let waits = here.union(finished).count() < places;
            if !waits {
                let intended = *intended;
                let message = RoundMessage::AllHere { round, intended };
                told.push(RoundReaction { by, message });
            }
            waits
        });
        told
    }
}
