//! Resources with which a process executes operations.

use std::collections::{HashMap, HashSet};
use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use headrace_spec::Interface;
use rustix::fs::{Mode, OFlags};

use super::attribute::{self, Attribute};
use super::private_names::{Kind, PrivateNames};
use super::{Buffer, Content, Target};
use crate::calls::{Calls, Handle, Mapping, Range, Result, Stream};
use crate::files::{DIRECTORY, MODE, MOST_OPEN, Names, OpenFiles, WRITING};

/// Most parts of files that a process has mapped; with more, one is unmapped before another is
/// mapped, outside of the timing.
const MOST_MAPPED: usize = 16;

/// A process's means: how it makes calls, its open files, its buffer.
pub struct OpContext {
    /// Backend that makes the calls.
    pub calls: Box<dyn Calls>,
    /// The benchmark's directory, open.
    pub root: Arc<OwnedFd>,
    /// The names of the workload's files.
    pub names: Names,
    /// The benchmark's directory, from the file system's root on.
    pub base: String,
    /// The files that it has open.
    pub files: OpenFiles,
    /// Additional open flags.
    pub flags: OFlags,
    /// By which calls it reads and writes where the workload names no others, and the
    /// buffer of the C library.
    pub interface: Interface,
    /// Bytes of it.
    pub stream_buffer: usize,
    /// Buffer for reads and writes from.
    pub buffer: Buffer,
    /// Content of the files, if it matters.
    pub content: Option<Content>,
    /// Bytes of a call of the C library, where those of a bufferful are asked for as one.
    pub short_call: Option<usize>,
    /// A range of files that no other process locks.
    pub own_range: Range,
    /// Files that it makes and removes itself, where the workload does not number them.
    pub own: Option<PrivateNames>,
    /// State that operations leave for later ones.
    pub kept: PendingState,
}

/// State that operations leave for later ones.
#[derive(Debug, Default)]
pub struct PendingState {
    /// Files that the C library has open.
    pub streams: HashMap<u32, Stream>,
    /// Whole files that are mapped.
    pub mapped: HashMap<u32, Mapping>,
    /// Parts of files that are mapped.
    pub mappings: Vec<Mapping>,
    /// The directory that is listed in steps.
    pub listed: Option<Handle>,
    /// Files beside which there is a symbolic link.
    pub links: HashSet<u32>,
    /// Files that have their other name.
    renamed: HashSet<u32>,
    /// Names that the operation makes or goes to: they stay.
    names: Vec<(Kind, u32, u64)>,
    /// The attribute that is looked up, and the files that have it.
    pub attribute: Attribute,
    with_attribute: HashSet<u32>,
}

impl PendingState {
    /// Leaves room for one mapping more.
    pub fn forget_a_mapping(&mut self) {
        if self.mappings.len() >= MOST_MAPPED {
            self.mappings.swap_remove(0);
        }
    }
}

