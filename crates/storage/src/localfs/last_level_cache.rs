//! Content of the last-level processor cache. Cached pages are cheaper to copy, and cached lists of
//! buffer heads, which share the space, take no time to traverse.
//!
//! Each write to a folio of several pages traverses its folio's list of buffer heads from the first
//! block, for any part that it writes. Sources: Linux 6.18, fs/ext4/inode.c:
//! ext4_block_write_begin; fs/buffer.c: block_commit_write. The list of a folio of 1 MiB is 26 KiB
//! in scattered pieces. Its traversal is fast while the processor's caches hold it; otherwise each
//! head waits for memory. On ext4, random rewrites of 16 KiB took 5 us a call in a cached file of
//! 64 MiB, and 30 us with 512 MiB. With folios of 64 KiB they took 5 us in both.
//!
//! Calls of 96 KiB repeatedly read or rewrote files on a processor with a shared cache of 32 MiB.
//! Files of 2 and 8 MiB took 0.16 and 0.18, or 0.21 and 0.24 us a page, such of 64 MiB 0.36 and
//! 0.43.
//!
//! New data replaces random data, not the least recently used. After x bytes have been inserted, a
//! fraction exp(-x / effective_size) of the last used data remains, as in a cache with random
//! replacement. Source: Martina, Garetto, Leonardi 2014, "A unified approach to the performance
//! analysis of caching systems", INFOCOM. Files of 8, 10, 12, 14, 16 and 20 MiB were repeatedly
//! read in order. 79, 68, 43, 24, 15 and 7 % of them hit, by the time of calls of 64 KiB (the mean
//! of two rounds). An effective size of 8 MiB makes it 88, 59, 39, 27, 19 and 10;
//! least-recently-used order makes all or none hit.
//!
//! The part that is there is reckoned with, not drawn: no call finds a list or does not.
//!
//! Not modelled: other contents and losses of the caches, such as data of a file that was just
//! created; a list in this level, which takes 1 to 5 ns a head where one in the second level takes
//! none; a last level that belongs to the processor, not to a volume.

use std::collections::BTreeMap;

use headrace_net::Span;
use headrace_spec::Copying;

use super::extents::Range;
use crate::time_conversion::part_of;

/// Bytes of a buffer head on machines of 64 bits (Linux 6.18, include/linux/buffer_head.h).
const HEAD: u64 = 104;

/// Bytes that come and go together. Lines of the caches are shorter, and far more to keep in order;
/// of calls of less than this the copy is a small part.
const UNIT: u64 = 512;

/// A copy of more than 1/16 of the reach is made in parts of that size. Each part finds the
/// cache as the parts before it left it.
const PARTS: u64 = 16;

/// Offset of a file's lists, beyond the maximum file size: ext4's end at 2^44 bytes, XFS's at 2^63.
const LISTS: u64 = 1 << 63;

/// After how many times the reach has come in nothing is taken to be there: 0.03 % are.
const GONE: f64 = 8.0;

/// Bytes that were used last at one time.
#[derive(Clone, Copy, Debug)]
struct Used {
    end: u64,
    /// Bytes inserted until then.
    at: f64,
}

/// The bytes that were used, and how much has come in since.
#[derive(Debug)]
pub(super) struct LastLevelCache {
    effective_size: f64,
    /// By file and where they begin; none lie upon others.
    used: BTreeMap<(u32, u64), Used>,
    /// Bytes that have come in.
    bytes_inserted: f64,
    /// Number of had when what that is gone was last taken out.
    swept: f64,
    /// Bytes that a copy comes to before it drives out others.
    part: u64,
    /// Relative cost of copying cached data again.
    reuse_share: f64,
}

impl LastLevelCache {
    /// Nothing is there yet. None if nothing stays there.
    pub fn new(copying: &Copying) -> Option<LastLevelCache> {
        (copying.l3_reach.0 >= UNIT).then(|| LastLevelCache {
            effective_size: copying.l3_reach.0 as f64,
            used: BTreeMap::new(),
            bytes_inserted: 0.0,
            swept: 0.0,
            // The first parts of a copy evict the last ones, if these are far behind.
            part: (copying.l3_reach.0 / PARTS / UNIT).max(1) * UNIT,
            reuse_share: copying.reuse_share,
        })
    }

    /// Returns the probability that a byte is cached.
    pub fn has(&self, file: u32, at: u64) -> f64 {
        let last = self.used.range(..=(file, at)).next_back();
        match last {
            Some((&(of, _), used)) if of == file && used.end > at => self.there(used),
            _ => 0.0,
        }
    }

    /// Some bytes are copied: what that takes, of the time it would take if none were there.
    pub fn copy(&mut self, range: Range, time: Span) -> Span {
        let (mut at, mut there) = (range.start, 0.0);
        while at < range.end {
            let end = (at - at % UNIT).saturating_add(self.part).min(range.end);
            there += self.use_part(range.file, at, end);
            at = end;
        }
        let share = there / range.len().max(1) as f64;
        part_of(time, 1.0 - (1.0 - self.reuse_share) * share)
    }

