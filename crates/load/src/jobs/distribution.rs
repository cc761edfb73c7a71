//! Distributions of random offsets, as fio's `random_distribution` has them.

use headrace_net::Random;

use crate::jobs::job::Distribution;
use crate::jobs::offsets::mixed;

/// Terms of the harmonic sum that are added; the rest are approximated by an integral.
const TERMS: u64 = 1 << 20;

/// Uniform numbers whose mean is taken for a normal one, as fio does.
const SUMMED: u64 = 12;

/// Distribution over the blocks of a file.
#[derive(Clone, Debug)]
pub struct Drawn {
    distribution: Distribution,
    blocks: u64,
    /// Where ranks begin.
    first: u64,
    /// Sums of the weights of all ranks of Zipf's law, and of the first two.
    sums: (f64, f64),
}

impl Drawn {
    /// A distribution over `blocks` blocks. Without a center, ranks begin at a place that `seed`
    /// gives.
    pub fn new(distribution: &Distribution, blocks: u64, seed: u64) -> Drawn {
        let center = match distribution {
            Distribution::Zipf { center, .. } | Distribution::Pareto { center, .. } => *center,
            Distribution::Normal { center, .. } => center.map(|it| it - 0.5).or(Some(0.0)),
            _ => Some(0.0),
        };
        let first = match center {
            Some(share) => (share.rem_euclid(1.0) * blocks as f64) as u64,
            None => mixed(seed) % blocks,
        };
        let sums = match distribution {
            Distribution::Zipf { theta, .. } => (harmonic(blocks, *theta), harmonic(2, *theta)),
            _ => (0.0, 0.0),
        };
        Drawn {
            distribution: distribution.clone(),
            blocks,
            first,
            sums,
        }
    }

    /// A block.
    pub fn block(&self, random: &mut Random<'_>) -> u64 {
        match &self.distribution {
            Distribution::Uniform => random.below(self.blocks),
            Distribution::Zoned { zones } => self.of_zone(zones, random),
            _ => mixed(self.rank(random)).wrapping_add(self.first) % self.blocks,
        }
    }

    /// A rank, from 0.
    fn rank(&self, random: &mut Random<'_>) -> u64 {
        match &self.distribution {
            Distribution::Uniform | Distribution::Zoned { .. } => 0,
            Distribution::Zipf { theta, .. } => self.zipf(*theta, random.uniform()),
            Distribution::Pareto { h, .. } => {
                let power = h.ln() / (1.0 - h).ln();
                ((self.blocks - 1) as f64 * random.uniform().powf(power)) as u64
            }
            Distribution::Normal { deviation, .. } => self.normal(*deviation, random),
        }
    }

    /// Source: Gray et al., 1994, Quickly generating billion-record synthetic databases.
    fn zipf(&self, theta: f64, uniform: f64) -> u64 {
        let (all, two) = self.sums;
        let weighted = uniform * all;
        if weighted < 1.0 {
            return 0;
        }
        if weighted < two {
            return 1;
        }
        let blocks = self.blocks as f64;
        let eta = (1.0 - (2.0 / blocks).powf(1.0 - theta)) / (1.0 - two / all);
        let rank = blocks * (eta * uniform - eta + 1.0).powf(1.0 / (1.0 - theta));
        (rank as u64).min(self.blocks - 1)
    }

    fn normal(&self, deviation: f64, random: &mut Random<'_>) -> u64 {
        let sum: u64 = (0..SUMMED).map(|_| random.below(self.blocks + 1)).sum();
        let mean = sum.div_ceil(SUMMED) as f64;
        let half = (self.blocks as f64 * deviation / 100.0).min(self.blocks as f64 / 2.0) / 2.0;
        let place = mean + half * (2.0 * random.uniform() - 1.0);
        place.max(0.0) as u64
    }

    fn of_zone(&self, zones: &[(f64, f64, f64)], random: &mut Random<'_>) -> u64 {
        let mut drawn = random.uniform() * zones.iter().map(|it| it.0).sum::<f64>();
        let zone = zones.iter().find(|it| {
            drawn -= it.0;
            drawn < 0.0
        });
        let (_, from, to) = zone.or(zones.last()).copied().unwrap_or((1.0, 0.0, 1.0));
        let place = (from + (to - from) * random.uniform()) * self.blocks as f64;
        (place as u64).min(self.blocks - 1)
    }
}

