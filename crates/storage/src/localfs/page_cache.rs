//! A page cache of a simple server, with write-back, by extent.
//!
//! Liu et al. 2011 (PFSsim, §4.4, §5): pages of 4 KiB, least recently used
//! replacement, write-back once the dirty data passes a limit.
//!
//! With least-recently-used replacement its cost follows the requests, not their pages. A test
//! compares its contents with a list of single pages. Other policies decide page by page
//! ([`crate::replacement`]). Adjacent dirty data is joined up to 4 MiB (Linux,
//! `MIN_WRITEBACK_PAGES`).
//!
//! Not modelled: read-ahead; the kernel's two lists; periodic write-back; reading the rest of a
//! partly written page.

use headrace_spec::{Memory, Replacement};

use super::extents::{Extents, Ids, Order, Range};
use crate::cache_counts::CacheCounts;
use crate::replacement::{self, CachedPage, ReplacementPolicy};

/// Neighbouring dirty extents go to the device together up to this size. 4 MiB
/// is the amount that Linux's writeback takes from one file in a turn
/// (MIN_WRITEBACK_PAGES, fs/fs-writeback.c).
const LARGEST_WRITE_BACK: u64 = 4 << 20;

/// The page cache of one server.
#[derive(Debug)]
pub struct PageCache {
    capacity: u64,
    page: u64,
    dirty_limit: u64,
    largest_write_back: u64,
    extents: Extents,
    /// A read has found some of its bytes here.
    has_hits: bool,
    /// Order of the pages, if it is not that of the extents' last use.
    policy: Option<Box<dyn ReplacementPolicy>>,
    /// Dirty data that the policy made leave since the last eviction.
    leaving: Vec<Range>,
    counts: CacheCounts,
}

impl PageCache {
    /// An empty cache. Sizes are rounded down to whole pages.
    pub fn new(memory: &Memory) -> PageCache {
        let page = memory.page.0;
        let whole_pages = |bytes: u64| bytes - bytes % page;
        PageCache {
            capacity: whole_pages(memory.cache.0),
            page,
            dirty_limit: whole_pages(memory.dirty_limit.0),
            largest_write_back: whole_pages(LARGEST_WRITE_BACK).max(page),
            extents: Extents::default(),
            has_hits: false,
            policy: match memory.replacement {
                // The extents' own order.
                Replacement::Lru => None,
                kind => Some(replacement::policy(kind, memory.cache.0 / page)),
            },
            leaving: Vec::new(),
            counts: CacheCounts::default(),
        }
    }

    /// Puts a policy of the caller's own in the place of that of the scenario.
    pub fn set_policy(&mut self, make: impl FnOnce(u64) -> Box<dyn ReplacementPolicy>) {
        self.policy = Some(make((self.capacity / self.page).max(1)));
    }

    /// Returns true if the policy is one that the caller of a run has to supply.
    pub fn needs_policy(&self) -> bool {
        self.failure().is_some()
    }

    /// Returns the error of a policy of the user's, if it failed.
    pub fn failure(&self) -> Option<String> {
        self.policy.as_ref().and_then(|policy| policy.failure())
    }

    /// Forgets all that it holds and the policy knows; counts stay.
    pub fn clear(&mut self) {
        self.extents = Extents::default();
        self.leaving.clear();
        self.has_hits = false;
        if let Some(policy) = &mut self.policy {
            policy.clear();
        }
    }

    /// Hits, misses and evictions so far.
    pub fn counts(&self) -> &CacheCounts {
        &self.counts
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        self.extents.bytes
    }

    /// Bytes held that the device does not have yet.
    pub fn dirty_bytes(&self) -> u64 {
        self.extents.dirty_bytes
    }

    /// Dirty part of its capacity.
    pub fn dirty_part(&self) -> f64 {
        self.dirty_bytes() as f64 / self.capacity.max(1) as f64
    }

    /// Filled part of it, once reads have hit it: until then its content makes no difference.
    pub fn warm_part(&self) -> f64 {
        match self.has_hits {
            true => self.bytes() as f64 / self.capacity.max(1) as f64,
            false => 0.0,
        }
    }

    /// Returns true if writes are acknowledged before the device has them.
    pub fn buffers_writes(&self) -> bool {
        self.dirty_limit > 0
    }

