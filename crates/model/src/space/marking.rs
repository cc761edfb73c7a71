//! The markings found so far. A marking is a row of numbers, one for each copy of a node: which
//! tokens are there ([`Contents`](super::contents::Contents)).

use hashbrown::HashTable;

/// Distinct markings, numbered in the order of their insertion.
pub struct Markings {
    /// Numbers of a marking.
    width: usize,
    rows: Vec<u32>,
    len: usize,
    table: HashTable<u32>,
}

/// The part of one copy in a marking's hash, which is the sum over its copies. So a change of one
/// copy changes the hash by a difference.
#[inline]
pub fn part_of_hash(copy: usize, content: u32) -> u64 {
    // The finaliser of SplitMix64 (Steele, Lea and Flood 2014): every bit depends on every other.
    let mut state = (copy as u64) << 32 | u64::from(content);
    state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    state = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    state ^ (state >> 31)
}

/// The hash of a marking.
pub fn hash_of(marking: &[u32]) -> u64 {
    let parts = marking.iter().enumerate();
    let parts = parts.map(|(copy, &content)| part_of_hash(copy, content));
    parts.fold(0, u64::wrapping_add)
}

impl Markings {
    /// No markings of a number of copies.
    pub fn new(width: usize) -> Markings {
        Markings {
            width,
            rows: Vec::new(),
            len: 0,
            table: HashTable::new(),
        }
    }

    /// Their number.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Memory that they use.
    pub fn bytes(&self) -> usize {
        4 * self.rows.capacity() + 5 * self.table.capacity()
    }

    /// A marking.
    pub fn get(&self, number: usize) -> &[u32] {
        row(&self.rows, self.width, number)
    }

    /// The number of a marking, if it is there.
    pub fn find(&self, marking: &[u32], hash: u64) -> Option<u32> {
        let same = |number: &u32| self.get(*number as usize) == marking;
        self.table.find(hash, same).copied()
    }

    /// Adds a marking if it is not there: its number, and true if it is new.
    pub fn insert(&mut self, marking: &[u32], hash: u64) -> (u32, bool) {
        if let Some(number) = self.find(marking, hash) {
            return (number, false);
        }
        let number = self.len as u32;
        self.rows.extend_from_slice(marking);
        self.len += 1;
        let (rows, width) = (&self.rows, self.width);
        let hash_of_number = |number: &u32| hash_of(row(rows, width, *number as usize));
        self.table.insert_unique(hash, number, hash_of_number);
        (number, true)
    }
}

fn row(rows: &[u32], width: usize, number: usize) -> &[u32] {
    &rows[number * width..(number + 1) * width]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn agrees_with_a_map(all in prop::collection::vec(prop::array::uniform5(0_u32..3), 0..3000)) {
            let mut markings = Markings::new(5);
            let mut map = HashMap::new();
            for marking in &all {
                let next = map.len() as u32;
                let new = !map.contains_key(marking);
                let number = *map.entry(*marking).or_insert(next);
                prop_assert_eq!(markings.insert(marking, hash_of(marking)), (number, new));
                prop_assert_eq!(markings.get(number as usize), &marking[..]);
            }
        }
    }
}