/// The sum of r^-theta over the ranks from 1 to `ranks`.
fn harmonic(ranks: u64, theta: f64) -> f64 {
    let added = ranks.min(TERMS);
    let sum: f64 = (1..=added).map(|rank| (rank as f64).powf(-theta)).sum();
    if ranks == added {
        return sum;
    }
    let (from, to) = (added as f64 + 0.5, ranks as f64 + 0.5);
    let power = 1.0 - theta;
    let rest = match power.abs() < 1e-9 {
        true => (to / from).ln(),
        false => (to.powf(power) - from.powf(power)) / power,
    };
    sum + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of draws of each of 1,000 blocks or ranks.
    fn counts(
        distribution: &Distribution,
        draws: u32,
        draw: impl Fn(&Drawn, &mut Random<'_>) -> u64,
    ) -> Vec<u32> {
        let drawn = Drawn::new(distribution, 1000, 7);
        let mut counts = vec![0; 1001];
        let mut counter = 0;
        let mut random = Random::named(7, "test", &mut counter);
        for _ in 0..draws {
            counts[draw(&drawn, &mut random) as usize] += 1;
        }
        counts
    }

    /// χ² of the first two ranks, which the method has exactly: r^-1.2 / 4.336, the sum of all.
    #[test]
    fn zipf_has_the_weights_of_its_law() {
        let zipf = Distribution::Zipf {
            theta: 1.2,
            center: None,
        };
        let counts = counts(&zipf, 200_000, Drawn::rank);
        let all = harmonic(1000, 1.2);
        assert!((all - 4.336).abs() < 0.01, "{all}");
        for (rank, count) in [(1.0_f64, counts[0]), (2.0, counts[1])] {
            let expected = 200_000.0 * rank.powf(-1.2) / all;
            let chi = (f64::from(count) - expected).powi(2) / expected;
            // The 99.9 % quantile of χ² with one degree of freedom.
            assert!(chi < 10.8, "{count} of {expected}");
        }
        let first: u32 = counts[..100].iter().sum();
        let share = f64::from(first) / 200_000.0;
        assert!((share - harmonic(100, 1.2) / all).abs() < 0.02, "{share}");
    }

    /// 80 % of the requests for 20 % of the blocks, as h = 0.2 says.
    #[test]
    fn pareto_keeps_its_share() {
        let pareto = Distribution::Pareto {
            h: 0.2,
            center: None,
        };
        let counts = counts(&pareto, 200_000, Drawn::rank);
        let first: u32 = counts[..200].iter().sum();
        let share = f64::from(first) / 200_000.0;
        assert!((share - 0.8).abs() < 0.01, "{share}");
    }

    /// The mean of twelve uniform numbers has a standard deviation of a twelfth.
    #[test]
    fn normal_ranks_are_in_the_middle() {
        let normal = Distribution::Normal {
            deviation: 0.0,
            center: None,
        };
        let counts = counts(&normal, 100_000, Drawn::rank);
        let within: u32 = counts[417..584].iter().sum();
        let share = f64::from(within) / 100_000.0;
        assert!((share - 0.683).abs() < 0.01, "{share}");
    }

    #[test]
    fn zones_have_their_shares() {
        let zoned = Distribution::Zoned {
            zones: vec![(60.0, 0.0, 0.1), (30.0, 0.1, 0.3), (10.0, 0.3, 1.0)],
        };
        let counts = counts(&zoned, 100_000, Drawn::block);
        let sums = [0..100, 100..300, 300..1000].map(|it| counts[it].iter().sum::<u32>());
        let expected = [60_000.0, 30_000.0, 10_000.0];
        let chi: f64 = sums
            .iter()
            .zip(expected)
            .map(|(sum, expected)| (f64::from(*sum) - expected).powi(2) / expected)
            .sum();
        // The 99.9 % quantile of χ² with two degrees of freedom.
        assert!(chi < 13.8, "{sums:?}");
    }

    #[test]
    fn the_rest_of_a_long_harmonic_sum_is_close() {
        let long: f64 = (1..=3_000_000_u64)
            .map(|rank| (rank as f64).powf(-0.9))
            .sum();
        assert!((harmonic(3_000_000, 0.9) / long - 1.0).abs() < 1e-9);
    }
}
