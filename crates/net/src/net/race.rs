//! The race of timed transitions: which fires next, and when.
//!
//! All their times are exponential. They have no memory, so that each marking may sample again.
//! The time to the next firing has the sum of all rates, and each transition wins in proportion to
//! its own rate.
//!
//! Not modelled: timed transitions with other distributions; an output with a delay or a station
//! has these.

use super::Net;
use crate::heap::Event;
use crate::random::Random;
use crate::time::{Span, Time};

/// The state of the race.
pub(crate) struct Race {
    seed: u64,
    draws: u64,
    /// The first timed instance; all after it are timed.
    pub(super) first: u32,
    /// Instances with their rates.
    rates: Vec<(u32, f64)>,
}

impl Race {
    /// The race of the instances from this one on.
    pub fn new(seed: u64, first: u32) -> Race {
        Race {
            seed,
            draws: 0,
            first,
            rates: Vec::new(),
        }
    }
}

impl Net {
    /// The timed transition that fires before the next event, and when.
    #[inline]
    pub(super) fn next_timed(&mut self, event: Option<Event>) -> Option<(Time, u32)> {
        match self.race.first {
            u32::MAX => None,
            _ => self.run_race(event.map_or(Time::NEVER, |event| event.time())),
        }
    }

    #[cold]
    fn run_race(&mut self, before: Time) -> Option<(Time, u32)> {
        let mut rates = std::mem::take(&mut self.race.rates);
        rates.clear();
        let first = self.race.first;
        let is_timed = |instance: &u32| *instance >= first;
        self.kernel.each_enabled(|instance| {
            rates.extend(Some((instance, 0.0)).filter(|it| is_timed(&it.0)));
        });
        for (instance, rate) in &mut rates {
            *rate = self.rate(*instance);
            if *rate <= 0.0 {
                // Its guard refuses, and is asked again when an input changes.
                self.kernel.refuse(*instance);
            }
        }
        let total: f64 = rates.iter().map(|(_, rate)| rate).sum();
        let winner = (total > 0.0).then(|| {
            let Race { seed, draws, .. } = &mut self.race;
            let mut random = Random::named(*seed, "race of timed transitions", draws);
            let delay = -libm::log(1.0 - random.uniform()) / total;
            let mut left = random.uniform() * total;
            let chosen = rates.iter().find(|(_, rate)| {
                left -= rate;
                left < 0.0
            });
            let mut from_last = rates.iter().rev();
            let last = || from_last.find(|(_, rate)| *rate > 0.0);
            let (instance, _) = chosen.or_else(last).copied().unwrap_or_default();
            (self.kernel.now() + Span::from_seconds(delay), instance)
        });
        self.race.rates = rates;
        winner.filter(|(time, _)| *time < before)
    }
}
