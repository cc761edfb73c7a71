//! Writes: into the page cache, within the limits of dirty pages and of the
//! running transaction.
//!
//! Stores in a mapping are writes without a call. The first store into a page that is not dirty
//! faults. The page is read if the file has it, and the file system makes it dirty as a whole
//! (page_mkwrite). Further stores take no fault until it has been written back, which maps it for
//! reading again.
//!
//! Not modelled: fault handling of stores that reads around a page rather than ahead; pages that
//! are dirty by a write call and not mapped; the length of a mapped file, which ftruncate(2) sets
//! and which grows with the stores here.

use std::collections::BTreeSet;

use headrace_net::{Span, Time};
use headrace_spec::{IoPriority, JournalMode};
use headrace_trace::Operation;

use super::call::{Call, Stage};
use super::extents::Range;
use super::journal::{BLOCK, Changed, Metadata};
use super::volume::{Next, SELF, Step, Tick, Wait};

/// Bytes of a call copied between two checks of the limits: the kernel does so every few folios,
/// the largest of which are 1 MiB.
const PIECE: u64 = 1 << 20;

/// The folios that a range lies in.
fn folios(range: Range, unit: u64) -> std::ops::Range<u64> {
    range.start / unit..range.end.div_ceil(unit)
}

/// Processor time comes before waiting.
fn wait_or_work(wait: Wait, due: Span) -> Next {
    match due {
        Span::ZERO => Next::Wait(wait),
        due => Next::Work(due),
    }
}

