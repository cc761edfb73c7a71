//! The flusher: dirty pages go to the device in turns of 4 MiB a file (Linux 6.18,
//! fs/fs-writeback.c, mm/page-writeback.c).
//!
//! The flusher starts when dirty data exceeds the background limit, and when pages are older than
//! `expiry` (checked every `interval`). It also starts when a process calls `fsync`, and when
//! reclaim finds 32 dirty pages in a row (mm/vmscan.c). It hands the device all data over the limit
//! at once. An I/O queue in front of the device bounds the data that waits there.
//!
//! With equal background and dirty limits the flusher starts late.

use std::collections::{BTreeMap, BTreeSet};

use headrace_net::{Span, Time};
use headrace_spec::{IoPriority, JournalMode, MainMemory, WriteBack};

use super::balance::{Balance, Load, Throttling};
use super::call::Caller;
use super::extents::Range;
use super::journal::{BLOCK, Changed, Metadata};
use super::volume::Step;
use crate::time_conversion::span;
use crate::tokens::Transfer;

/// The most that is written of one file in a turn: MIN_WRITEBACK_PAGES, 4 MiB.
pub(super) const CHUNK: u64 = 4 << 20;

/// Folios that the kernel hands to a device at once (BIO_MAX_VECS of include/linux/bio.h).
const MOST_FOLIOS: u64 = 256;

/// Bytes for which ext4 chooses blocks at once with delayed allocation, and after which it submits
/// them. Source: MAX_WRITEPAGES_EXTENT_LEN of fs/ext4/inode.c: 2,048 blocks.
const MOST_CHOSEN: u64 = 2048 * BLOCK;

/// Dirty data and data under writeback, and the calls that wait for its reduction.
#[derive(Clone, Debug)]
pub(super) struct Flusher {
    balance: Balance,
    /// True if it is at work because too much was dirty.
    flushing: bool,
    /// Dirty bytes of other file systems, which count against the limits.
    others: u64,
    /// Dirty bytes of the file that the device is, now and at most.
    below: u64,
    most_below: u64,
    expiry: Span,
    /// True if the next look for old pages is due.
    timer_is_set: bool,
    /// Dirty bytes as the limits count them: whole folios.
    dirty: u64,
    /// Bytes under write-back, whole folios too, and what a transfer counts for
    /// beyond its own bytes: less than none where a folio is dirty still.
    writing: u64,
    writing_besides: BTreeMap<(u32, u64), i64>,
    writing_of: BTreeMap<u32, Writing>,
    /// Transfers that are out, by file and folio, where folios are large.
    folios_out: BTreeMap<(u32, u64), u32>,
    /// Since when files have been dirty.
    dirty_since: BTreeMap<u32, Time>,
    dirty_order: BTreeSet<(Time, u32)>,
    /// Position of the flusher in each file.
    cursor: BTreeMap<u32, u64>,
    /// Calls that wait for room among the dirty pages.
    waiters: Vec<u32>,
}

/// Write-back of one file.
#[derive(Clone, Default, Debug)]
struct Writing {
    bytes: u64,
    waiting: Vec<u32>,
}

impl Flusher {
    /// Nothing is dirty.
    pub fn new(spec: &WriteBack, memory: &MainMemory) -> Flusher {
        let mut balance = Balance::new(spec.background(memory), spec.limit(memory));
        if spec.below.0 > 0 {
            // Written data is written once more below.
            balance.share = 0.5;
        }
        Flusher {
            balance,
            flushing: false,
            others: spec.others.0,
            below: 0,
            most_below: spec.below.0,
            expiry: span(spec.expiry),
            timer_is_set: false,
            dirty: 0,
            writing: 0,
            writing_besides: BTreeMap::new(),
            writing_of: BTreeMap::new(),
            folios_out: BTreeMap::new(),
            dirty_since: BTreeMap::new(),
            dirty_order: BTreeSet::new(),
            cursor: BTreeMap::new(),
            waiters: Vec::new(),
        }
    }

    /// Bytes that are dirty or under write-back.
    pub fn load(&self) -> u64 {
        self.dirty + self.writing
    }

    /// Bytes under write-back.
    pub fn writing(&self) -> u64 {
        self.writing
    }

    /// Dirty bytes.
    #[cfg(test)]
    pub fn dirty(&self) -> u64 {
        self.dirty
    }

    /// Bytes written since the beginning.
    pub fn bytes_written(&self) -> u64 {
        self.balance.written()
    }