impl OpContext {
    /// The workload's file, open for reading or for writing too.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(&mut self, file: u32, writes: bool) -> Result<Handle> {
        // Files open for writing can be read, too.
        let both = self.files.open(file, WRITING | self.flags);
        match both {
            Some(handle) => Ok(handle),
            None => self.open_with(file, writes, OFlags::empty()),
        }
    }

    /// The same, opened with further flags.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open_with(&mut self, file: u32, writes: bool, further: OFlags) -> Result<Handle> {
        let access = match writes {
            true => WRITING,
            false => OFlags::RDONLY,
        };
        self.open_at(file, access | self.flags | further, None)
    }

    /// A file of its own beside a workload's file, open for writing.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open_beside(&mut self, file: u32, word: &str, further: OFlags) -> Result<Handle> {
        let flags = WRITING | self.flags | further;
        let path = self.names.beside(file, word);
        self.open_at(file, flags, Some(path))
    }

    fn open_at(&mut self, file: u32, flags: OFlags, path: Option<CString>) -> Result<Handle> {
        if let Some(handle) = self.files.open(file, flags) {
            return Ok(handle);
        }
        let path = path.unwrap_or_else(|| self.path(file));
        let handle = self.calls.open(&path, flags, MODE)?;
        let kept = Handle::clone(&handle);
        self.files.keep(&mut *self.calls, file, flags, kept)?;
        Ok(handle)
    }

    /// Has the C library open a file.
    ///
    /// # Errors
    /// If it cannot be opened, or the writes of the stream before it cannot be flushed.
    pub fn open_stream(&mut self, file: u32) -> Result<()> {
        if self.kept.streams.contains_key(&file) {
            return Ok(());
        }
        if self.kept.streams.len() >= MOST_OPEN
            && let Some(&other) = self.kept.streams.keys().next()
            && let Some(stream) = self.kept.streams.remove(&other)
        {
            stream.close()?;
        }
        let handle = self.open(file, true)?;
        let stream = self.calls.stream(&handle, self.stream_buffer)?;
        self.kept.streams.insert(file, stream);
        Ok(())
    }

    /// Returns the open descriptor of an operation, its own or the C library's.
    #[must_use]
    pub fn descriptor<'a>(&'a self, target: &'a Target) -> Option<BorrowedFd<'a>> {
        match &target.file {
            Some(file) => Some(file.as_fd()),
            None => self.kept.streams.get(&target.number)?.descriptor(),
        }
    }

    /// Brings to the files what the C library still has: others read it then.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn flush_streams(&mut self) -> Result<()> {
        self.kept.streams.values_mut().try_for_each(Stream::flush)
    }

    /// The directory that a file lies in, open.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open_directory(&mut self, file: u32) -> Result<Handle> {
        let first = self.names.first_beside(file);
        if let Some(handle) = self.files.open(first, DIRECTORY) {
            return Ok(handle);
        }
        let path = self.names.directory(file);
        let handle = self.calls.open(&path, DIRECTORY, Mode::empty())?;
        let kept = Handle::clone(&handle);
        self.files.keep(&mut *self.calls, first, DIRECTORY, kept)?;
        Ok(handle)
    }

    /// A file's path in the benchmark's directory.
    #[must_use]
    pub fn path(&self, file: u32) -> CString {
        match self.kept.renamed.contains(&file) {
            true => self.names.beside(file, "renamed"),
            false => self.names.path(file),
        }
    }

    /// The path that a file is to have when it is renamed.
    #[must_use]
    pub fn changed_path(&self, file: u32) -> CString {
        match self.kept.renamed.contains(&file) {
            true => self.names.path(file),
            false => self.names.beside(file, "renamed"),
        }
    }

    /// Records that a file has its other name.
    pub fn is_renamed(&mut self, file: u32) {
        if !self.kept.renamed.remove(&file) {
            self.kept.renamed.insert(file);
        }
    }

    /// A file's path from the file system's root on.
    #[must_use]
    pub fn absolute(&self, file: u32) -> CString {
        let path = format!("{}/{}", self.base, self.path(file).to_string_lossy());
        CString::new(path).unwrap_or_default()
    }

    fn numbered(&self, kind: Kind, file: u32) -> CString {
        match kind {
            Kind::File => self.path(file),
            Kind::Directory if self.names.makes_directories => self.names.directory(file),
            other => self.names.beside(file, other.word()),
        }
    }

    /// A name that is to be made: of a numbered file, or one of the process's own.
    pub fn new_name(&mut self, kind: Kind, file: u32) -> CString {
        let Some(own) = &mut self.own else {
            return self.numbered(kind, file);
        };
        let (path, number) = own.fresh(kind, file);
        self.kept.names.push((kind, file, number));
        path
    }

    /// A name to be removed; none if the process has none of its own.
    pub fn old_name(&mut self, kind: Kind, file: u32) -> Option<CString> {
        match &self.own {
            Some(own) => own.take(kind, file).map(|(path, _)| path),
            None => Some(self.numbered(kind, file)),
        }
    }

    /// A name that exists, and stays; none if the process has none of its own.
    pub fn one_name(&mut self, kind: Kind, file: u32) -> Option<CString> {
        let Some(own) = &self.own else {
            return Some(self.numbered(kind, file));
        };
        let (path, number) = own.take(kind, file)?;
        self.kept.names.push((kind, file, number));
        Some(path)
    }

    /// A name of the process's own that is made only to go.
    pub fn passing_name(&mut self, kind: Kind, file: u32) -> CString {
        let own = self.own.as_mut();
        own.map_or_else(CString::default, |own| own.passing(kind, file))
    }

    /// The names that an operation made or went to are there for others.
    pub fn give_names(&mut self) {
        for (kind, file, number) in self.kept.names.drain(..) {
            if let Some(own) = &self.own {
                own.keep(kind, file, number);
            }
        }
    }

    /// Makes a file of the process's own.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn make_file(&mut self, file: u32) -> Result<CString> {
        let path = self.new_name(Kind::File, file);
        self.make_file_at(&path)?;
        Ok(path)
    }

    /// Makes a file.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn make_file_at(&mut self, path: &std::ffi::CStr) -> Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE;
        let made = self.calls.open(path, flags, MODE)?;
        self.calls.close(made)
    }

    /// Sees to it that a file has the attribute which is looked up.
    ///
    /// # Errors
    /// If the file system has no attributes.
    pub fn give_attribute(&mut self, number: u32, file: &Handle) -> Result<()> {
        if self.kept.with_attribute.insert(number) {
            self.kept.attribute = attribute::give(&mut *self.calls, file)?;
        }
        Ok(())
    }

    /// Puts the data to write into the buffer, where that matters.
    pub fn fill(&mut self, file: u32, offset: u64, size: usize) {
        if let Some(content) = &self.content {
            content.fill(file, offset, self.buffer.bytes_mut(size));
        }
    }

    /// Returns the error in the data read, where it is verified.
    ///
    /// # Errors
    /// The first byte that is another than was written.
    pub fn check(&self, file: u32, offset: u64, size: usize) -> std::result::Result<(), String> {
        match &self.content {
            Some(content) => content.check(file, offset, self.buffer.bytes(size)),
            None => Ok(()),
        }
    }
}
