//! Removes what benchmarks have left behind, and nothing else.

use std::ffi::CStr;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::thread::{self, ScopedJoinHandle};

use rustix::fs::{AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::mark::{EMPTY, MARK, PREFIX, is_mark};
use super::names::{is_empty, is_ours};
use super::{failure, new_name, open_parent, rename};
use crate::Error;

/// Result of cleaning up directories of earlier runs.
#[derive(Debug, Default)]
pub struct Cleaned {
    /// Removed directories.
    pub removed: Vec<PathBuf>,
    /// Directories that were not removed, and the reason.
    pub left: Vec<(PathBuf, LeftReason)>,
}

/// Why a directory was left.
#[derive(Debug, PartialEq, Eq)]
pub enum LeftReason {
    /// It has no mark, or one that no benchmark wrote.
    NotMarked,
    /// Its run goes on, or one within it.
    InUse,
    /// It has files of another user; the run's own are gone.
    Foreign(Vec<String>),
    /// It could not be removed.
    Failed(Errno),
}

impl std::fmt::Display for LeftReason {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LeftReason::NotMarked => write!(to, "it carries no mark of a benchmark"),
            LeftReason::InUse => write!(to, "its benchmark is still running"),
            LeftReason::Foreign(names) => {
                write!(to, "not the benchmark's own: {}", names.join(", "))
            }
            LeftReason::Failed(errno) => write!(to, "{}", std::io::Error::from(*errno)),
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
    let parent = open_parent(below, "it cannot be read")?;
    let mut cleaned = Cleaned::default();
    for (name, _) in entries(&parent).map_err(&failed)? {
        if !name.starts_with(PREFIX) || only.is_some_and(|it| it != name) {
            continue;
        }
        let path = below.join(&name);
        match clean_one(&parent, &name) {
            Ok(()) => cleaned.removed.push(path),
            // Its own run, or another cleaner, has removed it first.
            Err(LeftReason::Failed(Errno::NOENT)) => {}
            Err(left) => cleaned.left.push((path, left)),
        }
    }
    cleaned.removed.sort();
    cleaned.left.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(cleaned)
}

fn clean_one(parent: &OwnedFd, name: &str) -> Result<(), LeftReason> {
    let root = below(parent.as_fd(), name).map_err(|errno| match errno {
        Errno::NOTDIR | Errno::LOOP => LeftReason::NotMarked,
        errno => LeftReason::Failed(errno),
    })?;
    // A pipe of that name must not be waited for.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mark = match rustix::fs::openat(&root, MARK, flags, Mode::empty()) {
        // Its run was killed before it was marked, or after its mark was removed.
        Err(Errno::NOENT) if is_empty(name) => return remove_empty(parent, name),
        mark => mark.map_err(|_| LeftReason::NotMarked)?,
    };
    let stat = rustix::fs::fstat(&mark).map_err(LeftReason::Failed)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(LeftReason::NotMarked);
    }
    // On a file system without locks the mark has to do.
    let locked = rustix::fs::flock(&mark, FlockOperation::NonBlockingLockExclusive);
    let mut text = [0; 4096];
    let read = rustix::io::read(&mark, &mut text).map_err(LeftReason::Failed)?;
    // A process killed while it writes a mark leaves a part of the mark, and no other file.
    let marked = is_mark(&text[..read]) || is_empty(name) && holds_a_mark_only(&root)?;
    if !marked {
        return Err(LeftReason::NotMarked);
    }
    if locked == Err(Errno::WOULDBLOCK) {
        return Err(LeftReason::InUse);
    }
    let left = empty(&root).map_err(LeftReason::Failed)?;
    if !left.foreign.is_empty() {
        return Err(LeftReason::Foreign(left.foreign));
    }
    if !left.in_use.is_empty() {
        return Err(LeftReason::InUse);
    }
    remove_marked(parent, &root, name).map_err(LeftReason::Failed)
}

/// Removes a directory in which nothing is.
fn remove_empty(parent: &OwnedFd, name: &str) -> Result<(), LeftReason> {
    let removed = rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR);
    removed.map_err(|errno| match errno {
        Errno::NOTEMPTY | Errno::EXIST => LeftReason::NotMarked,
        errno => LeftReason::Failed(errno),
    })
}

fn holds_a_mark_only(root: &OwnedFd) -> Result<bool, LeftReason> {
    let all = entries(root).map_err(LeftReason::Failed)?;
    Ok(all.iter().all(|(name, _)| name == MARK))
}

