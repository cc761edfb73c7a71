//! Files that are there before a run: made, and brought into or out of the page cache.

use std::os::fd::OwnedFd;

use headrace_workload::ExistingFile;
use rustix::fs::{Advice, OFlags};
use rustix::io::Errno;

use crate::calls::Result;
use crate::data_journal::DataJournal;
use crate::files::{MODE, Names};
use crate::operation::{Buffer, Content};
use crate::page_cache::{self, KnownPages};

/// Makes a file that must exist before the run. A file that an earlier run left in the same
/// directory gets its initial length again. `pieces` hears of all that is written.
///
/// # Errors
/// If it cannot be written.
pub fn make(
    root: &OwnedFd,
    names: &Names,
    file: ExistingFile,
    call: usize,
    buffer: &mut Buffer,
    content: Option<Content>,
    pieces: &mut DataJournal<'_>,
) -> Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let made = rustix::fs::openat(root, names.path(file.file).as_c_str(), flags, MODE)?;
    let mut done = rustix::fs::fstat(&made)?.st_size.cast_unsigned();
    if done > file.size {
        rustix::fs::ftruncate(&made, file.size)?;
    }
    while done < file.size {
        let left = usize::try_from(file.size - done).unwrap_or(usize::MAX);
        let part = buffer.bytes_mut(call.min(left));
        if let Some(content) = content {
            content.fill(file.file, done, part);
        }
        match rustix::io::pwrite(&made, part, done)? {
            0 => return Err(Errno::IO),
            written => {
                done += written as u64;
                pieces.made(written as u64)?;
            }
        }
    }
    Ok(())
}

/// Opens a file that was made, if it can be read.
fn made(root: &OwnedFd, names: &Names, file: ExistingFile) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(root, names.path(file.file).as_c_str(), flags, MODE).ok()
}

/// Has all of a file that was made be in the page cache.
pub fn warm(root: &OwnedFd, names: &Names, file: ExistingFile) {
    if let Some(opened) = made(root, names, file) {
        page_cache::bring_in(&opened, file.size);
    }
}

/// Has a file that was made, and is on stable storage, leave the page cache. Where the file system
/// ignores the advice, the file is only warmer than required; pages still cached are recorded if
/// the page cache is observed.
pub fn cool(root: &OwnedFd, names: &Names, file: ExistingFile, known: Option<&KnownPages>) {
    if let Some(opened) = made(root, names, file) {
        let _ = rustix::fs::fadvise(&opened, 0, None, Advice::DontNeed);
        if let Some(known) = known {
            known.there_before(file.file, &opened, file.size);
        }
    }
}
