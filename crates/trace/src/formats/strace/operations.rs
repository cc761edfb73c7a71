//! Turns finished calls into records: what each call does to names,
//! attributes, directories and processes. Positions are in `positions`.

use super::calls::{At, Call};
use super::files::{OpenObject, Target};
use super::kinds;
use super::paths::join;
use super::processes::{Description, Sharing};
use super::state::State;
use super::syntax::{self, Arguments, Outcome, has_flag};
use crate::{Flags, Kind, Operation};

/// A call that has returned.
pub(super) struct Done<'a> {
    pub(super) arguments: &'a Arguments<'a>,
    pub(super) outcome: &'a Outcome<'a>,
    pub(super) value: i64,
    pub(super) name: &'a [u8],
    /// All that follows the opening parenthesis.
    pub(super) rest: &'a [u8],
}

impl Done<'_> {
    pub(super) fn failed(&self) -> bool {
        self.value < 0
    }
}

impl State {
    /// Takes in a call that has ended; none if it is not as expected. `rest`
    /// follows its opening parenthesis. `child` is the process that a fork is
    /// assumed to have made, `closing` the object that a close is about to
    /// close.
    pub(super) fn call(
        &mut self,
        call: Option<Call>,
        name: &[u8],
        rest: &[u8],
        child: Option<u32>,
        closing: Option<OpenObject>,
    ) -> Option<()> {
        let Some(call) = call else {
            self.count_call(&kinds::OTHER_CALL, name, rest);
            return Some(());
        };
        let (arguments, outcome) = syntax::call(rest)?;
        self.learn_directory(arguments.get(0));
        let Some(value) = outcome.value else {
            self.now.duration_ns = outcome.duration_ns.unwrap_or_default();
            self.interrupted(call);
            self.count_call(&kinds::NOT_RETURNED, name, rest);
            return Some(());
        };
        if outcome.duration_ns.is_none() {
            self.count_call(&kinds::NO_DURATION, name, rest);
        }
        match call {
            Call::Open { .. } | Call::OpenHandle => self.shows_opens = true,
            Call::Close | Call::CloseRange => self.shows_closes = true,
            _ => {}
        }
        self.now.duration_ns = outcome.duration_ns.unwrap_or_default();
        let done = Done {
            arguments: &arguments,
            outcome: &outcome,
            value,
            name,
            rest,
        };
        self.now.flags = failure(&done) | Flags::NO_DURATION.when(outcome.duration_ns.is_none());
        if done.failed() && call.is_on_descriptor() {
            if memchr::memmem::find(outcome.text, b"EINTR").is_some() {
                self.hold_wait(self.now.duration_ns);
            }
            return self.left_out(&kinds::FAILED, &done);
        }
        match call {
            Call::Open { at, flags } => self.open_call(&done, at, flags),
            Call::OpenHandle => self.open_handle(&done),
            Call::NewDescriptor(kind) => self.new_descriptor(&done, kind),
            Call::NewPair { kind, list } => self.new_descriptors(&done, kind, list),
            Call::Receive => self.receive(&done),
            Call::Close => self.close(&done, closing),
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
            Call::Duplicate => {
                let anew = arguments.get(1).is_empty();
                self.duplicate(&done, has_flag(arguments.get(2), b"O_CLOEXEC"), anew)?;
                self.left_out(&kinds::STATE, &done)
            }
            Call::Control => self.control(&done),
            Call::Lock => self.flock(&done),
            Call::Device => self.device(&done),
            Call::Metadata { operation, at } => self.metadata(&done, operation, at),
            Call::Range { operation, offset } => self.range(&done, operation, offset),
            Call::Truncate { at, length } => self.truncate(&done, at, length),
            Call::Rename { old, new } => self.rename(&done, old, new),
            Call::Map => self.map(&done),
            Call::Submit => self.submit(&done),
            Call::LeftOut(kind) => self.left_out(kind, &done),
            Call::ChangeDirectory { .. }
            | Call::CurrentDirectory
            | Call::Fork
            | Call::Execute
            | Call::Unshare => {
                match call {
                    Call::ChangeDirectory { at } => self.enter(&done, at)?,
                    Call::CurrentDirectory => self.current_directory(&done)?,
                    Call::Fork => self.forked_call(&done, child)?,
                    Call::Execute => self.execute(&done)?,
                    _ => self.unshare(&done)?,
                }
                self.left_out(&kinds::STATE, &done)
            }
            Call::Message(message) => self.message(&done, message),
            Call::SyncData => {
                self.now.flags |= Flags::DATA_ONLY;
                self.metadata(&done, Operation::Sync, At::Descriptor(0))
            }
        }
    }