    /// Whole pages around some bytes; none around no bytes.
    fn pages(&self, file: u32, offset: u64, size: u64) -> Range {
        let start = offset - offset % self.page;
        // Offsets come from traces too: the last page ends where 64 bits do.
        let end = offset.saturating_add(size).div_ceil(self.page);
        let end = match size {
            0 => start,
            _ => end.saturating_mul(self.page),
        };
        Range { file, start, end }
    }

    /// Uses some bytes of a file: their cached part becomes the most recently
    /// used; the gaps, in whole pages, are returned.
    pub fn read(&mut self, file: u32, offset: u64, size: u64) -> Vec<Range> {
        let range = self.pages(file, offset, size);
        let mut gaps = Vec::new();
        let mut at = range.start;
        for id in self.extents.overlapping(range) {
            let held = self.extents.get(id).range;
            let (start, end) = (held.start.max(range.start), held.end.min(range.end));
            if start > at {
                gaps.push(Range {
                    file,
                    start: at,
                    end: start,
                });
            }
            self.counts.hit(end - start, self.page);
            self.use_again(Range { file, start, end });
            self.has_hits = true;
            at = end;
        }
        if at < range.end {
            gaps.push(Range {
                file,
                start: at,
                end: range.end,
            });
        }
        for gap in &gaps {
            self.counts.miss(gap.len(), self.page);
        }
        gaps
    }

    /// Holds what the device has delivered; pages that came in by another way
    /// meanwhile stay as they are. Returns dirty data that had to leave.
    pub fn fill(&mut self, range: Range) -> Vec<Range> {
        let held: Vec<Range> = self
            .extents
            .overlapping(range)
            .into_iter()
            .map(|id| self.extents.get(id).range)
            .collect();
        let mut at = range.start;
        for held in held {
            if held.start > at {
                self.append(
                    Range {
                        start: at,
                        end: held.start,
                        ..range
                    },
                    false,
                );
            }
            at = at.max(held.end);
        }
        if at < range.end {
            self.append(Range { start: at, ..range }, false);
        }
        self.evict()
    }

    /// Holds written data that the device has already. Returns dirty data that
    /// had to leave.
    pub fn write_through(&mut self, file: u32, offset: u64, size: u64) -> Vec<Range> {
        let range = self.pages(file, offset, size);
        self.overwrite(range, false);
        self.evict()
    }

    /// Holds written data that the device does not have yet. Returns the ranges
    /// to write back now: the oldest dirty data above the limit, and evicted
    /// dirty data.
    pub fn write(&mut self, file: u32, offset: u64, size: u64) -> Vec<Range> {
        let range = self.pages(file, offset, size);
        self.overwrite(range, true);
        let mut leaving = self.write_back();
        leaving.extend(self.evict());
        leaving
    }

    /// Replaces pages by new data, which makes them the most recently used.
    fn overwrite(&mut self, range: Range, dirty: bool) {
        if self.policy.is_none() {
            self.forget(range);
            self.append_extent(range, dirty);
            return;
        }
        // Cached pages first: none of them is evicted before it is overwritten.
        let mut missing = Vec::new();
        for page in range.pages(self.page) {
            let range = Range::of_page(page, self.page);
            let held = self.cut(range);
            match (held.first(), &mut self.policy) {
                (Some(&id), Some(policy)) => {
                    policy.access(page);
                    self.extents.remove(id);
                    self.append_extent(range, dirty);
                }
                _ => missing.push(page),
            }
        }
        for page in missing {
            self.insert(page, dirty);
        }
    }

    /// Marks the oldest dirty data clean until no more than the limit is
    /// dirty; returns it, neighbours joined.
    fn write_back(&mut self) -> Vec<Range> {
        let mut ranges: Vec<Range> = Vec::new();
        while self.extents.dirty_bytes > self.dirty_limit
            && let Some(oldest) = self.extents.oldest(Order::Dirty)
        {
            let excess = self.extents.dirty_bytes - self.dirty_limit;
            let held = self.extents.get(oldest).range;
            let most = excess.max(self.largest_write_back);
            if held.len() > most {
                self.extents.split(oldest, held.start + most);
            }
            let mut joined = self.extents.get(oldest).range;
            self.extents.clean(oldest);
            while joined.len() < self.largest_write_back
                && self.extents.dirty_bytes > self.dirty_limit
                && let Some(next) = self.extents.starting_at(joined.file, joined.end)
                && self.extents.get(next).dirty
            {
                joined.end = self.extents.get(next).range.end;
                self.extents.clean(next);
            }
            ranges.push(joined);
        }
        ranges
    }

