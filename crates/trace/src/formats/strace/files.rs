//! Finds the files that calls name, by descriptor or by path.

use std::sync::atomic::Ordering::Relaxed;

use super::calls::{At, Call};
use super::kinds;
use super::paths::{annotated_path, annotation_not_a_file, join, last, not_a_file};
pub(super) use super::processes::OpenObject;
use super::processes::{Description, Descriptor, Table};
use super::state::State;
use super::syntax::{self, Arguments, Outcome};
use crate::{Kind, text};

/// Target of a call.
pub(super) enum Target {
    /// A file.
    File(u32),
    /// Something that is no file.
    Other(&'static Kind),
}

impl State {
    /// Does something with the table of descriptors of the process at hand.
    pub(super) fn with_table<T>(&self, act: impl FnOnce(&mut Table) -> T) -> Option<T> {
        let process = self.processes.get(&self.now.process)?;
        Some(act(&mut process.table.lock()))
    }

    /// The description behind a descriptor argument; none if the argument is no
    /// descriptor. The description of strace overrides the reader's own.
    pub(super) fn opened(&mut self, argument: &[u8]) -> Option<OpenObject> {
        let descriptor = syntax::descriptor(argument)?;
        let number = descriptor.number?;
        let known = self.with_table(|table| {
            let known = table.get(&number)?;
            Some((known.opened.clone(), known.by))
        })?;
        let Some(annotation) = descriptor.annotation else {
            return Some(known.map_or(OpenObject::Other(&kinds::UNKNOWN), |it| it.0));
        };
        let kind = annotation_not_a_file(annotation);
        let Some((OpenObject::File(known), by)) = known else {
            return Some(match kind {
                Some(kind) => OpenObject::Other(kind),
                None => self.inherit(number, annotation),
            });
        };
        if let Some(kind) = kind {
            self.contradict(by);
            self.with_table(|table| table.remove(&number));
            return Some(OpenObject::Other(kind));
        }
        let file = self.annotated_file(annotation);
        let before = Self::file_of(&known);
        if before == file {
            return Some(OpenObject::File(known));
        }
        if !self.contradict(by) && self.is_renamed(before, file) {
            known.file.store(file, Relaxed);
            return Some(OpenObject::File(known));
        }
        Some(self.inherit(number, annotation))
    }

    /// A descriptor that strace names and the trace has not opened.
    fn inherit(&mut self, number: i32, annotation: &[u8]) -> OpenObject {
        let file = self.annotated_file(annotation);
        let opened = OpenObject::File(Description::inherited(file));
        self.insert(number, opened.clone(), false);
        opened
    }

    /// Returns true if a descriptor that referred to one name may refer to the other because a
    /// directory above the file was renamed.
    fn is_renamed(&self, before: u32, now: u32) -> bool {
        let name = |file| self.files.get(file).map(last);
        name(before) == name(now)
    }

    /// An open file goes by a new name from now on.
    pub(super) fn rename_opened(&self, old: u32, new: u32) {
        for process in self.processes.values() {
            for descriptor in process.table.lock().values() {
                if let OpenObject::File(description) = &descriptor.opened {
                    // Fails if it is another file's: then there is nothing to do.
                    let file = &description.file;
                    let _ = file.compare_exchange(old, new, Relaxed, Relaxed);
                }
            }
        }
    }

    pub(super) fn insert(&self, number: i32, opened: OpenObject, close_on_exec: bool) {
        let by = self.now.process;
        self.with_table(|table| {
            table.insert(
                number,
                Descriptor {
                    opened,
                    close_on_exec,
                    by,
                },
            )
        });
    }

    /// A call gave a number that the kernel took for free.
    pub(super) fn insert_new(&mut self, number: i32, opened: OpenObject, close_on_exec: bool) {
        self.check_is_free(number);
        if matches!(opened, OpenObject::Other(kind) if std::ptr::eq(kind, &kinds::UNKNOWN)) {
            self.with_table(|table| table.remove(&number));
        } else {
            self.insert(number, opened, close_on_exec);
        }
    }

    /// The file that -y printed.
    fn annotated_file(&mut self, annotation: &[u8]) -> u32 {
        self.files.intern(&text(&annotated_path(annotation)))
    }

    /// The file a call names; none if its arguments are not as expected.
    pub(super) fn target(&mut self, arguments: &Arguments<'_>, at: At) -> Option<Target> {
        let (directory, path) = match at {
            At::Descriptor(index) => return self.descriptor_target(arguments.get(index)),
            At::Path(index) => (None, arguments.get(index)),
            At::PathIn(index) => (
                Some(arguments.get(index.checked_sub(1)?)),
                arguments.get(index),
            ),
        };
        let path = match syntax::string(path) {
            Some(path) => path,
            // With a NULL path, some calls concern the descriptor itself.
            None if path == b"NULL" && directory.is_some() => b""[..].into(),
            None if path.starts_with(b"0x") => return Some(Target::Other(&kinds::UNREADABLE)),
            None => return None,
        };
        if path.is_empty()
            && let Some(directory) = directory
        {
            return self.descriptor_target(directory);
        }
        let path = text(&path);
        let base = if path.starts_with('/') {
            None
        } else {
            self.base(directory)?
        };
        if base.is_none() && !path.starts_with('/') {
            self.count(&kinds::RELATIVE, path.as_bytes());
        }
        let mut joined = std::mem::take(&mut self.scratch);
        join(base.as_deref().unwrap_or_default(), &path, &mut joined);
        let target = match not_a_file(joined.as_bytes()) {
            Some(kind) => Target::Other(kind),
            None => Target::File(self.files.intern(&joined)),
        };
        self.scratch = joined;
        Some(target)
    }

