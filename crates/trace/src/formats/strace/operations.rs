//! Turns finished calls into records: what each call does to names,
//! attributes, directories and processes. Positions are in `positions`.

use super::calls::{At, Call};
use super::files::{Opened, Target};
use super::kinds;
use super::processes::{Description, Sharing};
use super::state::State;
use super::syntax::{self, Arguments, Outcome, has_flag};
use crate::Operation;

/// A call that has returned.
pub(super) struct Done<'a> {
    pub(super) arguments: &'a Arguments<'a>,
    pub(super) outcome: &'a Outcome<'a>,
    pub(super) value: i64,
    /// All that follows the opening parenthesis.
    pub(super) rest: &'a [u8],
}

impl Done<'_> {
    fn failed(&self) -> bool {
        self.value < 0
    }
}

impl State {
    /// Takes in a call that has ended; none if it is not as expected. `rest`
    /// is what follows its opening parenthesis; `child` is the process that a
    /// fork is assumed to have made.
    pub(super) fn call(
        &mut self,
        call: Option<Call>,
        rest: &[u8],
        child: Option<u32>,
    ) -> Option<()> {
        let Some(call) = call else {
            self.count(&kinds::OTHER_CALL, rest);
            return Some(());
        };
        let (arguments, outcome) = syntax::call(rest)?;
        self.learn_directory(arguments.get(0));
        let Some(value) = outcome.value else {
            self.count(&kinds::NOT_RETURNED, rest);
            return Some(());
        };
        if outcome.duration_ns.is_none() {
            self.count(&kinds::NO_DURATION, rest);
        }
        self.now.duration_ns = outcome.duration_ns.unwrap_or_default();
        let done = Done {
            arguments: &arguments,
            outcome: &outcome,
            value,
            rest,
        };
        if done.failed() && call.is_on_descriptor() {
            return self.left_out(&kinds::FAILED, &done);
        }
        match call {
            Call::Open { at, flags } => self.open_call(&done, at, flags),
            Call::Close => self.close(&done),
            Call::CloseRange => self.close_range(&done),
            Call::Transfer {
                operation,
                position,
            } => self.transfer(&done, operation, position),
            Call::Copy { from, to } => {
                self.copy(&done, Operation::Read, from)?;
                self.copy(&done, Operation::Write, to)
            }
            Call::Seek { whence } => self.seek(&done, whence),
            Call::Duplicate => self.duplicate(&done, has_flag(arguments.get(2), b"O_CLOEXEC")),
            Call::Control => self.control(&done),
            Call::Device => self.device(&done),
            Call::Metadata { operation, at } => self.metadata(&done, operation, at),
            Call::Range { operation, offset } => self.range(&done, operation, offset),
            Call::Truncate { at, length } => self.truncate(&done, at, length),
            Call::Rename { old, new } => self.rename(&done, old, new),
            Call::ChangeDirectory { at } => self.enter(&done, at),
            Call::CurrentDirectory => self.current_directory(&done),
            Call::Fork => self.forked_call(&done, child),
            Call::Execute => self.execute(&done),
            Call::Unshare => self.unshare(&done),
            Call::Map => self.map(&done),
            Call::Asynchronous => self.left_out(&kinds::ASYNCHRONOUS, &done),
            Call::SyncAll => self.left_out(&kinds::WHOLE_SYSTEM, &done),
        }
    }

    pub(super) fn left_out(&mut self, kind: &'static crate::Kind, done: &Done<'_>) -> Option<()> {
        self.count(kind, done.rest);
        Some(())
    }

    fn open_call(&mut self, done: &Done<'_>, at: At, flags: Option<usize>) -> Option<()> {
        let flags = flags.map_or(&b"O_CREAT|O_TRUNC"[..], |index| done.arguments.get(index));
        let temporary = has_flag(flags, b"O_TMPFILE");
        let creates = has_flag(flags, b"O_CREAT") || temporary;
        let operation = if creates {
            Operation::Create
        } else {
            Operation::Open
        };
        // strace knows the file's real name, behind symbolic links.
        let target = match self.result_target(done.outcome) {
            Some(target) if !done.failed() => target,
            _ => self.target(done.arguments, at)?,
        };
        if done.failed() {
            return self.record_at(operation, &target, done);
        }
        let number = i32::try_from(done.value).ok()?;
        match target {
            Target::File(file) => {
                let is_new = creates && has_flag(flags, b"O_EXCL");
                if has_flag(flags, b"O_TRUNC") || is_new || temporary {
                    self.is_long(file, 0);
                }
                let description = Description::new(file, has_flag(flags, b"O_APPEND"));
                self.insert(number, description, has_flag(flags, b"O_CLOEXEC"));
                self.record(operation, file, 0, 0);
                Some(())
            }
            Target::Other(kind) => {
                self.with_table(|table| table.remove(&number));
                self.left_out(kind, done)
            }
        }
    }

    fn close(&mut self, done: &Done<'_>) -> Option<()> {
        let number = syntax::descriptor(done.arguments.get(0))?.number;
        let target = self.target(done.arguments, At::Descriptor(0))?;
        self.with_table(|table| table.remove(&number?));
        self.record_at(Operation::Close, &target, done)
    }

