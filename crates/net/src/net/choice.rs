//! Random choice among the transitions that may fire.

use super::Net;
use crate::random::Random;

/// Sums of as many weights as there are instances are finite up to here.
const LARGEST_WEIGHT: f64 = 1e290;

/// The state that a random choice depends on.
pub(crate) struct Choice {
    seed: u64,
    draws: u64,
    /// By transition.
    weights: Vec<f64>,
    /// Instances to choose from.
    candidates: Vec<u32>,
}

impl Net {
    /// Lets chance choose among the transitions of highest priority that may fire, each with a
    /// probability proportional to its weight: that of its path. Without it, the one written first
    /// fires first. Weights are more than 0.
    pub fn choose_at_random(&mut self, seed: u64, weight: impl Fn(&str) -> f64) {
        let weights = self.transitions.iter().map(|it| weight(&it.path));
        let mut weights: Vec<f64> = weights.collect();
        let most = weights.iter().copied().fold(0.0, f64::max);
        if most > LARGEST_WEIGHT {
            // Their ratios count, and these have a finite sum.
            weights.iter_mut().for_each(|weight| *weight /= most);
        }
        self.choice = Some(Box::new(Choice {
            seed,
            draws: 0,
            weights,
            candidates: Vec::new(),
        }));
    }

    /// The instance whose turn it is.
    #[inline]
    pub(super) fn next_enabled(&mut self) -> Option<u32> {
        let first = self.kernel.first_enabled();
        let first = first.filter(|instance| *instance < self.race.first)?;
        match self.choice {
            None => Some(first),
            Some(_) => self.choose(first),
        }
    }

    /// The instance to fire next. A guard may still refuse it; then it is not chosen again, so
    /// that the choice is among those that can fire.
    #[cold]
    pub(super) fn choose(&mut self, first: u32) -> Option<u32> {
        let choice = self.choice.as_mut()?;
        let transition_of = |instance: u32| self.owners[instance as usize] as usize;
        let priority = self.transitions[transition_of(first)].priority;
        let Choice {
            seed,
            draws,
            weights,
            candidates,
        } = &mut **choice;
        candidates.clear();
        self.kernel.each_enabled(|instance| {
            let is_timed = instance >= self.race.first;
            if !is_timed && self.transitions[transition_of(instance)].priority == priority {
                candidates.push(instance);
            }
        });
        if candidates.len() < 2 {
            return Some(first);
        }
        let all: f64 = candidates
            .iter()
            .map(|&it| weights[transition_of(it)])
            .sum();
        let mut left = Random::named(*seed, "choice of transitions", draws).uniform() * all;
        for &instance in candidates.iter() {
            left -= weights[transition_of(instance)];
            if left < 0.0 {
                return Some(instance);
            }
        }
        candidates.last().copied()
    }
}
