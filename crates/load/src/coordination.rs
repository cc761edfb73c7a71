//! Coordination overhead of operations that processes on several hosts execute at the same moment.

use std::collections::{HashMap, VecDeque};
use std::time::Instant;

use headrace_workload::{RoundMessage, RoundNews};
use serde::{Deserialize, Serialize};

use crate::clock::Nanoseconds;

/// Duration for which messages were waited for.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Waits {
    /// Number of occurrences.
    pub count: u64,
    /// Sum of all.
    pub sum: Nanoseconds,
    /// The longest.
    pub longest: Nanoseconds,
}

impl Waits {
    fn add(&mut self, since: Instant) {
        let wait = u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.merge(&Waits {
            count: 1,
            sum: wait,
            longest: wait,
        });
    }

    fn merge(&mut self, other: &Waits) {
        self.count += other.count;
        self.sum = self.sum.saturating_add(other.sum);
        self.longest = self.longest.max(other.longest);
    }
}

/// Overhead of rounds, excluding waits for busy processes.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Coordination {
    /// From the draw of an operation until its round was known here and elsewhere.
    pub announced: Waits,
    /// From the arrival of the last process of all until its go-ahead.
    pub go_ahead: Waits,
}

impl Coordination {
    /// Merges the values of another engine.
    pub fn merge(&mut self, other: &Coordination) {
        self.announced.merge(&other.announced);
        self.go_ahead.merge(&other.go_ahead);
    }
}

/// Messages whose answers are waited for.
#[derive(Default)]
pub struct Messages {
    begun: VecDeque<Instant>,
    all_here: HashMap<u64, Instant>,
    waited: Coordination,
}

impl Messages {
    /// One is sent.
    pub fn sent(&mut self, message: &RoundMessage) {
        match message {
            RoundMessage::Begins { .. } => self.begun.push_back(Instant::now()),
            RoundMessage::AllHere { round, .. } => {
                self.all_here.insert(*round, Instant::now());
            }
            RoundMessage::Finished => {}
        }
    }

    /// Receives a result of messages, and whether this engine was the last that was waited for.
    pub fn heard(&mut self, news: &RoundNews, last: bool) {
        match news {
            RoundNews::Begins { own: true, .. } => {
                if let Some(since) = self.begun.pop_front() {
                    self.waited.announced.add(since);
                }
            }
            RoundNews::Begins { .. } => {}
            RoundNews::GoAhead { round, .. } => {
                let since = self.all_here.remove(round);
                if let Some(since) = since.filter(|_| last) {
                    self.waited.go_ahead.add(since);
                }
            }
        }
    }

    /// Returns the waiting times so far.
    pub fn waited(&self) -> Coordination {
        self.waited
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headrace_net::Span;
    use headrace_spec::MixedOperation::SharedRead;

    #[test]
    fn only_what_messages_take_is_counted() {
        let mut messages = Messages::default();
        let (call, after) = (SharedRead, Span::ZERO);
        messages.sent(&RoundMessage::Begins { call, after });
        messages.heard(&begins(false), false);
        assert_eq!(messages.waited().announced.count, 0);
        messages.heard(&begins(true), false);
        assert_eq!(messages.waited().announced.count, 1);
        for (round, last) in [(0, false), (1, true)] {
            let intended = None;
            messages.sent(&RoundMessage::AllHere { round, intended });
            messages.heard(&RoundNews::GoAhead { round, intended }, last);
        }
        let mut waited = messages.waited();
        assert_eq!(waited.go_ahead.count, 1);
        assert!(waited.go_ahead.sum > 0 && waited.go_ahead.sum == waited.go_ahead.longest);
        waited.merge(&messages.waited());
        assert_eq!(waited.go_ahead.sum, 2 * messages.waited().go_ahead.sum);
    }

    fn begins(own: bool) -> RoundNews {
        RoundNews::Begins {
            own,
            call: SharedRead,
            after: Span::ZERO,
        }
    }
}
