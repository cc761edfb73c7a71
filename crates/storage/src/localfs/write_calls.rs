//! Writes: into the page cache, within the limits of dirty pages and of the
//! running transaction.

use std::collections::BTreeSet;

use headrace_net::{Span, Time};
use headrace_spec::{IoPriority, JournalMode};
use headrace_trace::Operation;

use super::balance::Load;
use super::call::{Call, Stage};
use super::extents::Range;
use super::journal::{BLOCK, Metadata};
use super::volume::{Next, SELF, Tick, Volume, Wait};
use crate::time_conversion::part_of;

/// Bytes of a call copied between two checks of the limits: the kernel does so every few folios,
/// the largest of which are 1 MiB.
const PIECE: u64 = 1 << 20;

/// The clock that file times are taken from ticks so often (CONFIG_HZ=250).
const CLOCK: u64 = 4_000_000_000;

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

impl Volume {
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
                    due = due + self.entering(call) + self.costs.write_call;
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
            .remote
            .as_ref()
            .map_or(u64::MAX, |remote| remote.most());
        let most = PIECE
            .min(self.balance.limit / 4)
            .min(servers)
            .min(self.journal.left())
            .max(self.page);
        let border = call.at - call.at % self.page;
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
        let range = self.cache.pages(call.file, call.at, end);
        if let Some(address) = self.in_logging(range) {
            return wait_or_work(Wait::Logged(address), due);
        }
        call.piece = (end - call.at) as u32;
        if let Some(page) = self.edge_to_read(call.file, call.at, end) {
            if self.arriving_until(call.file, page).is_none() {
                self.fetch(call, page, page + self.page);
            }
            return wait_or_work(Wait::Page(call.file, page), due + self.asking());
        }
        let missing = self.missing(range);
        let uncached = self.placed_of(range, missing);
        let old = range.len() - missing;
        let joined = self.in_transaction(range).min(old);
        let pages = |bytes: u64, time: Span| time * bytes.div_ceil(self.page);
        let folios = self.new_folios(range, missing, call.size);
        let time = due
            + pages(missing - uncached, self.costs.new_page)
            + pages(uncached, self.costs.uncached_page)
            + self.costs.new_folio * folios
            + pages(old - joined, self.costs.write_page)
            + pages(joined, self.costs.write_page_in_transaction)
            + self.following_lists(range, old);
        let copying = self.copy.of_write(end - call.at, call.size, self.copying);
        if missing > 0 && self.last_level.is_some() {
            let gaps: Vec<Range> = self.gaps(range).collect();
            for gap in gaps {
                self.in_other_memory(gap);
            }
        }
        call.stage = Stage::Filling;
        Next::Work(time + self.copied(call.file, call.at, end, copying))
    }

    /// Returns the cost of traversing the lists of buffer heads of a range's folios: of each full
    /// list, the part that the processor's caches lack. The next write finds all of it.
    fn following_lists(&mut self, range: Range, old: u64) -> Span {
        let unit = self.folio_of(range.file);
        // The list of a page has one.
        if old == 0 || self.costs.buffer_head == Span::ZERO || unit == self.page {
            return Span::ZERO;
        }
        let size = self.sizes.get(range.file).unwrap_or(0);
        let mut time = Span::ZERO;
        for folio in folios(range, unit) {
            // A file's last folio is no longer than the file.
            let bytes = unit.min(size.saturating_sub(folio * unit));
            let heads = bytes.div_ceil(self.page).max(1);
            let list = (range.file, folio);
            let again = self.last_list.replace(list) == Some(list);
            let first = folio * unit / self.page;
            let level = self.last_level.as_mut();
            let found = level.map_or(0.0, |it| it.follow(range.file, first, heads));
            if !again {
                time += part_of(self.costs.buffer_head, 1.0 - found) * heads;
            }
        }
        time
    }

    /// Number of folios the missing bytes of a range become, for a call of `call` bytes: they are
    /// as large as the call, down to a power of two (fgf_set_order of include/linux/pagemap.h), and
    /// begin at multiples of their size; what lies before the first is counted as one, where the
    /// kernel takes smaller ones (Linux 6.18, mm/filemap.c: __filemap_get_folio).
    fn new_folios(&self, range: Range, missing: u64, call: u64) -> u64 {
        if missing == 0 {
            return 0;
        }
        let unit = self.folio_for(call);
        let all = range.end.div_ceil(unit) - range.start / unit;
        // Of a range that is cached in part, as large a part.
        (all * missing).div_ceil(range.len())
    }

    /// Size of the folios that a call of `call` bytes makes.
    fn folio_for(&self, call: u64) -> u64 {
        let size = 1_u64 << call.max(1).ilog2();
        size.clamp(self.page, self.largest_folio)
    }

    /// Bytes of a range that are not cached.
    fn missing(&self, range: Range) -> u64 {
        self.gaps(range).map(|gap| gap.len()).sum()
    }

    /// Bytes of a range that the running transaction has, where data goes through the journal.
    fn in_transaction(&self, range: Range) -> u64 {
        if self.journal.mode != JournalMode::Data
            || self.costs.write_page_in_transaction == self.costs.write_page
        {
            return 0;
        }
        let others = self.journal.left_alone(range);
        range.len() - others.iter().map(Range::len).sum::<u64>()
    }

    /// The transfer into the journal that has any of these bytes, but for those that the running
    /// transaction has too: of these the commit has a copy.
    fn in_logging(&self, range: Range) -> Option<u64> {
        if self.under_commit.is_empty() {
            return None;
        }
        let anew = self.journal.left_alone(range);
        anew.into_iter()
            .find_map(|it| self.under_commit.carries(it))
    }

    /// Number of bytes that have their blocks, of those of a range that are not cached.
    fn placed_of(&self, range: Range, missing: u64) -> u64 {
        if missing == 0 || self.costs.uncached_page == self.costs.new_page {
            return 0;
        }
        let placed = |gap: Range| self.placement.placed(gap.file, gap.start, gap.end);
        self.gaps(range).map(placed).sum()
    }

    /// Returns the uncached parts of a range.
    fn gaps(&self, range: Range) -> impl Iterator<Item = Range> {
        let Range {
            file,
            mut start,
            end,
        } = range;
        std::iter::from_fn(move || {
            start = self.cache.held_until(file, start, end);
            let gap = Range {
                file,
                start,
                end: self.cache.missing_until(file, start, end),
            };
            start = gap.end;
            (!gap.is_empty()).then_some(gap)
        })
    }

    /// A page of which only a part is written, and that must be read first.
    fn edge_to_read(&self, file: u32, start: u64, end: u64) -> Option<u64> {
        let size = self.sizes.get(file).unwrap_or(0);
        let needs = |page: u64| {
            let held = self.cache.held_until(file, page, page + self.page) > page;
            !held && page < size
        };
        let first = start - start % self.page;
        let last = end - end % self.page;
        if start != first && needs(first) {
            return Some(first);
        }
        // What lies beyond the end of the file needs no reading.
        (end != last && end < size && needs(last)).then_some(last)
    }

    /// The piece that was copied becomes dirty, if there is room.
    fn fill_piece(&mut self, call: &mut Call, now: Time) -> Next {
        if self.journal.mode == JournalMode::Data && !self.joins_transaction() {
            // Others have changed much while it was copied.
            return Next::Wait(Wait::JournalRoom);
        }
        let end = self.piece_end(call).min(call.at + u64::from(call.piece));
        let range = self.cache.pages(call.file, call.at, end);
        let unit = self.set_folio(call.file, call.size);
        let newly_dirty = self.newly_dirty(range, unit);
        let total = self.dirty_total();
        if total + newly_dirty > self.balance.limit && total > self.others + self.below {
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
            self.cache.fill(range);
            self.cache.touch(range);
            self.leave_to_journal(range);
            self.journal.data(call.file, range.start, range.end, now);
            let id = self.journal.running.id;
            self.changed_in.entry(call.file).or_default().0 = id;
            self.tick_on(Tick::Commit);
        } else {
            self.count_for_servers(range);
            self.mark_dirty(range, newly_dirty, now);
            self.write_full_requests(range, now);
        }
        self.make_room(now);
        let load = self.load();
        let verdict = self.balance.dirtied(call.process, newly_dirty, load, now);
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
        self.cache.write(range);
        self.dirty += newly_dirty;
        let since = *self.dirty_since.entry(range.file).or_insert(now);
        if since == now {
            self.dirty_order.insert((now, range.file));
        }
        self.tick_on(Tick::WriteBack);
    }

    /// Moves the part of a range that was due for checkpoint into the running transaction, which
    /// writes it later.
    fn leave_to_journal(&mut self, range: Range) {
        while let Some(at) = self.cache.next_dirty(range.file, range.start)
            && at < range.end
            && let Some(clean) = self.cache.clean_next(range.file, at, range.end - at)
        {
            self.dirty -= clean.len();
        }
    }

    /// Returns the dirty load as the kernel counts it.
    fn load(&self) -> Load {
        Load {
            dirty: self.dirty_unwritten(),
            all: self.dirty_total(),
            own: self.dirty + self.writing,
        }
    }

    /// Dirty bytes that are not being written.
    pub(super) fn dirty_unwritten(&self) -> u64 {
        self.dirty + self.others + self.below
    }

    /// Dirty bytes against the limits.
    pub(super) fn dirty_total(&self) -> u64 {
        self.dirty + self.writing + self.others + self.below + self.journal.held()
    }

    /// The folios of a file are as large as the first call that made it: a power of
    /// two (Linux 6.18, mm/filemap.c: __filemap_get_folio).
    pub(super) fn set_folio(&mut self, file: u32, call: u64) -> u64 {
        let size = self.folio_for(call);
        *self.folios.entry(file).or_insert(size)
    }

    /// Number of bytes more that will count as dirty when a range is written: a folio counts whole.
    pub(super) fn newly_dirty(&self, range: Range, unit: u64) -> u64 {
        let mut newly_dirty = 0;
        let mut at = range.start - range.start % unit;
        while at < range.end {
            if !self.cache.is_dirty(range.file, at, at + unit) {
                newly_dirty += unit;
            }
            at += unit;
        }
        newly_dirty
    }

    /// Accounts for pages of a range that became clean, of which `written` bytes will be
    /// written. Their folios no longer count as dirty, unless other parts of them are.
    pub(super) fn cleaned(&mut self, range: Range, written: u64) {
        let unit = self.folio_of(range.file);
        let bytes = if unit == self.page {
            range.len()
        } else {
            let folios = folios(range, unit);
            folios.filter(|&it| self.is_clean(range.file, it)).count() as u64 * unit
        };
        self.count_clean(range, bytes, written);
    }

    /// The size of a file's folios.
    pub(super) fn folio_of(&self, file: u32) -> u64 {
        self.folios.get(&file).copied().unwrap_or(self.page)
    }

    fn is_clean(&self, file: u32, folio: u64) -> bool {
        let unit = self.folio_of(file);
        !self.cache.is_dirty(file, folio * unit, (folio + 1) * unit)
    }

    /// Moves bytes from dirty to under writeback. What they count for beyond what will be written
    /// stays counted until then; what goes out of a folio that is dirty still is not counted twice.
    fn count_clean(&mut self, range: Range, bytes: u64, written: u64) {
        self.dirty = self.dirty.saturating_sub(bytes);
        self.writing += bytes;
        let besides = bytes as i64 - written as i64;
        if besides != 0 {
            let key = (range.file, range.start);
            *self.writing_besides.entry(key).or_default() += besides;
        }
    }

    /// A file is written up to `end`: blocks are chosen now or later, and what that
    /// changes goes into the running transaction.
    pub(super) fn grow(&mut self, file: u32, start: u64, end: u64, now: Time) {
        let longer = self.sizes.grow(file, end);
        let range = self.cache.pages(file, start, end);
        let placed = self.placement.is_placed(file, range.start, range.end);
        let tick = now.0 / CLOCK;
        if placed && !longer {
            // Only its times change, as often as the clock ticks.
            if self.changed_in.get(&file).is_none_or(|&(_, at)| at != tick) {
                self.change(file, Metadata::Inode(file), now);
            }
            return;
        }
        if !placed && !self.delayed {
            self.allocate(range, now);
        }
        self.change(file, Metadata::Inode(file), now);
        self.journal.order(file);
    }

    /// Chooses blocks for a range.
    pub(super) fn allocate(&mut self, range: Range, now: Time) {
        // Some of it may have blocks already, which are not new.
        let gaps = self.placement.place(range.file, range.start, range.end);
        self.new_blocks.add_all(range.file, gaps);
        let of = |at: u64| self.placement.group_at(range.file, at);
        for group in BTreeSet::from([of(range.start), of(range.end - 1)]) {
            self.change(range.file, Metadata::Bitmap(group), now);
            self.change(range.file, Metadata::Descriptor(group), now);
        }
        if let Some(index) = self.placement.indirect_block_of(range.end - 1) {
            self.change(range.file, Metadata::Indirect(range.file, index), now);
            self.indirect_known.insert((range.file, index));
        }
    }

    /// A block of metadata is changed on behalf of a file.
    pub(super) fn change(&mut self, file: u32, block: Metadata, now: Time) {
        if !self.journal.exists() {
            let own = matches!(block, Metadata::Inode(_) | Metadata::Indirect(..));
            if own && (self.placement.has_pointers() || self.sync_writes_inode) {
                self.unsynced.entry(file).or_default().insert(block);
            }
            self.changed_in.insert(file, (0, now.0 / CLOCK));
            return;
        }
        self.journal.change(block, now);
        self.changed_in
            .insert(file, (self.journal.running.id, now.0 / CLOCK));
        self.tick_on(Tick::Commit);
    }

    /// Reclaims pages; dirty ones among them are written first.
    pub(super) fn make_room(&mut self, now: Time) {
        let mut counted = BTreeSet::new();
        for range in self.cache.reclaim() {
            let unit = self.folio_of(range.file);
            // A folio of which several parts leave counts once.
            let folios = folios(range, unit).filter(|&it| self.is_clean(range.file, it));
            let new = folios.filter(|&it| counted.insert((range.file, it)));
            let bytes = new.count() as u64 * unit;
            self.count_clean(range, bytes, range.len());
            self.write_back(range, None, now);
        }
        if self.cache.has_met_dirty() {
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
        if self.delayed && !self.placement.is_placed(range.file, range.start, range.end) {
            self.allocate(range, now);
        }
        debug_assert!(self.journal.rewriting(range).is_none(), "not committed");
        let mut made = 0;
        for piece in self.placement.find(range.file, range.start, range.end) {
            let mut transfer = self.transfer(Operation::Write, range.file, piece);
            let new = self.new_blocks.take(Range {
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
            self.out.push(transfer);
            made += 1;
        }
        made
    }
}