    /// Walks the buffer heads of `blocks` blocks; returns the share of them that was cached.
    pub fn follow(&mut self, file: u32, first: u64, blocks: u64) -> f64 {
        let start = LISTS.saturating_add(first.saturating_mul(HEAD));
        let end = start.saturating_add(blocks * HEAD);
        self.use_part(file, start, end) / end.saturating_sub(start).max(1) as f64
    }

    /// Pages lie in other memory now.
    pub fn forget(&mut self, range: Range) {
        self.take_out(range.file, range.start, range.end);
    }

    fn there(&self, used: &Used) -> f64 {
        libm::exp((used.at - self.bytes_inserted) / self.effective_size)
    }

    /// Returns the bytes that were cached. Afterwards all of them and their units are cached.
    fn use_part(&mut self, file: u32, start: u64, end: u64) -> f64 {
        if start >= end {
            return 0.0;
        }
        let first = start - start % UNIT;
        let behind = end.div_ceil(UNIT).saturating_mul(UNIT);
        let (mut there, mut of_units) = (0.0, 0.0);
        for (from, used) in self.take_out(file, first, behind) {
            let part = self.there(&used);
            let inside = used.end.min(end).saturating_sub(from.max(start));
            there += part * inside as f64;
            of_units += part * (used.end - from) as f64;
        }
        self.bytes_inserted += (behind - first) as f64 - of_units;
        let now = Used {
            end: behind,
            at: self.bytes_inserted,
        };
        self.used.insert((file, first), now);
        if self.bytes_inserted - self.swept > self.effective_size {
            self.swept = self.bytes_inserted;
            let gone = self.bytes_inserted - GONE * self.effective_size;
            self.used.retain(|_, used| used.at > gone);
        }
        there
    }

    /// Removes the records of some bytes: the start of each piece, and its value.
    fn take_out(&mut self, file: u32, start: u64, end: u64) -> Vec<(u64, Used)> {
        let mut pieces = Vec::new();
        // A range that begins before is split there.
        let before = self.used.range_mut(..(file, start)).next_back();
        if let Some((&(of, _), used)) = before
            && of == file
            && used.end > start
        {
            let whole = *used;
            used.end = start;
            self.used.insert((file, start), whole);
        }
        while let Some((&(_, from), &used)) = self.used.range((file, start)..(file, end)).next() {
            self.used.remove(&(file, from));
            if used.end > end {
                self.used.insert((file, end), used);
            }
            let inside = used.end.min(end);
            pieces.push((
                from,
                Used {
                    end: inside,
                    ..used
                },
            ));
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use headrace_spec::Bytes;

    use super::super::copy_time::NO_TIME;
    use super::*;

    const TIME: Span = Span(1_000_000);

    fn last_level(l3_reach: u64, reuse_share: f64) -> Option<LastLevelCache> {
        LastLevelCache::new(&Copying {
            l3_reach: Bytes(l3_reach),
            reuse_share,
            ..NO_TIME
        })
    }

    fn range(file: u32, start: u64, end: u64) -> Range {
        Range { file, start, end }
    }

    /// Returns the cached fraction, derived from the copy cost with a share of 0.
    fn part(copied: Span) -> f64 {
        1.0 - copied.0 as f64 / TIME.0 as f64
    }

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 2e-6, "{found}, not {expected}");
    }

    #[test]
    fn what_was_copied_last_takes_less() {
        let mut last = last_level(4 * UNIT, 0.4).unwrap();
        assert_eq!(last.copy(range(1, 0, 2 * UNIT), TIME), TIME);
        assert_eq!(last.has(1, 2 * UNIT), 0.0);
        assert_eq!(last.has(2, 0), 0.0);
        close(last.has(1, 2 * UNIT - 1), 1.0);
        // The second of its units came in after the first.
        close(last.has(1, 0), (-0.25_f64).exp());
        last.forget(range(1, 0, UNIT));
        assert_eq!(last.has(1, 0), 0.0);
        close(last.has(1, UNIT), 1.0);
        assert_eq!(last.copy(range(1, UNIT, 2 * UNIT), TIME), Span(400_000));
    }

    #[test]
    fn what_comes_in_drives_out_anything() {
        let mut last = last_level(4 * UNIT, 0.0).unwrap();
        last.copy(range(1, 0, UNIT), TIME);
        last.copy(range(2, 0, UNIT), TIME);
        let first = (-0.25_f64).exp();
        close(part(last.copy(range(1, 0, UNIT), TIME)), first);
        // Hits evict nothing, misses do.
        close(last.has(2, 0), (-0.25 * (1.0 - first)).exp());
        // All of a unit is there, if one of its bytes was copied.
        close(part(last.copy(range(1, UNIT - 1, UNIT), TIME)), 1.0);
        // Half of it is there.
        close(part(last.copy(range(1, UNIT - 8, UNIT + 8), TIME)), 0.5);
    }

