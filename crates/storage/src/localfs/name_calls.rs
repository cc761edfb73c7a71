//! Calls on names and attributes: processor time, and blocks of metadata for the
//! journal.
//!
//! Not modelled: reading directories and inodes that are not cached, locks of
//! directories, the tree of names (each file is in a directory of its group).

use headrace_net::{Span, Time};
use headrace_spec::JournalMode;
use headrace_trace::Operation;

use super::call::{Call, Stage};
use super::extents::Range;
use super::flusher::CHUNK;
use super::journal::Metadata;
use super::volume::{Next, Volume, Wait};

/// Returns true if a call changes anything of the file system.
fn changes(operation: Operation) -> bool {
    matches!(
        operation,
        Operation::Create
            | Operation::Mkdir
            | Operation::Symlink
            | Operation::Unlink
            | Operation::Rmdir
            | Operation::Truncate
            | Operation::Rename
            | Operation::Link
            | Operation::Setattr
            | Operation::Setxattr
            | Operation::Allocate
    )
}

impl Volume {
    pub(super) fn name_step(&mut self, call: &mut Call, now: Time) -> Next {
        if call.stage != Stage::Entered {
            return Next::Return;
        }
        if self.journal.mode == JournalMode::Data && changes(call.operation) && !self.finds_room() {
            return Next::Wait(Wait::JournalRoom);
        }
        call.stage = Stage::Returning;
        let file = call.file;
        let group = self.placement.group_of(file);
        let own = match call.operation {
            Operation::Create | Operation::Mkdir | Operation::Symlink => {
                for block in [
                    Metadata::Inode(file),
                    Metadata::Inodes(group),
                    Metadata::Descriptor(group),
                    Metadata::Directory(file),
                ] {
                    self.change(file, block, now);
                }
                self.sizes.set(file, 0);
                self.costs.create
            }
            Operation::Unlink | Operation::Rmdir => {
                for block in [
                    Metadata::Inode(file),
                    Metadata::Inodes(group),
                    Metadata::Bitmap(group),
                    Metadata::Descriptor(group),
                    Metadata::Directory(file),
                ] {
                    self.change(file, block, now);
                }
                self.remove(file);
                self.costs.unlink
            }
            Operation::Truncate => {
                self.change(file, Metadata::Inode(file), now);
                self.change(file, Metadata::Bitmap(group), now);
                self.sizes.set(file, call.at);
                self.costs.lookup
            }
            Operation::Rename | Operation::Link => {
                self.change(file, Metadata::Inode(file), now);
                self.change(file, Metadata::Directory(file), now);
                self.costs.create
            }
            Operation::Setattr | Operation::Setxattr | Operation::Allocate => {
                self.change(file, Metadata::Inode(file), now);
                self.costs.lookup
            }
            Operation::Close => Span::ZERO,
            _ => self.costs.lookup,
        };
        call.time += self.costs.system_call + own;
        Next::Work(std::mem::take(&mut call.time))
    }

    fn remove(&mut self, file: u32) {
        let before = self.cache.dirty_bytes();
        while self.remote.is_some()
            && let Some(range) = self.cache.clean_next(file, 0, CHUNK)
        {
            self.servers_have(range);
        }
        self.cache.forget(file);
        self.in_other_memory(Range {
            file,
            start: 0,
            end: u64::MAX,
        });
        let gone = before - self.cache.dirty_bytes();
        self.dirty = self.dirty.saturating_sub(gone);
        self.placement.remove(file);
        self.sizes.remove(file);
        self.folios.remove(&file);
        self.indirect_known.retain(|&(other, _)| other != file);
        self.new_blocks.remove(file);
        self.marks.retain(|&(other, _)| other != file);
        if let Some(since) = self.dirty_since.remove(&file) {
            self.dirty_order.remove(&(since, file));
        }
    }
}
