//! The page cache of a machine: two lists of pages, by extent.
//!
//! The lists follow Nguyen 2011, §4.3, and mm/swap.c and mm/vmscan.c of Linux 6.18. A page comes in
//! inactive. Its first use sets a flag. Its second use moves it to the active list, where its uses
//! set the flag again. When room is needed, inactive pages go first, the least recently used before
//! others and clean ones before dirty ones. When the active list has more than its share, its
//! oldest pages become inactive, unless they were used meanwhile. A file slightly larger than the
//! cache is therefore read from the device completely on each sequential read.
//!
//! Its cost follows the requests, not their pages.
//!
//! Another replacement policy ([`crate::replacement`]) takes the place of the two lists: it
//! decides page by page, and a dirty page that leaves is written then.
//!
//! Not modelled: anonymous pages and swap; pages mapped by several processes; shadow entries of
//! evicted pages; memory control groups; several NUMA nodes.

use headrace_spec::Replacement;

use super::extents::{Extents, Id, Order, Range};
use super::range_map::RangeMap;
use crate::cache_counts::CacheCounts;
use crate::replacement::{self, CachedPage, ReplacementPolicy};

/// Pages that reclaim takes at a time (Linux 6.18, include/linux/swap.h).
const SWAP_CLUSTER_MAX: u64 = 32;

/// The page cache of a machine.
#[derive(Debug)]
pub struct ActiveInactiveLru {
    capacity: u64,
    page: u64,
    active_share: f64,
    extents: Extents,
    most: u64,
    met_dirty: bool,
    /// Order of the pages, if it is not that of the two lists.
    policy: Option<Box<dyn ReplacementPolicy>>,
    /// Dirty pages that the policy made leave since the last reclaim.
    leaving: Vec<Range>,
    /// Pages that were brought in from below, and neither read nor written since.
    unused: RangeMap<()>,
    counts: CacheCounts,
}

impl ActiveInactiveLru {
    /// An empty cache of `capacity` bytes in pages of `page` bytes.
    pub fn new(capacity: u64, page: u64, active_share: f64) -> ActiveInactiveLru {
        ActiveInactiveLru {
            capacity: capacity - capacity % page,
            page,
            active_share,
            extents: Extents::default(),
            most: 0,
            met_dirty: false,
            policy: None,
            leaving: Vec::new(),
            unused: RangeMap::default(),
            counts: CacheCounts::default(),
        }
    }

    /// The same with a policy in the place of the two lists.
    pub fn with_policy(mut self, kind: Option<Replacement>) -> ActiveInactiveLru {
        self.policy = kind.map(|kind| replacement::policy(kind, self.capacity / self.page));
        self
    }

    /// Hits, misses and evictions so far.
    pub fn counts(&self) -> CacheCounts {
        self.counts
    }

    /// Counts whole pages that a read found; it waited for `waited` of them.
    pub fn count_read(&mut self, range: Range, waited: u64) {
        let waited = (waited * self.page).min(range.len());
        let unused = self.unused.take(range);
        let unused: u64 = unused.iter().map(|(part, ())| part.len()).sum();
        let ahead = unused.saturating_sub(waited);
        self.counts.miss(waited, self.page);
        self.counts.ahead(ahead, self.page);
        self.counts.hit(range.len() - waited - ahead, self.page);
    }