    pub(super) fn left_out(&mut self, kind: &'static Kind, done: &Done<'_>) -> Option<()> {
        self.count_call(kind, done.name, done.rest);
        Some(())
    }

    fn open_call(&mut self, done: &Done<'_>, at: At, flags: Option<usize>) -> Option<()> {
        let flags = flags.map_or(&b"O_WRONLY|O_CREAT|O_TRUNC"[..], |index| {
            done.arguments.get(index)
        });
        self.now.flags |= opened(flags);
        let temporary = has_flag(flags, b"O_TMPFILE");
        let creates = has_flag(flags, b"O_CREAT") || temporary;
        let operation = if creates {
            Operation::Create
        } else {
            Operation::Open
        };
        // strace knows the file's real name, behind symbolic links.
        let target = match self.result_target(done.outcome) {
            Some(target) if !done.failed() => Some(target),
            _ if temporary && !done.failed() => self.unnamed_target(done.arguments, at),
            _ => self.target(done.arguments, at),
        };
        if done.failed() {
            return self.record_at(operation, &target?, done);
        }
        let number = i32::try_from(done.value).ok()?;
        let Some(target) = target else {
            self.insert_new(number, OpenObject::Other(&kinds::UNKNOWN), false);
            return None;
        };
        match target {
            Target::File(file) => {
                let is_new = creates && has_flag(flags, b"O_EXCL");
                if has_flag(flags, b"O_TRUNC") || is_new || temporary {
                    self.is_long(file, 0);
                }
                let description = Description::new(file, has_flag(flags, b"O_APPEND"));
                let close_on_exec = has_flag(flags, b"O_CLOEXEC");
                self.insert_new(number, OpenObject::File(description), close_on_exec);
                self.record(operation, file, 0, 0);
                Some(())
            }
            Target::Other(kind) => {
                let behind = match std::ptr::eq(kind, &kinds::UNREADABLE) {
                    true => &kinds::UNKNOWN,
                    false => kind,
                };
                self.insert_new(number, OpenObject::Other(behind), false);
                self.left_out(kind, done)
            }
        }
    }

    /// open_by_handle_at: strace may name the file that it has opened.
    fn open_handle(&mut self, done: &Done<'_>) -> Option<()> {
        if done.failed() {
            return self.left_out(&kinds::FAILED, done);
        }
        let number = i32::try_from(done.value).ok()?;
        let flags = done.arguments.get(2);
        match self.result_target(done.outcome) {
            Some(Target::File(file)) => {
                let description = Description::new(file, has_flag(flags, b"O_APPEND"));
                let close_on_exec = has_flag(flags, b"O_CLOEXEC");
                self.insert_new(number, OpenObject::File(description), close_on_exec);
                self.record(Operation::Open, file, 0, 0);
                Some(())
            }
            other => {
                let kind = match other {
                    Some(Target::Other(kind)) => kind,
                    _ => &kinds::UNKNOWN,
                };
                self.insert_new(number, OpenObject::Other(kind), false);
                self.left_out(kind, done)
            }
        }
    }

