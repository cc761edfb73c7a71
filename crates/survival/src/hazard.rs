//! Hazards of lifetimes: cumulative hazard, its inverse, conditional sampling.
//!
//! A law is a sum of independent risks. Its cumulative hazard H is the sum of theirs. A disk fails
//! at the least of the ages at which a risk strikes, so the sum needs no inverse.

use rand_core::Rng;

use crate::question::{LifetimeLaw, WeibullLaw};
use crate::random::exponential;

/// One risk.
#[derive(Clone, Debug)]
enum Risk {
    Constant {
        rate: f64,
    },
    Weibull(WeibullLaw),
    Table {
        ages: Vec<f64>,
        hazards: Vec<f64>,
        /// Cumulative hazard at each age.
        sums: Vec<f64>,
    },
}

impl Risk {
    fn cumulative(&self, age: f64) -> f64 {
        match self {
            Risk::Constant { rate } => rate * age,
            Risk::Weibull(law) => ((age - law.location).max(0.0) / law.scale).powf(law.shape),
            Risk::Table {
                ages,
                hazards,
                sums,
            } => {
                let at = ages.partition_point(|it| *it <= age).saturating_sub(1);
                sums[at] + hazards[at] * (age - ages[at])
            }
        }
    }

    /// Age at which the cumulative hazard is `sum`; infinite if never.
    fn inverse(&self, sum: f64) -> f64 {
        match self {
            Risk::Constant { rate } => sum / rate,
            Risk::Weibull(law) => law.location + law.scale * sum.powf(1.0 / law.shape),
            Risk::Table {
                ages,
                hazards,
                sums,
            } => {
                let at = sums.partition_point(|it| *it <= sum).saturating_sub(1);
                if hazards[at] > 0.0 {
                    ages[at] + (sum - sums[at]) / hazards[at]
                } else {
                    f64::INFINITY
                }
            }
        }
    }
}

/// Hazard of a lifetime law.
#[derive(Clone, Debug)]
pub struct Hazard {
    risks: Vec<Risk>,
}

impl Hazard {
    /// The hazard of a law.
    pub fn new(law: &LifetimeLaw) -> Hazard {
        let weibull = |law: &WeibullLaw| {
            if law.is_exponential() {
                Risk::Constant {
                    rate: 1.0 / law.scale,
                }
            } else {
                Risk::Weibull(*law)
            }
        };
        let risks = match law {
            LifetimeLaw::Exponential { mean } => vec![Risk::Constant { rate: 1.0 / mean }],
            LifetimeLaw::Weibull(law) => vec![weibull(law)],
            LifetimeLaw::Bathtub {
                infant,
                constant_mean,
                wear_out,
            } => [infant, wear_out]
                .into_iter()
                .map(weibull)
                .chain(constant_mean.map(|mean| Risk::Constant { rate: 1.0 / mean }))
                .collect(),
            LifetimeLaw::HazardTable { ages, hazards } => {
                let mut sums = vec![0.0];
                for at in 1..ages.len() {
                    sums.push(sums[at - 1] + hazards[at - 1] * (ages[at] - ages[at - 1]));
                }
                vec![Risk::Table {
                    ages: ages.clone(),
                    hazards: hazards.clone(),
                    sums,
                }]
            }
        };
        Hazard { risks }
    }

    /// Cumulative hazard at an age.
    #[inline]
    pub fn cumulative(&self, age: f64) -> f64 {
        self.risks.iter().map(|risk| risk.cumulative(age)).sum()
    }

    /// Returns true if the hazard is the same at every age.
    pub fn is_constant(&self) -> bool {
        self.risks
            .iter()
            .all(|risk| matches!(risk, Risk::Constant { .. }))
    }

    /// Mean lifetime from an age on, by integrating the survival function numerically.
    pub fn mean_from(&self, age: f64) -> f64 {
        if let [Risk::Constant { rate }] = self.risks[..] {
            return 1.0 / rate;
        }
        let start = self.cumulative(age);
        // Substitution by quantiles: E[T] is the integral of the age over the unit exponential,
        // 4,000 midpoints in probability.
        let points = 4000;
        let sum: f64 = (0..points)
            .map(|point| {
                let survival = (f64::from(point) + 0.5) / f64::from(points);
                self.age_at(start - survival.ln(), age) - age
            })
            .sum();
        sum / f64::from(points)
    }

