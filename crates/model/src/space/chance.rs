//! Discrete chance in a state space: every outcome of a firing, one after the other.

use crate::expression::World;

/// The draws of a firing.
pub struct Oracle {
    copy: i64,
    /// Outcome and number of outcomes of each draw.
    choices: Vec<(u64, u64)>,
    at: usize,
    pub failure: Option<&'static str>,
}

/// More outcomes of one draw than this are not enumerated.
const MOST_OUTCOMES: u64 = 10_000;

impl World for Oracle {
    fn now(&mut self) -> i64 {
        0
    }
    fn copy(&mut self) -> i64 {
        self.copy
    }
    fn uniform(&mut self) -> f64 {
        self.fail("a state space has no continuous chance: use bernoulli, discrete or below");
        0.0
    }
    fn below(&mut self, bound: u64) -> u64 {
        if bound > MOST_OUTCOMES {
            self.fail("a state space has at most 10000 outcomes of one draw");
            return 0;
        }
        if self.at == self.choices.len() {
            self.choices.push((0, bound));
        }
        self.at += 1;
        self.choices[self.at - 1].0
    }
    fn chance(&mut self, probability: f64) -> bool {
        match probability {
            p if p <= 0.0 => false,
            p if p >= 1.0 => true,
            _ => self.below(2) == 1,
        }
    }
    fn fail(&mut self, message: &'static str) {
        self.failure.get_or_insert(message);
    }
}

impl Oracle {
    /// Before any firing.
    pub fn new() -> Oracle {
        Oracle {
            copy: 0,
            choices: Vec::new(),
            at: 0,
            failure: None,
        }
    }

    /// Starts with the first outcome of a firing in a copy of a page.
    pub fn start(&mut self, copy: u32) {
        self.copy = i64::from(copy);
        self.choices.clear();
        self.at = 0;
    }

    /// Goes to the next outcome; false if there is none.
    pub fn next(&mut self) -> bool {
        self.at = 0;
        while let Some((outcome, bound)) = self.choices.last_mut() {
            *outcome += 1;
            if *outcome < *bound {
                return true;
            }
            self.choices.pop();
        }
        false
    }
}
