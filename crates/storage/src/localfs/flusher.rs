//! The flusher: dirty pages go to the device because there are too many, because
//! they are old, or because somebody waits for them (Linux 6.18,
//! fs/fs-writeback.c). It hands the device all that is over the limit at once; an
//! I/O queue in front of the device bounds how much of it waits there.

use headrace_net::{Span, Time};
use headrace_spec::{IoPriority, JournalMode};

use super::call::Caller;
use super::extents::Range;
use super::journal::BLOCK;
use super::volume::Volume;
use crate::tokens::Transfer;

/// The most that is written of one file in a turn: MIN_WRITEBACK_PAGES, 4 MiB.
pub(super) const CHUNK: u64 = 4 << 20;

/// Folios that the kernel hands to a device at once (BIO_MAX_VECS of include/linux/bio.h).
const MOST_FOLIOS: u64 = 256;

/// Bytes for which ext4 chooses blocks at once when it has left that for later, and after which
/// it hands over what it has (MAX_WRITEPAGES_EXTENT_LEN of fs/ext4/inode.c: 2,048 blocks).
const MOST_CHOSEN: u64 = 2048 * BLOCK;

impl Volume {
    /// There is too much that is dirty: writes until there is less.
    pub(super) fn flush_in_background(&mut self, now: Time) {
        if !self.flushing && self.writing == 0 {
            self.balance.begins(now);
        }
        self.flushing = true;
        self.flush(now);
    }

    /// Returns true if there are more dirty pages than the background limit, or more of this
    /// device's than its part of it (wb_over_bg_thresh).
    fn over_background(&self) -> bool {
        let background = self.balance.background;
        let own = (background as f64 * self.balance.share) as u64;
        self.dirty_unwritten() > background || self.dirty > own
    }

    /// Reclaim finds nothing but dirty pages: all that is dirty now is written
    /// (shrink_inactive_list in mm/vmscan.c wakes the flusher for WB_REASON_VMSCAN,
    /// wb_check_start_all takes as much as is dirty).
    pub(super) fn flush_all(&mut self, now: Time) {
        if !self.flushing && self.writing == 0 {
            self.balance.begins(now);
        }
        self.write_older(Span::ZERO, now);
    }

    /// Writes dirty pages while there are too many, once that has begun, and those
    /// that have been dirty for too long.
    pub(super) fn flush(&mut self, now: Time) {
        self.write_older(self.expiry, now);
    }

    /// Writes dirty pages while there are too many, once that has begun, and those
    /// that have been dirty for so long.
    fn write_older(&mut self, age: Span, now: Time) {
        while let Some(&(since, file)) = self.dirty_order.first() {
            self.flushing &= self.over_background();
            if !self.flushing && now.since(since) < age {
                return;
            }
            let from = self.cursor.get(&file).copied().unwrap_or(0);
            let mut ranges = self.next_to_write(file, from);
            if ranges.is_empty() {
                ranges = self.next_to_write(file, 0);
            }
            let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else {
                if self.cache.is_dirty(file, 0, u64::MAX) {
                    // All of it is under write-back already.
                    return;
                }
                self.dirty_order.remove(&(since, file));
                self.dirty_since.remove(&file);
                self.cursor.remove(&file);
                continue;
            };
            self.cursor.insert(file, last.end);
            let all = Range {
                end: last.end,
                ..*first
            };
            self.cleaned(all, ranges.iter().map(Range::len).sum());
            self.balance.sent(now);
            for range in ranges {
                self.write_back(range, None, now);
                self.charge(range);
            }
        }
    }

    /// The next dirty bytes of a file from `from` on, which count as clean from now
    /// on: contiguous ones, or all of a folio. A folio that is under write-back is
    /// passed over: it is written again when that has ended (write_cache_pages in
    /// mm/page-writeback.c).
    fn next_to_write(&mut self, file: u32, from: u64) -> Vec<Range> {
        let unit = self.folio_of(file);
        if unit == self.page {
            return self
                .cache
                .clean_next(file, from, CHUNK)
                .into_iter()
                .collect();
        }
        let is_out = |volume: &Volume, folio| volume.folios_out.contains_key(&(file, folio));
        let mut from = from;
        while let Some(start) = self.cache.next_dirty(file, from) {
            let mut end = (start / unit + 1) * unit;
            if is_out(self, start / unit) {
                from = end;
                continue;
            }
            let mut ranges: Vec<Range> = Vec::new();
            let mut at = start;
            while let Some(next) = self.cache.next_dirty(file, at).filter(|next| *next < end)
                && let Some(range) = self.cache.clean_next(file, next, end - next)
            {
                at = range.end;
                match ranges.last_mut() {
                    Some(last) if last.end == range.start => last.end = range.end,
                    _ => ranges.push(range),
                }
                // Contiguous bytes go together beyond the folio.
                if at == end && at - start < CHUNK && !is_out(self, at / unit) {
                    end += unit;
                }
            }
            return ranges;
        }
        Vec::new()
    }