    /// socket, eventfd and the like: the number is no file's any more.
    fn new_descriptor(&mut self, done: &Done<'_>, kind: &'static Kind) -> Option<()> {
        if let (Ok(number), false) = (i32::try_from(done.value), done.failed()) {
            self.insert_new(number, OpenObject::Other(kind), false);
        }
        self.left_out(&kinds::OTHER_CALL, done)
    }

    /// `pipe2([3, 4], 0)`
    fn new_descriptors(&mut self, done: &Done<'_>, kind: &'static Kind, list: usize) -> Option<()> {
        if !done.failed() {
            self.insert_all(done.arguments.get(list), kind);
        }
        self.left_out(&kinds::OTHER_CALL, done)
    }

    fn insert_all(&mut self, list: &[u8], kind: &'static Kind) {
        for item in syntax::items(list) {
            if let Some(number) = syntax::descriptor(item).and_then(|it| it.number) {
                self.insert_new(number, OpenObject::Other(kind), false);
            }
        }
    }

    /// `cmsg_type=SCM_RIGHTS, cmsg_data=[5]`: descriptors of files unknown.
    fn receive(&mut self, done: &Done<'_>) -> Option<()> {
        const RIGHTS: &[u8] = b"SCM_RIGHTS, cmsg_data=";
        let mut rest = done.rest;
        while let Some(at) = memchr::memmem::find(rest, RIGHTS) {
            rest = &rest[at + RIGHTS.len()..];
            self.insert_all(rest, &kinds::UNKNOWN);
        }
        if done.failed() {
            return self.left_out(&kinds::OTHER_CALL, done);
        }
        self.pass_bytes(done, Operation::Read, &kinds::OTHER_CALL)
    }

    fn close(&mut self, done: &Done<'_>, closing: Option<OpenObject>) -> Option<()> {
        let opened = match closing {
            Some(opened) => opened,
            None => self.closing(done.arguments.get(0))?,
        };
        match opened {
            OpenObject::File(description) => {
                self.record(Operation::Close, Self::file_of(&description), 0, 0);
                Some(())
            }
            OpenObject::Other(kind) => self.left_out(kind, done),
        }
    }

