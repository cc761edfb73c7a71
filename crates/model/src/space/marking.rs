//! The markings found so far. A marking is a row of numbers, one for each copy of a node: which
//! tokens are there ([`Contents`](super::contents::Contents)).

use hashbrown::HashTable;

/// Distinct markings, numbered in the order of their insertion.
///
/// All numbers take one, two or four bytes, as the largest one needs: most nets have few distinct
/// contents of a place.
pub struct Markings {
    /// Numbers of a marking, and bytes of each.
    width: usize,
    bytes: usize,
    rows: Vec<u8>,
    len: usize,
    table: HashTable<u32>,
    /// The marking that is looked for, as bytes.
    wanted: Vec<u8>,
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
    hash_of_numbers(marking.iter().copied())
}

fn hash_of_numbers(marking: impl Iterator<Item = u32>) -> u64 {
    let parts = marking.enumerate();
    let parts = parts.map(|(copy, content)| part_of_hash(copy, content));
    parts.fold(0, u64::wrapping_add)
}

impl Markings {
    /// No markings of a number of copies.
    pub fn new(width: usize) -> Markings {
        Markings {
            width,
            bytes: 1,
            rows: Vec::new(),
            len: 0,
            table: HashTable::new(),
            wanted: Vec::new(),
        }
    }

    /// Their number.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Memory that they use.
    pub fn bytes(&self) -> usize {
        self.rows.capacity() + 5 * self.table.capacity()
    }

    /// The numbers of a marking.
    pub fn get(&self, number: usize) -> impl Iterator<Item = u32> + '_ {
        numbers(self.row(number), self.bytes)
    }

    /// The number of a marking, if it is there.
    pub fn find(&mut self, marking: &[u32], hash: u64) -> Option<u32> {
        let most = marking.iter().max().copied().unwrap_or(0);
        if bytes_of(most) > self.bytes {
            return None;
        }
        self.wanted.clear();
        append(&mut self.wanted, marking.iter().copied(), self.bytes);
        let same = |number: &u32| self.row(*number as usize) == self.wanted;
        self.table.find(hash, same).copied()
    }

    /// Adds a marking if it is not there: its number, and true if it is new.
    pub fn insert(&mut self, marking: &[u32], hash: u64) -> (u32, bool) {
        if let Some(number) = self.find(marking, hash) {
            return (number, false);
        }
        let most = marking.iter().max().copied().unwrap_or(0);
        self.widen(bytes_of(most));
        let number = self.len as u32;
        append(&mut self.rows, marking.iter().copied(), self.bytes);
        self.len += 1;
        let (rows, length, bytes) = (&self.rows, self.width * self.bytes, self.bytes);
        let hash_of_number = |number: &u32| {
            let first = *number as usize * length;
            hash_of_numbers(numbers(&rows[first..first + length], bytes))
        };
        self.table.insert_unique(hash, number, hash_of_number);
        (number, true)
    }

    fn row(&self, number: usize) -> &[u8] {
        let length = self.width * self.bytes;
        &self.rows[number * length..(number + 1) * length]
    }

    /// Lets all numbers take as many bytes as one needs.
    fn widen(&mut self, bytes: usize) {
        if bytes <= self.bytes {
            return;
        }
        let mut rows = Vec::with_capacity(self.rows.len() / self.bytes * bytes);
        append(&mut rows, numbers(&self.rows, self.bytes), bytes);
        (self.rows, self.bytes) = (rows, bytes);
    }
}

/// Bytes that a number needs.
fn bytes_of(number: u32) -> usize {
    match number {
        0..=0xFF => 1,
        0x100..=0xFFFF => 2,
        _ => 4,
    }
}

/// The numbers that bytes hold.
#[inline]
fn numbers(rows: &[u8], bytes: usize) -> impl Iterator<Item = u32> + '_ {
    rows.chunks_exact(bytes).map(move |number| match *number {
        [only] => only.into(),
        [low, high] => u16::from_le_bytes([low, high]).into(),
        [a, b, c, d] => u32::from_le_bytes([a, b, c, d]),
        _ => 0,
    })
}

#[inline]
fn append(rows: &mut Vec<u8>, marking: impl Iterator<Item = u32>, bytes: usize) {
    match bytes {
        1 => rows.extend(marking.map(|number| number as u8)),
        2 => marking.for_each(|number| rows.extend((number as u16).to_le_bytes())),
        _ => marking.for_each(|number| rows.extend(number.to_le_bytes())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn agrees_with_a_map(
            all in prop::collection::vec(prop::array::uniform5(0_u32..3), 0..3000),
            late in prop::sample::select(vec![2_u32, 300, 70_000]),
        ) {
            let mut markings = Markings::new(5);
            let mut map = HashMap::new();
            for (index, marking) in all.iter().enumerate() {
                // Larger numbers come late, when there are others already.
                let scale = if index > all.len() / 2 { late } else { 1 };
                let marking = &marking.map(|number| number * scale);
                let next = map.len() as u32;
                let new = !map.contains_key(marking);
                let number = *map.entry(*marking).or_insert(next);
                prop_assert_eq!(markings.insert(marking, hash_of(marking)), (number, new));
                prop_assert!(markings.get(number as usize).eq(marking.iter().copied()));
            }
        }
    }
}