    /// A write of a file's bytes, counted already, goes out to the device;
    /// [`Volume::written`] is its end.
    pub(super) fn goes_out(&mut self, transfer: &Transfer) {
        let writing = self.writing_of.entry(transfer.file).or_default();
        writing.bytes += transfer.size;
        let range = Range {
            file: transfer.file,
            start: transfer.offset,
            end: transfer.offset + transfer.size,
        };
        self.mark_folios(range, false);
    }

    /// A transfer of some bytes goes out, or (`back`) is done.
    fn mark_folios(&mut self, range: Range, back: bool) {
        let unit = self.folio_of(range.file);
        if unit == self.page {
            return;
        }
        for folio in range.start / unit..range.end.div_ceil(unit) {
            let key = (range.file, folio);
            let out = self.folios_out.entry(key).or_default();
            *out = if back {
                out.saturating_sub(1)
            } else {
                *out + 1
            };
            if *out == 0 {
                self.folios_out.remove(&key);
            }
        }
    }

    /// The flusher's own work, on the processor.
    pub(super) fn charge(&mut self, range: Range) {
        let pages = range.len().div_ceil(self.page);
        let time = self.costs.flush_page * pages;
        if time > Span::ZERO {
            let call = self.kernel_call(Caller::Flusher, time);
            self.spawned.push(call);
        }
    }

    /// Contiguous bytes of a file that a sync submits to the device at once: a limit of bytes a
    /// second lets all of that go, or nothing. Of 64 MiB on Linux 6.18, written by calls of 128
    /// KiB, ext4 made 8 pieces of 8 MiB, XFS and ext2 2 of 32 MiB. Where folios are pages,
    /// neighbours in memory go together: pieces were of 1 to 4 MiB.
    fn most_at_once(&self, file: u32) -> u64 {
        let folio = self.folio_of(file);
        if folio == self.page {
            return CHUNK;
        }
        let most = MOST_FOLIOS * folio;
        let is_ext4 = self.delayed && self.journal.mode != JournalMode::Log;
        if is_ext4 { most.min(MOST_CHOSEN) } else { most }
    }

    /// Sends all dirty pages of a file with the priority of the call in progress, which waits for
    /// them. Gives the number of transfers.
    pub(super) fn write_file(&mut self, file: u32, priority: IoPriority, now: Time) -> u32 {
        let mut made = 0;
        let most = self.most_at_once(file);
        while let Some(range) = self.cache.clean_next(file, 0, most) {
            self.cleaned(range, range.len());
            made += self.write_back(range, Some(priority), now);
            self.charge(range);
        }
        made
    }

    /// Sends a part of a file's dirty pages with the priority of the call in progress, which does
    /// not wait for them yet. Gives the part, if anything was dirty.
    pub(super) fn write_part(
        &mut self,
        file: u32,
        priority: IoPriority,
        now: Time,
    ) -> Option<Range> {
        let range = self.cache.clean_next(file, 0, self.most_at_once(file))?;
        self.cleaned(range, range.len());
        let before = self.out.len();
        self.write_back(range, Some(priority), now);
        for transfer in &mut self.out[before..] {
            transfer.owner = None;
        }
        Some(range)
    }

    /// Bytes of a file are on the device.
    pub(super) fn written(&mut self, range: Range, now: Time) {
        self.mark_folios(range, true);
        let besides = self.writing_besides.remove(&(range.file, range.start));
        let counted = range.len() as i64 + besides.unwrap_or(0);
        self.balance.wrote(counted.max(0).unsigned_abs());
        self.writing = self.writing.saturating_add_signed(-counted);
        self.below = (self.below + range.len()).min(self.most_below);
        self.servers_have(range);
        if let Some(writing) = self.writing_of.get_mut(&range.file) {
            writing.bytes = writing.bytes.saturating_sub(range.len());
            if writing.bytes == 0 {
                let waiting = std::mem::take(&mut writing.waiting);
                self.woken.extend(waiting);
                self.writing_of.remove(&range.file);
            }
        }
        self.woken.append(&mut self.dirty_waiters);
        self.flush(now);
    }
}
