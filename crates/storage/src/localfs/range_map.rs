//! Disjoint ranges of files: with a value each, or as a set.
//!
//! The `rangemap` crate joins neighbours of equal value, and keeps one key. Here a range is of a
//! file, the pieces of a map stay apart as they were put in, and a set counts its bytes.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::extents::Range;

/// Some pieces; what a call asks for is mostly one.
pub type Pieces<V> = SmallVec<[(Range, V); 1]>;

/// Values of disjoint ranges.
#[derive(Clone, Debug)]
pub struct RangeMap<V>(BTreeMap<(u32, u64), (u64, V)>);

impl<V> Default for RangeMap<V> {
    fn default() -> RangeMap<V> {
        RangeMap(BTreeMap::new())
    }
}

fn range((&(file, start), &(end, _)): (&(u32, u64), &(u64, impl Sized))) -> Range {
    Range { file, start, end }
}

impl<V> RangeMap<V> {
    /// Returns true if it has no range.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All ranges with their values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Range, &V)> {
        self.0.iter().map(|(key, it)| (range((key, it)), &it.1))
    }

    /// The range that holds a byte.
    pub fn at(&self, file: u32, at: u64) -> Option<(Range, &V)> {
        let (key, it) = self.0.range(..=(file, at)).next_back()?;
        (key.0 == file && at < it.0).then(|| (range((key, it)), &it.1))
    }

    /// The value of the range that holds a byte, to be changed.
    pub fn at_mut(&mut self, file: u32, at: u64) -> Option<&mut V> {
        let (key, it) = self.0.range_mut(..=(file, at)).next_back()?;
        (key.0 == file && at < it.0).then_some(&mut it.1)
    }

    /// The last range that begins before a byte of a file.
    pub fn last_before(&self, file: u32, end: u64) -> Option<(Range, &V)> {
        let (key, it) = self.0.range((file, 0)..(file, end)).next_back()?;
        Some((range((key, it)), &it.1))
    }

    /// The last range that has any of these bytes.
    pub fn last_of(&self, wanted: Range) -> Option<(Range, &V)> {
        if wanted.is_empty() {
            return None;
        }
        let last = self.last_before(wanted.file, wanted.end);
        last.filter(|(range, _)| range.end > wanted.start)
    }

    /// Ranges that begin inside some bytes of a file.
    pub fn beginning_in(&self, wanted: Range) -> impl Iterator<Item = (Range, &V)> {
        let Range { file, start, end } = wanted;
        let inside = self.0.range((file, start)..(file, end.max(start)));
        inside.map(|(key, it)| (range((key, it)), &it.1))
    }

    /// Puts a range; none may overlap it, but one that begins with it is replaced. An empty
    /// range has no place.
    pub fn put(&mut self, range: Range, value: V) {
        if range.is_empty() {
            return;
        }
        self.0.insert((range.file, range.start), (range.end, value));
    }

    /// Takes out the range that begins with a byte.
    pub fn remove(&mut self, file: u32, start: u64) -> Option<V> {
        self.0.remove(&(file, start)).map(|(_, value)| value)
    }

    /// Takes out all ranges of a file.
    pub fn remove_file(&mut self, file: u32) {
        while let Some((range, _)) = self.last_before(file, u64::MAX) {
            self.0.remove(&(file, range.start));
        }
    }

    /// Takes out ranges by their values.
    pub fn retain(&mut self, mut keep: impl FnMut(&V) -> bool) {
        self.0.retain(|_, (_, value)| keep(value));
    }
}

impl<V: Clone> RangeMap<V> {
    /// Takes out some bytes; gives the pieces that they were in, the last first. Parts of ranges
    /// beyond them stay.
    pub fn take(&mut self, wanted: Range) -> Pieces<V> {
        let mut taken = Pieces::new();
        let Range { file, start, end } = wanted;
        while let Some((found, value)) = self.last_of(wanted) {
            let value = value.clone();
            self.0.remove(&(file, found.start));
            if found.start < start {
                self.0.insert((file, found.start), (start, value.clone()));
            }
            if found.end > end {
                self.0.insert((file, end), (found.end, value.clone()));
            }
            let inside = Range {
                file,
                start: found.start.max(start),
                end: found.end.min(end),
            };
            taken.push((inside, value));
        }
        taken
    }

    /// Sets the value of some bytes; returns the pieces that they were in, as [`RangeMap::take`]
    /// does.
    pub fn set(&mut self, range: Range, value: V) -> Pieces<V> {
        let taken = self.take(range);
        self.put(range, value);
        taken
    }
}

/// A set of bytes of files.
#[derive(Clone, Default, Debug)]
pub struct RangeSet {
    ranges: RangeMap<()>,
    bytes: u64,
}

impl RangeSet {
    /// Returns true if it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Number of bytes in it.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Its ranges, in order. They neither overlap nor touch.
    pub fn iter(&self) -> impl Iterator<Item = Range> {
        self.ranges.iter().map(|(range, ())| range)
    }

