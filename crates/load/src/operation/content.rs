//! Content of files whose reads are verified, or whose data is to compress or to repeat.

use headrace_spec::InputOutput;

/// Bytes of the blocks that storage compares, and compresses.
const BLOCK: u64 = 4096;

/// Words of a block.
const WORDS: u64 = BLOCK / 8;

/// Bytes that depend on file and offset only, so that all writers write the same.
#[derive(Clone, Copy, Debug)]
pub struct Content {
    key: u64,
    /// Words at the end of each block that are zero.
    zeros: u64,
    /// Blocks whose hash is below it are the same.
    same_below: u64,
    /// True if reads are compared with it.
    is_verified: bool,
}

impl Content {
    /// Creates the state for a workload's files.
    #[must_use]
    pub fn new(workload: usize, seed: u64, io: &InputOutput) -> Content {
        let key = seed ^ ((workload as u64) << 48);
        Content::of_shares(key, io.compressible, io.duplicates, io.verify)
    }

    /// The same from the shares of zeros and of equal blocks.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "shares from 0 to 1 of small numbers, and of all hashes, which saturates"
    )]
    pub fn of_shares(key: u64, compressible: f64, duplicates: f64, is_verified: bool) -> Content {
        Content {
            key,
            zeros: (compressible * WORDS as f64).round() as u64,
            same_below: (duplicates * u64::MAX as f64) as u64,
            is_verified,
        }
    }

    /// Eight bytes at a multiple of eight.
    fn word(self, file: u32, place: u64) -> [u8; 8] {
        let (block, within) = (place / WORDS, place % WORDS);
        if within >= WORDS - self.zeros {
            return [0; 8];
        }
        let of_file = mixed(self.key ^ u64::from(file));
        let is_same = self.same_below > 0 && mixed(!block ^ of_file) < self.same_below;
        let drawn = match is_same {
            true => mixed(within ^ self.key),
            false => mixed(place ^ of_file),
        };
        drawn.to_le_bytes()
    }

    /// The parts of a range that lie in one word each: the place in the range, the word
    /// and the first byte of it.
    fn words(
        self,
        file: u32,
        offset: u64,
        size: usize,
    ) -> impl Iterator<Item = (usize, [u8; 8], usize)> {
        let within = (offset % 8) as usize;
        let first = offset / 8;
        let count = (within + size).div_ceil(8);
        (0..count).map(move |number| {
            let start = (number * 8).saturating_sub(within);
            let skipped = if number == 0 { within } else { 0 };
            (start, self.word(file, first + number as u64), skipped)
        })
    }

    /// Writes what a file has at a place.
    pub fn fill(self, file: u32, offset: u64, bytes: &mut [u8]) {
        let size = bytes.len();
        for (start, word, skipped) in self.words(file, offset, size) {
            let end = (start + 8 - skipped).min(size);
            bytes[start..end].copy_from_slice(&word[skipped..skipped + end - start]);
        }
    }

    /// Looks whether it is that.
    ///
    /// # Errors
    /// The first byte that is another.
    pub fn check(self, file: u32, offset: u64, bytes: &[u8]) -> Result<(), String> {
        if !self.is_verified {
            return Ok(());
        }
        let size = bytes.len();
        for (start, word, skipped) in self.words(file, offset, size) {
            let end = (start + 8 - skipped).min(size);
            let (found, expected) = (&bytes[start..end], &word[skipped..skipped + end - start]);
            if found == expected {
                continue;
            }
            let wrong = found
                .iter()
                .zip(expected)
                .position(|(one, other)| one != other);
            let wrong = wrong.unwrap_or(0);
            return Err(format!(
                "byte {} is {:#04x}, and {:#04x} was written",
                offset + (start + wrong) as u64,
                found[wrong],
                expected[wrong]
            ));
        }
        Ok(())
    }
}

/// The output function of SplitMix64 (Steele, Lea and Flood 2014): no two numbers give the
/// same.
fn mixed(number: u64) -> u64 {
    let mixed = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn content_of(workload: usize, io: &str) -> Content {
        let text = format!("[[workload]]\nblock = \"1 MiB\"\nio = {{ {io} }}\n");
        let loaded = headrace_spec::load_measured(&text, std::path::Path::new("c.toml"), &[]);
        Content::new(workload, 7, &loaded.expect("good").scenario.workload[0].io)
    }

    /// 4,096 blocks: a half of each is zeros, and a quarter of them are the same in all files.
    #[test]
    fn blocks_compress_and_repeat_in_the_shares_that_are_asked_for() {
        let content = content_of(0, "compressible = 0.5, duplicates = 0.25");
        let mut blocks: HashMap<Vec<u8>, u32> = HashMap::new();
        for file in 0..2 {
            let mut bytes = vec![1; 2048 * BLOCK as usize];
            content.fill(file, 0, &mut bytes);
            for block in bytes.chunks(BLOCK as usize) {
                let zeros = block.iter().rev().take_while(|it| **it == 0).count();
                assert!(zeros.abs_diff(2048) < 4, "{zeros}");
                *blocks.entry(block.to_vec()).or_default() += 1;
            }
        }
        let most = blocks.values().max().copied().unwrap_or(0);
        // Five standard deviations of a binomial distribution: 5 * (4096 * 3 / 16)^0.5.
        assert!(most.abs_diff(1024) < 139, "{most}");
        assert_eq!(blocks.len() as u32, 4096 - most + 1);
        assert!(content.check(0, 0, &[1]).is_ok(), "reads are not looked at");
    }

    proptest! {
        #[test]
        fn parts_of_a_file_have_the_bytes_of_the_whole(
            from in 0..5000_usize,
            size in 0..5000_usize,
            wrong in any::<prop::sample::Index>(),
        ) {
            let content = content_of(1, "verify = true");
            let mut whole = vec![0; 10_000];
            content.fill(3, 1000, &mut whole);
            let mut part = vec![0; size];
            content.fill(3, 1000 + from as u64, &mut part);
            prop_assert_eq!(&part, &whole[from..from + size]);
            prop_assert!(content.check(3, 1000 + from as u64, &part).is_ok());
            if size > 0 {
                let wrong = wrong.index(size);
                part[wrong] ^= 1;
                let error = content.check(3, 1000 + from as u64, &part).expect_err("wrong");
                let byte = format!("byte {} ", 1000 + from + wrong);
                prop_assert!(error.starts_with(&byte), "{}", error);
            }
        }
    }

    #[test]
    fn other_files_and_places_have_other_bytes() {
        let words = |workload, file| {
            let content = content_of(workload, "verify = true");
            (0..1000).map(move |place| content.word(file, place))
        };
        let mut all: Vec<_> = words(0, 0).chain(words(0, 1)).chain(words(1, 0)).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 3000);
    }
}
