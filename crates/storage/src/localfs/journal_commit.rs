//! Commits of the journal, each a call of the kernel's own: see the module
//! `journal` for what they write and in which order.

use headrace_net::{Span, Time};
use headrace_spec::IoPriority;
use headrace_trace::Operation;

use super::call::{Call, Caller, Stage};
use super::extents::Range;
use super::journal::{BLOCK, Metadata};
use super::volume::{Next, Tick, Volume, Wait};
use crate::tokens::{Content, Transfer};

impl Volume {
    /// Somebody waits for a transaction.
    pub(super) fn want_commit(&mut self, id: u64) {
        if id == self.journal.running.id {
            self.commit_wanted = true;
            self.begin_commit();
        }
    }

    /// Begins to commit the running transaction, unless one is being committed.
    pub(super) fn begin_commit(&mut self) {
        if self.journal.can_commit() {
            self.commit_wanted = false;
            self.drop_placed();
            self.journal.commit();
            let call = self.kernel_call(Caller::Journal, Span::ZERO);
            self.spawned.push(call);
        }
    }

    pub(super) fn commit_step(&mut self, call: &mut Call, now: Time) -> Next {
        match call.stage {
            Stage::Entered => {
                call.stage = Stage::Working;
                let files = self.journal.committing.as_ref().map(|it| it.files.clone());
                let mut made = 0;
                for file in files.into_iter().flatten() {
                    made += self.write_file(file, IoPriority::default(), now);
                }
                if made > 0 {
                    Next::Wait(Wait::Transfers)
                } else {
                    self.commit_step(call, now)
                }
            }
            Stage::Working => {
                call.stage = Stage::Committing;
                let (at, bytes) = self.journal.descriptor_and_blocks();
                if bytes == 0 {
                    return self.commit_step(call, now);
                }
                let address = self.journal_at + at;
                let committing = self.journal.committing.as_ref();
                let parts = committing.map(|it| self.under_commit.begin(it, address));
                for (address, size) in parts.into_iter().flatten() {
                    let transfer = self.own_transfer(Operation::Write, address, size);
                    self.out.push(transfer);
                }
                Next::Wait(Wait::Transfers)
            }
            Stage::Committing => {
                call.stage = Stage::Settling;
                if !self.journal.barriers {
                    return self.commit_step(call, now);
                }
                let flush = self.own_transfer(Operation::Sync, 0, 0);
                self.out.push(flush);
                Next::Wait(Wait::Transfers)
            }
            Stage::Settling => {
                call.stage = Stage::Filling;
                call.end = self.journal.commit_can_free().unwrap_or(0);
                let (at, bytes) = self.journal.record();
                let record = self.own_transfer(Operation::Write, self.journal_at + at, bytes);
                // It is metadata as the blocks before it are (Linux 6.18, include/linux/jbd2.h:
                // JBD2_JOURNAL_REQ_FLAGS; fs/xfs/xfs_log.c: xlog_write_iclog), which block
                // traces show too: WFSM, with a flush before it and forced through.
                self.out.push(Transfer {
                    forced: self.journal.barriers,
                    ..record
                });
                Next::Wait(Wait::Transfers)
            }
            Stage::Filling if call.end > 0 => {
                // The flush before the record had the device store what was at its place.
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
                self.out.push(Transfer {
                    content: Content::Data,
                    ..flush
                });
                Next::Wait(Wait::Transfers)
            }
            Stage::Returning => {
                self.wake_writers();
                if self.commit_wanted {
                    self.begin_commit();
                }
                Next::End
            }
        }
    }

    /// A transfer of the file system's own blocks is done: who waited for data in it goes on.
    pub(super) fn logged(&mut self, transfer: &Transfer) {
        // A descriptor never goes alone, as the superblock does, whose place a commit can have.
        if self.under_commit.is_empty() || transfer.size == BLOCK {
            return;
        }
        self.under_commit.end(transfer.address);
        let ready = self
            .logging_waiters
            .extract_if(.., |it| it.0 == transfer.address);
        self.woken.extend(ready.map(|(_, slot)| slot));
    }

    /// The record is on the device: who waited goes on, and the journal is
    /// emptied if too little of it is free.
    fn end_commit(&mut self, call: &mut Call, now: Time) -> Next {
        let Some(done) = self.journal.committed() else {
            return Next::End;
        };
        let ready = self.commit_waiters.extract_if(.., |it| it.0 <= done.id);
        self.woken.extend(ready.map(|(_, slot)| slot));
        for (file, start, end) in done.data() {
            // What the running transaction has anew can go to its place after its own commit
            // (Linux 6.18, fs/jbd2/transaction.c: __jbd2_journal_refile_buffer).
            for range in self.journal.left_alone(Range { file, start, end }) {
                let unit = self.folio_of(file);
                let newly_dirty = self.newly_dirty(range, unit);
                self.mark_dirty(range, newly_dirty, now);
            }
        }
        self.make_room(now);
        self.flush(now);
        self.woken.append(&mut self.dirty_waiters);
        if !self.journal.running.is_empty() {
            self.tick_on(Tick::Commit);
        }
        if !self.journal.needs_checkpoint() {
            call.stage = Stage::Returning;
            return self.commit_step(call, now);
        }
        call.stage = Stage::Flushing;
        let mut made = 0;
        let files: std::collections::BTreeSet<u32> = done.data().map(|(file, ..)| file).collect();
        for file in files {
            made += self.write_file(file, IoPriority::default(), now);
        }
        for block in self.journal.checkpoint() {
            let address = self.address_of(block);
            let transfer = self.own_transfer(Operation::Write, address, BLOCK);
            self.out.push(transfer);
            made += 1;
        }
        if made > 0 {
            Next::Wait(Wait::Transfers)
        } else {
            self.commit_step(call, now)
        }
    }

    pub(super) fn wake_writers(&mut self) {
        self.woken.append(&mut self.room_waiters);
    }

    /// Returns the address of a metadata block: at the head of its group.
    pub(super) fn address_of(&mut self, block: Metadata) -> u64 {
        let (group, within) = match block {
            Metadata::Bitmap(group) => (group, 0),
            Metadata::Inodes(group) => (group, 1),
            Metadata::Descriptor(block) => (0, 2 + block),
            Metadata::Inode(block) => (
                self.placement.group_of(block.wrapping_mul(16)),
                4 + u64::from(block % 500),
            ),
            Metadata::Directory(file) => (self.placement.group_of(file), 3),
            Metadata::Indirect(file, index) => {
                let offset = self.placement.first_of_indirect_block(index);
                if !self.placement.is_placed(file, offset, offset + 1) {
                    // The block goes before data of which none is written yet: it is new still.
                    let gaps = self.placement.place_about(file, offset, offset + 1);
                    self.new_blocks.add_all(file, gaps);
                }
                let found = self.placement.find(file, offset, offset + 1);
                let address = found.first().map_or(0, |piece| piece.address);
                return address.saturating_sub(BLOCK);
            }
        };
        self.placement.metadata_of(group) + within * BLOCK
    }
}
