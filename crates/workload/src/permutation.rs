//! Random orders that need no memory: the position of the n-th element is
//! computed, not looked up.

/// A pseudo-random permutation of {0, …, length − 1}. It is a Feistel network
/// of four rounds over the next power of four, repeated until the result lies
/// inside (cycle walking). Source: Black and Rogaway, "Ciphers with arbitrary
/// finite domains", 2002.
#[derive(Clone, Copy, Debug)]
pub(super) struct Permutation {
    length: u64,
    half_bits: u32,
    key: u64,
}

impl Permutation {
    /// The permutation that belongs to a key.
    pub fn new(length: u64, key: u64) -> Permutation {
        let bits = u64::BITS - length.saturating_sub(1).leading_zeros();
        Permutation {
            length,
            half_bits: bits.div_ceil(2).max(1),
            key,
        }
    }

    /// The element at a position below the length.
    pub fn at(&self, position: u64) -> u64 {
        debug_assert!(position < self.length);
        let mut element = position;
        loop {
            element = self.rounds(element);
            if element < self.length {
                return element;
            }
        }
    }

    fn rounds(&self, value: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let (mut left, mut right) = (value >> self.half_bits, value & mask);
        for round in 1..=4 {
            let mixed = (right ^ self.key.rotate_left(round * 13))
                .wrapping_add(u64::from(round))
                .wrapping_mul(0x9E37_79B9_7F4A_7C15);
            (left, right) = (
                right,
                left ^ (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 32 & mask,
            );
        }
        (left << self.half_bits) | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_element_comes_once(length in 1_u64..3000, key: u64) {
            let permutation = Permutation::new(length, key);
            let mut seen: Vec<u64> = (0..length).map(|position| permutation.at(position)).collect();
            seen.sort_unstable();
            prop_assert!(seen.into_iter().eq(0..length));
        }
    }

    #[test]
    fn neighbours_are_scattered() {
        let permutation = Permutation::new(10_000, 42);
        let steps = (1..10_000).filter(|&n| permutation.at(n) == permutation.at(n - 1) + 1);
        assert!(steps.count() < 10);
    }
}
