//! The directory that a benchmark makes for itself, and the only one it writes in.
//!
//! It carries a mark, a file that is locked as long as the run lives. The engine removes only
//! entries of a marked directory whose names it generates. It keeps foreign entries and everything
//! on another file system.
//!
//! A killed engine always leaves a directory that can be recognised. A directory without a mark is
//! empty and has a special name, under which it is created and removed.

mod clean;
mod mark;
mod names;
mod ownership;
mod suitability;

use clean::{Broken, empty_watched};
pub use clean::{Cleaned, LeftReason, Removing, clean};
pub use ownership::{Owners, open_directory};

use std::ffi::CStr;
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, CWD, FlockOperation, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::Error;
use mark::{EMPTY, MARK, PREFIX};

/// Names tried before giving up on a new one.
const TRIES: u32 = 100;

/// A directory made for one run.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    name: String,
    parent: OwnedFd,
    root: Arc<OwnedFd>,
    /// The mark's text.
    mark: String,
    /// The mark, whose lock goes with it; none until it is set, and in a directory that
    /// another program made.
    locked: Option<OwnedFd>,
}

impl Directory {
    /// Makes one below an existing directory.
    ///
    /// # Errors
    /// If there is no such directory, or it cannot have files or subdirectories.
    pub fn make(below: &Path) -> Result<Directory, Error> {
        let failed = |what| failure(below, what);
        let parent = open_parent(below, suitability::EXPECTED)?;
        Owners::of_process().check(below, &parent)?;
        suitability::check(below, &parent)?;
        let mut last = Errno::EXIST;
        for _ in 0..TRIES {
            let make = |name: &str| rustix::fs::mkdirat(&parent, name, Mode::from_raw_mode(0o755));
            let empty = new_name(EMPTY, make).map_err(failed("no directory can be made in it"))?;
            match marked(&parent, &empty) {
                Ok((name, root, file, mark)) => {
                    return Ok(Directory {
                        path: below.join(&name),
                        name,
                        parent,
                        root: Arc::new(root),
                        mark,
                        locked: Some(file),
                    });
                }
                // Another cleaner has mistaken it for the remains of a killed run.
                Err(errno @ (Errno::NOENT | Errno::WOULDBLOCK)) => last = errno,
                Err(errno) => {
                    // No other process is in it yet.
                    if let Ok(root) = open_in(&parent, &empty) {
                        let _ = clean::remove_marked(&parent, &root, &empty);
                    }
                    return Err(failed("nothing can be written in it")(errno));
                }
            }
        }
        Err(failed("no directory can be made in it")(last))
    }

    /// Joins a run in the directory that a program on this or another host has made: `mark` is the
    /// text of its mark.
    ///
    /// # Errors
    /// If there is no such directory, or another one.
    pub fn join(path: &Path, mark: &str) -> Result<Directory, Error> {
        let below = path.parent().unwrap_or(path);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let parent = open_parent(below, "it cannot be opened")?;
        Owners::of_process().check(below, &parent)?;
        let mut joined = Directory::open(below, parent, name.into_owned())?;
        let found = mark::read(&joined.root).map_err(failure(path, "its mark cannot be read"))?;
        let owner = rustix::fs::fstat(&*joined.root).map(|it| it.st_uid);
        let owner = owner.map_err(failure(path, "it cannot be read"))?;
        if mark::owner(&found).is_some_and(|marked| marked != owner) {
            // A copy of the mark in a directory of another user.
            return Err(failure(
                path,
                "it belongs to another user than its mark says",
            )(Errno::PERM));
        }
        if found != mark.as_bytes() {
            return Err(Error::Directory {
                path: path.to_path_buf(),
                what: "its mark is of another run",
                source: Errno::STALE.into(),
            });
        }
        mark.clone_into(&mut joined.mark);
        Ok(joined)
    }

    /// Returns the text of the mark, with which other processes join.
    #[must_use]
    pub fn mark(&self) -> &str {
        &self.mark
    }

    fn open(below: &Path, parent: OwnedFd, name: String) -> Result<Directory, Error> {
        let path = below.join(&name);
        let root = open_in(&parent, &name).map_err(failure(&path, "it cannot be opened"))?;
        Ok(Directory {
            path,
            name,
            parent,
            root: Arc::new(root),
            mark: String::new(),
            locked: None,
        })
    }

    /// Returns the absolute path.
    ///
    /// # Errors
    /// If it is gone, or its name is no text.
    pub(crate) fn absolute(&self) -> Result<String, Error> {
        let failed = |source| Error::Directory {
            path: self.path.clone(),
            what: "it cannot be found",
            source,
        };
        let path = std::fs::canonicalize(&self.path).map_err(failed)?;
        let text = path.into_os_string().into_string();
        text.map_err(|_| failed(std::io::Error::other("its path is not UTF-8")))
    }

    /// Returns its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The open directory.
    pub(crate) fn root(&self) -> &Arc<OwnedFd> {
        &self.root
    }

    /// Returns true if its path still leads to it: not if it was unmounted, moved or removed.
    #[must_use]
    pub fn is_there(&self) -> bool {
        let found = rustix::fs::statat(CWD, &self.path, AtFlags::SYMLINK_NOFOLLOW);
        match (found, rustix::fs::fstat(&*self.root)) {
            (Ok(found), Ok(own)) => (found.st_dev, found.st_ino) == (own.st_dev, own.st_ino),
            _ => false,
        }
    }

