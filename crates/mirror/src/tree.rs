//! The directory below: everything is found from a node by one name at a time, so that nothing
//! outside of it can be reached.

use std::ffi::OsStr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use fuser::{FileAttr, INodeNo};
use rustix::fs::{
    AtFlags, CWD, FileType, Gid, Mode, OFlags, RenameFlags, ResolveFlags, Stat, Timespec,
    Timestamps, Uid,
};
use rustix::io::{Errno, Result};

use crate::attributes::attributes;
use crate::nodes::{Node, Nodes};

/// Open flags of a descriptor that only names a file.
const NAMED: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Open flags that are passed on; the kernel itself handles append, truncate and direct I/O.
const KEPT: OFlags = OFlags::RDWR
    .union(OFlags::WRONLY)
    .union(OFlags::SYNC)
    .union(OFlags::DSYNC)
    .union(OFlags::NOATIME);

/// Attribute changes of a file.
#[derive(Debug, Default)]
pub struct Changes {
    pub mode: Option<u32>,
    pub user: Option<u32>,
    pub group: Option<u32>,
    /// Time when it was last read and written.
    pub times: Option<[Timespec; 2]>,
}

/// A directory and all that is in it.
#[derive(Debug)]
pub struct Tree {
    pub nodes: Nodes,
    device: u64,
}

