//! What a process works with.

use std::ffi::CString;

use headrace_workload::Ask;
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::calls::{Calls, Handle, Result};
use crate::files::{Names, OpenFiles};

/// What memory is aligned to that direct transfers go to and from: the largest logical
/// block of usual devices.
const ALIGNMENT: usize = 4096;

/// A process's means: how it makes calls, its open files, its buffer.
pub struct Hands {
    /// How calls are made.
    pub calls: Box<dyn Calls>,
    /// The names of the workload's files.
    pub names: Names,
    /// The files that it has open.
    pub files: OpenFiles,
    /// How it opens files, beyond reading or writing.
    pub flags: OFlags,
    /// What it reads into and writes from.
    pub buffer: Buffer,
    /// Files that it makes and removes itself, where the workload does not number them.
    pub own: Option<OwnNames>,
}

impl Hands {
    /// The workload's file, open for reading or for writing too.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(&mut self, file: u32, writes: bool) -> Result<Handle> {
        let access = match writes {
            true => OFlags::RDWR | OFlags::CREATE,
            false => OFlags::RDONLY,
        };
        let flags = access | self.flags;
        self.files
            .handle(&mut *self.calls, &self.names, file, flags)
    }
}

/// What an operation acts on.
#[derive(Debug, Default)]
pub struct Target {
    /// The open file, or the one that was opened.
    pub file: Option<Handle>,
    /// The name.
    pub path: CString,
    /// The first byte.
    pub offset: u64,
    /// Bytes.
    pub size: usize,
}

impl Target {
    /// A part of a file that is open.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn transfer(hands: &mut Hands, ask: &Ask, writes: bool) -> Result<Target> {
        Ok(Target {
            file: Some(hands.open(ask.file, writes)?),
            path: CString::default(),
            offset: ask.offset,
            size: usize::try_from(ask.size).unwrap_or(usize::MAX),
        })
    }

    /// A name.
    pub fn named(path: CString) -> Target {
        Target {
            path,
            ..Target::default()
        }
    }

    /// The file, which was opened.
    ///
    /// # Errors
    /// If it was not.
    pub fn open(&self) -> Result<&Handle> {
        self.file.as_ref().ok_or(Errno::BADF)
    }
}

/// Memory that direct transfers can go to and from.
#[derive(Debug)]
pub struct Buffer {
    memory: Vec<u8>,
    first: usize,
    size: usize,
}

impl Buffer {
    /// So many bytes, which no compression makes smaller.
    #[must_use]
    pub fn new(size: usize, seed: u64) -> Buffer {
        let mut memory = vec![0; size + ALIGNMENT];
        let first = memory.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        let mut counter = 0;
        let mut random = headrace_net::Random::named(seed, "data", &mut counter);
        for bytes in memory.chunks_mut(8) {
            let drawn = random.bits().to_ne_bytes();
            bytes.copy_from_slice(&drawn[..bytes.len()]);
        }
        Buffer {
            memory,
            first,
            size,
        }
    }

    /// The first bytes of it.
    #[must_use]
    pub fn bytes(&self, size: usize) -> &[u8] {
        &self.memory[self.first..self.first + size.min(self.size)]
    }

    /// The first bytes of it, to be changed.
    pub fn bytes_mut(&mut self, size: usize) -> &mut [u8] {
        let first = self.first;
        &mut self.memory[first..first + size.min(self.size)]
    }
}

/// Names that a process makes and removes by itself, so that no operation finds a name
/// that must not be there, or misses one that must.
#[derive(Debug)]
pub struct OwnNames {
    directory: String,
    made: Vec<u32>,
    next: u32,
}

impl OwnNames {
    /// Names in a directory that nobody else uses.
    #[must_use]
    pub fn new(directory: String) -> OwnNames {
        OwnNames {
            directory,
            made: Vec::new(),
            next: 0,
        }
    }

    fn path(&self, number: u32) -> CString {
        CString::new(format!("{}/f{number}", self.directory)).unwrap_or_default()
    }

    /// A name that is not there; from now on it is taken for one that is.
    pub fn fresh(&mut self) -> CString {
        let number = self.next;
        self.next += 1;
        self.made.push(number);
        self.path(number)
    }

    /// A name that is there, and from now on is not; none if there is none.
    pub fn take(&mut self) -> Option<CString> {
        let number = self.made.pop()?;
        Some(self.path(number))
    }
}
