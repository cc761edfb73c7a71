//! Commits of the journal, each a call of the kernel's own: module `journal` has their contents and
//! order.
//!
//! A descriptor and its blocks, at most 500, are one transfer in all modes. All blocks of a
//! transaction are sent at the start of its commit.

use headrace_net::{Span, Time};
use headrace_spec::{IoPriority, JournalMode};
use headrace_trace::Operation;

use super::call::{Call, Caller, Stage};
use super::journal::BLOCK;
use super::volume::{Next, Step, Tick, Wait};
use crate::tokens::{Content, Transfer};

impl Step<'_> {
    /// A call waits for a transaction.
    pub(super) fn want_commit(&mut self, id: u64) {
        if self.journal.want(id) {
            self.begin_commit();
        }
    }

    /// Begins to commit the running transaction, unless one is being committed.
    pub(super) fn begin_commit(&mut self) {
        if self.journal.can_commit() {
            self.drop_placed();
            self.journal.commit();
            let call = self.kernel_call(Caller::Journal, Span::ZERO);
            self.effects.calls.push(call);
        }
    }

    pub(super) fn commit_step(&mut self, call: &mut Call, now: Time) -> Next {
        match call.stage {
            Stage::Entered => {
                call.stage = Stage::Working;
                let mut made = 0;
                for file in self.journal.files_to_write() {
                    made += self.write_file(file, IoPriority::default(), now);
                }
                if made > 0 {
                    Next::Wait(Wait::Transfers)
                } else {
                    self.commit_step(call, now)
                }
            }
            Stage::Working => {
                let parts = self.journal.write_blocks();
                if parts.is_empty() {
                    call.stage = Stage::Committing;
                    return self.commit_step(call, now);
                }
                if self.journal.mode != JournalMode::Log {
                    call.stage = Stage::Committing;
                }
                for (address, size) in parts {
                    let transfer = self.own_transfer(Operation::Write, address, size);
                    self.effects.transfers.push(transfer);
                }
                Next::Wait(Wait::Transfers)
            }
            Stage::Committing => {
                call.stage = Stage::Settling;
                if !self.journal.barriers {
                    return self.commit_step(call, now);
                }
                let flush = self.own_transfer(Operation::Sync, 0, 0);
                self.effects.transfers.push(flush);
                Next::Wait(Wait::Transfers)
            }
            Stage::Settling => {
                call.stage = Stage::Filling;
                call.end = self.journal.commit_can_free().unwrap_or(0);
                let (address, bytes) = self.journal.write_record();
                let record = self.own_transfer(Operation::Write, address, bytes);
                // It is metadata like the blocks before it (Linux 6.18, include/linux/jbd2.h:
                // JBD2_JOURNAL_REQ_FLAGS; fs/xfs/xfs_log.c: xlog_write_iclog). Block traces show
                // it, too: WFSM, with a flush before it and forced through.
                self.effects.transfers.push(Transfer {
                    forced: self.journal.barriers,
                    ..record
                });
                Next::Wait(Wait::Transfers)
            }
            Stage::Filling if call.end > 0 => {
                // The flush before the record had the device store the blocks at their places.
                call.stage = Stage::Placing;
                self.write_superblock()
            }
            Stage::Placing => {
                self.journal.frees(call.end);
                self.end_commit(call, now)
            }
            Stage::Filling | Stage::Sending => self.end_commit(call, now),
            Stage::Flushing => {
                // The blocks of a checkpoint are written.
                call.stage = Stage::Returning;
                let flush = self.own_transfer(Operation::Sync, 0, 0);
                self.effects.transfers.push(Transfer {
                    content: Content::Data,
                    ..flush
                });
                Next::Wait(Wait::Transfers)
            }
            Stage::Returning => {
                self.wake_writers();
                if !self.journal.is_wanted() || !self.journal.can_commit() {
                    return Next::End;
                }
                // The next one begins before the processes of this one go on.
                self.drop_placed();
                self.journal.commit();
                call.stage = Stage::Entered;
                self.commit_step(call, now)
            }
        }
    }

    /// The record is on the device: waiting calls go on, and the journal is
    /// emptied if too little of it is free.
    fn end_commit(&mut self, call: &mut Call, now: Time) -> Next {
        let Some(done) = self.journal.committed() else {
            return Next::End;
        };
        let ready = self.journal.take_commit_waiters(done.id);
        self.effects.woken.extend(ready);
        for data in done.data() {
            // Blocks that the running transaction has again can go to their places after its own
            // commit (Linux 6.18, fs/jbd2/transaction.c: __jbd2_journal_refile_buffer).
            for range in self.journal.left_alone(data) {
                let unit = self.pages.folio_of(data.file);
                let newly_dirty = self.pages.newly_dirty(range, unit);
                self.mark_dirty(range, newly_dirty, now);
            }
        }
        self.make_room(now);
        self.flush(now);
        self.effects.woken.append(&mut self.flusher.take_waiters());
        if !self.journal.is_idle() {
            self.tick_on(Tick::Commit);
        }
        if !self.journal.needs_checkpoint() {
            call.stage = Stage::Returning;
            return self.commit_step(call, now);
        }
        call.stage = Stage::Flushing;
        let mut made = 0;
        let files: std::collections::BTreeSet<u32> = done.data().map(|data| data.file).collect();
        for file in files {
            made += self.write_file(file, IoPriority::default(), now);
        }
        for block in self.journal.checkpoint() {
            let address = self.blocks.address_of(block);
            let transfer = self.own_transfer(Operation::Write, address, BLOCK);
            self.effects.transfers.push(transfer);
            made += 1;
        }
        if made > 0 {
            Next::Wait(Wait::Transfers)
        } else {
            self.commit_step(call, now)
        }
    }

    pub(super) fn wake_writers(&mut self) {
        self.effects.woken.extend(self.journal.take_room_waiters());
    }
}
