//! Reads: from the page cache, with read-ahead, or past it.

use headrace_net::{Span, Time};
use headrace_trace::Operation;

use super::block_allocator::Piece;
use super::call::{Call, Stage};
use super::extents::Range;
use super::read_ahead::Window;
use super::volume::{Next, SELF, Volume, Wait};
use crate::tokens::{Content, Transfer};

/// Pages that one fault maps, if they are cached (fault_around_bytes).
const FAULT_AROUND: u64 = 64 << 10;

/// Number of faults it takes to read mapped bytes that are cached; the page before them is mapped
/// already if the reader goes on from there. That what was mapped once stays mapped is not
/// modelled.
fn faults(start: u64, end: u64, goes_on: bool) -> u64 {
    let first = match goes_on {
        true => start.div_ceil(FAULT_AROUND),
        false => start / FAULT_AROUND,
    };
    end.div_ceil(FAULT_AROUND).saturating_sub(first)
}

impl Volume {
    pub(super) fn read_step(&mut self, call: &mut Call, now: Time) -> Next {
        let opened = self.opened(call);
        if opened.direct && !self.buffers_direct() {
            return self.direct_step(call, now);
        }
        // What is due besides copying.
        let mut time = match call.stage {
            Stage::Entered if opened.mapped => call.time,
            Stage::Entered => call.time + self.entering(call),
            // A page has come from the device.
            Stage::Filling => self.costs.transfer,
            _ => Span::ZERO,
        };
        call.stage = Stage::Working;
        if call.at >= call.end {
            return match time {
                Span::ZERO => Next::Return,
                time => Next::Work(time),
            };
        }
        let until = self.cache.held_until(call.file, call.at, call.end);
        if until == call.at {
            if time > Span::ZERO {
                return Next::Work(time);
            }
            call.stage = Stage::Filling;
            return self.miss(call);
        }
        let range = self.cache.pages(call.file, call.at, until);
        self.cache.touch(range);
        self.pass_marks(call, call.at, until);
        time += self.asking();
        let goes_on = self.stream(call).goes_on(call.at);
        self.stream(call).read(until);
        if opened.mapped {
            time += self.costs.page_fault * faults(call.at, until, goes_on);
        }
        // Loads bring the bytes of a mapping through the processor as a copy does.
        let copying = self.copy.of(until - call.at, call.size, self.copying);
        time += self.copied(call.file, call.at, until, copying);
        call.at = until;
        Next::Work(time)
    }

    /// The next byte is not cached: it is asked for, if it was not yet.
    fn miss(&mut self, call: &mut Call) -> Next {
        let at = call.at - call.at % self.page;
        if self.arriving_until(call.file, at).is_none() {
            let mut stream = *self.stream(call);
            let rules = self.read_ahead;
            let window = stream.miss(&rules, call.at, call.end, |at, most| {
                self.there_before(call.file, at, most)
            });
            *self.stream(call) = stream;
            self.open_window(call, window);
        }
        // The mark of a page is checked before the page is waited for.
        self.pass_marks(call, at, at + self.page);
        match self.asking() {
            Span::ZERO => Next::Wait(Wait::Page(call.file, at)),
            time => {
                call.stage = Stage::Working;
                Next::Work(time)
            }
        }
    }

    /// Processor time of whoever asked for pages since the last time.
    pub(super) fn asking(&mut self) -> Span {
        let pages = std::mem::take(&mut self.asked).div_ceil(self.page);
        self.costs.read_page * pages
    }

    /// The call comes to the marks of some bytes: what follows is read ahead.
    fn pass_marks(&mut self, call: &Call, from: u64, until: u64) {
        let from = from - from % self.page;
        while let Some(&(file, mark)) = self
            .marks
            .range((call.file, from)..(call.file, until))
            .next()
        {
            self.marks.remove(&(file, mark));
            let mut stream = *self.stream(call);
            let rules = self.read_ahead;
            let window = stream.comes_to(&rules, mark, call.end, |mark, most| {
                self.hole_after(file, mark, most)
            });
            *self.stream(call) = stream;
            let size = self.sizes.get(file).unwrap_or(u64::MAX);
            if let Some(window) = window.filter(|window| window.start < size) {
                self.open_window(call, window);
            }
        }
    }

    /// Asks for a window and marks its page.
    fn open_window(&mut self, call: &Call, window: Window) {
        // A page that is there keeps its mark, or has none.
        let mark = window.mark.filter(|&mark| !self.is_there(call.file, mark));
        self.fetch(call, window.start, window.end);
        let mark = mark.filter(|&mark| self.is_there(call.file, mark));
        self.marks.extend(mark.map(|mark| (call.file, mark)));
    }

    /// Returns true if a page is cached or being read from the device.
    fn is_there(&self, file: u32, page: u64) -> bool {
        self.cache.held_until(file, page, page + self.page) > page
            || self.arriving_until(file, page).is_some()
    }

