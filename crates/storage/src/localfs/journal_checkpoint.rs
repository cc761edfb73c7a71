//! A journal without room: a call that would change data makes some first.
//!
//! The journal needs room for one more transaction of the largest size beside the one that is being
//! committed. Without it, the tail moves over transactions that are at their places, with a flush
//! of the device's cache and a superblock write. Sources are jbd2 (Linux 6.18,
//! fs/jbd2/transaction.c: `add_transaction_credits`; fs/jbd2/checkpoint.c:
//! `__jbd2_log_wait_for_space`, `jbd2_log_do_checkpoint`, `jbd2_cleanup_journal_tail`). If the
//! oldest one is not, its dirty blocks are written first: block by block, as metadata. A limit on
//! the device lets any amount of metadata go and has the flush pay for it. Its blocks that a
//! younger transaction changes have to be committed with that one before. If no transaction is
//! committed yet, the one that is being committed is waited for.
//!
//! In the kernel the first call that finds no room does it, and the others wait for that one. Here
//! a call of the kernel's own does it for all.
//!
//! Not modelled: the order in which blocks were changed first, in which the kernel writes them
//! (here: by place); metadata that the flusher has written back before; calls that change nothing
//! but sizes or blocks past the page cache, which wait for no room.

use headrace_net::{Span, Time};
use headrace_spec::{IoPriority, JournalMode};
use headrace_trace::Operation;

use super::call::{Call, Caller, Stage};
use super::extents::Range;
use super::journal::BLOCK;
use super::volume::{Next, Step, Wait};
use crate::tokens::{Content, Transfer};

/// Blocks that are handed over together, which the block layer merges where they are neighbours
/// (Linux 6.18, include/linux/jbd2.h: JBD2_NR_BATCH).
const BATCH: u64 = 64;