    /// Age at which the cumulative hazard of the sum of all risks is `sum`, by bisection if there
    /// are several.
    fn age_at(&self, sum: f64, least: f64) -> f64 {
        if let [risk] = &self.risks[..] {
            return risk.inverse(sum).max(least);
        }
        let mut high = self
            .risks
            .iter()
            .map(|risk| risk.inverse(sum))
            .fold(f64::INFINITY, f64::min);
        let mut low = least;
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if self.cumulative(middle) < sum {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }

    /// Samples the age of the failure of a disk of age `age` whose hazard is multiplied by
    /// `factor`. Infinite if it is surely after `horizon_age`, where the cumulative hazard of all
    /// risks together is `horizon_sum`: that spares most of the powers.
    #[inline]
    pub fn sample<R: Rng>(&self, age: f64, factor: f64, horizon_sum: f64, random: &mut R) -> f64 {
        if let [risk] = &self.risks[..] {
            let step = exponential(random) / factor;
            if step >= horizon_sum {
                return f64::INFINITY;
            }
            return match risk {
                Risk::Constant { rate } => age + step / rate,
                _ if age == 0.0 => risk.inverse(step),
                _ => risk.inverse(risk.cumulative(age) + step).max(age),
            };
        }
        let mut first = f64::INFINITY;
        for risk in &self.risks {
            let step = exponential(random) / factor;
            if step < horizon_sum {
                first = first.min(risk.inverse(risk.cumulative(age) + step).max(age));
            }
        }
        first
    }

    /// Samples as [`Hazard::sample`] where the cumulative hazard at the age is known.
    #[inline]
    pub fn sample_from<R: Rng>(
        &self,
        age: f64,
        cumulative: f64,
        factor: f64,
        horizon_sum: f64,
        random: &mut R,
    ) -> f64 {
        let [risk] = &self.risks[..] else {
            return self.sample(age, factor, horizon_sum, random);
        };
        let step = exponential(random) / factor;
        if step >= horizon_sum {
            return f64::INFINITY;
        }
        risk.inverse(cumulative + step).max(age)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    fn bathtub() -> Hazard {
        Hazard::new(&LifetimeLaw::Bathtub {
            infant: WeibullLaw {
                shape: 0.5,
                scale: 1e9,
                location: 0.0,
            },
            constant_mean: Some(1e6),
            wear_out: WeibullLaw {
                shape: 4.0,
                scale: 1e5,
                location: 0.0,
            },
        })
    }

    #[test]
    fn a_bathtub_falls_and_rises() {
        let hazard = bathtub();
        let mean =
            |from: f64, to: f64| (hazard.cumulative(to) - hazard.cumulative(from)) / (to - from);
        assert!(mean(1.0, 10.0) > mean(1e4, 1.1e4));
        assert!(mean(2e5, 2.1e5) > mean(1e4, 1.1e4));
    }

    #[test]
    fn samples_have_the_survival_of_the_law() {
        let hazard = bathtub();
        let mut random = stream(1, 0);
        let (start, end) = (2e4, 7e4);
        let expected = (hazard.cumulative(start) - hazard.cumulative(end)).exp();
        let draws = 200_000;
        let alive = (0..draws)
            .filter(|_| hazard.sample(start, 1.0, f64::INFINITY, &mut random) > end)
            .count();
        let share = alive as f64 / f64::from(draws);
        let error = (expected * (1.0 - expected) / f64::from(draws)).sqrt();
        assert!((share - expected).abs() < 4.0 * error, "{share} {expected}");
    }

    #[test]
    fn a_table_agrees_with_a_constant_hazard() {
        let table = Hazard::new(&LifetimeLaw::HazardTable {
            ages: vec![0.0, 10.0, 50.0],
            hazards: vec![0.01, 0.01, 0.01],
        });
        assert!((table.cumulative(70.0) - 0.7).abs() < 1e-12);
        assert!((table.mean_from(0.0) - 100.0).abs() < 0.2);
    }
}
