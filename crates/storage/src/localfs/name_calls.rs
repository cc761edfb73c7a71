//! Calls on names and attributes: processor time, and blocks of metadata for the
//! journal.
//!
//! Not modelled: reading directories and inodes that are not cached; locks of directories; the tree
//! of names (each file is in a directory of its group).

use headrace_net::{Span, Time};
use headrace_spec::JournalMode;
use headrace_trace::Operation;

use super::call::{Call, Stage};
use super::extents::Range;
use super::flusher::CHUNK;
use super::journal::{Changed, Metadata};
use super::volume::{Next, Step, Wait};

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

impl Step<'_> {
    pub(super) fn name_step(&mut self, call: &mut Call, now: Time) -> Next {
        if call.stage != Stage::Entered {
            return Next::Return;
        }
        if self.journal.mode == JournalMode::Data && changes(call.operation) && !self.finds_room() {
            return Next::Wait(Wait::JournalRoom);
        }
        call.stage = Stage::Returning;
        let file = call.file;
        let group = self.blocks.group_of(file);
        let own = match call.operation {
            Operation::Create | Operation::Mkdir | Operation::Symlink => {
                for block in [
                    Metadata::Inode(file),
                    Metadata::Inodes(group),
                    Metadata::Descriptor(group),
                    Metadata::Directory(file),
                ] {
                    self.change(file, block, Changed::Data, now);
                }
                self.mount.sizes.set(file, 0);
                self.cpu.costs.create
            }
            Operation::Unlink | Operation::Rmdir => {
                for block in [
                    Metadata::Inode(file),
                    Metadata::Inodes(group),
                    Metadata::Bitmap(group),
                    Metadata::Descriptor(group),
                    Metadata::Directory(file),
                ] {
                    self.change(file, block, Changed::Data, now);
                }
                self.remove(file);
                self.cpu.costs.unlink
            }
            Operation::Truncate => {
                self.change(file, Metadata::Inode(file), Changed::Data, now);
                self.change(file, Metadata::Bitmap(group), Changed::Data, now);
                self.mount.sizes.set(file, call.at);
                self.cpu.costs.lookup
            }
            Operation::Rename | Operation::Link => {
                self.change(file, Metadata::Inode(file), Changed::Attributes, now);
                self.change(file, Metadata::Directory(file), Changed::Attributes, now);
                self.cpu.costs.create
            }
            Operation::Setattr | Operation::Setxattr | Operation::Allocate => {
                let changed = match call.operation {
                    Operation::Allocate => Changed::Data,
                    _ => Changed::Attributes,
                };
                self.change(file, Metadata::Inode(file), changed, now);
                self.cpu.costs.lookup
            }
            Operation::Close => Span::ZERO,
            _ => self.cpu.costs.lookup,
        };
        call.time += self.cpu.costs.system_call + own;
        Next::Work(std::mem::take(&mut call.time))
    }

    fn remove(&mut self, file: u32) {
        let before = self.pages.lru.dirty_bytes();
        while self.mount.remote.is_some()
            && let Some(range) = self.pages.lru.clean_next(file, 0, CHUNK)
        {
            self.servers_have(range);
        }
        self.pages.remove(file);
        self.cpu.in_other_memory(Range {
            file,
            start: 0,
            end: u64::MAX,
        });
        let gone = before - self.pages.lru.dirty_bytes();
        self.flusher.unmark_dirty(gone);
        self.flusher.remove(file);
        self.blocks.remove(file);
        self.mount.sizes.remove(file);
    }
}
