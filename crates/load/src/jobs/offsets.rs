//! Offsets of a process's requests in its file.

/// The blocks of a file, pass after pass.
#[derive(Clone, Debug)]
pub struct Offsets {
    blocks: u64,
    random: bool,
    seed: u64,
    /// Requests so far; in order, those of reads and of writes, which go on side by side.
    drawn: [u64; 2],
}

impl Offsets {
    /// Creates the offsets of a file of `blocks` blocks.
    pub fn new(blocks: u64, random: bool, seed: u64) -> Offsets {
        Offsets {
            blocks: blocks.max(1),
            random,
            seed,
            drawn: [0; 2],
        }
    }

    /// Requests so far.
    pub fn drawn(&self) -> u64 {
        self.drawn[0] + self.drawn[1]
    }

    /// The next block, of a read or a write.
    pub fn next(&mut self, reads: bool) -> u64 {
        if self.random {
            let number = self.drawn();
            self.drawn[0] += 1;
            let (pass, place) = (number / self.blocks, number % self.blocks);
            permuted(place, self.blocks, mixed(self.seed ^ mixed(pass)))
        } else {
            let way = &mut self.drawn[usize::from(!reads)];
            *way += 1;
            (*way - 1) % self.blocks
        }
    }
}

/// The place of a number in a permutation of the numbers below a bound. It is a Feistel network of
/// four rounds on the next even power of two, repeated until the number is below the bound. Source:
/// Black and Rogaway, 2002, Ciphers with arbitrary finite domains.
fn permuted(number: u64, below: u64, key: u64) -> u64 {
    let bits = u64::BITS - below.saturating_sub(1).leading_zeros();
    let half = bits.div_ceil(2).max(1);
    let mask = (1_u64 << half) - 1;
    let mut walked = number;
    loop {
        let (mut left, mut right) = (walked >> half, walked & mask);
        for round in 0..4 {
            let drawn = mixed(right ^ key.rotate_left(16 * round)) & mask;
            (left, right) = (right, left ^ drawn);
        }
        walked = left << half | right;
        if walked < below {
            return walked;
        }
    }
}

/// SplitMix64's output function: every bit of the result depends on every bit of the number.
fn mixed(number: u64) -> u64 {
    let mut it = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    it = (it ^ (it >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    it ^ (it >> 31)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_pass_has_each_block_once(blocks in 1_u64..3000, seed: u64) {
            let mut offsets = Offsets::new(blocks, true, seed);
            let mut passes = Vec::new();
            for _ in 0..2 {
                let pass: Vec<u64> = (0..blocks).map(|_| offsets.next(true)).collect();
                let mut sorted = pass.clone();
                sorted.sort_unstable();
                prop_assert!(sorted.into_iter().eq(0..blocks));
                passes.push(pass);
            }
            if blocks > 50 {
                prop_assert_ne!(&passes[0], &passes[1]);
                let ascending = passes[0].windows(2).filter(|it| it[1] == it[0] + 1).count();
                prop_assert!((ascending as u64) < blocks / 4, "{} of {}", ascending, blocks);
            }
        }
    }

    #[test]
    fn in_order_reads_and_writes_go_on_side_by_side() {
        let mut offsets = Offsets::new(3, false, 7);
        let ways = [true, true, false, true, true, false];
        let found = ways.map(|reads| offsets.next(reads));
        assert_eq!(found, [0, 1, 0, 2, 0, 1]);
        assert_eq!(offsets.drawn(), 6);
    }

    #[test]
    fn the_largest_file_has_its_offsets() {
        let blocks = (1 << 62) - 1;
        let mut offsets = Offsets::new(blocks, true, 7);
        assert!((0..100).all(|_| offsets.next(true) < blocks));
    }
}