    /// Other file systems of the machine have so much that is dirty or under write-back.
    pub fn set_others(&mut self, bytes: u64) {
        self.others = bytes;
    }

    /// The part of recent writes that this device wrote.
    pub fn set_share(&mut self, share: f64) {
        self.balance.share = share;
    }

    /// Bytes that may be dirty at most.
    pub fn limit(&self) -> u64 {
        self.balance.limit
    }

    /// Dirty bytes against the limits, with those that the journal holds.
    fn total(&self, journal: u64) -> u64 {
        self.dirty + self.writing + self.others + self.below + journal
    }

    /// Dirty bytes that are not being written.
    fn unwritten(&self) -> u64 {
        self.dirty + self.others + self.below
    }

    /// Returns true if `bytes` more may become dirty within the limit. The same holds if the file
    /// system has no dirty bytes of its own to write first.
    pub fn has_room(&self, bytes: u64, journal: u64) -> bool {
        let total = self.total(journal);
        total + bytes <= self.balance.limit || total <= self.others + self.below
    }

    /// Counts bytes that a process has dirtied; returns its throttling.
    pub fn throttle(
        &mut self,
        process: u32,
        newly_dirty: u64,
        journal: u64,
        now: Time,
    ) -> Throttling {
        // As the kernel counts it.
        let load = Load {
            dirty: self.unwritten(),
            all: self.total(journal),
            own: self.dirty + self.writing,
        };
        self.balance.dirtied(process, newly_dirty, load, now)
    }

    /// Bytes of a file become dirty.
    pub fn mark_dirty(&mut self, file: u32, bytes: u64, now: Time) {
        self.dirty += bytes;
        let since = *self.dirty_since.entry(file).or_insert(now);
        if since == now {
            self.dirty_order.insert((now, file));
        }
    }

    /// Dirty bytes will be written by the journal first, or are gone.
    pub fn unmark_dirty(&mut self, bytes: u64) {
        self.dirty = self.dirty.saturating_sub(bytes);
    }

    /// A file is gone.
    pub fn remove(&mut self, file: u32) {
        if let Some(since) = self.dirty_since.remove(&file) {
            self.dirty_order.remove(&(since, file));
        }
    }

    /// All dirty data is lost; returns the calls that waited for room.
    pub fn crash(&mut self) -> Vec<u32> {
        self.dirty = 0;
        self.dirty_since.clear();
        self.dirty_order.clear();
        // There is room for calls that dirty more.
        self.take_waiters()
    }

    /// Files with dirty pages, those first that have been dirty for longest.
    pub fn dirty_files(&self) -> Vec<u32> {
        self.dirty_order.iter().map(|&(_, file)| file).collect()
    }

    /// Moves bytes from dirty to under writeback. Bytes that count beyond those that will be
    /// written stay counted until then. A part written out of a folio that stays dirty is not
    /// counted twice.
    pub fn count_clean(&mut self, range: Range, bytes: u64, written: u64) {
        self.dirty = self.dirty.saturating_sub(bytes);
        self.writing += bytes;
        let besides = bytes as i64 - written as i64;
        if besides != 0 {
            let key = (range.file, range.start);
            *self.writing_besides.entry(key).or_default() += besides;
        }
    }

    /// Bytes go out past the cache.
    pub fn count_direct(&mut self, bytes: u64) {
        self.writing += bytes;
    }

    /// The flusher has sent something.
    pub fn sent(&mut self, now: Time) {
        self.balance.sent(now);
    }

    /// Returns true if some of a file is under write-back.
    pub fn is_writing(&self, file: u32) -> bool {
        self.writing_of.contains_key(&file)
    }

    /// A waiter waits for a file's write-back; returns false if none is in progress.
    pub fn wait_for(&mut self, file: u32, waiter: u32) -> bool {
        let writing = self.writing_of.get_mut(&file);
        let waits = writing.is_some();
        if let Some(writing) = writing {
            writing.waiting.push(waiter);
        }
        waits
    }

    /// A waiter waits for room among the dirty pages.
    pub fn wait_for_room(&mut self, waiter: u32) {
        self.waiters.push(waiter);
    }

