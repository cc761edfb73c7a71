//! The flusher: dirty pages go to the device because there are too many, because
//! they are old, or because somebody waits for them (Linux 6.18,
//! fs/fs-writeback.c).

use headrace_net::{Span, Time};

use super::call::Caller;
use super::extents::Range;
use super::volume::Volume;
use crate::tokens::Transfer;

/// The most that is written of one file in a turn: MIN_WRITEBACK_PAGES, 4 MiB.
pub(super) const CHUNK: u64 = 4 << 20;

/// Transfers that the flusher has out at most: the requests of a queue
/// (BLKDEV_DEFAULT_RQ, 128).
const MOST: u32 = 128;

impl Volume {
    /// Writes dirty pages while there are more than the background limit, and those
    /// that have been dirty for too long.
    pub(super) fn flush(&mut self, now: Time) {
        while self.flushes < MOST {
            let Some(&(since, file)) = self.dirty_order.first() else {
                return;
            };
            let expired = now.since(since) >= self.expiry;
            if !expired && self.dirty + self.others <= self.balance.background {
                return;
            }
            let from = self.cursor.get(&file).copied().unwrap_or(0);
            let next = self.cache.clean_next(file, from, CHUNK);
            let next = next.or_else(|| self.cache.clean_next(file, 0, CHUNK));
            let Some(range) = next else {
                self.dirty_order.remove(&(since, file));
                self.dirty_since.remove(&file);
                self.cursor.remove(&file);
                continue;
            };
            self.cursor.insert(file, range.end);
            self.cleaned(range);
            self.flushes += self.write_back(range, false, now);
            self.charge(range);
        }
    }

    /// The flusher's own work, on the processor.
    pub(super) fn charge(&mut self, range: Range) {
        let pages = range.len().div_ceil(self.page);
        let time = Span(pages * self.costs.flush_page.0);
        if time > Span::ZERO {
            let call = self.kernel_call(Caller::Flusher, time);
            self.spawned.push(call);
        }
    }

    /// Sends all dirty pages of a file; the call under way waits for them. Gives
    /// the number of transfers.
    pub(super) fn write_file(&mut self, file: u32, now: Time) -> u32 {
        let mut made = 0;
        while let Some(range) = self.cache.clean_next(file, 0, CHUNK) {
            self.cleaned(range);
            made += self.write_back(range, true, now);
            self.charge(range);
        }
        made
    }

    /// Bytes of a file are on the device.
    pub(super) fn written(&mut self, range: Range, transfer: &Transfer, now: Time) {
        self.balance.wrote(range.len(), now);
        self.writing = self.writing.saturating_sub(range.len());
        if let Some(writing) = self.writing_of.get_mut(&range.file) {
            writing.bytes = writing.bytes.saturating_sub(range.len());
            if writing.bytes == 0 {
                let waiting = std::mem::take(&mut writing.waiting);
                self.woken.extend(waiting);
                self.writing_of.remove(&range.file);
            }
        }
        self.woken.append(&mut self.dirty_waiters);
        if transfer.owner.is_none() {
            self.flushes = self.flushes.saturating_sub(1);
        }
        self.flush(now);
    }
}
