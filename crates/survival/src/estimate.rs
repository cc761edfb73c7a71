//! Sums over missions, and the estimates and intervals they give.

use crate::answer::{Counts, Estimate};
use crate::pilot::Cause;

/// 97.5 % quantile of the normal law.
const NORMAL: f64 = 1.959_963_984_540_054;

/// A sum with the sum of its squares.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum {
    value: f64,
    squares: f64,
}

impl Sum {
    /// Adds the value of one mission.
    pub fn add(&mut self, value: f64) {
        self.value += value;
        self.squares += value * value;
    }

    fn merge(&mut self, other: &Sum) {
        self.value += other.value;
        self.squares += other.squares;
    }

    /// Mean over missions, with its standard error.
    pub fn estimate(&self, missions: u64) -> Estimate {
        let count = missions as f64;
        let value = self.value / count;
        let variance = (self.squares / count - value * value).max(0.0);
        Estimate {
            value,
            standard_error: (variance / (count - 1.0).max(1.0)).sqrt(),
        }
    }

    /// Standard error as a part of the mean; infinite without a value.
    pub fn relative(&self, missions: u64) -> f64 {
        let estimate = self.estimate(missions);
        if estimate.value > 0.0 {
            estimate.standard_error / estimate.value
        } else {
            f64::INFINITY
        }
    }
}

/// A 95 % interval.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// The interval of a multiple.
    pub fn scaled(self, factor: f64) -> Interval {
        Interval {
            low: self.low * factor,
            high: self.high * factor,
        }
    }
}

/// Losses of a mission by one cause, times their weights.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lost {
    /// Weight of the first loss, if it is by this cause.
    pub first: f64,
    /// Lost part of the data.
    pub part: f64,
}

impl Lost {
    /// Adds a first loss.
    pub fn add(&mut self, weight: f64, part: f64) {
        self.first += weight;
        self.part += weight * part;
    }
}

/// Sums over losses by one cause.
#[derive(Clone, Copy, Debug, Default)]
pub struct CauseSums {
    /// Weights of missions whose first loss is by the cause.
    pub first: Sum,
    /// Lost parts of the data.
    pub part: Sum,
    /// Missions with a loss by the cause.
    pub seen: u64,
}

/// Sums of one horizon.
#[derive(Clone, Copy, Debug, Default)]
pub struct HorizonSums {
    /// Weights of missions with a loss.
    pub loss: Sum,
    /// Losses by failures and by read errors, in the order of [`Cause`].
    pub causes: [CauseSums; 2],
    /// Lost parts of the data by both causes.
    pub part: Sum,
    /// Losses.
    pub losses: Sum,
}

impl HorizonSums {
    /// Adds the losses of a mission by failures and by read errors.
    pub fn add(&mut self, lost: &[Lost; 2]) {
        self.loss.add(lost[0].first + lost[1].first);
        self.part.add(lost[0].part + lost[1].part);
        for (sums, lost) in self.causes.iter_mut().zip(lost) {
            if lost.first > 0.0 || lost.part > 0.0 {
                sums.first.add(lost.first);
                sums.part.add(lost.part);
                sums.seen += 1;
            }
        }
    }

    /// Sums over the losses by one cause.
    pub fn of(&self, cause: Cause) -> &CauseSums {
        &self.causes[cause as usize]
    }
}

/// Sums over missions.
#[derive(Clone, Debug, Default)]
pub struct Sums {
    /// Missions.
    pub missions: u64,
    /// For each horizon.
    pub horizons: Vec<HorizonSums>,
    /// Part of each mission at which data was unavailable.
    pub unavailable: Sum,
    /// Disk-years that passed.
    pub disk_years: f64,
    /// Events.
    pub counts: Counts,
}

impl Sums {
    /// No missions yet.
    pub fn new(horizons: usize) -> Sums {
        Sums {
            horizons: vec![HorizonSums::default(); horizons],
            ..Sums::default()
        }
    }

