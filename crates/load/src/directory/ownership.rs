//! Directories in which root works: no other user may exchange the files that root makes there.
//!
//! An owner of a directory can rename its entries and put a symbolic link in their place. So paths
//! are walked with a descriptor of each directory, and symbolic links of other users are refused.
//! Files are opened relative to their directory's descriptor.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::failure;
use crate::Error;

/// Links that are followed in one path, as in the kernel (path_resolution(7)).
const MOST_LINKS: u32 = 40;

/// The first group that a user has for himself: `GID_MIN` of login.defs(5).
const FIRST_GROUP_OF_USERS: u32 = 1000;

const PATH: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);

/// Users who may own the directories in which root works.
#[derive(Clone, Debug)]
pub struct Owners {
    /// None if this is not root: then the kernel's permissions are enough.
    trusted: Option<Vec<u32>>,
    group: Option<u32>,
}

impl Owners {
    /// Returns the owners trusted by this process: root and the user who called sudo or pkexec.
    #[must_use]
    pub fn of_process() -> Owners {
        let number = |name| std::env::var(name).ok().and_then(|it| it.parse().ok());
        let root = rustix::process::geteuid().is_root();
        Owners {
            trusted: root.then(|| {
                let callers = ["SUDO_UID", "PKEXEC_UID"].into_iter().filter_map(number);
                std::iter::once(0).chain(callers).collect()
            }),
            group: number("SUDO_GID"),
        }
    }

    /// Returns true if what this user owns may lead to where root works.
    #[must_use]
    pub fn trusts(&self, owner: u32) -> bool {
        let trusted = self.trusted.as_ref();
        trusted.is_none_or(|trusted| trusted.contains(&owner))
    }

    /// Opens a directory for paths that start at it (`O_PATH`).
    ///
    /// # Errors
    /// If there is none, or a symbolic link of another user leads to it.
    pub fn open(&self, path: &Path) -> Result<OwnedFd, Error> {
        let failed = failure(path, "it cannot be opened");
        if self.trusted.is_none() {
            let opened = rustix::fs::openat(CWD, path, PATH | OFlags::DIRECTORY, Mode::empty());
            return opened.map_err(failed);
        }
        let (start, mut pending) = components(path);
        let mut at = open_start(start).map_err(&failed)?;
        let mut links = 0;
        while let Some(name) = pending.pop() {
            let flags = PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW;
            match rustix::fs::openat(&at, &name, flags, Mode::empty()) {
                Ok(inner) => at = inner,
                Err(Errno::NOTDIR | Errno::LOOP) => {
                    links += 1;
                    if links > MOST_LINKS {
                        return Err(failed(Errno::LOOP));
                    }
                    let target = self.link(&at, &name, path)?;
                    let (start, inner) = components(&target);
                    if start != Start::Here {
                        at = open_start(start).map_err(&failed)?;
                    }
                    pending.extend(inner);
                }
                Err(errno) => return Err(failed(errno)),
            }
        }
        Ok(at)
    }

    /// Returns the target of a symbolic link in a directory; `path` is the requested path.
    fn link(&self, at: &OwnedFd, name: &OsStr, path: &Path) -> Result<PathBuf, Error> {
        let failed = failure(path, "it cannot be opened");
        let flags = PATH | OFlags::NOFOLLOW;
        let link = rustix::fs::openat(at, name, flags, Mode::empty()).map_err(&failed)?;
        let stat = rustix::fs::fstat(&link).map_err(&failed)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::Symlink {
            return Err(failed(Errno::NOTDIR));
        }
        let target = rustix::fs::readlinkat(&link, "", Vec::new()).map_err(&failed)?;
        let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
        if self.trusts(stat.st_uid) {
            return Ok(target);
        }
        Err(Error::Unsuitable(format!(
            "{}: its symbolic link {name:?} to {} belongs to {}, and root works here: expected a \
             path without links of other users",
            path.display(),
            target.display(),
            user(stat.st_uid),
        )))
    }

    /// Refuses a directory whose owner can exchange what root makes in it.
    ///
    /// # Errors
    /// If it is neither root's nor the calling user's.
    pub fn check(&self, path: &Path, directory: &OwnedFd) -> Result<Stat, Error> {
        let found = rustix::fs::fstat(directory).map_err(failure(path, "it cannot be read"))?;
        if self.trusts(found.st_uid) {
            return Ok(found);
        }
        let who = user(found.st_uid);
        Err(Error::Unsuitable(format!(
            "{}: it belongs to {who}, who can exchange what root makes in it: expected a directory \
             that root or the user of sudo owns: make one, or run headrace as {who}",
            path.display(),
        )))
    }

    /// Refuses, besides, a directory that others than its owner can write to.
    ///
    /// # Errors
    /// As [`Owners::check`], and if others can write to it and its sticky bit is not set.
    pub fn check_strictly(&self, path: &Path, directory: &OwnedFd) -> Result<(), Error> {
        let found = self.check(path, directory)?;
        let mode = Mode::from_raw_mode(found.st_mode);
        let group = found.st_gid;
        let by_group =
            mode.contains(Mode::WGRP) && group >= FIRST_GROUP_OF_USERS && self.group != Some(group);
        if self.trusted.is_none()
            || mode.contains(Mode::SVTX)
            || !(mode.contains(Mode::WOTH) || by_group)
        {
            return Ok(());
        }
        Err(Error::Unsuitable(format!(
            "{path}: users other than its owner can write to it (mode {:o}) and replace files \
             that root creates: expected another directory, or chmod go-w {path}",
            found.st_mode & 0o7777,
            path = path.display(),
        )))
    }
}

/// Opens a directory for paths that start at it. Where root works, symbolic links of other users
/// are refused; `strictly` also refuses a directory that another user can write to.
///
/// # Errors
/// If there is none, or another user could exchange it or its entries.
pub fn open_directory(path: &Path, strictly: bool) -> Result<OwnedFd, Error> {
    let owners = Owners::of_process();
    let opened = owners.open(path)?;
    if strictly {
        owners.check_strictly(path, &opened)?;
    }
    Ok(opened)
}

/// Start of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    Root,
    Here,
}

fn open_start(start: Start) -> Result<OwnedFd, Errno> {
    let path = match start {
        Start::Root => "/",
        Start::Here => ".",
    };
    rustix::fs::openat(CWD, path, PATH | OFlags::DIRECTORY, Mode::empty())
}

/// Splits a path into its start and its components, last component first.
fn components(path: &Path) -> (Start, Vec<OsString>) {
    let start = match path.is_absolute() {
        true => Start::Root,
        false => Start::Here,
    };
    let names = path.components().filter_map(|it| match it {
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
        name => Some(name.as_os_str().to_owned()),
    });
    let mut names: Vec<_> = names.collect();
    names.reverse();
    (start, names)
}

/// A user as messages have it.
fn user(number: u32) -> String {
    let users = std::fs::read("/etc/passwd").unwrap_or_default();
    let name = users.split(|&it| it == b'\n').find_map(|line| {
        let mut fields = line.split(|&it| it == b':');
        let (name, _, uid) = (fields.next()?, fields.next()?, fields.next()?);
        (uid == number.to_string().as_bytes()).then(|| OsStr::from_bytes(name).to_string_lossy())
    });
    match name {
        Some(name) => format!("{name} (user {number})"),
        None => format!("user {number}"),
    }
}
