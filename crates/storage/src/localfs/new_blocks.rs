//! Bytes of files whose blocks were allocated and have not been written yet.
//!
//! A transfer of them is told from others, since a device may take longer where nothing was
//! before. One that has both is taken for new as a whole.

use std::collections::BTreeMap;

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

    /// A range is written; says whether any of it was new.
    pub fn take(&mut self, range: Range) -> bool {
        let mut new = false;
        if range.is_empty() {
            return new;
        }
        // What only touches it stays.
        while let Some((at, last)) = self.meets(range.file, range.start + 1, range.end - 1) {
            new = true;
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

    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The last that overlaps or touches.
    fn meets(&self, file: u32, start: u64, end: u64) -> Option<(u64, u64)> {
        let (&(of, at), &last) = self.0.range(..=(file, end)).next_back()?;
        (of == file && last >= start).then_some((at, last))
    }
}

#[cfg(test)]
mod tests {
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
        assert!(!new.take(range(12, 20)) && !new.take(range(30, 40)));
        assert!(!new.take(Range {
            file: 6,
            ..range(0, 60)
        }));
        // Out of the middle: both ends stay.
        assert!(new.take(range(22, 25)) && !new.take(range(22, 25)));
        assert!(new.take(range(21, 22)) && new.take(range(25, 45)));
        assert!(!new.take(range(21, 45)) && new.take(range(45, 46)));
        new.remove(7);
        assert!(!new.take(range(0, 60)));
    }
}
