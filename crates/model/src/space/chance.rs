//! Expressions in a state space: every outcome of discrete chance, one after the other, and the
//! stores of a marking.

use crate::expression::{Reason, World};

/// Words of the stores that a transition uses, before it fires.
#[derive(Default)]
pub struct Stored {
    words: Vec<i64>,
    /// First word of each store.
    starts: Vec<usize>,
}

impl Stored {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.words.clear();
        self.starts.clear();
    }

    /// Adds a store.
    pub fn push(&mut self, words: &[i64]) {
        self.starts.push(self.words.len());
        self.words.extend_from_slice(words);
    }

    /// Words of a store.
    pub fn words(&self, store: usize) -> &[i64] {
        let end = self.starts.get(store + 1).copied();
        &self.words[self.starts[store]..end.unwrap_or(self.words.len())]
    }

    /// A word of a store.
    pub fn word(&self, store: usize, word: usize) -> i64 {
        self.words[self.starts[store] + word]
    }
}

/// The draws of a firing.
#[derive(Default)]
pub struct Oracle {
    copy: i64,
    /// Outcome and number of outcomes of each draw, and the probability of the last outcome.
    choices: Vec<(u64, u64, f64)>,
    at: usize,
}

impl Oracle {
    /// Starts with the first outcome of a firing in a copy of a page.
    pub fn start(&mut self, copy: u32) {
        self.copy = i64::from(copy);
        self.choices.clear();
        self.at = 0;
    }

    /// Goes to the next outcome; false if there is none.
    pub fn next(&mut self) -> bool {
        self.at = 0;
        while let Some((outcome, bound, _)) = self.choices.last_mut() {
            *outcome += 1;
            if *outcome < *bound {
                return true;
            }
            self.choices.pop();
        }
        false
    }

    /// The probability of the present outcome.
    pub fn probability(&self) -> f64 {
        let choices = self.choices.iter();
        let each = choices.map(|&(outcome, bound, last)| match outcome + 1 == bound {
            true => last,
            false => (1.0 - last) / (bound - 1) as f64,
        });
        each.product()
    }

    fn outcome(&mut self, bound: u64, last: f64) -> u64 {
        if self.at == self.choices.len() {
            self.choices.push((0, bound, last));
        }
        self.at += 1;
        self.choices[self.at - 1].0
    }
}

/// The world of a firing's expressions.
pub struct InSpace<'a> {
    pub oracle: &'a mut Oracle,
    pub stored: &'a Stored,
    pub failure: Option<Reason>,
}

/// More outcomes of one draw than this are not enumerated.
const MOST_OUTCOMES: u64 = 10_000;

impl World for InSpace<'_> {
    fn now(&mut self) -> i64 {
        0
    }
    fn copy(&mut self) -> i64 {
        self.oracle.copy
    }
    fn uniform(&mut self) -> f64 {
        let reason = "a state space has no continuous chance: use bernoulli, discrete or below";
        self.fail(reason.into());
        0.0
    }
    fn below(&mut self, bound: u64) -> u64 {
        if bound > MOST_OUTCOMES {
            self.fail("a state space has at most 10000 outcomes of one draw".into());
            return 0;
        }
        self.oracle.outcome(bound, 1.0 / bound as f64)
    }
    fn chance(&mut self, probability: f64) -> bool {
        match probability {
            p if p <= 0.0 => false,
            p if p >= 1.0 => true,
            _ => self.oracle.outcome(2, probability) == 1,
        }
    }
    fn stored(&mut self, store: usize, word: usize) -> i64 {
        self.stored.word(store, word)
    }
    fn fail(&mut self, reason: Reason) {
        self.failure.get_or_insert(reason);
    }
}