    /// Bytes that there is room for.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        self.extents.bytes
    }

    /// The most bytes that were ever held.
    pub fn most_bytes(&self) -> u64 {
        self.most
    }

    /// Bytes held that are active.
    pub fn active_bytes(&self) -> u64 {
        self.extents.active_bytes
    }

    /// Bytes held that the device does not have yet.
    pub fn dirty_bytes(&self) -> u64 {
        self.extents.dirty_bytes
    }

    /// Whole pages around some bytes.
    pub fn pages(&self, file: u32, start: u64, end: u64) -> Range {
        Range {
            file,
            start: start - start % self.page,
            end: end.div_ceil(self.page).saturating_mul(self.page),
        }
    }

    /// The byte up to which a range is held without a gap from `at` on: `at`
    /// itself if it is not held.
    pub fn held_until(&self, file: u32, at: u64, end: u64) -> u64 {
        if at >= end {
            return at;
        }
        let mut until = at;
        for id in self.extents.overlapping(Range {
            file,
            start: at,
            end,
        }) {
            let range = self.extents.get(id).range;
            if range.start > until {
                break;
            }
            until = range.end.min(end);
        }
        until
    }

    /// The first byte of the cached data without a gap, of one age, around a
    /// byte; none if that is not held.
    pub fn held_from(&self, file: u32, at: u64) -> Option<u64> {
        let range = Range {
            file,
            start: at,
            end: at + 1,
        };
        let first = *self.extents.overlapping(range).first()?;
        Some(self.extents.get(first).range.start)
    }

    /// The byte up to which nothing is held from `at` on.
    pub fn missing_until(&self, file: u32, at: u64, end: u64) -> u64 {
        let range = Range {
            file,
            start: at,
            end,
        };
        match self.extents.overlapping(range).first() {
            Some(&id) => self.extents.get(id).range.start.clamp(at, end),
            None => end,
        }
    }

    /// Returns true if any byte of a range is dirty.
    pub fn is_dirty(&self, file: u32, start: u64, end: u64) -> bool {
        let next = self.extents.next_dirty(file, start);
        next.is_some_and(|id| self.extents.get(id).range.start < end)
    }

    /// Bytes of the blocks of `block` bytes of a range, counted from its start, that have no dirty
    /// byte. The search goes from one dirty extent to the next, not from block to block.
    pub fn clean_bytes(&self, range: Range, block: u64) -> u64 {
        let mut clean = range.len();
        let mut at = range.start;
        while at < range.end
            && let Some(id) = self.extents.next_dirty(range.file, at)
        {
            let dirty = self.extents.get(id).range;
            if dirty.start >= range.end {
                break;
            }
            let first = dirty.start.max(at) - range.start;
            let last = dirty.end.min(range.end) - range.start;
            let start = range.start + first - first % block;
            at = (range.start + last.next_multiple_of(block)).min(range.end);
            clean -= at - start;
        }
        clean
    }

    /// The first dirty byte of a file from `from` on.
    pub fn next_dirty(&self, file: u32, from: u64) -> Option<u64> {
        let next = self.extents.next_dirty(file, from)?;
        Some(self.extents.get(next).range.start.max(from))
    }

    /// The byte up to which a range is dirty without a gap from `at` on.
    pub fn dirty_until(&self, file: u32, at: u64, end: u64) -> u64 {
        let range = Range {
            file,
            start: at,
            end,
        };
        let mut until = at;
        for id in self.extents.overlapping(range) {
            let extent = self.extents.get(id);
            if extent.range.start > until || !extent.dirty {
                break;
            }
            until = extent.range.end.min(end);
        }
        until
    }

    /// Marks the cached part of a range as used.
    pub fn touch(&mut self, range: Range) {
        if self.policy.is_some() {
            self.access(range);
            return;
        }
        for id in self.extents.overlapping(range) {
            let extent = self.extents.get(id);
            if extent.list == Order::Active && extent.referenced {
                continue;
            }
            let id = self.cut(id, range);
            let extent = self.extents.get(id);
            if extent.list == Order::Active || !extent.referenced {
                self.extents.set_referenced(id, true);
            } else {
                self.extents.set_referenced(id, false);
                self.extents.move_to(id, Order::Active);
            }
            self.extents.join_before(id);
        }
    }

    /// Cuts an extent at the borders of a range; the id of the inner part.
    fn cut(&mut self, mut id: Id, range: Range) -> Id {
        let held = self.extents.get(id).range;
        if held.start < range.start {
            id = self.extents.split(id, range.start);
        }
        if held.end > range.end {
            self.extents.split(id, range.end);
        }
        id
    }

    /// Pages come in from below: their first use is no hit. Those that are held stay as they
    /// are.
    pub fn bring(&mut self, range: Range) {
        let mut at = range.start;
        while at < range.end {
            let until = self.missing_until(range.file, at, range.end);
            if until > at {
                let missing = Range {
                    start: at,
                    end: until,
                    ..range
                };
                self.unused.set(missing, ());
            }
            at = self.held_until(range.file, until, range.end);
        }
        self.fill(range);
    }

    /// Pages come in, clean and not used yet; those that are held stay as they
    /// are.
    pub fn fill(&mut self, range: Range) {
        let mut at = range.start;
        while at < range.end {
            let until = self.missing_until(range.file, at, range.end);
            if until > at && self.policy.is_some() {
                let missing = Range {
                    start: at,
                    end: until,
                    ..range
                };
                for page in missing.pages(self.page) {
                    self.insert(page);
                }
            } else if until > at {
                let id = self.extents.add(
                    Range {
                        start: at,
                        end: until,
                        ..range
                    },
                    false,
                );
                self.extents.join_before(id);
            }
            at = self.held_until(range.file, until, range.end);
        }
        self.most = self.most.max(self.extents.bytes);
    }

    /// Pages are overwritten: reads of them return the new data.
    pub fn overwrite(&mut self, range: Range) {
        self.unused.take(range);
    }

    /// Pages are written: they are held and dirty, and count as used.
    pub fn write(&mut self, range: Range) {
        self.overwrite(range);
        if self.policy.is_some() {
            // Cached pages first: none of them is evicted before it is overwritten.
            let mut missing = Vec::new();
            for page in range.pages(self.page) {
                let range = Range::of_page(page, self.page);
                match self.extents.overlapping(range).is_empty() {
                    true => missing.push(page),
                    false => {
                        self.access(range);
                        self.set_dirty(range);
                    }
                }
            }
            for page in missing {
                self.insert(page);
                self.set_dirty(Range::of_page(page, self.page));
            }
            self.most = self.most.max(self.extents.bytes);
            return;
        }
        self.fill(range);
        self.set_dirty(range);
        self.touch(range);
    }

    fn set_dirty(&mut self, range: Range) {
        for id in self.extents.overlapping(range) {
            if self.extents.get(id).dirty {
                continue;
            }
            let id = self.cut(id, range);
            self.extents.mark_dirty(id);
            self.extents.join_before(id);
        }
    }

    /// Tells the policy that the cached pages of a range are used.
    fn access(&mut self, range: Range) {
        let Some(policy) = &mut self.policy else {
            return;
        };
        for id in self.extents.overlapping(range) {
            let held = self.extents.get(id).range;
            let used = Range {
                start: held.start.max(range.start),
                end: held.end.min(range.end),
                ..held
            };
            for page in used.pages(self.page) {
                policy.access(page);
            }
        }
    }

    /// A clean page comes in, for which another one may leave.
    fn insert(&mut self, page: CachedPage) {
        let leaves = self.policy.as_mut().and_then(|policy| policy.insert(page));
        if let Some(leaves) = leaves {
            let range = Range::of_page(leaves, self.page);
            for id in self.extents.overlapping(range) {
                let id = self.cut(id, range);
                let extent = self.extents.remove(id);
                self.unused.take(extent.range);
                self.counts
                    .evict(extent.range.len(), self.page, extent.dirty);
                if extent.dirty {
                    self.met_dirty = true;
                    extent.range.append_to(&mut self.leaving);
                }
            }
        }
        let id = self.extents.add(Range::of_page(page, self.page), false);
        self.extents.join_before(id);
    }

    /// Removes an extent that is not evicted.
    fn drop_extent(&mut self, id: Id) {
        let range = self.extents.remove(id).range;
        self.unused.take(range);
        if let Some(policy) = &mut self.policy {
            for page in range.pages(self.page) {
                policy.remove(page);
            }
        }
    }

    /// The next dirty bytes of a file from `from` on, contiguous and at most
    /// `most`, which count as clean from now on.
    pub fn clean_next(&mut self, file: u32, from: u64, most: u64) -> Option<Range> {
        let first = self.extents.next_dirty(file, from)?;
        let begin = self.extents.get(first).range.start.max(from);
        let mut end = begin;
        while end - begin < most
            && let Some(next) = self.extents.next_dirty(file, end)
            && self.extents.get(next).range.start <= end
        {
            let range = Range {
                file,
                start: end,
                end: begin + most,
            };
            let id = self.cut(next, range);
            end = self.extents.get(id).range.end;
            self.extents.clean(id);
            self.extents.join_before(id);
        }
        Some(Range {
            file,
            start: begin,
            end,
        })
    }

    /// Lets pages go until the rest fits. Dirty ones go last, and are returned:
    /// the device must get them.
    pub fn reclaim(&mut self) -> Vec<Range> {
        let mut dirty = std::mem::take(&mut self.leaving);
        // Every access to a cached extent makes it the newest of its list.
        let mut spared = 0;
        let mut in_a_row = 0;
        while self.policy.is_none() && self.extents.bytes > self.capacity {
            self.balance();
            let Some(oldest) = self.extents.oldest(Order::Use) else {
                break;
            };
            let extent = *self.extents.get(oldest);
            let excess = self.extents.bytes - self.capacity;
            if extent.dirty && spared < self.extents.bytes && self.has_clean() {
                spared += extent.range.len();
                in_a_row += extent.range.len();
                self.met_dirty |= in_a_row >= SWAP_CLUSTER_MAX * self.page;
                self.extents.use_last(oldest);
                continue;
            }
            in_a_row = 0;
            if extent.range.len() > excess {
                let cut = extent.range.start + excess.next_multiple_of(self.page);
                if cut < extent.range.end {
                    self.extents.split(oldest, cut);
                }
            }
            let extent = self.extents.remove(oldest);
            self.unused.take(extent.range);
            self.counts
                .evict(extent.range.len(), self.page, extent.dirty);
            if extent.dirty {
                dirty.push(extent.range);
            }
        }
        dirty
    }

    /// Returns true if reclaim has found enough dirty pages in a row, since the last call, that the
    /// kernel wakes the flusher.
    pub fn has_met_dirty(&mut self) -> bool {
        std::mem::take(&mut self.met_dirty)
    }

    fn has_clean(&self) -> bool {
        self.extents.bytes > self.extents.dirty_bytes
    }

    /// Makes the oldest active pages inactive while the active list has more
    /// than its share.
    fn balance(&mut self) {
        let share = (self.extents.bytes as f64 * self.active_share) as u64;
        let mut spared = 0;
        while self.extents.active_bytes > share
            || self.extents.oldest(Order::Use).is_none() && self.extents.active_bytes > 0
        {
            let Some(oldest) = self.extents.oldest(Order::Active) else {
                break;
            };
            let extent = *self.extents.get(oldest);
            self.extents.set_referenced(oldest, false);
            if extent.referenced && spared < self.extents.active_bytes {
                spared += extent.range.len();
                self.extents.use_last(oldest);
            } else {
                let excess = self.extents.active_bytes.saturating_sub(share);
                let excess = excess.max(self.page).next_multiple_of(self.page);
                if extent.range.len() > excess {
                    self.extents.split(oldest, extent.range.start + excess);
                }
                self.extents.move_to(oldest, Order::Use);
            }
        }
    }

    /// Forgets everything, dirty pages and all.
    pub fn forget_all(&mut self) {
        self.extents = Extents::default();
        self.unused = RangeMap::default();
        if let Some(policy) = &mut self.policy {
            policy.clear();
        }
    }

    /// Forgets a file, dirty pages and all.
    pub fn forget(&mut self, file: u32) {
        for id in self.extents.overlapping(whole(file)) {
            self.drop_extent(id);
        }
    }

    /// Returns the cached ranges of a file.
    pub fn held_of(&self, file: u32) -> Vec<Range> {
        let all = self.extents.overlapping(whole(file)).into_iter();
        all.map(|id| self.extents.get(id).range).collect()
    }

    /// Returns the dirty ranges of a file.
    pub fn dirty_of(&self, file: u32) -> Vec<Range> {
        let all = self.extents.overlapping(whole(file)).into_iter();
        let dirty = all.filter(|&id| self.extents.get(id).dirty);
        dirty.map(|id| self.extents.get(id).range).collect()
    }

    /// Forgets what of some whole pages is not dirty.
    pub fn forget_range(&mut self, range: Range) {
        for id in self.extents.overlapping(range) {
            let extent = *self.extents.get(id);
            if extent.dirty {
                continue;
            }
            let mut id = id;
            if extent.range.start < range.start {
                id = self.extents.split(id, range.start);
            }
            if self.extents.get(id).range.end > range.end {
                self.extents.split(id, range.end);
            }
            self.drop_extent(id);
        }
    }

    /// Forgets what of a file is not dirty.
    pub fn forget_clean(&mut self, file: u32) {
        for id in self.extents.overlapping(whole(file)) {
            if !self.extents.get(id).dirty {
                self.drop_extent(id);
            }
        }
    }
}

/// All that a file may have.
fn whole(file: u32) -> Range {
    Range {
        file,
        start: 0,
        end: u64::MAX,
    }
}

#[cfg(test)]
mod tests;