    /// Adds some bytes.
    pub fn insert(&mut self, range: Range) {
        if range.is_empty() {
            return;
        }
        let mut all = range;
        // Overlapping or touching ranges are merged with it.
        while let Some((found, ())) = self.ranges.last_before(all.file, all.end.saturating_add(1))
            && found.end >= all.start
        {
            self.ranges.remove(found.file, found.start);
            self.bytes -= found.len();
            all.start = all.start.min(found.start);
            all.end = all.end.max(found.end);
        }
        self.ranges.put(all, ());
        self.bytes += all.len();
    }

    /// Returns true if it has any of these bytes.
    pub fn overlaps(&self, range: Range) -> bool {
        self.ranges.last_of(range).is_some()
    }

    /// The parts of a range that it has not, in order.
    pub fn gaps(&self, wanted: Range) -> Vec<Range> {
        let mut gaps = Vec::new();
        let mut rest = wanted;
        while !rest.is_empty() {
            let last = self.ranges.last_of(rest).map(|(range, ())| range);
            let after = last.map_or(rest.start, |range| range.end.min(rest.end));
            if after < rest.end {
                gaps.push(Range {
                    start: after,
                    ..rest
                });
            }
            rest.end = last.map_or(rest.start, |range| range.start.max(rest.start));
        }
        gaps.reverse();
        gaps
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// Bytes by value, one by one.
    type Table = BTreeMap<(u32, u64), u64>;

    fn bytes(range: Range) -> impl Iterator<Item = (u32, u64)> {
        (range.start..range.end).map(move |at| (range.file, at))
    }

    fn some_range() -> impl Strategy<Value = Range> {
        (6_u32..8, 0_u64..50, 0_u64..20).prop_map(|(file, start, size)| Range {
            file,
            start,
            end: start + size,
        })
    }

    proptest! {
        #[test]
        fn a_map_is_as_a_table_of_bytes(
            steps in prop::collection::vec((0_u8..4, some_range()), 1..50),
        ) {
            let (mut map, mut table) = (RangeMap::default(), Table::new());
            for (number, (kind, range)) in (0..).zip(steps) {
                let expected: Table = bytes(range)
                    .filter_map(|at| table.get(&at).map(|value| (at, *value)))
                    .collect();
                match kind {
                    0 | 1 => {
                        let taken = map.set(range, number);
                        prop_assert_eq!(expected, of_pieces(taken));
                        table.extend(bytes(range).map(|at| (at, number)));
                    }
                    2 => {
                        let taken = map.take(range);
                        prop_assert!(taken.is_sorted_by_key(|it| std::cmp::Reverse(it.0.start)));
                        prop_assert_eq!(expected, of_pieces(taken));
                        for at in bytes(range) {
                            table.remove(&at);
                        }
                    }
                    _ => {
                        map.retain(|value| value % 3 != 0);
                        table.retain(|_, value| *value % 3 != 0);
                    }
                }
                let all = map.iter().map(|(range, value)| (range, *value));
                prop_assert_eq!(&of_pieces(all), &table);
                for at in bytes(Range { start: 0, end: 75, ..range }) {
                    let found = map.at(at.0, at.1);
                    prop_assert_eq!(found.map(|it| *it.1), table.get(&at).copied());
                }
            }
            map.remove_file(6);
            table.retain(|at, _| at.0 != 6);
            let all = map.iter().map(|(range, value)| (range, *value));
            prop_assert_eq!(of_pieces(all), table);
        }

        #[test]
        fn a_set_is_as_a_set_of_bytes(
            ranges in prop::collection::vec(some_range(), 1..30),
            asked in prop::collection::vec(some_range(), 1..10),
        ) {
            let (mut set, mut all) = (RangeSet::default(), BTreeSet::new());
            for range in ranges {
                set.insert(range);
                all.extend(bytes(range));
                prop_assert_eq!(set.bytes(), all.len() as u64);
            }
            let ranges: Vec<Range> = set.iter().collect();
            for pair in ranges.windows(2) {
                prop_assert!(pair[0].file < pair[1].file || pair[0].end < pair[1].start);
            }
            prop_assert_eq!(&ranges.into_iter().flat_map(bytes).collect::<BTreeSet<_>>(), &all);
            for range in asked {
                prop_assert_eq!(set.overlaps(range), bytes(range).any(|at| all.contains(&at)));
                let gaps = set.gaps(range);
                prop_assert!(gaps.is_sorted_by_key(|gap| gap.start));
                let gaps: Vec<_> = gaps.into_iter().flat_map(bytes).collect();
                let missing = bytes(range).filter(|at| !all.contains(at));
                prop_assert_eq!(gaps, missing.collect::<Vec<_>>());
            }
        }
    }

    fn of_pieces(pieces: impl IntoIterator<Item = (Range, u64)>) -> Table {
        let pieces = pieces.into_iter();
        let each = pieces.flat_map(|(range, value)| bytes(range).map(move |at| (at, value)));
        each.collect()
    }
}
