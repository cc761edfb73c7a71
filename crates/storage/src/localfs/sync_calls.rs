//! `fsync` and synchronous writes: the data goes to the device, then the journal commits, then the
//! device's write cache is flushed. `fdatasync` and `O_DSYNC` wait for a commit only if it has
//! metadata that reading needs: a new size or new blocks, and not times alone.

use headrace_net::{Span, Time};
use headrace_spec::JournalMode;
use headrace_trace::Operation;

use super::call::{Call, Stage};
use super::journal::BLOCK;
use super::volume::{Next, Step, Wait};
use crate::locks::NOBODY;
use crate::tokens::{Content, Transfer};

impl Step<'_> {
    pub(super) fn sync_step(&mut self, call: &mut Call, now: Time) -> Next {
        match call.stage {
            Stage::Entered => {
                call.stage = Stage::Flushing;
                call.time += self.cpu.costs.system_call;
                Next::Work(std::mem::take(&mut call.time))
            }
            Stage::Flushing if self.flusher.is_writing(call.file) => {
                // The flusher has some of it out: what changed since goes after it.
                Next::Wait(Wait::Written(call.file))
            }
            Stage::Flushing if self.cpu.costs.flush_page > Span::ZERO => {
                call.stage = Stage::Sending;
                call.piece = 0;
                self.sync_step(call, now)
            }
            Stage::Sending => self.sync_part(call, now),
            Stage::Flushing => {
                call.stage = Stage::Committing;
                if self.write_file(call.file, self.opened(call).priority, now) > 0 {
                    self.wait_for_own(call)
                } else {
                    self.sync_step(call, now)
                }
            }
            Stage::Committing => {
                if self.flusher.is_writing(call.file) {
                    // The flusher has some of it out.
                    return Next::Wait(Wait::Written(call.file));
                }
                match self
                    .journal
                    .transaction_of(call.file, self.is_data_only(call))
                {
                    Some(id) => {
                        call.forces_log = self.journal.is_first_waiter(id);
                        self.want_commit(id);
                        call.stage = Stage::Settling;
                        Next::Wait(Wait::Commit(id))
                    }
                    None if self.journal.mode == JournalMode::Data => {
                        // A commit may have ended while this waited.
                        call.stage = Stage::Settling;
                        self.sync_step(call, now)
                    }
                    None => self.write_own_blocks(call),
                }
            }
            Stage::Settling => {
                match self.journal.mode {
                    JournalMode::Data => {}
                    JournalMode::Log if !call.forces_log => return self.flush_after_log(call),
                    // The commit's own flush was the last.
                    _ => return Next::Return,
                }
                // It is in the journal; now to its place.
                call.stage = Stage::Placing;
                if self.write_file(call.file, self.opened(call).priority, now) > 0 {
                    return self.wait_for_own(call);
                }
                self.sync_step(call, now)
            }
            Stage::Placing if self.flusher.is_writing(call.file) => {
                Next::Wait(Wait::Written(call.file))
            }
            Stage::Placing => self.settle(call),
            Stage::Working | Stage::Filling | Stage::Returning => Next::Return,
        }
    }

    /// Sends the next part of a file to the device, on the caller's own processor time. While the
    /// device writes one part, the caller prepares the next (filemap_fdatawrite_range).
    fn sync_part(&mut self, call: &mut Call, now: Time) -> Next {
        let priority = self.opened(call).priority;
        if let Some(range) = self.write_part(call.file, priority, now) {
            let pages = range.len().div_ceil(self.pages.page());
            call.piece = self.pages.page() as u32;
            return Next::Work(self.cpu.costs.flush_page * pages);
        }
        call.stage = Stage::Committing;
        let made = call.piece > 0 && self.makes_transfers();
        if self.flusher.is_writing(call.file) {
            // It waits for transfers in flight, if others have made them.
            call.made = made;
            return Next::Wait(Wait::Written(call.file));
        }
        if made {
            // All has arrived while it prepared the last.
            return Next::Work(self.cpu.costs.transfer);
        }
        self.sync_step(call, now)
    }

    /// Flushes the device's write cache for a process that waited for the log force of another one
    /// (Linux 6.18, fs/xfs/xfs_file.c: xfs_file_fsync). While a log write is in flight the block
    /// layer defers this flush and shares one flush between both (block/blk-flush.c:
    /// blk_kick_flush).
    fn flush_after_log(&mut self, call: &mut Call) -> Next {
        match self.journal.committing_id() {
            Some(id) if self.journal.barriers => {
                call.stage = Stage::Returning;
                Next::Wait(Wait::Commit(id))
            }
            _ => self.settle(call),
        }
    }

    /// Waits for transfers that the call has made.
    fn wait_for_own(&mut self, call: &mut Call) -> Next {
        call.made = self.makes_transfers();
        Next::Wait(Wait::Transfers)
    }

    /// Returns true if a call that waits for transfers pays processor time for making them and
    /// taking their completion, as a direct one does. The time of each further transfer is with its
    /// pages. On a virtual disk an fsync of nothing took 51 us, of an inode 107, of a page 115 and
    /// of both 172. A direct write of a page took 56.
    fn makes_transfers(&self) -> bool {
        self.mount.remote.is_none() && self.cpu.costs.transfer > Span::ZERO
    }

    /// Without a journal an fsync of ext2 or ext4 writes the file's inode and its pointer
    /// blocks itself (Linux 6.18, fs/buffer.c: generic_buffers_fsync_noflush; fs/ext4/fsync.c:
    /// ext4_fsync_nojournal). Counted on ext4: 4 KiB of data and the inode's 4 KiB for each
    /// append, then a flush. Not modelled: the block of extents of a file in more than four.
    fn write_own_blocks(&mut self, call: &mut Call) -> Next {
        let data_only = self.is_data_only(call);
        let blocks = self.journal.take_unsynced(call.file, data_only);
        if blocks.is_empty() {
            return self.settle(call);
        }
        for block in blocks {
            let address = self.blocks.address_of(block);
            let transfer = self.own_transfer(Operation::Write, address, BLOCK);
            self.effects.transfers.push(transfer);
        }
        call.stage = Stage::Placing;
        self.wait_for_own(call)
    }

    /// Flushes the device's write cache.
    fn settle(&mut self, call: &mut Call) -> Next {
        call.stage = Stage::Returning;
        // A lock that is given up wants data at the servers, not on their devices.
        let for_a_lock = call.workload == NOBODY;
        if for_a_lock || self.only_sends(call) || self.journal.exists() && !self.journal.barriers {
            return Next::Return;
        }
        self.set_unstable(call.file, false);
        let flush = self.own_transfer(Operation::Sync, 0, 0);
        self.effects.transfers.push(Transfer {
            content: Content::Data,
            // The servers below a client are those of the file.
            file: self.mount.remote.as_ref().map_or(flush.file, |_| call.file),
            ..flush
        });
        self.wait_for_own(call)
    }
}