    /// Calls that waited for room among the dirty pages check again.
    pub fn take_waiters(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.waiters)
    }

    /// Sees to it that old pages are looked for; returns true if nothing did before.
    pub fn set_timer(&mut self) -> bool {
        !std::mem::replace(&mut self.timer_is_set, true)
    }

    /// They are looked for now.
    pub fn timer_ended(&mut self) {
        self.timer_is_set = false;
    }

    /// Begins to write because of too much that is dirty (`in_background`), or for reclaim.
    fn begin(&mut self, in_background: bool, now: Time) {
        if !self.flushing && self.writing == 0 {
            self.balance.begins(now);
        }
        self.flushing |= in_background;
    }

    /// The next file to write. It is the longest dirty one, if there are too many dirty pages, or
    /// if its pages have been dirty for `age`. Gives the byte to go on from.
    fn next_file(&mut self, age: Span, now: Time) -> Option<(u32, u64)> {
        let &(since, file) = self.dirty_order.first()?;
        self.flushing &= self.over_background();
        let is_due = self.flushing || now.since(since) >= age;
        is_due.then(|| (file, self.cursor.get(&file).copied().unwrap_or(0)))
    }

    /// Nothing of a file is dirty any more.
    fn drop_file(&mut self, file: u32) {
        self.remove(file);
        self.cursor.remove(&file);
    }

    /// Returns true if there are more dirty pages than the background limit, or more of this
    /// device's than its part of it (wb_over_bg_thresh).
    fn over_background(&self) -> bool {
        let background = self.balance.background;
        let own = (background as f64 * self.balance.share) as u64;
        self.unwritten() > background || self.dirty > own
    }

    /// Returns true if a transfer of a folio is out.
    fn is_out(&self, file: u32, folio: u64) -> bool {
        self.folios_out.contains_key(&(file, folio))
    }

    /// A write goes out; `folio` is the size of its folios, if they are large.
    fn goes_out(&mut self, range: Range, folio: Option<u64>) {
        let writing = self.writing_of.entry(range.file).or_default();
        writing.bytes += range.len();
        if let Some(unit) = folio {
            for folio in range.start / unit..range.end.div_ceil(unit) {
                *self.folios_out.entry((range.file, folio)).or_default() += 1;
            }
        }
    }

    /// It is done; returns the calls that waited for the file's, if that was the last.
    fn is_written(&mut self, range: Range, folio: Option<u64>) -> Vec<u32> {
        if let Some(unit) = folio {
            for folio in range.start / unit..range.end.div_ceil(unit) {
                let key = (range.file, folio);
                let out = self.folios_out.entry(key).or_default();
                *out = out.saturating_sub(1);
                if *out == 0 {
                    self.folios_out.remove(&key);
                }
            }
        }
        let besides = self.writing_besides.remove(&(range.file, range.start));
        let counted = range.len() as i64 + besides.unwrap_or(0);
        self.balance.wrote(counted.max(0).unsigned_abs());
        self.writing = self.writing.saturating_add_signed(-counted);
        self.below = (self.below + range.len()).min(self.most_below);
        let Some(writing) = self.writing_of.get_mut(&range.file) else {
            return Vec::new();
        };
        writing.bytes = writing.bytes.saturating_sub(range.len());
        if writing.bytes > 0 {
            return Vec::new();
        }
        let done = self.writing_of.remove(&range.file);
        done.map(|it| it.waiting).unwrap_or_default()
    }
}

