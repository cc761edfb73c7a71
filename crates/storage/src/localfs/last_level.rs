//! What the last level of the processor's caches has: copying pages again takes less, and so does
//! following lists of buffer heads (`buffer_heads`), which take room beside them.
//!
//! Files of 2 and 8 MiB that were read or rewritten again and again in calls of 96 KiB took 0.16
//! and 0.18, or 0.21 and 0.24 us a page, such of 64 MiB 0.36 and 0.43, on a processor with 32 MiB
//! that it shares with others. In calls at random places files of 24 to 128 MiB were found there
//! as if the 10 MiB that were copied last were.
//!
//! Not modelled: that caches do not forget strictly in the order of use (of a file of 16 MiB that
//! was read in order a third was found yet, where that order leaves nothing); what else drives
//! pages and lists out; what a file that was just made leaves there.

use headrace_net::Span;
use headrace_spec::Copying;

use super::buffer_heads::HEAD;
use super::extents::Range;
use super::page_cache::PageCache;

/// Bytes that come and go together. Lines of the caches are shorter, and far more to keep in order;
/// of calls of less than this the copy is a small part.
const UNIT: u64 = 512;

/// A copy of more than one of so many parts of all that stays goes in such parts.
const PARTS: u64 = 16;

/// Where the lists of a file are kept, behind all that a file can have: ext4's end at 2^44 bytes,
/// XFS's at 2^63.
const LISTS: u64 = 1 << 63;

/// The bytes that were used last.
#[derive(Debug)]
pub(super) struct LastLevel {
    used: PageCache,
    /// Bytes that a copy comes to before it drives out others.
    part: u64,
    /// What copying takes again, as a part of what it takes.
    reuse_share: f64,
}

impl LastLevel {
    /// Nothing is there yet. None if nothing stays there.
    pub fn new(copying: &Copying) -> Option<LastLevel> {
        (copying.l3_reach.0 >= UNIT).then(|| LastLevel {
            // What is copied first drives out what is copied last, if that is far behind.
            part: (copying.l3_reach.0 / PARTS / UNIT).max(1) * UNIT,
            used: PageCache::clean(copying.l3_reach.0, UNIT),
            reuse_share: copying.reuse_share,
        })
    }

    /// Whether a byte is there.
    pub fn has(&self, file: u32, at: u64) -> bool {
        self.used.holds(file, at)
    }

    /// Some bytes are copied: what that takes, of the time it would take if none were there.
    pub fn copy(&mut self, range: Range, time: Span) -> Span {
        let (mut at, mut there) = (range.start, 0);
        while at < range.end {
            let end = (at - at % UNIT).saturating_add(self.part).min(range.end);
            there += self.use_part(range.file, at, end);
            at = end;
        }
        let share = there as f64 / range.len().max(1) as f64;
        Span((time.0 as f64 * (1.0 - (1.0 - self.reuse_share) * share) + 0.5) as u64)
    }

    /// How many of some bytes were there; now all of them are.
    fn use_part(&mut self, file: u32, start: u64, end: u64) -> u64 {
        let gaps = self.used.read(file, start, end - start);
        let outside = |gap: &Range| gap.end.min(end) - gap.start.max(start);
        let missing: u64 = gaps.iter().map(outside).sum();
        for gap in gaps {
            self.used.fill(gap);
        }
        end - start - missing
    }

    /// Follows the buffer heads of so many blocks: whether all of them were there.
    pub fn follow(&mut self, file: u32, first: u64, blocks: u64) -> bool {
        let start = LISTS.saturating_add(first.saturating_mul(HEAD));
        let end = start.saturating_add(blocks * HEAD);
        self.use_part(file, start, end) == end - start
    }

    /// Pages lie in other memory now.
    pub fn forget(&mut self, range: Range) {
        self.used.forget(range);
    }
}

#[cfg(test)]
mod tests {
    use headrace_spec::Bytes;

    use super::super::copying::NO_TIME;
    use super::*;

