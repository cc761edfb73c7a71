//! Makes the files that existed before a trace.

use std::ffi::CString;
use std::os::fd::OwnedFd;

use rustix::fs::{Advice, AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::Replay;
use super::tree::{Initial, Kind};
use crate::Error;
use crate::calls::Result;
use crate::data_journal::DataJournal;
use crate::directory::Directory;
use crate::files::MODE;
use crate::operation::Buffer;

/// Mode of created directories, as with `umask 022`.
const DIRECTORY_MODE: Mode = Mode::from_raw_mode(0o755);

impl Replay {
    /// Returns an error if the files that must exist before do not fit.
    ///
    /// # Errors
    /// If they do not, or the file system does not answer.
    pub fn has_room(&self, directory: &Directory) -> std::result::Result<(), Error> {
        let state = rustix::fs::fstatvfs(directory.root());
        let state = state.map_err(|errno| Error::Operation {
            operation: "preparing",
            path: directory.path().display().to_string(),
            errno,
        })?;
        let free = state.f_bavail.saturating_mul(state.f_frsize);
        match self.bytes() <= free {
            true => Ok(()),
            false => Err(Error::Unsuitable(format!(
                "{}: the trace needs initial files of {} bytes, but only {free} bytes are free: \
                 expected a larger file system, or workload.space (headrace trace replay --onto), \
                 which maps offsets onto less",
                self.spec.file.display(),
                self.bytes()
            ))),
        }
    }

    /// Bytes of files written before the run.
    fn bytes(&self) -> u64 {
        let files = self.initial.iter();
        let files = files.filter(|it| it.kind == Kind::File);
        files.map(|it| it.read).fold(0, u64::saturating_add)
    }

    /// Returns the files that exist before the run, parents first: path below the benchmark's
    /// directory, and how to create it.
    pub fn existing(&self, workload: usize) -> impl Iterator<Item = (CString, &Initial)> {
        self.initial
            .iter()
            .map(move |it| (path(workload, &it.path), it))
    }
}

/// A path below the benchmark's directory.
pub(super) fn path(workload: usize, path: &str) -> CString {
    CString::new(format!("hr-w{workload}{path}")).unwrap_or_default()
}

impl Initial {
    /// Returns true if it is a directory.
    pub fn is_directory(&self) -> bool {
        self.kind == Kind::Directory
    }

    /// Has it leave the page cache, where the file system takes the advice.
    pub fn cool(&self, root: &OwnedFd, path: &CString) {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        if self.kind == Kind::File
            && let Ok(file) = rustix::fs::openat(root, path, flags, Mode::empty())
        {
            let _ = rustix::fs::fadvise(&file, 0, None, Advice::DontNeed);
        }
    }

    /// Makes it, if it is not there. Only the bytes of a file that are read are written. `pieces`
    /// hears of all that is written.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn make(
        &self,
        root: &OwnedFd,
        path: &CString,
        buffer: &mut Buffer,
        call: usize,
        pieces: &mut DataJournal<'_>,
    ) -> Result<()> {
        match self.kind {
            Kind::Directory => there(rustix::fs::mkdirat(root, path, DIRECTORY_MODE)),
            Kind::Link => there(rustix::fs::symlinkat(c"hr-f0", root, path)),
            Kind::Absent => Ok(()),
            Kind::File => {
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let file = rustix::fs::openat(root, path, flags, MODE)?;
                let mut done = 0;
                while done < self.read {
                    let left = usize::try_from(self.read - done).unwrap_or(usize::MAX);
                    match rustix::io::pwrite(&file, buffer.bytes(call.min(left)), done)? {
                        0 => return Err(Errno::IO),
                        written => {
                            done += written as u64;
                            pieces.made(written as u64)?;
                        }
                    }
                }
                match self.length > done {
                    true => rustix::fs::ftruncate(&file, self.length),
                    false => Ok(()),
                }
            }
        }
    }

    /// Has it be as something that the trace does not show made it.
    ///
    /// # Errors
    /// If that cannot be done.
    pub(super) fn make_up(&self, root: &OwnedFd, path: &CString) -> Result<()> {
        match self.kind {
            Kind::Directory => there(rustix::fs::mkdirat(root, path, DIRECTORY_MODE)),
            Kind::Link => there(rustix::fs::symlinkat(c"hr-f0", root, path)),
            Kind::Absent => match rustix::fs::unlinkat(root, path, AtFlags::empty()) {
                Err(Errno::ISDIR | Errno::PERM) => {
                    rustix::fs::unlinkat(root, path, AtFlags::REMOVEDIR)
                }
                Err(Errno::NOENT) => Ok(()),
                removed => removed,
            },
            Kind::File => {
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let file = rustix::fs::openat(root, path, flags, MODE)?;
                rustix::fs::ftruncate(&file, self.length)
            }
        }
    }
}

fn there(made: Result<()>) -> Result<()> {
    match made {
        Err(Errno::EXIST) => Ok(()),
        made => made,
    }
}
