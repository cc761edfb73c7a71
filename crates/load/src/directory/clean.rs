//! Removes what benchmarks have left behind, and nothing else.

use std::ffi::CStr;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::thread::{self, ScopedJoinHandle};

use rustix::fs::{AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::mark::{MARK, PREFIX, is_mark};
use super::names::is_ours;
use super::{failure, open_directory};
use crate::Error;

/// What was done with the directories of earlier runs.
#[derive(Debug, Default)]
pub struct Cleaned {
    /// Those that are gone.
    pub removed: Vec<PathBuf>,
    /// Those that are still there, and why.
    pub left: Vec<(PathBuf, Left)>,
}

/// Why a directory was left.
#[derive(Debug, PartialEq, Eq)]
pub enum Left {
    /// It has no mark, or one that no benchmark wrote.
    NotMarked,
    /// Its run goes on.
    InUse,
    /// Somebody else's things are in it; the run's own are gone.
    Foreign(Vec<String>),
    /// It could not be removed.
    Failed(Errno),
}

impl std::fmt::Display for Left {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Left::NotMarked => write!(to, "it carries no mark of a benchmark"),
            Left::InUse => write!(to, "its benchmark is still running"),
            Left::Foreign(names) => write!(to, "not the benchmark's own: {}", names.join(", ")),
            Left::Failed(errno) => write!(to, "{}", std::io::Error::from(*errno)),
        }
    }
}

/// Removes the marked directories below one that runs have left behind: all, or the one of this
/// name.
///
/// # Errors
/// If the directory cannot be read.
pub fn clean(below: &Path, only: Option<&str>) -> Result<Cleaned, Error> {
    let failed = failure(below, "it cannot be read");
    let parent = open_directory(below).map_err(&failed)?;
    let mut cleaned = Cleaned::default();
    for (name, _) in entries(&parent).map_err(&failed)? {
        if !name.starts_with(PREFIX) || only.is_some_and(|it| it != name) {
            continue;
        }
        let path = below.join(&name);
        match clean_one(&parent, &name) {
            Ok(()) => cleaned.removed.push(path),
            Err(left) => cleaned.left.push((path, left)),
        }
    }
    cleaned.removed.sort();
    cleaned.left.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(cleaned)
}

fn clean_one(parent: &OwnedFd, name: &str) -> Result<(), Left> {
    let root = below(parent.as_fd(), name).map_err(|errno| match errno {
        Errno::NOTDIR | Errno::LOOP => Left::NotMarked,
        errno => Left::Failed(errno),
    })?;
    // A pipe of that name must not be waited for.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mark = rustix::fs::openat(&root, MARK, flags, Mode::empty());
    let mark = mark.map_err(|_| Left::NotMarked)?;
    let stat = rustix::fs::fstat(&mark).map_err(Left::Failed)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(Left::NotMarked);
    }
    let mut text = [0; 4096];
    let read = rustix::io::read(&mark, &mut text).map_err(Left::Failed)?;
    if !is_mark(&text[..read]) {
        return Err(Left::NotMarked);
    }
    // On a file system without locks the mark has to do.
    let locked = rustix::fs::flock(&mark, FlockOperation::NonBlockingLockExclusive);
    if locked == Err(Errno::WOULDBLOCK) {
        return Err(Left::InUse);
    }
    let left = empty(&root).map_err(Left::Failed)?;
    if !left.is_empty() {
        return Err(Left::Foreign(left));
    }
    remove_marked(parent, &root, name).map_err(Left::Failed)
}

/// Removes the mark, then the directory itself, which must be empty but for it.
pub(super) fn remove_marked(parent: &OwnedFd, root: &OwnedFd, name: &str) -> Result<(), Errno> {
    match rustix::fs::unlinkat(root, MARK, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(errno) => return Err(errno),
    }
    let (one, other) = (
        rustix::fs::fstat(root)?,
        rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?,
    );
    match (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino) {
        true => rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR),
        // Somebody has put another in its place.
        false => Err(Errno::STALE),
    }
}

/// Told how many names are gone so far, one by one, files some hundred at a time; may break the
/// removal off.
pub type Removing<'a> = &'a mut dyn FnMut(u64) -> ControlFlow<()>;

/// Why a directory was not emptied.
pub(super) enum Broken {
    Off,
    By(Errno),
}

impl From<Errno> for Broken {
    fn from(errno: Errno) -> Broken {
        Broken::By(errno)
    }
}

/// Removes what the engine made in a directory; gives the names of the rest.
pub(super) fn empty(root: &OwnedFd) -> Result<Vec<String>, Errno> {
    let emptied = empty_watched(root, &mut |_| ControlFlow::Continue(()));
    emptied.map_err(|broken| match broken {
        Broken::By(errno) => errno,
        Broken::Off => Errno::INTR,
    })
}

/// As [`empty`], while somebody watches.
pub(super) fn empty_watched(root: &OwnedFd, watch: Removing<'_>) -> Result<Vec<String>, Broken> {
    let mut removal = Removal {
        device: rustix::fs::fstat(root)?.st_dev,
        foreign: Vec::new(),
        removed: 0,
        watch,
    };
    removal.empty(root, "")?;
    removal.foreign.retain(|name| name != MARK);
    Ok(removal.foreign)
}

/// Files that are removed before somebody who watches is told.
const AT_ONCE: usize = 256;

/// Threads that remove them.
const REMOVERS: usize = 4;

/// A removal that goes on.
struct Removal<'a> {
    /// The file system that it stays on.
    device: u64,
    /// What is not the engine's.
    foreign: Vec<String>,
    removed: u64,
    watch: Removing<'a>,
}

