//! Sums over missions, and the estimates and intervals they give.

use crate::answer::{Counts, Estimate};

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
}

/// Sums of one horizon.
#[derive(Clone, Copy, Debug, Default)]
pub struct HorizonSums {
    /// Weights of missions with a loss.
    pub loss: Sum,
    /// Weights of those whose first loss is by a read error.
    pub read_error: Sum,
    /// Bytes lost.
    pub bytes: Sum,
    /// Losses.
    pub losses: Sum,
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
            mine.read_error.merge(&theirs.read_error);
            mine.bytes.merge(&theirs.bytes);
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
pub fn counted_interval(probability: f64, missions: u64) -> (f64, f64) {
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
    (low, clamp(centre + half))
}

/// 95 % interval of an estimate by the normal law.
pub fn normal_interval(estimate: Estimate) -> (f64, f64) {
    let half = NORMAL * estimate.standard_error;
    (
        (estimate.value - half).clamp(0.0, 1.0),
        (estimate.value + half).clamp(0.0, 1.0),
    )
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
        let (low, high) = counted_interval(0.0, 10_000);
        assert_eq!(low, 0.0);
        assert!(high > 3.0e-4 && high < 4.0e-4, "{high}");
    }

    #[test]
    fn groups_add_up_while_rare() {
        assert!((any_of(1000, 1e-15) / 1e-12 - 1.0).abs() < 1e-9);
        assert!((any_of(2, 0.5) - 0.75).abs() < 1e-15);
    }
}
