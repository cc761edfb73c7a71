//! Reads: from the page cache, with read-ahead, or past it.

use headrace_net::{Span, Time};
use headrace_trace::Operation;

use super::block_allocator::Piece;
use super::call::{Call, Stage};
use super::extents::Range;
use super::journal::BLOCK;
use super::read_ahead::Window;
use super::volume::{Next, SELF, Step, Wait};
use crate::tokens::{Content, Transfer};

/// Pages that one fault maps, if they are cached (fault_around_bytes).
const FAULT_AROUND: u64 = 64 << 10;

/// Number of faults to read cached mapped bytes. The page before them is mapped already if the
/// reader goes on from there. Pages that stay mapped are not modelled.
fn faults(start: u64, end: u64, goes_on: bool) -> u64 {
    let first = match goes_on {
        true => start.div_ceil(FAULT_AROUND),
        false => start / FAULT_AROUND,
    };
    end.div_ceil(FAULT_AROUND).saturating_sub(first)
}

impl Step<'_> {
    pub(super) fn read_step(&mut self, call: &mut Call, now: Time) -> Next {
        let opened = self.opened(call);
        if opened.direct && !self.buffers_direct() {
            return self.direct_step(call, now);
        }
        let has_waited = call.stage == Stage::Filling;
        // The cost besides copying.
        let mut time = match call.stage {
            Stage::Entered if opened.mapped => call.time,
            Stage::Entered => call.time + self.entering(call),
            // A page has come from the device.
            Stage::Filling => self.cpu.costs.transfer,
            _ => Span::ZERO,
        };
        call.stage = Stage::Working;
        if call.at >= call.end {
            return match time {
                Span::ZERO => Next::Return,
                time => Next::Work(time),
            };
        }
        let until = self.pages.lru.held_until(call.file, call.at, call.end);
        if until == call.at {
            if time > Span::ZERO {
                return Next::Work(time);
            }
            call.stage = Stage::Filling;
            return self.miss(call);
        }
        let range = self.pages.lru.pages(call.file, call.at, until);
        self.pages.lru.count_read(range, u64::from(has_waited));
        self.pages.lru.touch(range);
        self.pass_marks(call, call.at, until);
        time += self.asking();
        let goes_on = self.pages.stream(call).goes_on(call.at);
        self.pages.stream(call).read(until);
        if opened.mapped {
            time += self.cpu.costs.page_fault * faults(call.at, until, goes_on);
        }
        // Loads bring the bytes of a mapping through the processor as a copy does.
        time += self.cpu.copy_out(call.file, call.at, until, call.size);
        call.at = until;
        Next::Work(time)
    }

    /// The next byte is not cached: it is requested, if it was not yet.
    fn miss(&mut self, call: &mut Call) -> Next {
        let at = call.at - call.at % self.pages.page();
        if self.pages.arriving_until(call.file, at).is_none() {
            let window = self.pages.miss(call);
            self.open_window(call, window);
        }
        // The mark of a page is checked before the page is waited for.
        self.pass_marks(call, at, at + self.pages.page());
        match self.asking() {
            Span::ZERO => Next::Wait(Wait::Page(call.file, at)),
            time => {
                call.stage = Stage::Working;
                Next::Work(time)
            }
        }
    }

    /// Processor time of requests for pages since the last time.
    pub(super) fn asking(&mut self) -> Span {
        self.cpu.costs.read_page * self.pages.take_asked()
    }

    /// The call comes to the marks of some bytes: what follows is read ahead.
    fn pass_marks(&mut self, call: &Call, from: u64, until: u64) {
        let from = from - from % self.pages.page();
        while let Some(mark) = self.pages.take_mark(call.file, from, until) {
            let window = self.pages.window_at_mark(call, mark);
            let size = self.mount.sizes.get(call.file).unwrap_or(u64::MAX);
            if let Some(window) = window.filter(|window| window.start < size) {
                self.open_window(call, window);
            }
        }
    }

    /// Asks for a window and marks its page.
    pub(super) fn open_window(&mut self, call: &Call, window: Window) {
        // A page that is there keeps its mark, or has none.
        let mark = window
            .mark
            .filter(|&mark| !self.pages.is_there(call.file, mark));
        self.fetch(call, window.start, window.end);
        if let Some(mark) = mark.filter(|&mark| self.pages.is_there(call.file, mark)) {
            self.pages.mark(call.file, mark);
        }
    }

    /// Reads pages that are neither cached nor being read from the device, up to the end of file.
    pub(super) fn fetch(&mut self, call: &Call, start: u64, end: u64) {
        let file = call.file;
        let known = self
            .mount
            .sizes
            .get(file)
            .map(|size| size.next_multiple_of(self.pages.page()));
        let end = known.map_or(end, |size| end.min(size.max(start + self.pages.page())));
        let end = match &self.mount.remote {
            // The waiting call locks the page itself.
            Some(remote) => {
                let page = self.pages.page();
                let locked = remote.readable_until(file, start + page, end);
                // A page that is locked in part is not read ahead.
                (locked - locked % page).max((start + page).min(end))
            }
            None => end,
        };
        // Read-ahead from the beginning of a file makes large folios, other reads
        // single pages (page_cache_ra_order in mm/readahead.c).
        let folio = if start == 0 {
            self.pages.largest_window()
        } else {
            self.pages.page()
        };
        self.pages.set_folio(file, folio);
        let mut at = start;
        while at < end {
            let missing = self.pages.lru.missing_until(file, at, end);
            if missing > at {
                self.fetch_missing(call, at, missing);
            }
            at = self.pages.lru.held_until(file, missing, end);
        }
    }

    fn fetch_missing(&mut self, call: &Call, start: u64, end: u64) {
        let file = call.file;
        let mut at = start;
        while at < end {
            if let Some(until) = self.pages.arriving_until(file, at) {
                at = until;
                continue;
            }
            let until = self.pages.next_arriving(file, at, end).unwrap_or(end);
            // New pages bear no mark of those that were there before.
            while self.pages.take_mark(file, at, until).is_some() {}
            for piece in self.blocks.find(file, at, until) {
                self.find_indirect(call, piece.offset);
                self.ask(call, piece);
            }
            at = until;
        }
    }

    /// A piece in transfers that the device takes at once.
    fn ask(&mut self, call: &Call, piece: Piece) {
        let priority = self.opened(call).priority;
        let most = self.pages.largest_transfer();
        let mut done = 0;
        while done < piece.size {
            let size = (piece.size - done).min(most);
            let part = Piece {
                offset: piece.offset + done,
                address: piece.address + done,
                size,
            };
            let first_used = self.pages.ask(Range {
                file: call.file,
                start: part.offset,
                end: part.offset + size,
            });
            let transfer = Transfer {
                process: call.process,
                priority,
                first_used,
                ..self.transfer(Operation::Read, call.file, part)
            };
            self.effects.transfers.push(transfer);
            done += size;
        }
    }

    /// Reads the indirect block that points to some bytes, if it is not known.
    fn find_indirect(&mut self, call: &Call, offset: u64) {
        let file = call.file;
        let Some(index) = self.blocks.indirect_block_of(offset) else {
            return;
        };
        if self.blocks.find_pointers(file, index) {
            // It lies just before the blocks that it points to.
            let address = self.blocks.before(file, offset);
            let transfer = Transfer {
                owner: None,
                process: call.process,
                priority: self.opened(call).priority,
                content: Content::Data,
                ..self.own_transfer(Operation::Read, address, BLOCK)
            };
            self.effects.transfers.push(transfer);
        }
    }

    pub(super) fn read_arrived(&mut self, range: Range, transfer: &Transfer, now: Time) {
        if transfer.owner.is_some() {
            // A direct read.
            return;
        }
        self.effects.woken.extend(self.pages.arrived(range));
        self.cpu.in_other_memory(range);
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
                call.time += self.cpu.costs.system_call + self.cpu.costs.transfer;
                Next::Work(std::mem::take(&mut call.time))
            }
            Stage::Working => {
                if call.operation == Operation::Write {
                    self.grow(call.file, call.at, call.end, now);
                    // The additional time of a direct write to new blocks has not been measured:
                    // nothing is charged, and the blocks are not new afterwards.
                    let range = self.pages.lru.pages(call.file, call.at, call.end);
                    self.blocks.take_new(range);
                }
                let opened = self.opened(call);
                for piece in self.blocks.find(call.file, call.at, call.end) {
                    let transfer = Transfer {
                        owner: Some(SELF),
                        process: call.process,
                        priority: opened.priority,
                        synchronous: true,
                        ..self.transfer(call.operation, call.file, piece)
                    };
                    if call.operation == Operation::Write {
                        self.flusher.count_direct(transfer.size);
                        self.goes_out(&transfer);
                        self.passes_to_servers(Range {
                            file: transfer.file,
                            start: transfer.offset,
                            end: transfer.offset + transfer.size,
                        });
                    }
                    self.effects.transfers.push(transfer);
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