/// Removes the mark, then the directory itself, which must be empty but for it. Meanwhile it has
/// a name by which it is known without the mark too.
pub(super) fn remove_marked(parent: &OwnedFd, root: &OwnedFd, name: &str) -> Result<(), Errno> {
    let (one, other) = (
        rustix::fs::fstat(root)?,
        rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?,
    );
    if (one.st_dev, one.st_ino) != (other.st_dev, other.st_ino) {
        // Another directory has taken its place.
        return Err(Errno::STALE);
    }
    let aside = match is_empty(name) {
        true => None,
        // Where directories cannot be renamed, it goes under its own.
        false => new_name(EMPTY, |aside| rename(parent, name, aside)).ok(),
    };
    let last = aside.as_deref().unwrap_or(name);
    let removed = match rustix::fs::unlinkat(root, MARK, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => rustix::fs::unlinkat(parent, last, AtFlags::REMOVEDIR),
        Err(errno) => Err(errno),
    };
    match removed {
        // Another cleaner has removed it first.
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => {
            // Observers find it by its name.
            let _ = aside.map(|aside| rename(parent, &aside, name));
            Err(errno)
        }
    }
}

/// Receives the number of names removed so far, one by one, files some hundred at a time; may stop
/// the removal.
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

/// Entries left in an emptied directory, by relative path.
#[derive(Debug, Default)]
pub(super) struct Rest {
    /// Entries that the engine did not create.
    foreign: Vec<String>,
    /// Directories of benchmarks that are still running.
    in_use: Vec<String>,
}

impl Rest {
    fn len(&self) -> usize {
        self.foreign.len() + self.in_use.len()
    }

    /// The first of it, and why it is there.
    pub(super) fn first(&self) -> Option<String> {
        let foreign = self.foreign.first();
        let in_use = self.in_use.first();
        let foreign = foreign.map(|it| format!("{it:?} is not the run's own"));
        foreign.or_else(|| in_use.map(|it| format!("{it:?} is of a benchmark still running")))
    }
}

/// Removes what the engine made in a directory; gives the rest.
pub(super) fn empty(root: &OwnedFd) -> Result<Rest, Errno> {
    let emptied = empty_watched(root, &mut |_| ControlFlow::Continue(()));
    emptied.map_err(|broken| match broken {
        Broken::By(errno) => errno,
        Broken::Off => Errno::INTR,
    })
}

/// As [`empty`], with a callback for progress.
pub(super) fn empty_watched(root: &OwnedFd, watch: Removing<'_>) -> Result<Rest, Broken> {
    let mut removal = Removal {
        device: rustix::fs::fstat(root)?.st_dev,
        rest: Rest::default(),
        removed: 0,
        watch,
    };
    removal.empty(root, "")?;
    removal.rest.foreign.retain(|name| name != MARK);
    Ok(removal.rest)
}

/// Number of files removed between two progress reports.
const AT_ONCE: usize = 256;

/// Threads that remove them.
const REMOVERS: usize = 4;

/// A removal that goes on.
struct Removal<'a> {
    /// The file system that it stays on.
    device: u64,
    rest: Rest,
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
            if name.starts_with(PREFIX) && kind == FileType::Directory {
                match clean_one(directory, &name) {
                    Ok(()) | Err(LeftReason::Failed(Errno::NOENT)) => self.tell()?,
                    Err(LeftReason::InUse) => self.rest.in_use.push(full),
                    Err(LeftReason::Foreign(within)) => {
                        let paths = within.iter().map(|it| format!("{full}/{it}"));
                        self.rest.foreign.extend(paths);
                    }
                    Err(LeftReason::NotMarked | LeftReason::Failed(_)) => {
                        self.rest.foreign.push(full)
                    }
                }
                continue;
            }
            if !is_ours(&name) {
                self.rest.foreign.push(full);
                continue;
            }
            if kind != FileType::Directory {
                files.push(name);
                continue;
            }
            let inner = match below(directory.as_fd(), &name) {
                // Another file system, or a part of this one, is mounted there.
                Err(Errno::XDEV) => {
                    self.rest.foreign.push(full);
                    continue;
                }
                inner => inner?,
            };
            if rustix::fs::fstat(&inner)?.st_dev != self.device {
                self.rest.foreign.push(full);
                continue;
            }
            let before = self.rest.len();
            self.empty(&inner, &format!("{full}/"))?;
            if self.rest.len() == before {
                self.remove(directory, &name, AtFlags::REMOVEDIR)?;
            }
        }
        self.remove_files(directory, &files)
    }

    /// By several threads: without a journal and with `discard`, ext4 waits for a device discard
    /// for each file with blocks (fs/ext4/mballoc.c, `ext4_free_blocks`; Linux 6.18). A discard
    /// takes 0.6 to 3.6 ms here. Four take a third to a seventh of the time of one, and sixteen no
    /// less.
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

/// Returns the number and the total bytes of the engine's files in a directory.
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

/// Lists a directory in the order of inodes. Removal in this order touches each block of ext4's
/// inode table once.
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