    /// Number of files that lie in it, and how many bytes they hold.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn usage(&self) -> Result<(u64, u64), Error> {
        clean::usage(&self.root).map_err(failure(&self.path, "it cannot be read"))
    }

    /// Removes what the run has made in a directory inside this one.
    ///
    /// # Errors
    /// If something cannot be removed.
    pub(crate) fn empty_below(&self, path: &CStr) -> Result<(), Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let inner = rustix::fs::openat(&*self.root, path, flags, Mode::empty())?;
        clean::empty(&inner).map(drop)
    }

    /// Removes it with all that the run has made. One that was joined is left to the program
    /// that made it.
    ///
    /// # Errors
    /// If something cannot be removed, or is not the run's.
    pub fn remove(&self) -> Result<(), Error> {
        self.remove_watched(&mut |_| ControlFlow::Continue(()))
    }

    /// As [`Directory::remove`], with a callback that may stop the removal: a later call can
    /// continue it.
    ///
    /// # Errors
    /// As [`Directory::remove`], and if it is broken off.
    pub fn remove_watched(&self, watch: Removing<'_>) -> Result<(), Error> {
        if self.locked.is_none() {
            return Ok(());
        }
        let left = empty_watched(&self.root, watch);
        match left.map(|left| left.first()) {
            Ok(None) => {}
            Ok(Some(found)) => {
                let message = std::io::Error::other(found);
                return Err(Error::Directory {
                    path: self.path.clone(),
                    what: "it is left as it is",
                    source: message,
                });
            }
            Err(Broken::Off) => return Err(Error::Interrupted),
            Err(Broken::By(errno)) => {
                return Err(failure(&self.path, "it cannot be removed")(errno));
            }
        }
        let removed = clean::remove_marked(&self.parent, &self.root, &self.name);
        removed.map_err(failure(&self.path, "it cannot be removed"))
    }
}

/// Opens the directory that a benchmark's is made in; `what` is said if it cannot be.
fn open_parent(path: &Path, what: &'static str) -> Result<OwnedFd, Error> {
    let opened = Owners::of_process().open(path);
    let opened = opened.map_err(|error| match error {
        Error::Directory { path, source, .. } => Error::Directory { path, what, source },
        error => error,
    })?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::openat(&opened, ".", flags, Mode::empty()).map_err(failure(path, what))
}

fn open_in(parent: &OwnedFd, name: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(parent, name, flags, Mode::empty())
}

/// Writes the mark into a directory that was made, locks it, and gives the directory its name:
/// that, the directory, the mark and its text.
fn marked(parent: &OwnedFd, empty: &str) -> Result<(String, OwnedFd, OwnedFd, String), Errno> {
    let root = open_in(parent, empty)?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&root, MARK, flags, Mode::from_raw_mode(0o644))?;
    let owner = rustix::fs::fstat(&root)?.st_uid;
    if owner != rustix::fs::fstat(&file)?.st_uid {
        // Another directory has taken the place of the one that was made.
        let _ = rustix::fs::unlinkat(&root, MARK, AtFlags::empty());
        return Err(Errno::STALE);
    }
    // On a file system without locks, the run that goes on has no protection.
    let locked = rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive);
    if locked == Err(Errno::WOULDBLOCK) {
        return Err(Errno::WOULDBLOCK);
    }
    let text = mark::text(owner);
    if rustix::io::write(&file, text.as_bytes())? < text.len() {
        return Err(Errno::NOSPC);
    }
    // The mark must be on stable storage, so that the remains of a crashed machine are recognised.
    rustix::fs::fsync(&file)?;
    rustix::fs::fsync(&root)?;
    let name = match new_name(PREFIX, |name| rename(parent, empty, name)) {
        Err(Errno::NOENT) => return Err(Errno::NOENT),
        // Some file systems rename no directories: its mark is found under this name as well.
        name => name.unwrap_or_else(|_| empty.to_owned()),
    };
    Ok((name, root, file, text))
}

/// The first free name of this process with this beginning.
fn new_name(
    prefix: &str,
    mut attempt: impl FnMut(&str) -> Result<(), Errno>,
) -> Result<String, Errno> {
    for number in 0..TRIES {
        let name = format!("{prefix}{}-{number}", std::process::id());
        match attempt(&name) {
            Ok(()) => return Ok(name),
            Err(Errno::EXIST | Errno::NOTEMPTY) => {}
            Err(errno) => return Err(errno),
        }
    }
    Err(Errno::EXIST)
}

/// Renames a directory, unless there is one of the new name.
fn rename(parent: &OwnedFd, from: &str, to: &str) -> Result<(), Errno> {
    match rustix::fs::renameat_with(parent, from, parent, to, RenameFlags::NOREPLACE) {
        // Not every file system can be asked so (renameat2(2)), and a plain rename would take
        // the place of an empty directory.
        Err(Errno::INVAL | Errno::NOSYS) => {
            match rustix::fs::statat(parent, to, AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) => rustix::fs::renameat(parent, from, parent, to),
                found => found.and(Err(Errno::EXIST)),
            }
        }
        renamed => renamed,
    }
}

fn failure(path: &Path, what: &'static str) -> impl Fn(Errno) -> Error {
    let path = path.to_path_buf();
    move |errno| Error::Directory {
        path: path.clone(),
        what,
        source: errno.into(),
    }
}

#[cfg(test)]
mod tests;
