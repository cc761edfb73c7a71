//! A set of markings: their bytes one after the other, and a table of hashes.

/// The markings found so far, numbered in the order of their insertion.
#[derive(Default)]
pub struct Markings {
    bytes: Vec<u8>,
    /// Start of each marking.
    starts: Vec<usize>,
    /// Upper half: part of the hash. Lower half: the marking's number plus one; 0 is free.
    table: Vec<u64>,
}

/// A hash of bytes, eight at a time (the multiply-and-rotate of Firefox's and rustc's FxHash).
fn hash(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x517C_C1B7_2722_0A95;
    let mut state = bytes.len() as u64;
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let mut word = [0; 8];
        word.copy_from_slice(chunk);
        state = (state.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_mul(FACTOR);
    }
    let rest = chunks.remainder();
    if !rest.is_empty() {
        let mut word = [0; 8];
        word[..rest.len()].copy_from_slice(rest);
        state = (state.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_mul(FACTOR);
    }
    // The multiplication leaves the low bits weak.
    let state = (state ^ (state >> 32)).wrapping_mul(FACTOR);
    state ^ (state >> 29)
}

impl Markings {
    /// Their number.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Memory that they use.
    pub fn bytes(&self) -> usize {
        self.bytes.len() + 8 * (self.starts.len() + self.table.len())
    }

    /// The bytes of a marking.
    pub fn get(&self, number: usize) -> &[u8] {
        let end = self.starts.get(number + 1).copied();
        &self.bytes[self.starts[number]..end.unwrap_or(self.bytes.len())]
    }

    /// The number of a marking, if it is there.
    pub fn find(&self, marking: &[u8]) -> Option<u32> {
        self.look(marking, hash(marking)).ok()
    }

    /// The number of a marking, or its place in the table.
    fn look(&self, marking: &[u8], hash: u64) -> Result<u32, usize> {
        let mask = self.table.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let entry = self.table[at];
            if entry == 0 {
                return Err(at);
            }
            let number = (entry & 0xFFFF_FFFF) as u32 - 1;
            if entry >> 32 == hash >> 32 && self.get(number as usize) == marking {
                return Ok(number);
            }
            at = (at + 1) & mask;
        }
    }

    /// Adds a marking if it is not there: its number, and true if it is new.
    pub fn insert(&mut self, marking: &[u8]) -> (u32, bool) {
        if self.starts.len() * 2 >= self.table.len() {
            self.grow();
        }
        let hash = hash(marking);
        match self.look(marking, hash) {
            Ok(number) => (number, false),
            Err(at) => {
                let number = self.starts.len() as u32;
                self.starts.push(self.bytes.len());
                self.bytes.extend_from_slice(marking);
                self.table[at] = hash >> 32 << 32 | u64::from(number + 1);
                (number, true)
            }
        }
    }

    fn grow(&mut self) {
        let size = (self.table.len() * 2).max(1024);
        self.table = vec![0; size];
        for number in 0..self.starts.len() {
            let hash = hash(self.get(number));
            let mut at = hash as usize & (size - 1);
            while self.table[at] != 0 {
                at = (at + 1) & (size - 1);
            }
            self.table[at] = hash >> 32 << 32 | (number as u64 + 1);
        }
    }
}

/// Appends a number, in as few bytes as its size needs.
#[inline]
pub fn write(bytes: &mut Vec<u8>, value: i64) {
    let rest = ((value << 1) ^ (value >> 63)) as u64;
    match rest < 0x80 {
        true => bytes.push(rest as u8),
        false => write_long(bytes, rest),
    }
}

fn write_long(bytes: &mut Vec<u8>, mut rest: u64) {
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

/// Reads a number, and moves on.
#[inline]
pub fn read(bytes: &[u8], at: &mut usize) -> i64 {
    let first = bytes[*at];
    if first < 0x80 {
        *at += 1;
        return i64::from(first >> 1) ^ -i64::from(first & 1);
    }
    read_long(bytes, at)
}

fn read_long(bytes: &[u8], at: &mut usize) -> i64 {
    let mut value = 0;
    let mut shift = 0;
    loop {
        let byte = bytes[*at];
        *at += 1;
        value |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return (value >> 1) as i64 ^ -((value & 1) as i64);
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn numbers_return(values in prop::collection::vec(any::<i64>(), 0..20)) {
            let mut bytes = Vec::new();
            values.iter().for_each(|&value| write(&mut bytes, value));
            let mut at = 0;
            let back: Vec<i64> = values.iter().map(|_| read(&bytes, &mut at)).collect();
            prop_assert_eq!(back, values);
        }

        #[test]
        fn agrees_with_a_map(all in prop::collection::vec(prop::collection::vec(0_u8..3, 0..12), 0..3000)) {
            let mut markings = Markings::default();
            let mut map = HashMap::new();
            for marking in &all {
                let next = map.len() as u32;
                let new = !map.contains_key(marking);
                let number = *map.entry(marking.clone()).or_insert(next);
                prop_assert_eq!(markings.insert(marking), (number, new));
                prop_assert_eq!(markings.get(number as usize), &marking[..]);
            }
        }
    }
}