impl Step<'_> {
    /// There is too much that is dirty: writes until there is less.
    pub(super) fn flush_in_background(&mut self, now: Time) {
        self.flusher.begin(true, now);
        self.flush(now);
    }

    /// Reclaim finds only dirty pages, so all present dirty pages are written. shrink_inactive_list
    /// in mm/vmscan.c wakes the flusher for WB_REASON_VMSCAN, and wb_check_start_all takes as much
    /// as is dirty.
    pub(super) fn flush_all(&mut self, now: Time) {
        self.flusher.begin(false, now);
        self.write_older(Span::ZERO, now);
    }

    /// Writes dirty pages while there are too many, once that has begun, and those
    /// that have been dirty for too long.
    pub(super) fn flush(&mut self, now: Time) {
        self.write_older(self.flusher.expiry, now);
    }

    /// Writes dirty pages while there are too many, once that has begun, and those
    /// that have been dirty for so long.
    fn write_older(&mut self, age: Span, now: Time) {
        while let Some((file, from)) = self.flusher.next_file(age, now) {
            let mut ranges = self.next_to_write(file, from);
            if ranges.is_empty() {
                ranges = self.next_to_write(file, 0);
            }
            let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else {
                if self.pages.lru.is_dirty(file, 0, u64::MAX) {
                    // All of it is under write-back already.
                    return;
                }
                self.flusher.drop_file(file);
                continue;
            };
            self.flusher.cursor.insert(file, last.end);
            let all = Range {
                end: last.end,
                ..*first
            };
            self.cleaned(all, ranges.iter().map(Range::len).sum());
            self.flusher.sent(now);
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
        let unit = self.pages.folio_of(file);
        if unit == self.pages.page() {
            return self
                .pages
                .lru
                .clean_next(file, from, CHUNK)
                .into_iter()
                .collect();
        }
        let mut from = from;
        while let Some(start) = self.pages.lru.next_dirty(file, from) {
            let mut end = (start / unit + 1) * unit;
            if self.flusher.is_out(file, start / unit) {
                from = end;
                continue;
            }
            let mut ranges: Vec<Range> = Vec::new();
            let mut at = start;
            while let Some(next) = self
                .pages
                .lru
                .next_dirty(file, at)
                .filter(|next| *next < end)
                && let Some(range) = self.pages.lru.clean_next(file, next, end - next)
            {
                at = range.end;
                match ranges.last_mut() {
                    Some(last) if last.end == range.start => last.end = range.end,
                    _ => ranges.push(range),
                }
                // Contiguous bytes go together beyond the folio.
                if at == end && at - start < CHUNK && !self.flusher.is_out(file, at / unit) {
                    end += unit;
                }
            }
            return ranges;
        }
        Vec::new()
    }

    /// A write of a file's bytes, counted already, goes out to the device;
    /// [`Step::written`] is its end.
    pub(super) fn goes_out(&mut self, transfer: &Transfer) {
        let range = Range {
            file: transfer.file,
            start: transfer.offset,
            end: transfer.offset + transfer.size,
        };
        self.flusher.goes_out(range, self.large_folio(range.file));
    }

    /// The size of a file's folios, if it is more than a page.
    fn large_folio(&self, file: u32) -> Option<u64> {
        let unit = self.pages.folio_of(file);
        (unit != self.pages.page()).then_some(unit)
    }

    /// The flusher's own work, on the processor.
    pub(super) fn charge(&mut self, range: Range) {
        let pages = range.len().div_ceil(self.pages.page());
        let time = self.cpu.costs.flush_page * pages;
        if time > Span::ZERO {
            let call = self.kernel_call(Caller::Flusher, time);
            self.effects.calls.push(call);
        }
    }

    /// Contiguous bytes of a file that a sync submits to the device at once. A limit of bytes a
    /// second lets all of that go, or nothing. Linux 6.18 cut 64 MiB, written by 128 KiB calls,
    /// into 8 pieces of 8 MiB (ext4) or 2 of 32 MiB (XFS and ext2). Where folios are pages,
    /// neighbours in memory go together: pieces were of 1 to 4 MiB.
    fn most_at_once(&self, file: u32) -> u64 {
        let folio = self.pages.folio_of(file);
        if folio == self.pages.page() {
            return CHUNK;
        }
        let most = MOST_FOLIOS * folio;
        let is_ext4 = self.blocks.is_delayed() && self.journal.mode != JournalMode::Log;
        if is_ext4 { most.min(MOST_CHOSEN) } else { most }
    }

    /// Sends all dirty pages of a file with the priority of the call in progress, which waits for
    /// them. Gives the number of transfers.
    pub(super) fn write_file(&mut self, file: u32, priority: IoPriority, now: Time) -> u32 {
        let mut made = 0;
        let most = self.most_at_once(file);
        while let Some(range) = self.pages.lru.clean_next(file, 0, most) {
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
        let range = self
            .pages
            .lru
            .clean_next(file, 0, self.most_at_once(file))?;
        self.cleaned(range, range.len());
        let before = self.effects.transfers.len();
        self.write_back(range, Some(priority), now);
        for transfer in &mut self.effects.transfers[before..] {
            transfer.owner = None;
        }
        Some(range)
    }

    /// Bytes of a file are on the device.
    pub(super) fn written(&mut self, range: Range, now: Time) {
        let folio = self.large_folio(range.file);
        let waited = self.flusher.is_written(range, folio);
        self.servers_have(range);
        if self.journal.take_unlogged(range.file) {
            let block = Metadata::Inode(range.file);
            self.change(range.file, block, Changed::Data, now);
        }
        self.effects.woken.extend(waited);
        self.effects.woken.append(&mut self.flusher.waiters);
        self.flush(now);
    }
}
