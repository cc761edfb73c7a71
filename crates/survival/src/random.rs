//! Random numbers: one stream for each block of missions, so that an answer does not depend on
//! the threads.

use rand_core::{Rng, SeedableRng};
use rand_distr::{Distribution, Exp1};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Generator of the simulations.
pub type Random = Xoshiro256PlusPlus;

/// The stream of a block of missions.
pub fn stream(seed: u64, block: u64) -> Random {
    // SplitMix64 spreads both over the state (Steele, Lea, Flood 2014).
    let key = block
        .wrapping_add(1)
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .rotate_left(29)
        ^ seed.wrapping_mul(0xD1B5_4A32_D192_ED03);
    Random::seed_from_u64(key)
}

/// Exponential with mean 1 (ziggurat).
#[inline]
pub fn exponential<R: Rng>(random: &mut R) -> f64 {
    Exp1.sample(random)
}

/// Uniform in [0, 1), a multiple of 2^-53.
#[inline]
pub fn uniform<R: Rng>(random: &mut R) -> f64 {
    (random.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_seed_and_block() {
        let firsts: std::collections::BTreeSet<u64> = (0..100)
            .flat_map(|seed| (0..100).map(move |block| stream(seed, block).next_u64()))
            .collect();
        assert_eq!(firsts.len(), 10_000);
        assert_eq!(stream(1, 2).next_u64(), stream(1, 2).next_u64());
    }
}