impl Removal<'_> {
    fn empty(&mut self, directory: &OwnedFd, path: &str) -> Result<(), Broken> {
        let mut files = Vec::new();
        for (name, kind) in entries(directory)? {
            let full = format!("{path}{name}");
            // A benchmark may have been killed that ran within another one's directory, as those
            // of a calibration do.
            if name.starts_with(PREFIX)
                && kind == FileType::Directory
                && clean_one(directory, &name).is_ok()
            {
                self.tell()?;
                continue;
            }
            if !is_ours(&name) {
                self.foreign.push(full);
                continue;
            }
            if kind != FileType::Directory {
                files.push(name);
                continue;
            }
            let inner = match below(directory.as_fd(), &name) {
                // Another file system, or a part of this one, is mounted there.
                Err(Errno::XDEV) => {
                    self.foreign.push(full);
                    continue;
                }
                inner => inner?,
            };
            if rustix::fs::fstat(&inner)?.st_dev != self.device {
                self.foreign.push(full);
                continue;
            }
            let before = self.foreign.len();
            self.empty(&inner, &format!("{full}/"))?;
            if self.foreign.len() == before {
                self.remove(directory, &name, AtFlags::REMOVEDIR)?;
            }
        }
        self.remove_files(directory, &files)
    }

    /// By several threads: on a file system that is mounted with `discard` and has no journal,
    /// ext4 waits for a discard of the device for each file that has blocks
    /// (fs/ext4/mballoc.c, `ext4_free_blocks`; Linux 6.18), 0.6 to 3.6 ms here. Four take a
    /// third to a seventh of the time of one, and sixteen no less.
    fn remove_files(&mut self, directory: &OwnedFd, names: &[String]) -> Result<(), Broken> {
        for some in names.chunks(AT_ONCE) {
            let parts = some.chunks(some.len().div_ceil(REMOVERS));
            let removed: Vec<_> = thread::scope(|scope| {
                let threads: Vec<_> = parts
                    .map(|part| scope.spawn(|| unlink(directory, part)))
                    .collect();
                threads.into_iter().map(ScopedJoinHandle::join).collect()
            });
            for part in removed {
                // It calls nothing that panics.
                let (gone, ended) = part.unwrap_or((0, Err(Errno::IO)));
                for _ in 0..gone {
                    self.tell()?;
                }
                ended?;
            }
        }
        Ok(())
    }

    fn remove(&mut self, directory: &OwnedFd, name: &str, flags: AtFlags) -> Result<(), Broken> {
        rustix::fs::unlinkat(directory, name, flags)?;
        self.tell()
    }

    /// A name is gone.
    fn tell(&mut self) -> Result<(), Broken> {
        self.removed += 1;
        match (self.watch)(self.removed) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Broken::Off),
        }
    }
}

/// Removes files; how many were, and what went wrong with the next.
fn unlink(directory: &OwnedFd, names: &[String]) -> (usize, Result<(), Errno>) {
    for (gone, name) in names.iter().enumerate() {
        if let Err(errno) = rustix::fs::unlinkat(directory, name, AtFlags::empty()) {
            return (gone, Err(errno));
        }
    }
    (names.len(), Ok(()))
}

/// How many files of ours lie in a directory, and how many bytes they hold.
pub(super) fn usage(directory: &OwnedFd) -> Result<(u64, u64), Errno> {
    let (mut files, mut bytes) = (0, 0);
    for (name, kind) in entries(directory)? {
        match kind {
            FileType::Directory => {
                let inner = usage(&below(directory.as_fd(), &name)?)?;
                files += inner.0;
                bytes += inner.1;
            }
            FileType::RegularFile if is_ours(&name) => {
                let stat = rustix::fs::statat(directory, &*name, AtFlags::SYMLINK_NOFOLLOW)?;
                files += 1;
                bytes += u64::try_from(stat.st_size).unwrap_or(0);
            }
            _ => {}
        }
    }
    Ok((files, bytes))
}

/// Opens a directory in another, unless something is mounted there.
fn below(parent: rustix::fd::BorrowedFd<'_>, name: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let here = ResolveFlags::NO_XDEV;
    match rustix::fs::openat2(parent, name, flags, Mode::empty(), here) {
        // Linux before 5.6, and some sandboxes: the device's number has to do.
        Err(Errno::NOSYS | Errno::PERM) => rustix::fs::openat(parent, name, flags, Mode::empty()),
        opened => opened,
    }
}

/// What is in a directory, in the order of inodes: removed so, files of ext4 take each block of
/// the table of inodes once and not over and over.
fn entries(directory: &OwnedFd) -> Result<Vec<(String, FileType)>, Errno> {
    let mut all = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let Some(name) = text(entry.file_name()) else {
            // No name of ours, as those are plain letters and digits.
            all.push((entry.ino(), "\u{fffd}".to_owned(), FileType::Unknown));
            continue;
        };
        if name == "." || name == ".." {
            continue;
        }
        let kind = match entry.file_type() {
            // Some file systems do not tell.
            FileType::Unknown => {
                let stat = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
                FileType::from_raw_mode(stat.st_mode)
            }
            kind => kind,
        };
        all.push((entry.ino(), name.to_owned(), kind));
    }
    all.sort_by_key(|(inode, ..)| *inode);
    Ok(all
        .into_iter()
        .map(|(_, name, kind)| (name, kind))
        .collect())
}

fn text(name: &CStr) -> Option<&str> {
    name.to_str().ok()
}
