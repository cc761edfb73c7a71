//! Listing a directory from a place on.

use std::ffi::{CStr, OsStr};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::sync::PoisonError;

use rustix::fs::{FileType, RawDir, SeekFrom};
use rustix::io::Result;

use crate::handles::Open;

/// Bytes requested from the directory at once.
const BUFFER: usize = 32 << 10;

/// An entry of a directory.
pub struct Entry<'a> {
    pub inode: u64,
    pub name: &'a OsStr,
    pub kind: FileType,
    /// The place of the next one, in the directory's own terms: it holds while names change.
    pub next: u64,
}

impl Entry<'_> {
    /// Returns true if it is the directory itself or the one above.
    pub fn is_dots(&self) -> bool {
        self.name == "." || self.name == ".."
    }
}

/// Shows entries from a place on until the end of the directory, or until `show` returns true.
pub fn list(open: &Open, from: u64, mut show: impl FnMut(&Entry<'_>) -> bool) -> Result<()> {
    let _held = open.position.lock().unwrap_or_else(PoisonError::into_inner);
    rustix::fs::seek(&open.file, SeekFrom::Start(from))?;
    let mut buffer = vec![MaybeUninit::uninit(); BUFFER];
    let mut entries = RawDir::new(&open.file, &mut buffer);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let enough = show(&Entry {
            inode: entry.ino(),
            name: os_str(entry.file_name()),
            kind: entry.file_type(),
            next: entry.next_entry_cookie(),
        });
        if enough {
            break;
        }
    }
    Ok(())
}

fn os_str(name: &CStr) -> &OsStr {
    OsStr::from_bytes(name.to_bytes())
}
