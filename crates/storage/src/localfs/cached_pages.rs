//! The page cache of a machine: its pages, its reads in flight, and the size of folios.
//!
//! It has no calls and makes no transfers. The steps of calls ([`super::volume::Step`]) decide on
//! reads, and report transfers in flight and completed ones here.

use std::collections::{BTreeMap, BTreeSet};

use headrace_spec::{MainMemory, ReadAhead as WindowSpec};

use super::active_inactive_lru::ActiveInactiveLru;
use super::call::Call;
use super::extents::Range;
use super::fresh_memory::FreshMemory;
use super::range_map::RangeMap;
use super::read_ahead::{ReadAhead, Stream, Window};
use crate::cache_counts::CacheCounts;

/// The page cache.
#[derive(Debug)]
pub struct CachedPages {
    /// The cached pages.
    pub(super) lru: ActiveInactiveLru,
    page: u64,
    /// The largest folio, and the size of each file's.
    largest_folio: u64,
    folios: BTreeMap<u32, u64>,
    read_ahead: ReadAhead,
    /// Read-ahead state of open files: one per process, or one per daemon (`shared`); and the
    /// marked pages.
    streams: BTreeMap<(u32, u32), Stream>,
    shared: bool,
    marks: BTreeSet<(u32, u64)>,
    /// Requested bytes whose processor time is not charged yet.
    asked: u64,
    /// Pages that are being read from the device, with the calls that wait for them.
    arriving: RangeMap<Vec<u32>>,
    fresh_memory: FreshMemory,
}

/// Bytes rounded down to whole pages, one at least: no page is read in two parts.
fn whole_pages(bytes: u64, page: u64) -> u64 {
    (bytes - bytes % page).max(page)
}

impl CachedPages {
    /// An empty cache that reads in transfers of at most `transfer` bytes. The threads of a daemon
    /// share (`shared`) their open files.
    pub fn new(
        memory: &MainMemory,
        read_ahead: &WindowSpec,
        transfer: u64,
        shared: bool,
    ) -> CachedPages {
        let room = memory.page_cache();
        let page = memory.page.0;
        // A window must fit into the cache with room for others.
        let window = read_ahead.window.0.min(room / 4);
        CachedPages {
            lru: ActiveInactiveLru::new(room, page, memory.active_share)
                .with_policy(memory.replacement),
            page,
            largest_folio: memory.largest_folio.0.max(page),
            folios: BTreeMap::new(),
            read_ahead: ReadAhead {
                largest: window - window % page,
                page,
                transfer: whole_pages(transfer.min(room / 4), page),
            },
            streams: BTreeMap::new(),
            shared,
            marks: BTreeSet::new(),
            asked: 0,
            arriving: RangeMap::default(),
            fresh_memory: FreshMemory::default(),
        }
    }

    /// Has the room of several caches, of which each volume gets an equal part.
    pub fn divide(&mut self, memory: &MainMemory, parts: u64) {
        let room = memory.page_cache() / parts;
        self.lru = ActiveInactiveLru::new(room, self.page, memory.active_share)
            .with_policy(memory.replacement);
    }

    /// Makes no folios larger than a page.
    pub fn use_single_pages(&mut self) {
        self.largest_folio = self.page;
    }

    /// Hits, misses and evictions so far.
    pub fn counts(&self) -> CacheCounts {
        self.lru.counts()
    }

    /// Bytes that the device does not have yet.
    pub fn dirty_bytes(&self) -> u64 {
        self.lru.dirty_bytes()
    }

    /// Bytes of a page.
    pub fn page(&self) -> u64 {
        self.page
    }

    /// The largest transfer for reads, in whole pages.
    pub fn largest_transfer(&self) -> u64 {
        self.read_ahead.transfer
    }

    /// Bytes of the largest read-ahead window.
    pub fn largest_window(&self) -> u64 {
        self.read_ahead.largest
    }

    /// A file of `size` bytes is cached before the run, made by calls of `made_by` bytes.
    pub fn add_file(&mut self, file: u32, size: u64, made_by: u64) {
        self.set_folio(file, made_by);
        self.lru.fill(self.lru.pages(file, 0, size));
        self.lru.reclaim();
    }

