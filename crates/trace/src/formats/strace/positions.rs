//! Reads, writes, and all else that uses or moves the position of an open
//! file description.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::files::OpenObject;
use super::kinds;
use super::operations::Done;
use super::processes::Description;
use super::state::State;
use super::syntax::{self, has_flag};
use crate::Operation;

impl State {
    pub(super) fn transfer(
        &mut self,
        done: &Done<'_>,
        operation: Operation,
        position: Option<usize>,
    ) -> Option<()> {
        let opened = self.opened(done.arguments.get(0))?;
        let description = match opened {
            OpenObject::File(description) => description,
            OpenObject::Other(kind) => return self.pass_bytes(done, operation, kind),
        };
        let size = u64::try_from(done.value).ok()?;
        let position = match position {
            None => None,
            // To preadv2 and pwritev2, −1 is the file's own position.
            Some(index) => match syntax::signed(done.arguments.get(index))? {
                -1 => None,
                given => Some(u64::try_from(given).ok()?),
            },
        };
        let flags = match operation {
            Operation::Write => done.arguments.get(4),
            _ => b"",
        };
        let append = has_flag(flags, b"RWF_APPEND");
        if position.is_none() && !append && description.assumed.load(Relaxed) {
            self.infer(operation, &description, size, done.arguments.get(2));
        }
        if syntax::writes_through(flags) {
            self.count_call(&kinds::SYNCHRONOUS_WRITE, done.name, done.rest);
        }
        self.move_bytes(operation, &description, position, size, append);
        Some(())
    }

    /// One side of a call that moves bytes between two descriptors.
    pub(super) fn copy(
        &mut self,
        done: &Done<'_>,
        operation: Operation,
        (index, position): (usize, Option<usize>),
    ) -> Option<()> {
        let description = match self.opened(done.arguments.get(index))? {
            OpenObject::File(description) => description,
            OpenObject::Other(kind) => return self.left_out(kind, done),
        };
        let size = u64::try_from(done.value).ok()?;
        // `[10]` or `[10] => [110]`, or NULL for the file's own position.
        let given = position
            .map(|index| done.arguments.get(index))
            .unwrap_or_default();
        let position = given.strip_prefix(b"[").and_then(syntax::unsigned);
        if size > 0 || operation == Operation::Read {
            self.move_bytes(operation, &description, position, size, false);
        }
        Some(())
    }

    /// Infers the position of an inherited descriptor from the file's length in
    /// the trace. A read shorter than requested ends at the end of the file.
    /// Writes are taken to begin there.
    fn infer(&mut self, operation: Operation, description: &Description, size: u64, asked: &[u8]) {
        let file = Self::file_of(description);
        let length = self.lengths.get(file);
        if !length.exact {
            return;
        }
        match operation {
            Operation::Read => {
                let is_short = syntax::unsigned(asked).is_some_and(|asked| size < asked);
                if let (true, Some(start)) = (is_short, length.end.checked_sub(size)) {
                    description.position.store(start, Relaxed);
                    description.assumed.store(false, Relaxed);
                }
            }
            _ if !description.counted.swap(true, Relaxed) => {
                description.position.store(length.end, Relaxed);
                let name = self.files.get(file).unwrap_or_default();
                self.skipped
                    .count(&kinds::INHERITED_WRITE, self.now.line, name.as_bytes());
            }
            _ => {}
        }
    }

    pub(super) fn move_bytes(
        &mut self,
        operation: Operation,
        description: &Arc<Description>,
        position: Option<u64>,
        size: u64,
        append: bool,
    ) {
        let file = Self::file_of(description);
        // On Linux, even pwrite appends to a file opened with O_APPEND:
        // pwrite(2), Bugs.
        let appends = operation == Operation::Write && (append || description.append.load(Relaxed));
        let offset = if appends {
            self.append_position(file)
        } else {
            position.unwrap_or_else(|| self.position(description))
        };
        let end = offset.saturating_add(size);
        if position.is_none() {
            description.position.store(end, Relaxed);
        }
        let length = self.lengths.get(file);
        if operation == Operation::Read && size == 0 && length.end <= offset {
            // The end of the file.
            if length.end == offset && !length.exact {
                self.is_long(file, offset);
            }
        } else {
            self.reaches(file, end);
        }
        self.record(operation, file, offset, size);
    }

    /// The position to use, which the trace may not tell.
    pub(super) fn position(&mut self, description: &Description) -> u64 {
        if description.assumed.load(Relaxed) && !description.counted.swap(true, Relaxed) {
            let name = self
                .files
                .get(Self::file_of(description))
                .unwrap_or_default();
            self.skipped
                .count(&kinds::INHERITED, self.now.line, name.as_bytes());
        }
        description.position.load(Relaxed)
    }

