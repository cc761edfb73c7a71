//! Content of files whose reads are verified.

/// Bytes that depend on file and offset only, so that all writers write the same.
#[derive(Clone, Copy, Debug)]
pub struct Content {
    key: u64,
}

impl Content {
    /// Creates the state for a workload's files.
    #[must_use]
    pub fn new(workload: usize, seed: u64) -> Content {
        Content {
            key: seed ^ ((workload as u64) << 48),
        }
    }

    /// Eight bytes at a multiple of eight.
    fn word(self, file: u32, place: u64) -> [u8; 8] {
        mixed(place ^ mixed(self.key ^ u64::from(file))).to_le_bytes()
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

    proptest! {
        #[test]
        fn parts_of_a_file_have_the_bytes_of_the_whole(
            from in 0..5000_usize,
            size in 0..5000_usize,
            wrong in any::<prop::sample::Index>(),
        ) {
            let content = Content::new(1, 7);
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
            let content = Content::new(workload, 7);
            (0..1000).map(move |place| content.word(file, place))
        };
        let mut all: Vec<_> = words(0, 0).chain(words(0, 1)).chain(words(1, 0)).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 3000);
    }
}