impl Step<'_> {
    pub(super) fn write_step(&mut self, call: &mut Call, now: Time) -> Next {
        let opened = self.opened(call);
        if opened.direct && !self.buffers_direct() {
            return self.direct_step(call, now);
        }
        match call.stage {
            Stage::Entered => {
                call.stage = Stage::Working;
                let mut due = call.time;
                if !opened.mapped {
                    due = due + self.entering(call) + self.cpu.costs.write_call;
                }
                if call.size == 0 {
                    call.stage = Stage::Returning;
                    return Next::Work(due);
                }
                self.copy_piece(call, due, now)
            }
            Stage::Working => self.copy_piece(call, Span::ZERO, now),
            Stage::Filling => self.fill_piece(call, now),
            Stage::Returning => Next::Return,
            Stage::Flushing
            | Stage::Sending
            | Stage::Committing
            | Stage::Placing
            | Stage::Settling => self.sync_step(call, now),
        }
    }

    /// Returns true if the running transaction takes what a call changes. If not, it has to wait
    /// for `Wait::JournalRoom`.
    fn joins_transaction(&mut self) -> bool {
        if self.journal.is_full() {
            self.begin_commit();
            if self.journal.is_full() {
                return false;
            }
        }
        self.finds_room()
    }

    /// The byte after the last of the piece that begins at `call.at`.
    fn piece_end(&self, call: &Call) -> u64 {
        let servers = self
            .mount
            .remote
            .as_ref()
            .map_or(u64::MAX, |remote| remote.most());
        let most = PIECE
            .min(self.flusher.limit() / 4)
            .min(servers)
            .min(self.journal.left());
        // Whole pages, so that no call makes one dirty twice.
        let page = self.pages.page();
        let most = (most - most % page).max(page);
        let border = call.at - call.at % page;
        (border + most).min(call.end)
    }

    /// Copies the next piece, once its transaction and its edges are there; `due`
    /// is processor time besides copying.
    fn copy_piece(&mut self, call: &mut Call, due: Span, now: Time) -> Next {
        if call.at >= call.end {
            return if self.opened(call).synchronous {
                call.stage = Stage::Flushing;
                self.sync_step(call, now)
            } else {
                Next::Return
            };
        }
        if !self.joins_transaction() {
            return wait_or_work(Wait::JournalRoom, due);
        }
        let end = self.piece_end(call);
        let range = self.pages.lru.pages(call.file, call.at, end);
        if let Some(address) = self.journal.carrier_of(range) {
            return wait_or_work(Wait::Logged(address), due);
        }
        call.piece = (end - call.at) as u32;
        let size = self.mount.sizes.get(call.file).unwrap_or(0);
        if self.opened(call).mapped {
            return self.store_piece(call, (range, size), due);
        }
        if let Some(page) = self.pages.edge_to_read(call.file, call.at, end, size) {
            if self.pages.arriving_until(call.file, page).is_none() {
                self.fetch(call, page, page + self.pages.page());
            }
            return wait_or_work(Wait::Page(call.file, page), due + self.asking());
        }
        let missing = self.pages.missing(range);
        let uncached = self.placed_of(range, missing);
        let old = range.len() - missing;
        let joined = self.in_transaction(range).min(old);
        let page = self.pages.page();
        let pages = |bytes: u64, time: Span| time * bytes.div_ceil(page);
        let folios = self.new_folios(range, missing, call.size);
        let time = due
            + pages(missing - uncached, self.cpu.costs.new_page)
            + pages(uncached, self.cpu.costs.uncached_page)
            + self.cpu.costs.new_folio * folios
            + pages(old - joined, self.cpu.costs.write_page)
            + pages(joined, self.cpu.costs.write_page_in_transaction)
            + self.following_lists(range, old);
        if missing > 0 && self.cpu.last_level.is_some() {
            let gaps: Vec<Range> = self.pages.gaps(range).collect();
            for gap in gaps {
                self.cpu.in_other_memory(gap);
            }
        }
        call.stage = Stage::Filling;
        Next::Work(time + self.cpu.copy_in(call.file, call.at, end, call.size))
    }

    /// Stores the next piece in a mapping: a range of pages of a file of `size` bytes.
    fn store_piece(&mut self, call: &mut Call, (range, size): (Range, u64), due: Span) -> Next {
        let page = self.pages.page();
        if let Some(at) = self.page_to_load(range, size) {
            if self.pages.arriving_until(call.file, at).is_none() {
                let at_page = Call { at, ..*call };
                let window = self.pages.miss(&at_page);
                self.open_window(&at_page, window);
            }
            return wait_or_work(Wait::Page(call.file, at), due + self.asking());
        }
        let missing = self.pages.missing(range);
        let uncached = self.placed_of(range, missing);
        let faulting = self.faulting(range);
        let old = faulting.saturating_sub(missing);
        let costs = &self.cpu.costs;
        let pages = |bytes: u64, time: Span| time * bytes.div_ceil(page);
        let time = due
            + pages(faulting, costs.write_fault)
            + pages(missing - uncached, costs.new_page)
            + pages(uncached, costs.uncached_page)
            + pages(missing, costs.new_folio)
            + pages(old, costs.write_page);
        if missing > 0 && self.cpu.last_level.is_some() {
            let gaps: Vec<Range> = self.pages.gaps(range).collect();
            for gap in gaps {
                self.cpu.in_other_memory(gap);
            }
        }
        // Pages that faults bring are folios of their own.
        self.pages.set_folio(call.file, page);
        call.stage = Stage::Filling;
        let end = call.at + u64::from(call.piece);
        Next::Work(time + self.cpu.copy_in(call.file, call.at, end, call.size))
    }

    /// The first page of a range that a store has to read: it is not cached, and the file of `size`
    /// bytes has it.
    fn page_to_load(&self, range: Range, size: u64) -> Option<u64> {
        let page = self.pages.page();
        let mut pages = self.pages.gaps(range).flat_map(|gap| {
            let pages = (gap.end - gap.start).div_ceil(page);
            (0..pages).map(move |number| gap.start + number * page)
        });
        pages.find(|&at| at < size && self.blocks.placed(range.file, at, at + page) > 0)
    }

    /// Bytes of the pages of a range of which the first store faults. They are not dirty, and not
    /// in the running transaction where data goes through the journal.
    fn faulting(&self, range: Range) -> u64 {
        if self.journal.mode == JournalMode::Data {
            return self.journal.left_alone(range).iter().map(Range::len).sum();
        }
        self.pages.lru.clean_bytes(range, self.pages.page())
    }

    /// Returns the cost of traversing the lists of buffer heads of a range's folios: of each full
    /// list, the part that the processor's caches lack. The next write finds all of it.
    fn following_lists(&mut self, range: Range, old: u64) -> Span {
        let unit = self.pages.folio_of(range.file);
        // The list of a page has one.
        if old == 0 || self.cpu.costs.buffer_head == Span::ZERO || unit == self.pages.page() {
            return Span::ZERO;
        }
        let size = self.mount.sizes.get(range.file).unwrap_or(0);
        let mut time = Span::ZERO;
        for folio in folios(range, unit) {
            // A file's last folio is no longer than the file.
            let bytes = unit.min(size.saturating_sub(folio * unit));
            let heads = bytes.div_ceil(self.pages.page()).max(1);
            let first = folio * unit / self.pages.page();
            time += self.cpu.follow_list(range.file, folio, first, heads);
        }
        time
    }

    /// Number of folios that the missing bytes of a range become, for a call of `call` bytes. They
    /// are as large as the call, down to a power of two (fgf_set_order of include/linux/pagemap.h),
    /// and begin at multiples of their size. Bytes before the first count as one, where the kernel
    /// takes smaller ones (Linux 6.18, mm/filemap.c: __filemap_get_folio).
    fn new_folios(&self, range: Range, missing: u64, call: u64) -> u64 {
        if missing == 0 {
            return 0;
        }
        let unit = self.pages.folio_for(call);
        let all = range.end.div_ceil(unit) - range.start / unit;
        // For a range that is cached in part, the part is as large.
        (all * missing).div_ceil(range.len())
    }

    /// Bytes of a range that the running transaction has, where data goes through the journal.
    fn in_transaction(&self, range: Range) -> u64 {
        if self.journal.mode != JournalMode::Data
            || self.cpu.costs.write_page_in_transaction == self.cpu.costs.write_page
        {
            return 0;
        }
        let others = self.journal.left_alone(range);
        range.len() - others.iter().map(Range::len).sum::<u64>()
    }

    /// Number of bytes that have their blocks, of those of a range that are not cached.
    fn placed_of(&self, range: Range, missing: u64) -> u64 {
        if missing == 0 || self.cpu.costs.uncached_page == self.cpu.costs.new_page {
            return 0;
        }
        let placed = |gap: Range| self.blocks.placed(gap.file, gap.start, gap.end);
        self.pages.gaps(range).map(placed).sum()
    }

    /// The piece that was copied becomes dirty, if there is room.
    fn fill_piece(&mut self, call: &mut Call, now: Time) -> Next {
        if self.journal.mode == JournalMode::Data && !self.joins_transaction() {
            // Others have changed much while it was copied.
            return Next::Wait(Wait::JournalRoom);
        }
        let end = self.piece_end(call).min(call.at + u64::from(call.piece));
        let range = self.pages.lru.pages(call.file, call.at, end);
        let unit = self.pages.set_folio(call.file, call.size);
        let newly_dirty = self.pages.newly_dirty(range, unit);
        if !self.flusher.has_room(newly_dirty, self.journal.held()) {
            self.flush_in_background(now);
            if self.journal.held() > 0 {
                // Data can go to its place once it is committed.
                self.begin_commit();
            }
            return Next::Wait(Wait::DirtyRoom);
        }
        if !self.servers_let(range, now) {
            return Next::Wait(Wait::DirtyRoom);
        }
        self.grow(call.file, call.at, end, now);
        if self.journal.mode == JournalMode::Data {
            self.pages.lru.fill(range);
            self.pages.lru.overwrite(range);
            self.pages.lru.touch(range);
            self.leave_to_journal(range);
            self.journal.write_data(range, now);
            self.tick_on(Tick::Commit);
        } else {
            self.count_for_servers(range);
            self.mark_dirty(range, newly_dirty, now);
            self.write_full_requests(range, now);
        }
        self.make_room(now);
        let held = self.journal.held();
        let verdict = self.flusher.throttle(call.process, newly_dirty, held, now);
        if verdict.flush {
            self.flush_in_background(now);
        }
        call.at = end;
        call.stage = Stage::Working;
        if verdict.pause > Span::ZERO {
            return Next::Pause(verdict.pause);
        }
        self.copy_piece(call, Span::ZERO, now)
    }

    /// Makes pages dirty.
    pub(super) fn mark_dirty(&mut self, range: Range, newly_dirty: u64, now: Time) {
        self.pages.lru.write(range);
        self.flusher.mark_dirty(range.file, newly_dirty, now);
        self.tick_on(Tick::WriteBack);
    }

    /// Moves the part of a range that was due for checkpoint into the running transaction, which
    /// writes it later.
    fn leave_to_journal(&mut self, range: Range) {
        while let Some(at) = self.pages.lru.next_dirty(range.file, range.start)
            && at < range.end
            && let Some(clean) = self.pages.lru.clean_next(range.file, at, range.end - at)
        {
            self.flusher.unmark_dirty(clean.len());
        }
    }

    /// Accounts for pages of a range that became clean, of which `written` bytes will be
    /// written. Their folios no longer count as dirty, unless other parts of them are.
    pub(super) fn cleaned(&mut self, range: Range, written: u64) {
        let unit = self.pages.folio_of(range.file);
        let bytes = if unit == self.pages.page() {
            range.len()
        } else {
            self.pages.newly_dirty(range, unit)
        };
        self.flusher.count_clean(range, bytes, written);
    }

    /// A file is written up to `end`: blocks are chosen now or later, and what that
    /// changes goes into the running transaction.
    pub(super) fn grow(&mut self, file: u32, start: u64, end: u64, now: Time) {
        let longer = self.mount.sizes.grow(file, end);
        let range = self.pages.lru.pages(file, start, end);
        let placed = self.blocks.is_placed(file, range.start, range.end);
        let is_rewrite = placed && !longer;
        let is_log = self.journal.mode == JournalMode::Log;
        // The times change as often as the clock ticks.
        if (is_rewrite || is_log) && !self.journal.has_time(file, now) {
            self.change(file, Metadata::Inode(file), Changed::Times, now);
        }
        if is_rewrite {
            return;
        }
        if is_log {
            self.journal.log_when_written(file);
            return;
        }
        if !placed && !self.blocks.is_delayed() {
            self.allocate(range, now);
        }
        self.change(file, Metadata::Inode(file), Changed::Data, now);
        self.journal.order(file);
    }

    /// Chooses blocks for a range.
    pub(super) fn allocate(&mut self, range: Range, now: Time) {
        for block in self.blocks.allocate(range) {
            self.change(range.file, block, Changed::Data, now);
        }
    }

    /// A block of metadata is changed on behalf of a file.
    pub(super) fn change(&mut self, file: u32, block: Metadata, changed: Changed, now: Time) {
        let is_synced = self.blocks.syncs_own_blocks();
        self.journal
            .change_for(file, block, changed, is_synced, now);
        if self.journal.exists() {
            self.tick_on(Tick::Commit);
        }
    }

    /// Reclaims pages; dirty ones among them are written first.
    pub(super) fn make_room(&mut self, now: Time) {
        let mut counted = BTreeSet::new();
        for range in self.pages.lru.reclaim() {
            let unit = self.pages.folio_of(range.file);
            // A folio of which several parts leave counts once.
            let folios = folios(range, unit).filter(|&it| self.pages.is_clean(range.file, it));
            let new = folios.filter(|&it| counted.insert((range.file, it)));
            let bytes = new.count() as u64 * unit;
            self.flusher.count_clean(range, bytes, range.len());
            self.write_back(range, None, now);
        }
        if self.pages.lru.has_met_dirty() {
            self.flush_all(now);
        }
    }

    /// Sends a range that counts as clean to the device; the call in progress waits for it if it
    /// gives its priority. Gives the number of transfers.
    pub(super) fn write_back(
        &mut self,
        range: Range,
        waited: Option<IoPriority>,
        now: Time,
    ) -> u32 {
        if self.blocks.is_delayed() && !self.blocks.is_placed(range.file, range.start, range.end) {
            self.allocate(range, now);
        }
        debug_assert!(self.journal.rewriting(range).is_none(), "not committed");
        let mut made = 0;
        for piece in self.blocks.find(range.file, range.start, range.end) {
            let mut transfer = self.transfer(Operation::Write, range.file, piece);
            let new = self.blocks.take_new(Range {
                file: range.file,
                start: piece.offset,
                end: piece.offset + piece.size,
            });
            transfer.first_used = new.div_ceil(BLOCK) as u32;
            if let Some(priority) = waited {
                transfer.synchronous = true;
                transfer.owner = Some(SELF);
                transfer.priority = priority;
            }
            self.goes_out(&transfer);
            self.effects.transfers.push(transfer);
            made += 1;
        }
        made
    }
}
