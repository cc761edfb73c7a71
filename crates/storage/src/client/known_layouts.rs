//! Files whose layouts a client knows, as ranges of numbers, because processes use their files in
//! order.

/// A set of file numbers.
#[derive(Clone, Default, Debug)]
pub struct KnownLayouts {
    /// Ranges from first to last number, in order, with gaps between them.
    ranges: Vec<(u32, u32)>,
}

impl KnownLayouts {
    /// The position of the first range that begins after `file`.
    fn after(&self, file: u32) -> usize {
        self.ranges.partition_point(|&(first, _)| first <= file)
    }

    /// Returns true if the file is known.
    pub fn contains(&self, file: u32) -> bool {
        match self.after(file).checked_sub(1) {
            None => false,
            Some(index) => file <= self.ranges[index].1,
        }
    }

    /// Learns of a file.
    pub fn insert(&mut self, file: u32) {
        if self.contains(file) {
            return;
        }
        let next = self.after(file);
        let joins_next = self
            .ranges
            .get(next)
            .is_some_and(|&(first, _)| first - 1 == file);
        let joins_last = next > 0 && self.ranges[next - 1].1 + 1 == file;
        match (joins_last, joins_next) {
            (true, true) => self.ranges[next - 1].1 = self.ranges.remove(next).1,
            (true, false) => self.ranges[next - 1].1 = file,
            (false, true) => self.ranges[next].0 = file,
            (false, false) => self.ranges.insert(next, (file, file)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn is_a_set(files in prop::collection::vec(0_u32..60, 0..80)) {
            let mut known = KnownLayouts::default();
            let mut twin = BTreeSet::new();
            for file in files {
                known.insert(file);
                twin.insert(file);
                for file in 0..60 {
                    prop_assert_eq!(known.contains(file), twin.contains(&file));
                }
            }
            prop_assert!(known.ranges.windows(2).all(|pair| pair[0].1 + 1 < pair[1].0));
        }
    }
}
