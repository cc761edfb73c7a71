//! Bytes of files whose blocks were allocated and have not been written yet.
//!
//! A transfer says how many blocks of it they are, since a device may take longer where nothing
//! was before. With a journal of all data that is when they go to their places: the journal's own
//! blocks are never new.

use std::collections::BTreeMap;

use super::block_allocator::Gaps;
use super::extents::Range;

/// By file and first byte: the byte after the last. They neither overlap nor touch.
#[derive(Clone, Debug, Default)]
pub struct NewBlocks(BTreeMap<(u32, u64), u64>);

impl NewBlocks {
    /// Blocks were allocated for a range.
    pub fn add(&mut self, range: Range) {
        let (mut start, mut end) = (range.start, range.end);
        while let Some((at, last)) = self.meets(range.file, start, end) {
            self.0.remove(&(range.file, at));
            (start, end) = (start.min(at), end.max(last));
        }
        self.0.insert((range.file, start), end);
    }

    /// The same for several of a file.
    pub fn add_all(&mut self, file: u32, ranges: Gaps) {
        for (start, end) in ranges {
            self.add(Range { file, start, end });
        }
    }

    /// A range is written; says how many of its bytes were new.
    pub fn take(&mut self, range: Range) -> u64 {
        let mut new = 0;
        if range.is_empty() {
            return new;
        }
        // Ranges that only touch it stay.
        while let Some((at, last)) = self.meets(range.file, range.start + 1, range.end - 1) {
            new += last.min(range.end) - at.max(range.start);
            self.0.remove(&(range.file, at));
            if at < range.start {
                self.0.insert((range.file, at), range.start);
            }
            if range.end < last {
                self.0.insert((range.file, range.end), last);
            }
        }
        new
    }

    /// A file is gone.
    pub fn remove(&mut self, file: u32) {
        while let Some((at, _)) = self.meets(file, 0, u64::MAX) {
            self.0.remove(&(file, at));
        }
    }

    /// The last that overlaps or touches.
    fn meets(&self, file: u32, start: u64, end: u64) -> Option<(u64, u64)> {
        let (&(of, at), &last) = self.0.range(..=(file, end)).next_back()?;
        (of == file && last >= start).then_some((at, last))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn range(start: u64, end: u64) -> Range {
        Range {
            file: 7,
            start,
            end,
        }
    }

    #[test]
    fn what_was_written_is_new_no_more() {
        let mut new = NewBlocks::default();
        for (start, end) in [(0, 10), (20, 30), (10, 12), (40, 50)] {
            new.add(range(start, end));
        }
        assert_eq!(new.0.len(), 3);
        assert_eq!(new.take(range(12, 20)), 0);
        assert_eq!(new.take(range(30, 40)), 0);
        let of_another = Range {
            file: 6,
            ..range(0, 60)
        };
        assert_eq!(new.take(of_another), 0);
        // From within: both ends stay.
        assert_eq!(new.take(range(22, 25)), 3);
        assert_eq!(new.take(range(22, 25)), 0);
        assert_eq!(new.take(range(21, 22)), 1);
        // From two, with old blocks between them and before the first.
        assert_eq!(new.take(range(23, 45)), 5 + 5);
        assert_eq!(new.take(range(21, 45)), 0);
        assert_eq!(new.take(range(44, 46)), 1);
        assert_eq!(new.take(range(7, 7)), 0);
        new.remove(7);
        assert_eq!(new.take(range(0, 60)), 0);
    }

    proptest! {
        /// As a set of the bytes has it.
        #[test]
        fn as_many_are_taken_as_a_set_has(
            steps in prop::collection::vec((any::<bool>(), 6_u32..8, 0_u64..60, 1_u64..30), 1..60),
        ) {
            let mut new = NewBlocks::default();
            let mut all: BTreeSet<(u32, u64)> = BTreeSet::new();
            for (adds, file, start, size) in steps {
                let end = start + size;
                let bytes = (start..end).map(|byte| (file, byte));
                if adds {
                    new.add(Range { file, start, end });
                    all.extend(bytes);
                } else {
                    let taken = bytes.filter(|byte| all.remove(byte)).count() as u64;
                    prop_assert_eq!(new.take(Range { file, start, end }), taken);
                }
            }
        }
    }
}