impl Tree {
    pub fn open(root: &Path) -> Result<Tree> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::openat(CWD, root, flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&root)?;
        Ok(Tree {
            nodes: Nodes::new(Node::new(root), &stat),
            device: stat.st_dev,
        })
    }

    /// Finds a name and records the kernel's lookup of it.
    pub fn look_up(&self, parent: INodeNo, name: &OsStr) -> Result<FileAttr> {
        let parent = self.nodes.get(parent)?;
        self.tell(named(&parent, name)?)
    }

    fn tell(&self, found: OwnedFd) -> Result<FileAttr> {
        let stat = rustix::fs::fstat(&found)?;
        if stat.st_dev != self.device {
            return Err(Errno::XDEV);
        }
        let attributes = self.attributes(&stat);
        self.nodes.told(attributes.ino, Node::new(found));
        Ok(attributes)
    }

    pub fn attributes(&self, stat: &Stat) -> FileAttr {
        attributes(self.nodes.number(stat.st_ino), stat)
    }

    /// Opens a file or directory that has been looked up.
    pub fn open_node(&self, number: INodeNo, flags: OFlags) -> Result<OwnedFd> {
        let path = self.nodes.get(number)?.path();
        rustix::fs::openat(CWD, path, flags | OFlags::CLOEXEC, Mode::empty())
    }

    pub fn truncate(&self, number: INodeNo, size: u64) -> Result<()> {
        rustix::fs::ftruncate(self.open_node(number, OFlags::WRONLY)?, size)
    }

    /// Changes attributes. The owner comes before the permissions, of which a new one takes some
    /// away (chown(2)).
    pub fn change(&self, number: INodeNo, changes: &Changes) -> Result<()> {
        let node = self.nodes.get(number)?;
        if changes.user.is_some() || changes.group.is_some() {
            let (user, group) = (
                changes.user.map(Uid::from_raw),
                changes.group.map(Gid::from_raw),
            );
            rustix::fs::chownat(node.file(), "", user, group, AtFlags::EMPTY_PATH)?;
        }
        if let Some(mode) = changes.mode {
            let mode = Mode::from_raw_mode(mode);
            rustix::fs::chmodat(CWD, node.path(), mode, AtFlags::empty())?;
        }
        if let Some([last_access, last_modification]) = changes.times {
            let times = Timestamps {
                last_access,
                last_modification,
            };
            rustix::fs::utimensat(CWD, node.path(), &times, AtFlags::empty())?;
        }
        Ok(())
    }

    /// Makes a file and opens it.
    pub fn create(
        &self,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        flags: OFlags,
    ) -> Result<(FileAttr, OwnedFd)> {
        let parent = self.nodes.get(parent)?;
        let flags = opened_with(flags)
            | flags.intersection(OFlags::EXCL)
            | OFlags::CREATE
            | OFlags::NOFOLLOW
            | OFlags::CLOEXEC;
        let name = checked(name)?;
        let file = rustix::fs::openat(parent.file(), name, flags, Mode::from_raw_mode(mode))?;
        // Named by the open descriptor: its name may lead elsewhere by now.
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let found = rustix::fs::openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
        Ok((self.tell(found?)?, file))
    }

    pub fn make_node(
        &self,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        device: u64,
    ) -> Result<FileAttr> {
        let (kind, permissions) = (FileType::from_raw_mode(mode), Mode::from_raw_mode(mode));
        self.made(parent, name, |parent, name| {
            rustix::fs::mknodat(parent, name, kind, permissions, device)
        })
    }

    pub fn make_directory(&self, parent: INodeNo, name: &OsStr, mode: u32) -> Result<FileAttr> {
        self.made(parent, name, |parent, name| {
            rustix::fs::mkdirat(parent, name, Mode::from_raw_mode(mode))
        })
    }

    pub fn make_symbolic_link(
        &self,
        parent: INodeNo,
        name: &OsStr,
        target: &Path,
    ) -> Result<FileAttr> {
        self.made(parent, name, |parent, name| {
            rustix::fs::symlinkat(target, parent, name)
        })
    }

    pub fn link(&self, number: INodeNo, parent: INodeNo, name: &OsStr) -> Result<FileAttr> {
        let path = self.nodes.get(number)?.path();
        self.made(parent, name, |parent, name| {
            // The path is a link itself, which leads to the file.
            rustix::fs::linkat(CWD, &path, parent, name, AtFlags::SYMLINK_FOLLOW)
        })
    }

    fn made(
        &self,
        parent: INodeNo,
        name: &OsStr,
        make: impl FnOnce(&OwnedFd, &OsStr) -> Result<()>,
    ) -> Result<FileAttr> {
        let parent = self.nodes.get(parent)?;
        make(parent.file(), checked(name)?)?;
        self.tell(named(&parent, name)?)
    }

    pub fn remove(&self, parent: INodeNo, name: &OsStr, flags: AtFlags) -> Result<()> {
        let parent = self.nodes.get(parent)?;
        rustix::fs::unlinkat(parent.file(), checked(name)?, flags)
    }

    pub fn rename(
        &self,
        (parent, name): (INodeNo, &OsStr),
        (new_parent, new_name): (INodeNo, &OsStr),
        flags: RenameFlags,
    ) -> Result<()> {
        let (from, to) = (self.nodes.get(parent)?, self.nodes.get(new_parent)?);
        let (name, new_name) = (checked(name)?, checked(new_name)?);
        rustix::fs::renameat_with(from.file(), name, to.file(), new_name, flags)
    }
}

/// The flags by which a file is opened below.
pub fn opened_with(flags: OFlags) -> OFlags {
    flags.intersection(KEPT)
}

/// Opens a named entry, unless another file system, or a part of this one, is mounted there.
fn named(parent: &Node, name: &OsStr) -> Result<OwnedFd> {
    let name = checked(name)?;
    let here = ResolveFlags::NO_XDEV | ResolveFlags::BENEATH;
    match rustix::fs::openat2(parent.file(), name, NAMED, Mode::empty(), here) {
        // Linux before 5.6, and some sandboxes: the device's number has to do.
        Err(Errno::NOSYS | Errno::PERM) => {
            rustix::fs::openat(parent.file(), name, NAMED, Mode::empty())
        }
        opened => opened,
    }
}

/// The kernel sends plain names alone; with another one could leave the directory.
fn checked(name: &OsStr) -> Result<&OsStr> {
    let plain = name != "." && name != ".." && !name.as_encoded_bytes().contains(&b'/');
    plain.then_some(name).ok_or(Errno::INVAL)
}
