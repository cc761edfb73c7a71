//! Operations that several processes carry out at the same moment, as far as others see them.
//!
//! ```text
//!   here ── Begins ─▶ to all, in one order ─▶ Begins ─▶ processes of each place come
//!   each place ── AllHere ─▶ when all have said so ─▶ GoAhead ─▶ to all
//! ```

use std::collections::{BTreeMap, BTreeSet};

use headrace_net::{Span, Time};
use headrace_spec::MixedOperation;

/// Rounds: operations that several processes carry out at the same moment.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RoundCounts {
    /// Those for which all came, and were given the go-ahead.
    pub whole: u64,
    /// Those for which some were waited for when the run ended.
    pub broken_off: u64,
}

/// What one of several places, each with processes of its own, says to all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RoundMessage {
    /// A process of its own begins a round.
    Begins {
        /// What is carried out.
        call: MixedOperation,
        /// How long its process thinks, from the go-ahead on.
        after: Span,
    },
    /// All of its own have come to a round.
    AllHere {
        /// Which, in the order in which they began, from 0.
        round: u64,
        /// When the last of them should begin, in an open loop.
        intended: Option<Time>,
    },
    /// None of its own comes to any round more.
    Finished,
}

/// What comes of messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RoundNews {
    /// A round begins: the same one everywhere.
    Begins {
        /// Whether it is the oldest that was begun here and not told of.
        own: bool,
        /// What is carried out.
        call: MixedOperation,
        /// How long its primary process thinks.
        after: Span,
    },
    /// All of a round have come everywhere.
    GoAhead {
        /// Which, in the order in which they began, from 0.
        round: u64,
        /// When the last of all should begin, in an open loop.
        intended: Option<Time>,
    },
}

/// Who has come to which round of a workload: kept at one place, through which all messages go.
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

/// What comes of a message, for all places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RoundReaction {
    /// Who has begun the round, or was the last that one waited for.
    pub by: u32,
    /// What all are told: as it was said, or of all places together.
    pub message: RoundMessage,
}

impl RoundReaction {
    /// What it means at a place.
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
    /// For a workload that so many places have processes of.
    #[must_use]
    pub fn new(places: usize) -> RoundKeeper {
        RoundKeeper {
            places,
            ..RoundKeeper::default()
        }
    }

    /// What all are to be told, in this order, of what a place says.
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
