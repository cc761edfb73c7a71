//! A client releases a lock: dirty data under it goes to the servers, and then nothing of it is
//! cached (Lustre: lustre/osc/osc_lock.c, osc_ldlm_blocking_ast).
//!
//! Not modelled: the wait for data under the lock alone: a client waits for all transfers of the
//! file by its flusher.

use headrace_net::Time;

use super::call::{Call, Stage};
use super::extents::Range;
use super::flusher::CHUNK;
use super::volume::{Next, Step, Wait};
use crate::tokens::Extent;

impl Step<'_> {
    pub(super) fn give_up_step(&mut self, call: &mut Call, now: Time) -> Next {
        let lock = call.lock();
        if call.stage == Stage::Entered {
            call.stage = Stage::Flushing;
            if self.write_under(lock, call, now) > 0 {
                return Next::Wait(Wait::Transfers);
            }
        }
        if self.flusher.is_writing(call.file) {
            // The flusher has some of it out.
            return Next::Wait(Wait::Written(call.file));
        }
        if let Some(at) = self.arriving_under(lock) {
            return Next::Wait(Wait::Page(call.file, at));
        }
        self.forget_under(lock);
        Next::End
    }

    /// Sends the dirty data under a lock; returns the number of transfers.
    fn write_under(&mut self, lock: Extent, call: &Call, now: Time) -> u32 {
        let priority = self.opened(call).priority;
        let mut made = 0;
        for range in self.under(lock, self.pages.lru.dirty_of(lock.file)) {
            let Range { file, start, end } = range;
            let mut at = start;
            while let Some(next) = self
                .pages
                .lru
                .next_dirty(file, at)
                .filter(|next| *next < end)
                && let Some(range) = self
                    .pages
                    .lru
                    .clean_next(file, next, (end - next).min(CHUNK))
            {
                at = range.end;
                self.cleaned(range, range.len());
                made += self.write_back(range, Some(priority), now);
                self.charge(range);
            }
        }
        made
    }

    /// A page under a lock that has been asked for and is not there yet.
    fn arriving_under(&self, lock: Extent) -> Option<u64> {
        let under = self.under(lock, self.pages.arriving_of(lock.file));
        under.first().map(|range| range.start)
    }

    fn forget_under(&mut self, lock: Extent) {
        for range in self.under(lock, self.pages.lru.held_of(lock.file)) {
            self.pages.lru.forget_range(range);
        }
    }

    /// Returns the whole pages of ranges of a lock's file of which it covers any byte: a page is
    /// written and forgotten in one piece.
    fn under(&self, lock: Extent, ranges: Vec<Range>) -> Vec<Range> {
        let remote = self.mount.remote.iter();
        let parts = remote.flat_map(|remote| {
            let ranges = ranges.iter();
            ranges.flat_map(move |range| remote.under_lock(lock, *range))
        });
        let pages = parts.map(|part| self.pages.lru.pages(part.file, part.start, part.end));
        pages.collect()
    }
}