    /// The file without a name that O_TMPFILE makes in a directory; it is called after the
    /// line of its call, as no other file is.
    pub(super) fn unnamed_target(&mut self, arguments: &Arguments<'_>, at: At) -> Option<Target> {
        match self.target(arguments, at)? {
            Target::File(directory) => {
                let directory = self.files.get(directory)?;
                let path = format!("{directory}/#{}", self.now.line);
                Some(Target::File(self.files.intern(&path)))
            }
            other => Some(other),
        }
    }

    fn descriptor_target(&mut self, argument: &[u8]) -> Option<Target> {
        if let Some(descriptor) = syntax::descriptor(argument)
            && descriptor.number.is_none()
        {
            return Some(match self.base(Some(argument))? {
                Some(directory) => Target::File(self.files.intern(&directory)),
                None => Target::Other(&kinds::UNKNOWN),
            });
        }
        Some(match self.opened(argument)? {
            OpenObject::File(description) => Target::File(Self::file_of(&description)),
            OpenObject::Other(kind) => Target::Other(kind),
        })
    }

    /// The directory that relative paths start from, if it is known; the outer
    /// none is for an argument that names no directory.
    #[allow(
        clippy::option_option,
        reason = "unexpected and unknown are told apart"
    )]
    fn base(&self, argument: Option<&[u8]>) -> Option<Option<Box<str>>> {
        let current = |state: &Self| {
            let process = state.processes.get(&state.now.process)?;
            process.directory.lock().clone()
        };
        let Some(argument) = argument else {
            return Some(current(self));
        };
        let descriptor = syntax::descriptor(argument)?;
        if let Some(annotation) = descriptor.annotation {
            return Some(Some(text(&annotated_path(annotation)).into()));
        }
        let Some(number) = descriptor.number else {
            return Some(current(self));
        };
        let known = self.with_table(|it| match &it.get(&number)?.opened {
            OpenObject::File(description) => Some(Self::file_of(description)),
            OpenObject::Other(_) => None,
        })?;
        Some(known.and_then(|it| self.files.get(it)).map(Into::into))
    }

    /// The process at hand works in this directory.
    pub(super) fn change_directory(&self, directory: &str) {
        let Some(process) = self.processes.get(&self.now.process) else {
            return;
        };
        let mut current = process.directory.lock();
        if current.as_deref() != Some(directory) {
            *current = Some(directory.into());
        }
    }

    /// The process at hand goes to this directory, from where it is.
    pub(super) fn change_directory_by(&mut self, path: &str) {
        let base = self.base(None).flatten();
        if base.is_none() && !path.starts_with('/') {
            return;
        }
        let mut joined = std::mem::take(&mut self.scratch);
        join(base.as_deref().unwrap_or_default(), path, &mut joined);
        self.change_directory(&joined);
        self.scratch = joined;
    }

    /// Learns the current directory from `AT_FDCWD</path>`.
    pub(super) fn learn_directory(&self, argument: &[u8]) {
        if argument.starts_with(b"AT_FDCWD<")
            && let Some(annotation) = syntax::descriptor(argument).and_then(|it| it.annotation)
        {
            self.change_directory(&text(&annotated_path(annotation)));
        }
    }

    /// The file that a call has opened, where strace says it.
    pub(super) fn result_target(&mut self, outcome: &Outcome<'_>) -> Option<Target> {
        let annotation = syntax::descriptor(outcome.text)?.annotation?;
        Some(match annotation_not_a_file(annotation) {
            Some(kind) => Target::Other(kind),
            None => Target::File(self.annotated_file(annotation)),
        })
    }

    /// Returns true if a call that has begun like this may give records, so that later ones have to
    /// wait for it.
    pub(super) fn may_give_records(&self, call: Call, text: &[u8]) -> bool {
        if !call.gives_records() {
            return false;
        }
        if !call.is_on_descriptor()
            || matches!(call, Call::Copy { .. } | Call::CloseRange | Call::Submit)
        {
            return true;
        }
        let Some(descriptor) = syntax::descriptor(text) else {
            return true;
        };
        match (descriptor.annotation, descriptor.number) {
            (Some(annotation), _) => annotation_not_a_file(annotation).is_none(),
            (None, Some(number)) => self
                .with_table(|it| {
                    let known = it.get(&number);
                    known.is_some_and(|it| matches!(it.opened, OpenObject::File(_)))
                })
                .unwrap_or_default(),
            (None, None) => true,
        }
    }
}