    fn close_range(&mut self, done: &Done<'_>) -> Option<()> {
        let first = syntax::unsigned(done.arguments.get(0))?;
        let last = syntax::unsigned(done.arguments.get(1)).unwrap_or(u64::MAX);
        let flags = done.arguments.get(2);
        if has_flag(flags, b"CLOSE_RANGE_UNSHARE") {
            self.copy_table();
        }
        let within = |number: i32| u64::try_from(number).is_ok_and(|it| it >= first && it <= last);
        if has_flag(flags, b"CLOSE_RANGE_CLOEXEC") {
            self.with_table(|table| {
                table
                    .iter_mut()
                    .filter(|(number, _)| within(**number))
                    .for_each(|(_, it)| it.close_on_exec = true);
            });
            return Some(());
        }
        let mut closed = self.with_table(|table| {
            table
                .extract_if(|number, _| within(*number))
                .collect::<Vec<_>>()
        })?;
        closed.sort_by_key(|(number, _)| *number);
        for (_, descriptor) in closed {
            self.record(
                Operation::Close,
                Self::file_of(&descriptor.description),
                0,
                0,
            );
        }
        Some(())
    }

    fn metadata(&mut self, done: &Done<'_>, operation: Operation, at: At) -> Option<()> {
        let removes_directory =
            operation == Operation::Unlink && has_flag(done.arguments.get(2), b"AT_REMOVEDIR");
        let operation = if removes_directory {
            Operation::Rmdir
        } else {
            operation
        };
        let target = self.target(done.arguments, at)?;
        if let (Target::File(file), false) = (&target, done.failed()) {
            match operation {
                Operation::Unlink => {
                    self.lengths.remove(file);
                }
                Operation::Stat => {
                    if let Some(length) = regular_length(done.arguments) {
                        self.is_long(*file, length);
                    }
                }
                _ => {}
            }
        }
        self.record_at(operation, &target, done)
    }

    fn range(&mut self, done: &Done<'_>, operation: Operation, offset: usize) -> Option<()> {
        let size = syntax::unsigned(done.arguments.get(offset + 1))?;
        let offset = syntax::unsigned(done.arguments.get(offset))?;
        match self.target(done.arguments, At::Descriptor(0))? {
            Target::File(file) => {
                // Other modes than the plain one keep or move the end.
                if operation == Operation::Allocate && done.arguments.get(1) == b"0" {
                    self.reaches(file, offset.saturating_add(size));
                }
                self.record(operation, file, offset, size);
                Some(())
            }
            Target::Other(kind) => self.left_out(kind, done),
        }
    }

    fn truncate(&mut self, done: &Done<'_>, at: At, length: usize) -> Option<()> {
        let length = syntax::unsigned(done.arguments.get(length));
        match self.target(done.arguments, at)? {
            Target::File(file) => {
                if !done.failed() {
                    self.is_long(file, length?);
                }
                self.record(Operation::Truncate, file, length.unwrap_or_default(), 0);
                Some(())
            }
            Target::Other(kind) => self.left_out(kind, done),
        }
    }

    fn rename(&mut self, done: &Done<'_>, old: At, new: At) -> Option<()> {
        let old = self.target(done.arguments, old)?;
        let new = self.target(done.arguments, new)?;
        if let (&Target::File(old), &Target::File(new), false) = (&old, &new, done.failed()) {
            let length = self.lengths.remove(&old);
            self.lengths.insert(new, length.unwrap_or_default());
            self.rename_opened(old, new);
        }
        self.record_at(Operation::Rename, &old, done)
    }

    fn record_at(&mut self, operation: Operation, target: &Target, done: &Done<'_>) -> Option<()> {
        match target {
            Target::File(file) => {
                self.record(operation, *file, 0, 0);
                Some(())
            }
            Target::Other(kind) => self.left_out(kind, done),
        }
    }

    fn enter(&mut self, done: &Done<'_>, at: At) -> Option<()> {
        if done.failed() {
            return Some(());
        }
        match at {
            At::Descriptor(index) => {
                if let Opened::File(description) = self.opened(done.arguments.get(index))?
                    && let Some(name) = self.files.get(Self::file_of(&description))
                {
                    self.change_directory(name);
                }
            }
            At::Path(index) | At::PathIn(index) => {
                let path = syntax::string(done.arguments.get(index))?;
                self.change_directory_by(&crate::text(&path));
            }
        }
        Some(())
    }

    fn current_directory(&mut self, done: &Done<'_>) -> Option<()> {
        if !done.failed() {
            let path = syntax::string(done.arguments.get(0))?;
            self.change_directory(&crate::text(&path));
        }
        Some(())
    }

    fn forked_call(&mut self, done: &Done<'_>, assumed: Option<u32>) -> Option<()> {
        if !done.failed() {
            let child = u32::try_from(done.value).ok()?;
            self.forked(child, Sharing::of(done.rest), assumed);
        }
        Some(())
    }

    fn execute(&mut self, done: &Done<'_>) -> Option<()> {
        if !done.failed()
            && let Some(process) = self.processes.get_mut(&self.now.process)
        {
            process.execute();
        }
        Some(())
    }

    fn unshare(&mut self, done: &Done<'_>) -> Option<()> {
        if !done.failed() && has_flag(done.arguments.get(0), b"CLONE_FILES") {
            self.copy_table();
        }
        Some(())
    }

    fn copy_table(&mut self) {
        if let Some(process) = self.processes.get_mut(&self.now.process) {
            process.table = process.table.copy();
        }
    }

    fn map(&mut self, done: &Done<'_>) -> Option<()> {
        let descriptor = syntax::descriptor(done.arguments.get(4));
        if descriptor.is_some_and(|it| it.number >= Some(0)) && !done.failed() {
            return self.left_out(&kinds::MAPPED, done);
        }
        Some(())
    }
}

/// The length that a stat call tells, if it is of a regular file.
fn regular_length(arguments: &Arguments<'_>) -> Option<u64> {
    let status = arguments.iter().find(|it| it.starts_with(b"{"))?;
    if !has_flag(status, b"S_IFREG") {
        return None;
    }
    let size = syntax::field(status, b" st_size=").or(syntax::field(status, b" stx_size="))?;
    syntax::unsigned(size)
}