    /// Returns the read-ahead state of a call's open file.
    pub fn stream(&mut self, call: &Call) -> &mut Stream {
        let process = if self.shared { 0 } else { call.process };
        self.streams.entry((process, call.file)).or_default()
    }

    /// Returns the window to read where a call misses a page.
    pub fn miss(&mut self, call: &Call) -> Window {
        let mut stream = *self.stream(call);
        let window = stream.miss(&self.read_ahead, call.at, call.end, |at, most| {
            self.there_before(call.file, at, most)
        });
        *self.stream(call) = stream;
        window
    }

    /// Takes the first mark among some bytes of a file.
    pub fn take_mark(&mut self, file: u32, from: u64, until: u64) -> Option<u64> {
        let &(_, mark) = self.marks.range((file, from)..(file, until)).next()?;
        self.marks.remove(&(file, mark));
        Some(mark)
    }

    /// Returns the window to read where a call comes to a mark.
    pub fn window_at_mark(&mut self, call: &Call, mark: u64) -> Option<Window> {
        let mut stream = *self.stream(call);
        let window = stream.comes_to(&self.read_ahead, mark, call.end, |mark, most| {
            self.hole_after(call.file, mark, most)
        });
        *self.stream(call) = stream;
        window
    }

    /// Marks a page.
    pub fn mark(&mut self, file: u32, page: u64) {
        self.marks.insert((file, page));
    }

    /// Returns true if a page is cached or being read from the device.
    pub fn is_there(&self, file: u32, page: u64) -> bool {
        self.lru.held_until(file, page, page + self.page) > page
            || self.arriving_until(file, page).is_some()
    }

    /// Returns the bytes just before `at` that are cached or being read, up to `most`.
    fn there_before(&self, file: u32, at: u64, most: u64) -> u64 {
        let least = at.saturating_sub(most);
        let mut from = at;
        while from > least {
            let last = from - self.page;
            let start = match (self.lru.held_from(file, last), self.arriving.at(file, last)) {
                (Some(start), _) => start,
                (None, Some((range, _))) => range.start,
                (None, None) => break,
            };
            from = start;
        }
        at - from.max(least)
    }

    /// The first page after one that is neither cached nor in progress, if it is at most `most`
    /// bytes away.
    fn hole_after(&self, file: u32, page: u64, most: u64) -> Option<u64> {
        let end = page.saturating_add(most);
        let mut at = page + self.page;
        while at <= end {
            let held = self.lru.held_until(file, at, end + self.page);
            let until = held.max(self.arriving_until(file, at).unwrap_or(at));
            if until == at {
                return Some(at);
            }
            at = until;
        }
        None
    }

    /// The byte up to which a file's bytes from `at` on are in progress together; none if `at` is
    /// not.
    pub fn arriving_until(&self, file: u32, at: u64) -> Option<u64> {
        self.arriving.at(file, at).map(|(range, _)| range.end)
    }

    /// The first byte of a file's range that is in progress, beginning there.
    pub fn next_arriving(&self, file: u32, at: u64, end: u64) -> Option<u64> {
        let rest = Range {
            file,
            start: at,
            end,
        };
        let next = self.arriving.beginning_in(rest).next();
        next.map(|(range, _)| range.start)
    }

    /// Parts of a file that are in progress.
    pub fn arriving_of(&self, file: u32) -> Vec<Range> {
        let arriving = self.arriving.beginning_in(Range {
            file,
            start: 0,
            end: u64::MAX,
        });
        arriving.map(|(range, _)| range).collect()
    }

    /// A range is requested; returns the number of 4 KiB pages of memory that it uses for the first
    /// time.
    pub fn ask(&mut self, range: Range) -> u32 {
        let first_used = self.fresh_memory.take(range.len(), &self.lru);
        self.asked += range.len();
        self.arriving.put(range, Vec::new());
        first_used
    }

    /// Takes the number of pages that were asked for since the last time.
    pub fn take_asked(&mut self) -> u64 {
        std::mem::take(&mut self.asked).div_ceil(self.page)
    }

