//! Target of an operation.

use std::ffi::CString;

use headrace_workload::Ask;
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::OpContext;
use crate::calls::{Handle, Result};

/// Target of an operation.
#[derive(Debug, Default)]
pub struct Target {
    /// The open file, or the one that was opened.
    pub file: Option<Handle>,
    /// The file's number in the workload.
    pub number: u32,
    /// The name.
    pub path: CString,
    /// The second name, for operations with two.
    pub other: CString,
    /// The first byte.
    pub offset: u64,
    /// Bytes.
    pub size: usize,
    /// True if bytes are written, by what does both.
    pub writes: bool,
}

impl Target {
    /// A part of a file that is open.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn transfer(context: &mut OpContext, ask: &Ask, writes: bool) -> Result<Target> {
        let file = context.open(ask.file, writes)?;
        Ok(Target::part(context, ask, writes).of(file))
    }

    /// A part of a file that is open past the page cache. Writes go to another file beside it,
    /// unless all requests use the cache. If a direct write meets a page that another process uses,
    /// Linux lets the next sync fail (mm/filemap.c, `kiocb_invalidate_post_direct_write`).
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn direct(context: &mut OpContext, ask: &Ask, writes: bool) -> Result<Target> {
        let file = match writes && !context.flags.contains(OFlags::DIRECT) {
            true => context.open_beside(ask.file, "direct", OFlags::DIRECT)?,
            false => context.open_with(ask.file, writes, OFlags::DIRECT)?,
        };
        Ok(Target::part(context, ask, writes).of(file))
    }

    /// A part of a file that the C library has open.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn streamed(context: &mut OpContext, ask: &Ask, writes: bool) -> Result<Target> {
        context.open_stream(ask.file)?;
        Ok(Target::part(context, ask, writes))
    }

    /// A part of a file that can be mapped: it is long enough, as loads from behind a
    /// file's end would kill the program.
    ///
    /// # Errors
    /// If it cannot be opened, or is too short.
    pub fn mappable(context: &mut OpContext, ask: &Ask) -> Result<Target> {
        let target = Target::transfer(context, ask, false)?;
        match context.calls.length(target.open()?)? < ask.offset + ask.size {
            true => Err(Errno::NXIO),
            false => Ok(target),
        }
    }

    fn part(context: &mut OpContext, ask: &Ask, writes: bool) -> Target {
        let size = usize::try_from(ask.size).unwrap_or(usize::MAX);
        if writes {
            context.fill(ask.file, ask.offset, size);
        }
        Target {
            number: ask.file,
            offset: ask.offset,
            size,
            ..Target::default()
        }
    }

    fn of(self, file: Handle) -> Target {
        Target {
            file: Some(file),
            ..self
        }
    }

    /// A file that is open.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn file(context: &mut OpContext, ask: &Ask, writes: bool) -> Result<Target> {
        let target = Target {
            number: ask.file,
            ..Target::default()
        };
        Ok(target.of(context.open(ask.file, writes)?))
    }

    /// Returns the open files.
    #[must_use]
    pub fn opened(file: Handle) -> Target {
        Target::default().of(file)
    }

    /// A name.
    #[must_use]
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