    const TIME: Span = Span(1000);

    fn last_level(l3_reach: u64, reuse_share: f64) -> Option<LastLevel> {
        LastLevel::new(&Copying {
            l3_reach: Bytes(l3_reach),
            reuse_share,
            ..NO_TIME
        })
    }

    fn range(file: u32, start: u64, end: u64) -> Range {
        Range { file, start, end }
    }

    #[test]
    fn what_was_copied_last_takes_less() {
        let mut last = last_level(4 * UNIT, 0.4).unwrap();
        assert_eq!(last.copy(range(1, 0, 2 * UNIT), TIME), TIME);
        assert!(last.has(1, 2 * UNIT - 1) && !last.has(1, 2 * UNIT) && !last.has(2, 0));
        assert_eq!(last.copy(range(1, 0, 2 * UNIT), TIME), Span(400));
        // Half of it is there.
        assert_eq!(last.copy(range(1, UNIT, 3 * UNIT), TIME), Span(700));
        // All of a unit is there, if one of its bytes was copied.
        assert_eq!(last.copy(range(1, 3 * UNIT, 3 * UNIT + 1), TIME), TIME);
        assert_eq!(last.copy(range(1, 4 * UNIT - 1, 4 * UNIT), TIME), Span(400));
        // There is room for four, and the first was not used again for the longest time.
        assert_eq!(last.copy(range(2, 0, UNIT), TIME), TIME);
        assert!(!last.has(1, 0) && last.has(1, UNIT));
        last.forget(range(1, 0, 2 * UNIT));
        assert!(!last.has(1, UNIT) && last.has(1, 2 * UNIT));
    }

    #[test]
    fn lists_and_copies_drive_each_other_out() {
        let blocks = 2 * UNIT / HEAD;
        let mut last = last_level(4 * UNIT, 0.4).unwrap();
        assert!(!last.follow(1, 0, blocks));
        assert_eq!(last.copy(range(1, 0, 2 * UNIT), TIME), TIME);
        assert!(
            last.follow(1, 0, blocks),
            "copies of the same bytes are others"
        );
        assert!(!last.follow(2, 0, blocks), "another file's");
        assert_eq!(last.copy(range(1, 0, 2 * UNIT), TIME), TIME);
        assert!(!last.follow(1, 0, blocks));
        // However far in a file, what traces say of one among it.
        assert!(!last.follow(1, u64::MAX / 4096, blocks));
        last.follow(1, u64::MAX, blocks);
    }

    #[test]
    fn a_file_that_is_larger_is_not_found_when_it_is_copied_again() {
        let mut last = last_level(8 * UNIT, 0.4).unwrap();
        for line in (0..9).chain(0..9) {
            let copied = last.copy(range(1, line * UNIT, (line + 1) * UNIT), TIME);
            assert_eq!(copied, TIME, "{line}");
        }
    }

    #[test]
    fn a_copy_of_more_than_stays_drives_out_what_it_comes_to() {
        let mut last = last_level(32 * UNIT, 0.4).unwrap();
        for _ in 0..3 {
            assert_eq!(last.copy(range(1, 0, 48 * UNIT), TIME), TIME);
        }
        // Of its parts that are there: the last 32 units, unaligned or not.
        assert_eq!(
            last.copy(range(1, 46 * UNIT + 1, 48 * UNIT - 1), TIME),
            Span(400)
        );
    }

    #[test]
    fn nothing_is_kept_where_nothing_stays() {
        assert!(last_level(UNIT - 1, 0.4).is_none());
        let mut equal = last_level(1 << 20, 1.0).unwrap();
        assert_eq!(equal.copy(range(1, 0, 5), TIME), TIME);
        assert!(equal.has(1, 0), "which a call at a random place asks");
        let nothing = last_level(1 << 20, 0.0).unwrap().copy(range(1, 5, 5), TIME);
        assert_eq!(nothing, TIME);
    }
}