    /// A waiter waits for a page; returns false if that is not on its way.
    pub fn wait_for(&mut self, file: u32, at: u64, waiter: u32) -> bool {
        match self.arriving.at_mut(file, at) {
            Some(waiting) => {
                waiting.push(waiter);
                true
            }
            None => false,
        }
    }

    /// A range has arrived from the device; returns the calls that waited for it.
    pub fn arrived(&mut self, range: Range) -> Vec<u32> {
        let arrived = self.arriving.remove(range.file, range.start);
        if arrived.is_some() {
            self.fresh_memory.filled(range.len());
        }
        self.lru.bring(range);
        arrived.unwrap_or_default()
    }

    /// The first `size` bytes of a file have come without having been asked for.
    pub fn fill(&mut self, file: u32, size: u64) {
        let range = self.lru.pages(file, 0, size);
        let gaps: Vec<Range> = self.gaps(range).collect();
        for gap in gaps {
            self.lru.bring(gap);
        }
    }

    /// Size of the folios that a call of `call` bytes makes.
    pub fn folio_for(&self, call: u64) -> u64 {
        let size = 1_u64 << call.max(1).ilog2();
        size.clamp(self.page, self.largest_folio)
    }

    /// The folios of a file are as large as the first call that made it: a power of
    /// two (Linux 6.18, mm/filemap.c: __filemap_get_folio).
    pub fn set_folio(&mut self, file: u32, call: u64) -> u64 {
        let size = self.folio_for(call);
        *self.folios.entry(file).or_insert(size)
    }

    /// The size of a file's folios.
    pub fn folio_of(&self, file: u32) -> u64 {
        self.folios.get(&file).copied().unwrap_or(self.page)
    }

    /// Number of bytes more that will count as dirty when a range is written: a folio counts whole.
    pub fn newly_dirty(&self, range: Range, unit: u64) -> u64 {
        let folios = Range {
            start: range.start - range.start % unit,
            end: range.end.next_multiple_of(unit),
            ..range
        };
        self.lru.clean_bytes(folios, unit)
    }

    /// Returns true if no byte of a folio is dirty.
    pub fn is_clean(&self, file: u32, folio: u64) -> bool {
        let unit = self.folio_of(file);
        !self.lru.is_dirty(file, folio * unit, (folio + 1) * unit)
    }

    /// Returns the uncached parts of a range.
    pub fn gaps(&self, range: Range) -> impl Iterator<Item = Range> {
        let Range {
            file,
            mut start,
            end,
        } = range;
        std::iter::from_fn(move || {
            start = self.lru.held_until(file, start, end);
            let gap = Range {
                file,
                start,
                end: self.lru.missing_until(file, start, end),
            };
            start = gap.end;
            (!gap.is_empty()).then_some(gap)
        })
    }

    /// Bytes of a range that are not cached.
    pub fn missing(&self, range: Range) -> u64 {
        self.gaps(range).map(|gap| gap.len()).sum()
    }

    /// A page of which only a part is written, and that must be read first, in a file of `size`
    /// bytes.
    pub fn edge_to_read(&self, file: u32, start: u64, end: u64, size: u64) -> Option<u64> {
        let needs = |page: u64| {
            let held = self.lru.held_until(file, page, page + self.page) > page;
            !held && page < size
        };
        let first = start - start % self.page;
        let last = end - end % self.page;
        if start != first && needs(first) {
            return Some(first);
        }
        // Pages beyond the end of the file need no reading.
        (end != last && end < size && needs(last)).then_some(last)
    }

    /// Drops the clean cached data of a file.
    pub fn forget_clean(&mut self, file: u32) {
        self.lru.forget_clean(file);
        self.marks.retain(|&(other, _)| other != file);
    }

    /// A file is gone.
    pub fn remove(&mut self, file: u32) {
        self.lru.forget(file);
        self.folios.remove(&file);
        self.marks.retain(|&(other, _)| other != file);
    }

    /// All that is cached is lost; gives how many bytes were dirty.
    pub fn crash(&mut self) -> u64 {
        let lost = self.lru.dirty_bytes();
        self.lru.forget_all();
        self.marks.clear();
        lost
    }
}
