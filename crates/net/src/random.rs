//! Random streams: one per node and copy, counter-based.
//!
//! A draw is a function of (seed, name of the node, copy, number of the draw)
//! and of nothing else. Adding a node elsewhere, or a draw in another node,
//! leaves every other stream unchanged. The generator is Squares (B. Widynski,
//! "Squares: A Fast Counter-Based RNG", arXiv:2004.06278v7, 2022, `squares64`,
//! five rounds); logarithms come from `libm`, because the C library's differ
//! between machines.

use crate::time::Span;

/// Weyl constant of SplitMix64 (Steele, Lea, Flood 2014), here only to spread
/// names, copies and seeds over the key space.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The finaliser of SplitMix64.
pub(crate) fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(GOLDEN);
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

/// The key of a named stream under a seed (FNV-1a over the name, then mixed).
pub(crate) fn stream_key(seed: u64, name: &str) -> u64 {
    let hash = name.bytes().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    });
    mix(mix(seed) ^ hash)
}

/// The seed of a replication of an experiment: a hash of the experiment's seed and the
/// replication's number. Experiments with different seeds thus share no run.
///
/// Replication 0 keeps the seed, so that one run equals the first of several. Derived seeds have
/// 53 bits, which every reader of JSON holds exactly. Among a million derived seeds, two are
/// equal with a probability of 6e-5.
#[must_use]
pub fn replication_seed(seed: u64, replication: u64) -> u64 {
    match replication {
        0 => seed,
        number => mix(mix(seed) ^ number) >> 11,
    }
}

/// A stream of random numbers, positioned at its next draw.
#[derive(Debug)]
pub struct Random<'a> {
    key: u64,
    counter: &'a mut u64,
}

impl<'a> Random<'a> {
    /// The stream of one copy of a node; `counter` counts its draws so far.
    pub(crate) fn of_copy(node_key: u64, copy: u32, counter: &'a mut u64) -> Random<'a> {
        // Squares wants an odd key with irregular bits.
        let key = mix(node_key ^ u64::from(copy).wrapping_mul(GOLDEN)) | 1;
        Random { key, counter }
    }

    /// A stream of its own, outside any net: for generators and tests.
    /// `counter` counts its draws so far and starts at 0.
    pub fn named(seed: u64, name: &str, counter: &'a mut u64) -> Random<'a> {
        Random {
            key: stream_key(seed, name) | 1,
            counter,
        }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let round = |x: u64, add: u64| x.wrapping_mul(x).wrapping_add(add).rotate_left(32);
        *self.counter += 1;
        let y = self.counter.wrapping_mul(self.key);
        let z = y.wrapping_add(self.key);
        let x = round(round(round(y, y), z), y);
        let last = x.wrapping_mul(x).wrapping_add(z);
        let x = last.rotate_left(32);
        last ^ (x.wrapping_mul(x).wrapping_add(y) >> 32)
    }

    /// Uniform in [0, 1), a multiple of 2^-53.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Uniform in {0, …, bound − 1}, without bias that could be measured (the
    /// multiply-shift of Lemire 2019 without rejection: at most bound / 2^64).
    /// A bound of 0 gives 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// Exponential with the given mean, in the unit of the mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        // 1 − u lies in (0, 1], so the logarithm is finite.
        -mean * libm::log(1.0 - self.uniform())
    }

    /// An exponential length of time.
    pub fn exponential_span(&mut self, mean: Span) -> Span {
        Span(self.exponential(mean.0 as f64) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Widynski's reference code, transcribed round by round from the paper's
    /// listing of `squares64`, as the slow twin of `bits`.
    fn squares64(counter: u64, key: u64) -> u64 {
        let mut x = counter.wrapping_mul(key);
        let y = x;
        let z = y.wrapping_add(key);
        x = x.wrapping_mul(x).wrapping_add(y);
        x = x.rotate_right(32);
        x = x.wrapping_mul(x).wrapping_add(z);
        x = x.rotate_right(32);
        x = x.wrapping_mul(x).wrapping_add(y);
        x = x.rotate_right(32);
        x = x.wrapping_mul(x).wrapping_add(z);
        let t = x;
        x = x.rotate_right(32);
        t ^ (x.wrapping_mul(x).wrapping_add(y) >> 32)
    }

    /// Hash of SplitMix64 by hand for one pair, and no seed twice among near experiments.
    #[test]
    fn experiments_share_no_replication() {
        let mut seeds: Vec<u64> = (0..200_u64)
            .flat_map(|seed| (0..200).map(move |number| replication_seed(seed, number)))
            .collect();
        assert!(seeds.iter().all(|&seed| seed < 1 << 53));
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 200 * 200);
        assert_eq!(replication_seed(7, 0), 7);
        assert_eq!(replication_seed(5, 1), 7_933_447_273_165_872);
    }

    #[test]
    fn bits_are_those_of_the_paper() {
        let mut counter = 0;
        let mut random = Random::of_copy(7, 3, &mut counter);
        let key = random.key;
        for draw in 1..1000 {
            assert_eq!(random.bits(), squares64(draw, key));
        }
    }

    #[test]
    fn moments_are_right() {
        let mut counter = 0;
        let mut random = Random::named(1, "moments", &mut counter);
        let draws = 1_000_000;
        let mean = (0..draws).map(|_| random.exponential(1.0)).sum::<f64>() / f64::from(draws);
        // Standard error 0.001; five of them.
        assert!((mean - 1.0).abs() < 0.005, "{mean}");
        let mean = (0..draws).map(|_| random.below(7) as f64).sum::<f64>() / f64::from(draws);
        assert!((mean - 3.0).abs() < 0.01, "{mean}");
    }

    #[test]
    fn streams_of_copies_are_uncorrelated() {
        let (mut a, mut b) = (0, 0);
        let mut one = Random::of_copy(5, 0, &mut a);
        let mut two = Random::of_copy(5, 1, &mut b);
        let draws = 200_000;
        let covariance = (0..draws)
            .map(|_| (one.uniform() - 0.5) * (two.uniform() - 0.5))
            .sum::<f64>()
            / f64::from(draws);
        // Variance of the product is 1/144: standard error 1.9e-4.
        assert!(covariance.abs() < 1e-3, "{covariance}");
    }
}
