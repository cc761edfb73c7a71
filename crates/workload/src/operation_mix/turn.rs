//! Selection of the next operation: drawn, part of a burst, or a follow-up.
//!
//! The weights of first operations are computed beforehand, so that with bursts and what follows
//! the mix has the shares that it is given. (Wang 2002, section 3.3.5.3, counts instead, and draws
//! again for operations that had their share; a run without an end has no such count.)

use std::collections::VecDeque;

use headrace_net::Random;
use headrace_spec::{MixedOperation, OperationMix, Sharing, Weighted};

/// Next turn.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Turn {
    /// The operation.
    pub operation: MixedOperation,
    /// The file, if it follows an operation on one.
    pub file: Option<u32>,
}

/// First operations and their followers.
#[derive(Clone, Debug)]
pub struct Turns {
    /// First operations with weights: an operation and its number of repeats.
    begin: Weighted<(MixedOperation, u32)>,
    /// Follow-up operations and their probabilities.
    followers: Vec<(MixedOperation, MixedOperation, f64)>,
}

impl Turns {
    /// Creates the turns of an operation mix for `clients` clients with `per_client` processes
    /// each. One process starts an operation that several execute together.
    pub fn new(mix: &OperationMix, clients: u32, per_client: u32) -> Turns {
        let together = match mix.sharing {
            Sharing::None => 1,
            Sharing::Client => per_client,
            Sharing::Clients => clients,
        };
        let begun = |operation: MixedOperation, weight: f64| match operation.is_shared() {
            true => weight / f64::from(together),
            false => weight,
        };
        let share = |operation| {
            let mut all = mix.weights.0.iter();
            let found = all.find(|(it, _)| *it == operation);
            found.map_or(0.0, |&(_, weight)| begun(operation, weight))
        };
        // The rate of an operation, if each that it follows were followed every time.
        let called = |operation| -> f64 {
            let all = mix.followed_by.0.iter();
            let before = all.filter(|(_, second)| *second == operation);
            before.map(|(first, _)| share(*first)).sum()
        };
        let followers = mix.followed_by.0.iter().map(|&(first, second)| {
            let often = (share(second) / called(second)).min(1.0);
            (first, second, often)
        });
        let mut begin = Vec::new();
        for &(operation, weight) in &mix.weights.0 {
            let weight = begun(operation, weight);
            let left = weight - called(operation);
            // Rounding errors of a share are dropped.
            if left <= weight * 1e-12 {
                continue;
            }
            let bursts = match operation.writes() && !operation.reads() {
                true => mix.bursts.share,
                false => 0.0,
            };
            if bursts < 1.0 {
                begin.push(((operation, 1), left * (1.0 - bursts)));
            }
            if bursts > 0.0 {
                let length = mix.bursts.length;
                begin.push(((operation, length), left * bursts / f64::from(length)));
            }
        }
        Turns {
            begin: Weighted(begin),
            followers: followers.collect(),
        }
    }

    /// Returns the next turn of a client; `coming` holds the turns already due.
    pub fn next(&self, coming: &mut VecDeque<Turn>, random: &mut Random<'_>) -> Turn {
        if let Some(due) = coming.pop_front() {
            return due;
        }
        let (operation, times) = self.begin.at(random.uniform());
        let turn = Turn {
            operation,
            file: None,
        };
        coming.extend((1..times).map(|_| turn));
        turn
    }

    /// Puts what follows an operation on a file first.
    pub fn follow(
        &self,
        operation: MixedOperation,
        file: Option<u32>,
        coming: &mut VecDeque<Turn>,
        random: &mut Random<'_>,
    ) {
        let mut all = self.followers.iter();
        if let Some(&(_, second, often)) = all.find(|(first, ..)| *first == operation)
            && random.uniform() < often
        {
            coming.push_front(Turn {
                operation: second,
                file,
            });
        }
    }
}