    pub(super) fn seek(&mut self, done: &Done<'_>, whence: usize) -> Option<()> {
        let description = match self.opened(done.arguments.get(0))? {
            OpenObject::File(description) => description,
            OpenObject::Other(kind) => return self.left_out(kind, done),
        };
        // _llseek returns 0 and stores the position: `_llseek(3, 0, [5], …)`.
        let position = match done.arguments.get(2).strip_prefix(b"[") {
            Some(stored) => syntax::unsigned(stored)?,
            None => u64::try_from(done.value).ok()?,
        };
        let file = Self::file_of(&description);
        if done.arguments.get(whence) == b"SEEK_END" {
            let from_end = syntax::signed(done.arguments.get(1))?;
            if let Some(length) = position.checked_add_signed(from_end.checked_neg()?) {
                self.is_long(file, length);
            }
        }
        description.position.store(position, Relaxed);
        description.assumed.store(false, Relaxed);
        self.record(Operation::Seek, file, position, 0);
        Some(())
    }

    /// `anew`: whether the kernel has chosen the number.
    pub(super) fn duplicate(
        &mut self,
        done: &Done<'_>,
        close_on_exec: bool,
        anew: bool,
    ) -> Option<()> {
        let old = syntax::descriptor(done.arguments.get(0))?.number?;
        let opened = self.opened(done.arguments.get(0))?;
        let Ok(new) = i32::try_from(done.value) else {
            return Some(());
        };
        if new < 0 || new == old {
            return Some(());
        }
        if !anew {
            self.with_table(|table| table.remove(&new));
        }
        self.insert_new(new, opened, close_on_exec);
        Some(())
    }

    pub(super) fn control(&mut self, done: &Done<'_>) -> Option<()> {
        let argument = done.arguments.get(2);
        match done.arguments.get(1) {
            b"F_DUPFD" => self.duplicate(done, false, true)?,
            b"F_DUPFD_CLOEXEC" => self.duplicate(done, true, true)?,
            b"F_SETFD" => self.close_on_exec(done, has_flag(argument, b"FD_CLOEXEC"))?,
            b"F_SETFL" => self.append(done, has_flag(argument, b"O_APPEND"))?,
            // `= 0x401 (flags O_WRONLY|O_APPEND)`
            b"F_GETFL" => self.append(done, has_flag(done.outcome.text, b"O_APPEND"))?,
            b"F_SETLK" | b"F_SETLKW" | b"F_SETLK64" | b"F_SETLKW64" | b"F_OFD_SETLK"
            | b"F_OFD_SETLKW" => return self.record_lock(done),
            b"F_GETLK" | b"F_GETLK64" | b"F_OFD_GETLK" => {
                return self.left_out(&kinds::LOCK_QUERY, done);
            }
            _ => return self.left_out(&kinds::OTHER_CALL, done),
        }
        self.left_out(&kinds::STATE, done)
    }

    pub(super) fn device(&mut self, done: &Done<'_>) -> Option<()> {
        let request = done.arguments.get(1);
        match request {
            b"FIOCLEX" => self.close_on_exec(done, true)?,
            b"FIONCLEX" => self.close_on_exec(done, false)?,
            _ if [&b"FICLONE"[..], b"FICLONERANGE", b"FIDEDUPERANGE"]
                .iter()
                .any(|it| has_flag(request, it)) =>
            {
                self.clone_blocks(done);
                return self.left_out(&kinds::CLONED, done);
            }
            _ => return self.left_out(&kinds::OTHER_CALL, done),
        }
        self.left_out(&kinds::STATE, done)
    }

    /// `ioctl(6, BTRFS_IOC_CLONE or FICLONE, 5)` makes one file as long as the
    /// other; `FICLONERANGE, {src_fd=5, …}` as long as its range.
    fn clone_blocks(&mut self, done: &Done<'_>) -> Option<()> {
        let OpenObject::File(into) = self.opened(done.arguments.get(0))? else {
            return None;
        };
        let into = Self::file_of(&into);
        let argument = done.arguments.get(2);
        if argument.starts_with(b"{") {
            let number = |name| syntax::unsigned(syntax::member(argument, name)?);
            let end = number(b"dest_offset=")?.checked_add(number(b"src_length=")?)?;
            self.reaches(into, end);
        } else if let OpenObject::File(from) = self.opened(argument)? {
            let length = self.lengths.get(Self::file_of(&from));
            if length.exact {
                self.is_long(into, length.end);
            } else {
                self.reaches(into, length.end);
            }
        }
        Some(())
    }

    fn close_on_exec(&mut self, done: &Done<'_>, value: bool) -> Option<()> {
        // Make the descriptor known, so that execve can close it.
        let number = syntax::descriptor(done.arguments.get(0))?.number?;
        self.opened(done.arguments.get(0))?;
        self.with_table(|table| {
            if let Some(descriptor) = table.get_mut(&number) {
                descriptor.close_on_exec = value;
            }
        });
        Some(())
    }

    fn append(&mut self, done: &Done<'_>, value: bool) -> Option<()> {
        if let OpenObject::File(description) = self.opened(done.arguments.get(0))? {
            description.append.store(value, Relaxed);
        }
        Some(())
    }
}