    #[test]
    fn lists_and_copies_drive_each_other_out() {
        let blocks = 2 * UNIT / HEAD;
        let mut last = last_level(4 * UNIT, 0.0).unwrap();
        assert_eq!(last.follow(1, 0, blocks), 0.0);
        let copied = last.copy(range(1, 0, UNIT), TIME);
        assert_eq!(copied, TIME, "copies of the same bytes are others");
        close(last.follow(1, 0, blocks), (-0.25_f64).exp());
        assert_eq!(last.follow(2, 0, blocks), 0.0, "another file's");
        // However far in a file, what traces say of one among it.
        assert_eq!(last.follow(1, u64::MAX / 4096, blocks), 0.0);
        last.follow(1, u64::MAX, blocks);
    }

    /// In a cache with random replacement, read in order repeatedly, a fraction h of a file hits
    /// where h = exp(-(1 - h) size / reach).
    #[test]
    fn a_file_that_is_read_again_and_again_is_found_as_with_random_replacement() {
        for (size, expected) in [(800, 1.0), (1200, 0.6863), (1600, 0.3580), (3200, 0.0436)] {
            let mut last = last_level(1000 * UNIT, 0.0).unwrap();
            let mut found = 0.0;
            for _ in 0..200 {
                let each = (0..size).map(|unit| range(1, unit * UNIT, (unit + 1) * UNIT));
                found = each.map(|it| part(last.copy(it, TIME))).sum::<f64>() / size as f64;
            }
            assert!((found - expected).abs() < 0.01, "{size}: {found}");
        }
    }

    #[test]
    fn a_large_copy_drives_out_its_own_beginning() {
        let mut pieces = last_level(32 * UNIT, 0.0).unwrap();
        let mut whole = last_level(32 * UNIT, 0.0).unwrap();
        for _ in 0..3 {
            let copied: f64 = (0..48)
                .map(|two| range(1, two * 2 * UNIT, (two + 1) * 2 * UNIT))
                .map(|it| part(pieces.copy(it, TIME)) / 48.0)
                .sum();
            close(part(whole.copy(range(1, 0, 96 * UNIT), TIME)), copied);
        }
    }

    #[test]
    fn what_is_gone_is_forgotten() {
        let mut last = last_level(16 * UNIT, 0.4).unwrap();
        for unit in 0..10_000 {
            last.copy(range(1, 2 * unit * UNIT, (2 * unit + 1) * UNIT), TIME);
            assert!(last.used.len() < 16 * 10, "{}", last.used.len());
        }
        assert!(last.has(1, 0) < 0.001);
    }

    #[test]
    fn nothing_is_kept_where_nothing_stays() {
        assert!(last_level(UNIT - 1, 0.4).is_none());
        let mut equal = last_level(1 << 20, 1.0).unwrap();
        assert_eq!(equal.copy(range(1, 0, 5), TIME), TIME);
        close(equal.has(1, 0), 1.0);
        let nothing = last_level(1 << 20, 0.0).unwrap().copy(range(1, 5, 5), TIME);
        assert_eq!(nothing, TIME);
    }

    /// Bytes of one file, each with how many had come in when it was used: what extents must say.
    #[test]
    fn extents_say_what_single_units_would() {
        use proptest::prelude::*;
        let calls = prop::collection::vec((0..40_u64, 1..4_u64, 0..6_u8), 1..200);
        proptest!(|(calls in calls)| {
            let effective_size = 20.0 * UNIT as f64;
            let mut last = last_level(20 * UNIT, 0.0).unwrap();
            let mut units: [Option<f64>; 64] = [None; 64];
            let mut bytes_inserted = 0.0_f64;
            for (at, count, what) in calls {
                // As many as a copy comes to before it drives out others, so that both have one.
                let (start, end) = (at * UNIT, (at + count) * UNIT);
                let chosen = at as usize..(at + count) as usize;
                if what == 0 {
                    last.forget(range(1, start, end));
                    units[chosen].fill(None);
                    continue;
                }
                for unit in chosen {
                    let expected = units[unit].map_or(0.0, |at| ((at - bytes_inserted) / effective_size).exp());
                    let copied = last.copy(range(1, unit as u64 * UNIT, (unit as u64 + 1) * UNIT), TIME);
                    bytes_inserted += UNIT as f64 * (1.0 - expected);
                    units[unit] = Some(bytes_inserted);
                    // The part taken to be evicted was less than that.
                    prop_assert!((part(copied) - expected).abs() < 4e-4);
                }
            }
        });
    }
}