    /// Takes what a close is about to close out of the table.
    pub(super) fn closing(&mut self, argument: &[u8]) -> Option<OpenObject> {
        let opened = self.opened(argument)?;
        let number = syntax::descriptor(argument)?.number?;
        self.with_table(|table| table.remove(&number));
        Some(opened)
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
            return self.left_out(&kinds::STATE, done);
        }
        let mut closed = self.with_table(|table| {
            table
                .extract_if(|number, _| within(*number))
                .collect::<Vec<_>>()
        })?;
        closed.sort_by_key(|(number, _)| *number);
        for (_, descriptor) in closed {
            if let OpenObject::File(description) = descriptor.opened {
                self.record(Operation::Close, Self::file_of(&description), 0, 0);
            }
        }
        self.left_out(&kinds::STATE, done)
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
        let mut length = 0;
        if let (Target::File(file), false) = (&target, done.failed()) {
            match operation {
                Operation::Unlink => {
                    self.lengths.take(*file);
                }
                Operation::Stat => {
                    self.now.flags |= kind(done.arguments);
                    if let Some(told) = regular_length(done.arguments) {
                        self.is_long(*file, told);
                        length = told;
                    }
                }
                Operation::Link | Operation::Symlink => {
                    self.now.other = self.other_name(operation, at, *file, done);
                }
                _ => {}
            }
        }
        match target {
            Target::File(file) => {
                self.record(operation, file, 0, length);
                Some(())
            }
            Target::Other(kind) => self.left_out(kind, done),
        }
    }

    /// The old name of a link, or what a symbolic link leads to, if the trace shows it.
    fn other_name(
        &mut self,
        operation: Operation,
        at: At,
        file: u32,
        done: &Done<'_>,
    ) -> Option<u32> {
        if operation == Operation::Link {
            let old = match at {
                At::PathIn(_) => At::PathIn(1),
                _ => At::Path(0),
            };
            return match self.target(done.arguments, old)? {
                Target::File(old) => Some(old),
                Target::Other(_) => None,
            };
        }
        let leads_to = syntax::string(done.arguments.get(0))?;
        let name = self.files.get(file)?;
        let directory = name.rsplit_once('/').map_or("", |(directory, _)| directory);
        let mut joined = String::new();
        join(directory, &crate::text(&leads_to), &mut joined);
        Some(self.files.intern(&joined))
    }

    fn range(&mut self, done: &Done<'_>, operation: Operation, offset: usize) -> Option<()> {
        let size = syntax::unsigned(done.arguments.get(offset + 1))?;
        let offset = syntax::unsigned(done.arguments.get(offset))?;
        self.now.flags |= Flags::RANGE.when(operation == Operation::Sync);
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
            let length = self.lengths.take(old);
            self.lengths.set(new, length);
            self.rename_opened(old, new);
        }
        if let Target::File(new) = new {
            self.now.other = Some(new);
        }
        self.record_at(Operation::Rename, &old, done)
    }

    pub(super) fn record_at(
        &mut self,
        operation: Operation,
        target: &Target,
        done: &Done<'_>,
    ) -> Option<()> {
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
                if let OpenObject::File(description) = self.opened(done.arguments.get(index))?
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
            let child = match syntax::translated(done.outcome.text) {
                Some(child) => child,
                None => u32::try_from(done.value).ok()?,
            };
            self.forked(child, Sharing::of(done.rest), assumed);
            self.send_start(child);
        }
        Some(())
    }

    fn execute(&mut self, done: &Done<'_>) -> Option<()> {
        if !done.failed()
            && let Some(process) = self.processes.get_mut(&self.now.process)
        {
            process.execute();
            if process.assumed {
                // Else strace would say that it supersedes its leader.
                process.assumed = false;
                process.leader = self.now.process;
            }
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
        self.left_out(&kinds::OTHER_CALL, done)
    }
}

/// Returns the error of a failed call.
fn failure(done: &Done<'_>) -> Flags {
    if !done.failed() {
        return Flags::NONE;
    }
    let because = |name: &[u8]| memchr::memmem::find(done.outcome.text, name).is_some();
    Flags::FAILED | Flags::MISSING.when(because(b"ENOENT")) | Flags::EXISTS.when(because(b"EEXIST"))
}

/// Returns the open flags of a file.
fn opened(flags: &[u8]) -> Flags {
    let has = |name: &[u8]| has_flag(flags, name);
    let both = has(b"O_RDWR");
    let writes = has(b"O_WRONLY");
    Flags::READ.when(!writes && !has(b"O_PATH"))
        | Flags::WRITE.when(writes || both)
        | Flags::TRUNCATE.when(has(b"O_TRUNC"))
        | Flags::EXCLUSIVE.when(has(b"O_EXCL"))
        | Flags::SYNCHRONOUS.when(has(b"O_SYNC"))
        | (Flags::SYNCHRONOUS | Flags::DATA_ONLY).when(has(b"O_DSYNC"))
        | Flags::DIRECT.when(has(b"O_DIRECT"))
        | Flags::DIRECTORY.when(has(b"O_DIRECTORY"))
}

/// Returns the kind of file that a stat call reports.
fn kind(arguments: &Arguments<'_>) -> Flags {
    let Some(status) = arguments.iter().find(|it| it.starts_with(b"{")) else {
        return Flags::NONE;
    };
    let is = |name: &[u8]| has_flag(status, name);
    Flags::REGULAR.when(is(b"S_IFREG"))
        | Flags::DIRECTORY.when(is(b"S_IFDIR"))
        | Flags::SYMLINK.when(is(b"S_IFLNK"))
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
