//! What the last level of the processor's caches has of the page cache: copying it again takes
//! less.
//!
//! Files of 2 and 8 MiB that were read or rewritten again and again in calls of 96 KiB took 0.16
//! and 0.18, or 0.21 and 0.24 us a page, such of 64 MiB 0.36 and 0.43, on a processor with 32 MiB
//! that it shares with others. In calls at random places files of 24 to 128 MiB were found there
//! as if the 10 MiB that were copied last were.
//!
//! Not modelled: that caches do not forget strictly in the order of use (of a file of 16 MiB that
//! was read in order a third was found yet, where that order leaves nothing); what else drives
//! pages out; what a file that was just made leaves there.

use headrace_net::Span;
use headrace_spec::Copying;

use super::extents::Range;
use super::page_cache::PageCache;

/// Bytes that come and go together: a line of x86-64 processors and of most others.
const LINE: u64 = 64;

/// The bytes that were copied last.
#[derive(Debug)]
pub(super) struct LastLevel {
    copied: PageCache,
    /// What copying takes again, as a part of what it takes.
    reuse_share: f64,
}

impl LastLevel {
    /// Nothing is there yet. None if it makes no difference.
    pub fn new(copying: &Copying) -> Option<LastLevel> {
        let differs = copying.l3_reach.0 >= LINE && copying.reuse_share < 1.0;
        differs.then(|| LastLevel {
            copied: PageCache::clean(copying.l3_reach.0, LINE),
            reuse_share: copying.reuse_share,
        })
    }

    /// Whether a byte is there.
    pub fn has(&self, file: u32, at: u64) -> bool {
        self.copied.holds(file, at)
    }

    /// Some bytes are copied: what that takes, of the time it would take if none were there.
    pub fn copy(&mut self, range: Range, time: Span) -> Span {
        let Range { file, start, end } = range;
        let lines = end.div_ceil(LINE) - start / LINE;
        let gaps = self.copied.read(file, start, end - start);
        let missing: u64 = gaps.iter().map(Range::len).sum();
        for gap in gaps {
            self.copied.fill(gap);
        }
        let there = 1.0 - (missing / LINE) as f64 / lines.max(1) as f64;
        let less = (1.0 - self.reuse_share) * there;
        Span((time.0 as f64 * (1.0 - less) + 0.5) as u64)
    }

    /// Pages lie in other memory now.
    pub fn forget(&mut self, range: Range) {
        self.copied.forget(range);
    }
}

#[cfg(test)]
mod tests {
    use headrace_spec::{Bytes, Seconds};

    use super::*;

    const TIME: Span = Span(1000);

    fn last_level(l3_reach: u64, reuse_share: f64) -> Option<LastLevel> {
        LastLevel::new(&Copying {
            l2: Bytes(1 << 20),
            l2_share: 0.5,
            l3: Bytes(32 << 20),
            l3_share: 0.5,
            l3_reach: Bytes(l3_reach),
            reuse_share,
            page_in_l2: Seconds(0.0),
            page_in_l3: Seconds(0.0),
            page_in_memory: Seconds(0.0),
            read_call: Seconds(0.0),
            write_share: 1.0,
            contention: 1.0,
        })
    }

    fn range(file: u32, start: u64, end: u64) -> Range {
        Range { file, start, end }
    }

    #[test]
    fn what_was_copied_last_takes_less() {
        let mut last = last_level(4 * LINE, 0.4).unwrap();
        assert_eq!(last.copy(range(1, 0, 2 * LINE), TIME), TIME);
        assert!(last.has(1, 2 * LINE - 1) && !last.has(1, 2 * LINE) && !last.has(2, 0));
        assert_eq!(last.copy(range(1, 0, 2 * LINE), TIME), Span(400));
        // Half of it is there.
        assert_eq!(last.copy(range(1, LINE, 3 * LINE), TIME), Span(700));
        // A line is, if one of its bytes was copied.
        assert_eq!(last.copy(range(1, 3 * LINE, 3 * LINE + 1), TIME), TIME);
        assert_eq!(last.copy(range(1, 4 * LINE - 1, 4 * LINE), TIME), Span(400));
        // There is room for four, and the first was not used again for the longest time.
        assert_eq!(last.copy(range(2, 0, LINE), TIME), TIME);
        assert!(!last.has(1, 0) && last.has(1, LINE));
        last.forget(range(1, 0, 2 * LINE));
        assert!(!last.has(1, LINE) && last.has(1, 2 * LINE));
    }

    #[test]
    fn a_file_that_is_larger_is_not_found_when_it_is_copied_again() {
        let mut last = last_level(8 * LINE, 0.4).unwrap();
        for line in (0..9).chain(0..9) {
            let copied = last.copy(range(1, line * LINE, (line + 1) * LINE), TIME);
            assert_eq!(copied, TIME, "{line}");
        }
    }

    #[test]
    fn nothing_is_kept_where_it_makes_no_difference() {
        assert!(last_level(0, 0.4).is_none());
        assert!(last_level(1 << 20, 1.0).is_none());
        let nothing = last_level(1 << 20, 0.0).unwrap().copy(range(1, 5, 5), TIME);
        assert_eq!(nothing, TIME);
    }
}