    /// Marks all dirty data of a file clean; returns it, neighbours joined.
    pub fn write_back_file(&mut self, file: u32) -> Vec<Range> {
        let mut ranges: Vec<Range> = Vec::new();
        while let Some(id) = self.extents.next_dirty(file, 0) {
            let held = self.extents.get(id).range;
            if held.len() > self.largest_write_back {
                self.extents.split(id, held.start + self.largest_write_back);
            }
            let held = self.extents.get(id).range;
            self.extents.clean(id);
            match ranges.last_mut() {
                Some(last)
                    if last.end == held.start
                        && last.len() + held.len() <= self.largest_write_back =>
                {
                    last.end = held.end;
                }
                _ => ranges.push(held),
            }
        }
        ranges
    }

    /// Lets the least recently used pages go until the rest fits. Returns the
    /// dirty ones, which the device must get.
    fn evict(&mut self) -> Vec<Range> {
        let mut dirty = std::mem::take(&mut self.leaving);
        while self.policy.is_none()
            && self.extents.bytes > self.capacity
            && let Some(oldest) = self.extents.oldest(Order::Use)
        {
            let excess = self.extents.bytes - self.capacity;
            let held = self.extents.get(oldest).range;
            if held.len() > excess {
                self.extents.split(oldest, held.start + excess);
            }
            let extent = self.extents.remove(oldest);
            self.counts
                .evict(extent.range.len(), self.page, extent.dirty);
            if extent.dirty {
                extent.range.append_to(&mut dirty);
            }
        }
        dirty
    }

    /// Makes held pages the most recently used.
    fn use_again(&mut self, range: Range) {
        if let Some(policy) = &mut self.policy {
            for page in range.pages(self.page) {
                policy.access(page);
            }
            return;
        }
        for id in self.cut(range) {
            let extent = self.extents.get(id);
            if self.extents.newest(Order::Use) == Some(id) {
                continue;
            }
            let (range, dirty) = (extent.range, extent.dirty);
            if dirty {
                self.extents.use_last(id);
            } else {
                self.extents.remove(id);
                self.append(range, false);
            }
        }
    }

    /// Forgets held pages, dirty or not.
    pub(super) fn forget(&mut self, range: Range) {
        for id in self.cut(range) {
            let extent = self.extents.remove(id);
            if let Some(policy) = &mut self.policy {
                for page in extent.range.pages(self.page) {
                    policy.remove(page);
                }
            }
        }
    }

    /// Cuts extents at the borders of a range; returns those inside.
    fn cut(&mut self, range: Range) -> Ids {
        let mut inside = self.extents.overlapping(range);
        for id in &mut inside {
            let held = self.extents.get(*id).range;
            if held.start < range.start {
                *id = self.extents.split(*id, range.start);
            }
            if held.end > range.end {
                self.extents.split(*id, range.end);
            }
        }
        inside
    }

    /// Adds pages as the most recently used. They lengthen the extent before
    /// them if that was used last: a sequential stream stays one extent.
    fn append(&mut self, range: Range, dirty: bool) {
        if self.policy.is_some() {
            for page in range.pages(self.page) {
                self.insert(page, dirty);
            }
            return;
        }
        self.append_extent(range, dirty);
    }

    /// Adds a page, for which another one may leave.
    fn insert(&mut self, page: CachedPage, dirty: bool) {
        let leaves = self.policy.as_mut().and_then(|policy| policy.insert(page));
        if let Some(leaves) = leaves {
            let range = Range::of_page(leaves, self.page);
            for id in self.cut(range) {
                let extent = self.extents.remove(id);
                self.counts
                    .evict(extent.range.len(), self.page, extent.dirty);
                if extent.dirty {
                    extent.range.append_to(&mut self.leaving);
                }
            }
        }
        self.append_extent(Range::of_page(page, self.page), dirty);
    }

    fn append_extent(&mut self, range: Range, dirty: bool) {
        if range.is_empty() {
            return;
        }
        if let Some(newest) = self.extents.newest(Order::Use) {
            let extent = self.extents.get(newest);
            let before = extent.range;
            if before.file == range.file && before.end == range.start && extent.dirty == dirty {
                self.extents.extend(newest, range.len());
                return;
            }
        }
        self.extents.add(range, dirty);
    }
}

#[cfg(test)]
mod tests;