impl Step<'_> {
    /// Returns true if there is room in the journal for what a call changes. If not, it has to wait
    /// for `Wait::JournalRoom`.
    pub(super) fn finds_room(&mut self) -> bool {
        if self.journal.has_room() {
            return true;
        }
        if self.journal.mode != JournalMode::Data {
            // The running commit frees room at its end.
            return self.journal.committing_id().is_none();
        }
        if self.journal.begin_checkpoint() {
            let call = self.kernel_call(Caller::Checkpoint, Span::ZERO);
            self.effects.calls.push(call);
        }
        false
    }

    pub(super) fn checkpoint_step(&mut self, call: &mut Call, now: Time) -> Next {
        match call.stage {
            Stage::Entered => {
                if self.journal.has_room() {
                    return self.end_checkpoint();
                }
                if self.journal.can_free().is_some() {
                    call.stage = Stage::Flushing;
                    return self.checkpoint_step(call, now);
                }
                if let Some((oldest, _)) = self.journal.list.oldest() {
                    call.at = oldest;
                    call.stage = Stage::Working;
                    return self.checkpoint_step(call, now);
                }
                match self.journal.committing_id() {
                    Some(id) => Next::Wait(Wait::Commit(id)),
                    None => self.end_checkpoint(),
                }
            }
            Stage::Working => self.write_oldest(call, now),
            Stage::Placing => {
                let all = self.journal.list.data_of(call.at);
                let out = all.iter().find(|it| self.flusher.is_writing(it.file));
                if let Some(range) = out {
                    // The flusher has some of it out.
                    return Next::Wait(Wait::Written(range.file));
                }
                if self.is_oldest(call.at) {
                    self.journal.list.drop_oldest();
                }
                call.stage = Stage::Flushing;
                self.checkpoint_step(call, now)
            }
            Stage::Flushing => {
                let Some(tail) = self.journal.can_free() else {
                    call.stage = Stage::Entered;
                    return self.checkpoint_step(call, now);
                };
                call.end = tail;
                call.stage = Stage::Settling;
                if !self.journal.barriers {
                    return self.checkpoint_step(call, now);
                }
                let flush = self.own_transfer(Operation::Sync, 0, 0);
                self.effects.transfers.push(Transfer {
                    content: Content::Data,
                    ..flush
                });
                Next::Wait(Wait::Transfers)
            }
            Stage::Settling => {
                call.stage = Stage::Filling;
                self.write_superblock()
            }
            Stage::Filling | Stage::Sending | Stage::Committing | Stage::Returning => {
                self.journal.frees(call.end);
                call.stage = Stage::Entered;
                self.checkpoint_step(call, now)
            }
        }
    }

    fn end_checkpoint(&mut self) -> Next {
        self.journal.end_checkpoint();
        self.wake_writers();
        Next::End
    }

    fn is_oldest(&self, id: u64) -> bool {
        self.journal.list.oldest().is_some_and(|it| it.0 == id)
    }

    /// Writes the journal's superblock, which says where its tail is.
    pub(super) fn write_superblock(&mut self) -> Next {
        let block = self.own_transfer(Operation::Write, self.journal.superblock(), BLOCK);
        self.effects.transfers.push(Transfer {
            forced: self.journal.barriers,
            ..block
        });
        Next::Wait(Wait::Transfers)
    }

    /// Sends the dirty blocks of the oldest transaction to their places.
    fn write_oldest(&mut self, call: &mut Call, now: Time) -> Next {
        if !self.is_oldest(call.at) {
            // All of it was committed again meanwhile.
            call.stage = Stage::Flushing;
            return self.checkpoint_step(call, now);
        }
        let (blocks, data) = (
            self.journal.list.blocks_of(call.at),
            self.journal.list.data_of(call.at),
        );
        let changing = blocks.iter().find_map(|&it| self.journal.changing(it));
        let younger = changing.or_else(|| data.iter().find_map(|&it| self.journal.rewriting(it)));
        if let Some(id) = younger {
            self.want_commit(id);
            return Next::Wait(Wait::Commit(id));
        }
        call.stage = Stage::Placing;
        for block in blocks {
            let address = self.blocks.address_of(block);
            let transfer = self.own_transfer(Operation::Write, address, BLOCK);
            self.effects.transfers.push(transfer);
        }
        for range in data {
            self.place(range, now);
        }
        Next::Wait(Wait::Transfers)
    }

    /// Sends the dirty part of some data to its place, as metadata, for a call that waits. Blocks
    /// that nothing was in yet are new to the device here, not where the journal has them.
    fn place(&mut self, range: Range, now: Time) {
        let mut at = range.start;
        while let Some(start) = self.pages.lru.next_dirty(range.file, at)
            && start < range.end
        {
            let most = (range.end - start).min(BATCH * BLOCK);
            let Some(part) = self.pages.lru.clean_next(range.file, start, most) else {
                return;
            };
            at = part.end;
            self.cleaned(part, part.len());
            let before = self.effects.transfers.len();
            self.write_back(part, Some(IoPriority::default()), now);
            for transfer in &mut self.effects.transfers[before..] {
                transfer.content = Content::Metadata;
            }
        }
    }

    /// Drops the oldest transactions of which all is at its place, as each commit does at its
    /// begin (Linux 6.18, fs/jbd2/checkpoint.c: `__jbd2_journal_clean_checkpoint_list`).
    pub(super) fn drop_placed(&mut self) {
        while self.journal.list.oldest_has_data_alone()
            && let Some((oldest, _)) = self.journal.list.oldest()
        {
            let data = self.journal.list.data_of(oldest);
            if data.iter().any(|&range| !self.is_placed(range)) {
                return;
            }
            self.journal.list.drop_oldest();
        }
    }

    /// Returns true if committed data is at its place.
    fn is_placed(&self, range: Range) -> bool {
        !self.pages.lru.is_dirty(range.file, range.start, range.end)
            && !self.flusher.is_writing(range.file)
            && self.journal.rewriting(range).is_none()
    }
}