    /// Returns the bytes just before `at` that are cached or being read, up to `most`.
    fn there_before(&self, file: u32, at: u64, most: u64) -> u64 {
        let least = at.saturating_sub(most);
        let mut from = at;
        while from > least {
            let last = from - self.page;
            let until = self.arriving.range(..=(file, last)).next_back();
            let arriving = until.filter(|(key, it)| key.0 == file && last < it.end);
            let start = match (self.cache.held_from(file, last), arriving) {
                (Some(start), _) => start,
                (None, Some((key, _))) => key.1,
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
            let held = self.cache.held_until(file, at, end + self.page);
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
    pub(super) fn arriving_until(&self, file: u32, at: u64) -> Option<u64> {
        let (key, arriving) = self.arriving.range(..=(file, at)).next_back()?;
        (key.0 == file && at < arriving.end).then_some(arriving.end)
    }

    /// Reads pages that are neither cached nor being read from the device, up to the end of file.
    pub(super) fn fetch(&mut self, call: &Call, start: u64, end: u64) {
        let file = call.file;
        let known = self
            .sizes
            .get(file)
            .map(|size| size.next_multiple_of(self.page));
        let end = known.map_or(end, |size| end.min(size.max(start + self.page)));
        let end = match &self.remote {
            // The page itself is locked by whoever waits for it.
            Some(remote) => remote
                .readable_until(file, start + self.page, end)
                .max(start),
            None => end,
        };
        // Read-ahead from the beginning of a file makes large folios, other reads
        // single pages (page_cache_ra_order in mm/readahead.c).
        let folio = if start == 0 {
            self.read_ahead.largest
        } else {
            self.page
        };
        self.set_folio(file, folio);
        let mut at = start;
        while at < end {
            let missing = self.cache.missing_until(file, at, end);
            if missing > at {
                self.fetch_missing(call, at, missing);
            }
            at = self.cache.held_until(file, missing, end);
        }
    }

    fn fetch_missing(&mut self, call: &Call, start: u64, end: u64) {
        let file = call.file;
        let mut at = start;
        while at < end {
            if let Some(until) = self.arriving_until(file, at) {
                at = until;
                continue;
            }
            let next = self.arriving.range((file, at)..(file, end)).next();
            let until = next.map_or(end, |(key, _)| key.1);
            // New pages bear no mark of those that were there before.
            while let Some(&mark) = self.marks.range((file, at)..(file, until)).next() {
                self.marks.remove(&mark);
            }
            for piece in self.placement.find(file, at, until) {
                self.find_indirect(call, piece.offset);
                self.ask(call, piece);
            }
            at = until;
        }
    }

    /// A piece in transfers that the device takes at once.
    fn ask(&mut self, call: &Call, piece: Piece) {
        let priority = self.opened(call).priority;
        let most = self.read_ahead.transfer - self.read_ahead.transfer % self.page;
        let mut done = 0;
        while done < piece.size {
            let size = (piece.size - done).min(most.max(self.page));
            let part = Piece {
                offset: piece.offset + done,
                address: piece.address + done,
                size,
            };
            let transfer = Transfer {
                process: call.process,
                priority,
                first_used: self.fresh_memory.take(size, &self.cache),
                ..self.transfer(Operation::Read, call.file, part)
            };
            self.out.push(transfer);
            self.asked += size;
            let arriving = self.arriving.entry((call.file, part.offset)).or_default();
            arriving.end = part.offset + size;
            done += size;
        }
    }

    /// Reads the indirect block that points to some bytes, if it is not known.
    fn find_indirect(&mut self, call: &Call, offset: u64) {
        let file = call.file;
        let Some(index) = self.placement.indirect_block_of(offset) else {
            return;
        };
        if self.indirect_known.insert((file, index)) {
            // It lies just before the blocks that it points to.
            let found = self.placement.find(file, offset, offset + 1);
            let address = found.first().map_or(0, |piece| piece.address);
            let transfer = Transfer {
                owner: None,
                process: call.process,
                priority: self.opened(call).priority,
                content: Content::Data,
                ..self.own_transfer(Operation::Read, address.saturating_sub(4096), 4096)
            };
            self.out.push(transfer);
        }
    }

    pub(super) fn read_arrived(&mut self, range: Range, transfer: &Transfer, now: Time) {
        if transfer.owner.is_some() {
            // A direct read.
            return;
        }
        if let Some(arriving) = self.arriving.remove(&(range.file, range.start)) {
            self.woken.extend(arriving.waiting);
            self.fresh_memory.filled(range.len());
        }
        self.cache.fill(range);
        self.in_other_memory(range);
        self.make_room(now);
    }

    /// In data mode the kernel turns direct transfers into buffered ones.
    pub(super) fn buffers_direct(&self) -> bool {
        self.journal.mode == headrace_spec::JournalMode::Data
    }

    /// Reads and overwrites past the page cache.
    pub(super) fn direct_step(&mut self, call: &mut Call, now: Time) -> Next {
        match call.stage {
            Stage::Entered => {
                call.stage = Stage::Working;
                call.time += self.costs.system_call + self.costs.transfer;
                Next::Work(std::mem::take(&mut call.time))
            }
            Stage::Working => {
                if call.operation == Operation::Write {
                    self.grow(call.file, call.at, call.end, now);
                    // What a direct write to new blocks takes more has not been measured:
                    // nothing is charged, and the blocks are not new any more.
                    let range = self.cache.pages(call.file, call.at, call.end);
                    self.new_blocks.take(range);
                }
                let opened = self.opened(call);
                for piece in self.placement.find(call.file, call.at, call.end) {
                    let transfer = Transfer {
                        owner: Some(SELF),
                        process: call.process,
                        priority: opened.priority,
                        synchronous: true,
                        ..self.transfer(call.operation, call.file, piece)
                    };
                    if call.operation == Operation::Write {
                        self.writing += transfer.size;
                        self.goes_out(&transfer);
                        self.passes_to_servers(Range {
                            file: transfer.file,
                            start: transfer.offset,
                            end: transfer.offset + transfer.size,
                        });
                    }
                    self.out.push(transfer);
                }
                call.stage = if opened.synchronous && call.operation == Operation::Write {
                    Stage::Committing
                } else {
                    Stage::Returning
                };
                if call.at == call.end {
                    return Next::Return;
                }
                Next::Wait(Wait::Transfers)
            }
            Stage::Flushing
            | Stage::Sending
            | Stage::Committing
            | Stage::Placing
            | Stage::Settling => self.sync_step(call, now),
            Stage::Filling | Stage::Returning => Next::Return,
        }
    }
}