    /// Adds other missions.
    pub fn merge(&mut self, other: &Sums) {
        self.missions += other.missions;
        self.disk_years += other.disk_years;
        for (mine, theirs) in self.horizons.iter_mut().zip(&other.horizons) {
            mine.loss.merge(&theirs.loss);
            for (mine, theirs) in mine.causes.iter_mut().zip(&theirs.causes) {
                mine.first.merge(&theirs.first);
                mine.part.merge(&theirs.part);
                mine.seen += theirs.seen;
            }
            mine.part.merge(&theirs.part);
            mine.losses.merge(&theirs.losses);
        }
        self.unavailable.merge(&other.unavailable);
        let (mine, theirs) = (&mut self.counts, &other.counts);
        mine.failures += theirs.failures;
        mine.failures_while_degraded += theirs.failures_while_degraded;
        mine.failure_losses += theirs.failure_losses;
        mine.read_error_losses += theirs.read_error_losses;
        mine.waits_for_spare += theirs.waits_for_spare;
        mine.planned_replacements += theirs.planned_replacements;
        mine.domain_failures += theirs.domain_failures;
    }
}

/// 95 % interval of a probability that was counted in missions (Wilson 1927).
pub fn counted_interval(probability: f64, missions: u64) -> Interval {
    let count = missions as f64;
    let square = NORMAL * NORMAL / count;
    let centre = probability + 0.5 * square;
    let half = (square * (probability * (1.0 - probability) + 0.25 * square)).sqrt();
    let clamp = |value: f64| (value / (1.0 + square)).clamp(0.0, 1.0);
    let low = if probability == 0.0 {
        0.0
    } else {
        clamp(centre - half)
    };
    Interval {
        low,
        high: clamp(centre + half),
    }
}

/// Upper 95 % bound of a probability that no mission has shown: 1 - 0.05^(1 / missions). Biased
/// missions show a loss more often than crude ones, so that it holds for them too.
pub fn unseen_bound(missions: u64) -> f64 {
    -libm::expm1(libm::log(0.05) / missions as f64)
}

/// 95 % interval of a sum of two independent estimates from theirs (Zou and Donner 2008).
pub fn interval_of_sum(values: [f64; 2], intervals: [Interval; 2]) -> Interval {
    let below = (values[0] - intervals[0].low).hypot(values[1] - intervals[1].low);
    let above = (intervals[0].high - values[0]).hypot(intervals[1].high - values[1]);
    Interval {
        low: values[0] + values[1] - below,
        high: values[0] + values[1] + above,
    }
}

/// 95 % interval of an estimate by the normal law.
pub fn normal_interval(estimate: Estimate) -> Interval {
    let half = NORMAL * estimate.standard_error;
    Interval {
        low: (estimate.value - half).clamp(0.0, 1.0),
        high: (estimate.value + half).clamp(0.0, 1.0),
    }
}

/// Probability that any of `groups` independent groups has a loss.
pub fn any_of(groups: u32, probability: f64) -> f64 {
    if probability >= 1.0 {
        return 1.0;
    }
    -libm::expm1(f64::from(groups) * libm::log1p(-probability))
}

/// Slope of [`any_of`], which takes a standard error from one group to all.
pub fn any_of_slope(groups: u32, probability: f64) -> f64 {
    f64::from(groups) * libm::pow(1.0 - probability.min(1.0), f64::from(groups) - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_loss_the_upper_end_is_about_four_missions() {
        let interval = counted_interval(0.0, 10_000);
        assert_eq!(interval.low, 0.0);
        assert!(
            interval.high > 3.0e-4 && interval.high < 4.0e-4,
            "{interval:?}"
        );
        // The rule of three.
        assert!((unseen_bound(10_000) / 3.0e-4 - 1.0).abs() < 2e-3);
    }

    #[test]
    fn groups_add_up_while_rare() {
        assert!((any_of(1000, 1e-15) / 1e-12 - 1.0).abs() < 1e-9);
        assert!((any_of(2, 0.5) - 0.75).abs() < 1e-15);
    }
}
