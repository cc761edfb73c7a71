//! Counts the kernel's requests and passes them on to the directory below.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime};

use fuser::{
    AccessFlags, BsdFileFlags, CopyFileRangeFlags, FileAttr, FileHandle, FileType, Filesystem,
    FopenFlags, Generation, INodeNo, InitFlags, KernelConfig, LockOwner, OpenFlags, RenameFlags,
    ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyDirectoryPlus, ReplyEmpty, ReplyEntry,
    ReplyLseek, ReplyOpen, ReplyStatfs, ReplyWrite, ReplyXattr, Request, TimeOrNow, WriteFlags,
};
use rustix::fs::{
    Access, AtFlags, CWD, FallocateFlags, FlockOperation, OFlags, SeekFrom, XattrFlags,
};
use rustix::io::{Errno, Result};

use crate::attributes::{kind, time_to_set};
use crate::directory::{self, Entry};
use crate::handles::{Handles, Open};
use crate::kind::{Counts, Kind};
use crate::mirror::Options;
use crate::tree::{Changes, Tree, opened_with};

/// Bytes of a WRITE at the most: what an NFS client of Linux asks for at the most
/// (include/linux/nfs_xdr.h, `NFS_MAX_FILE_IO_SIZE`).
const LARGEST_WRITE: u32 = 1 << 20;

/// A number that is never given to another file while the kernel knows it needs no generation.
const ONLY: Generation = Generation(0);

/// The mirror as the kernel sees it.
#[derive(Debug)]
pub struct MirrorFileSystem {
    tree: Tree,
    open: Handles,
    counts: Arc<Counts>,
    options: Options,
}

impl MirrorFileSystem {
    pub fn new(tree: Tree, counts: Arc<Counts>, options: Options) -> MirrorFileSystem {
        MirrorFileSystem {
            tree,
            open: Handles::default(),
            counts,
            options,
        }
    }

    fn asked(&self, kind: Kind) {
        self.counts.add(kind);
    }

    /// Returns the validity of attributes.
    fn attribute_timeout(&self, attributes: &FileAttr) -> Duration {
        match attributes.kind {
            FileType::Directory => self.options.directory_timeout,
            _ => self.options.attribute_timeout,
        }
    }

    /// Duration for which a name holds.
    fn entry_timeout(&self, attributes: &FileAttr) -> Duration {
        match attributes.kind {
            FileType::Directory => self.options.directory_timeout,
            _ => self.options.entry_timeout,
        }
    }

    /// Duration for which both hold where one number has to do.
    fn shorter_timeout(&self, attributes: &FileAttr) -> Duration {
        let entry = self.entry_timeout(attributes);
        entry.min(self.attribute_timeout(attributes))
    }

    fn entry(&self, reply: ReplyEntry, found: Result<FileAttr>) {
        match found {
            Ok(it) => {
                let (attribute, entry) = (self.attribute_timeout(&it), self.entry_timeout(&it));
                reply.entry_with_ttls(&attribute, &entry, &it, ONLY);
            }
            Err(errno) => reply.error(error(errno)),
        }
    }

    fn attributes(&self, reply: ReplyAttr, found: Result<FileAttr>) {
        match found {
            Ok(it) => reply.attr(&self.attribute_timeout(&it), &it),
            Err(errno) => reply.error(error(errno)),
        }
    }

    fn opened(&self, reply: ReplyOpen, number: INodeNo, flags: OFlags) {
        match self.tree.open_node(number, flags) {
            Ok(file) => reply.opened(self.open.add(file), FopenFlags::empty()),
            Err(errno) => reply.error(error(errno)),
        }
    }

    fn with_open<T>(
        &self,
        handle: FileHandle,
        call: impl FnOnce(&OwnedFd) -> Result<T>,
    ) -> Result<T> {
        call(&self.open.get(handle)?.file)
    }

    fn found(&self, number: INodeNo, handle: Option<FileHandle>) -> Result<FileAttr> {
        let stat = match handle {
            Some(handle) => self.with_open(handle, |file| rustix::fs::fstat(file))?,
            None => rustix::fs::fstat(self.tree.nodes.get(number)?.file())?,
        };
        Ok(self.tree.attributes(&stat))
    }
}

/// Replies with an extended attribute or the list of names, or with its length if `size` is 0.
fn value(
    reply: ReplyXattr,
    size: u32,
    length: impl FnOnce() -> Result<usize>,
    read: impl FnOnce(&mut [u8]) -> Result<usize>,
) {
    let mut room = vec![0; size as usize];
    let got = match size {
        0 => length(),
        _ => read(&mut room),
    };
    match got {
        // The kernel lets no value be longer than 64 KiB (xattr(7)).
        Ok(length) if size == 0 => reply.size(u32::try_from(length).unwrap_or(u32::MAX)),
        Ok(length) => reply.data(&room[..length]),
        Err(errno) => reply.error(error(errno)),
    }
}

fn error(errno: Errno) -> fuser::Errno {
    fuser::Errno::from_i32(errno.raw_os_error())
}

fn empty(reply: ReplyEmpty, done: Result<()>) {
    match done {
        Ok(()) => reply.ok(),
        Err(errno) => reply.error(error(errno)),
    }
}

fn written(reply: ReplyWrite, done: Result<usize>) {
    match done {
        // A request has a megabyte at the most.
        Ok(bytes) => reply.written(u32::try_from(bytes).unwrap_or(u32::MAX)),
        Err(errno) => reply.error(error(errno)),
    }
}

/// The flags of open(2), as the kernel sends them.
fn open_flags(flags: i32) -> OFlags {
    OFlags::from_bits_retain(flags.cast_unsigned())
}

impl Filesystem for MirrorFileSystem {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> std::io::Result<()> {
        // FUSE_AUTO_INVAL_DATA would ask for attributes at each read. Without it, writes of others
        // below become visible when a file is opened again, as with an NFS client.
        let mut wanted = InitFlags::FUSE_PARALLEL_DIROPS
            | InitFlags::FUSE_ASYNC_DIO
            | InitFlags::FUSE_FLOCK_LOCKS;
        if self.options.readdirplus {
            wanted |= InitFlags::FUSE_DO_READDIRPLUS | InitFlags::FUSE_READDIRPLUS_AUTO;
        }
        // Capabilities that an older kernel lacks are not used.
        let _ = config.add_capabilities(wanted & config.capabilities());
        let _ = config.set_max_write(LARGEST_WRITE);
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        self.asked(Kind::Lookup);
        self.entry(reply, self.tree.look_up(parent, name));
    }

    fn forget(&self, _: &Request, number: INodeNo, times: u64) {
        self.tree.nodes.forgotten(number, times);
    }

    fn getattr(&self, _: &Request, number: INodeNo, fh: Option<FileHandle>, reply: ReplyAttr) {
        self.asked(Kind::Getattr);
        self.attributes(reply, self.found(number, fh));
    }

    fn setattr(
        &self,
        _: &Request,
        number: INodeNo,
        mode: Option<u32>,
        user: Option<u32>,
        group: Option<u32>,
        size: Option<u64>,
        accessed: Option<TimeOrNow>,
        modified: Option<TimeOrNow>,
        _: Option<SystemTime>,
        handle: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        self.asked(Kind::Setattr);
        let cut = match (size, handle) {
            (Some(size), Some(handle)) => {
                self.with_open(handle, |file| rustix::fs::ftruncate(file, size))
            }
            (Some(size), None) => self.tree.truncate(number, size),
            (None, _) => Ok(()),
        };
        let times = (accessed.is_some() || modified.is_some())
            .then(|| [time_to_set(accessed), time_to_set(modified)]);
        let changes = Changes {
            mode,
            user,
            group,
            times,
        };
        let done = cut.and_then(|()| self.tree.change(number, &changes));
        self.attributes(reply, done.and_then(|()| self.found(number, handle)));
    }

    fn readlink(&self, _: &Request, number: INodeNo, reply: ReplyData) {
        self.asked(Kind::Readlink);
        let node = self.tree.nodes.get(number);
        match node.and_then(|it| rustix::fs::readlinkat(it.file(), "", Vec::new())) {
            Ok(target) => reply.data(target.as_bytes()),
            Err(errno) => reply.error(error(errno)),
        }
    }

    fn mknod(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        device: u32,
        reply: ReplyEntry,
    ) {
        self.asked(Kind::Mknod);
        let made = self.tree.make_node(parent, name, mode, device.into());
        self.entry(reply, made);
    }

    fn mkdir(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        reply: ReplyEntry,
    ) {
        self.asked(Kind::Mkdir);
        self.entry(reply, self.tree.make_directory(parent, name, mode));
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.asked(Kind::Unlink);
        empty(reply, self.tree.remove(parent, name, AtFlags::empty()));
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.asked(Kind::Rmdir);
        empty(reply, self.tree.remove(parent, name, AtFlags::REMOVEDIR));
    }

    fn symlink(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        target: &Path,
        reply: ReplyEntry,
    ) {
        self.asked(Kind::Symlink);
        let made = self.tree.make_symbolic_link(parent, name, target);
        self.entry(reply, made);
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        self.asked(Kind::Rename);
        let flags = rustix::fs::RenameFlags::from_bits_retain(flags.bits());
        let (from, to) = ((parent, name), (new_parent, new_name));
        empty(reply, self.tree.rename(from, to, flags));
    }

    fn link(&self, _: &Request, number: INodeNo, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        self.asked(Kind::Link);
        self.entry(reply, self.tree.link(number, parent, name));
    }

    fn open(&self, _: &Request, number: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        self.asked(Kind::Open);
        self.opened(reply, number, opened_with(open_flags(flags.0)));
    }

    fn create(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        self.asked(Kind::Create);
        match self.tree.create(parent, name, mode, open_flags(flags)) {
            Ok((made, file)) => {
                let timeout = self.shorter_timeout(&made);
                let handle = self.open.add(file);
                reply.created(&timeout, &made, ONLY, handle, FopenFlags::empty());
            }
            Err(errno) => reply.error(error(errno)),
        }
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        self.asked(Kind::Read);
        let mut bytes = vec![0; size as usize];
        match self.with_open(handle, |file| read_all(file, &mut bytes, offset)) {
            Ok(length) => reply.data(&bytes[..length]),
            Err(errno) => reply.error(error(errno)),
        }
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        self.asked(Kind::Write);
        let done = self.with_open(handle, |file| rustix::io::pwrite(file, data, offset));
        written(reply, done);
    }

    /// Does nothing: written data has already reached the directory below.
    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        self.asked(Kind::Flush);
        reply.ok();
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        self.asked(Kind::Release);
        self.open.remove(handle);
        reply.ok();
    }

    fn fsync(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        data_only: bool,
        reply: ReplyEmpty,
    ) {
        self.asked(Kind::Fsync);
        empty(reply, self.with_open(handle, |file| sync(file, data_only)));
    }

    fn opendir(&self, _: &Request, number: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        self.asked(Kind::Opendir);
        self.opened(reply, number, OFlags::RDONLY | OFlags::DIRECTORY);
    }

    fn readdir(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        self.asked(Kind::Readdir);
        let show = |entry: &Entry<'_>| {
            let number = self.tree.nodes.number(entry.inode);
            reply.add(number, entry.next, kind(entry.kind), entry.name)
        };
        let listed = self.open.get(handle);
        match listed.and_then(|open| directory::list(&open, offset, show)) {
            Ok(()) => reply.ok(),
            Err(errno) => reply.error(error(errno)),
        }
    }

    fn readdirplus(
        &self,
        _: &Request,
        number: INodeNo,
        handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectoryPlus,
    ) {
        self.asked(Kind::Readdirplus);
        let show = |entry: &Entry<'_>| {
            // The kernel takes no note of what the dots lead to.
            let found = match entry.is_dots() {
                true => self.found(number, None),
                false => self.tree.look_up(number, entry.name),
            };
            // It is gone, or something is mounted there.
            let Ok(it) = found else { return false };
            let timeout = self.shorter_timeout(&it);
            let full = reply.add(it.ino, entry.next, entry.name, &timeout, &it, ONLY);
            if full && !entry.is_dots() {
                self.tree.nodes.forgotten(it.ino, 1);
            }
            full
        };
        let listed = self.open.get(handle);
        match listed.and_then(|open| directory::list(&open, offset, show)) {
            Ok(()) => reply.ok(),
            Err(errno) => reply.error(error(errno)),
        }
    }

    fn releasedir(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        reply: ReplyEmpty,
    ) {
        self.asked(Kind::Releasedir);
        self.open.remove(handle);
        reply.ok();
    }

    fn fsyncdir(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        data_only: bool,
        reply: ReplyEmpty,
    ) {
        self.asked(Kind::Fsyncdir);
        empty(reply, self.with_open(handle, |file| sync(file, data_only)));
    }

    fn statfs(&self, _: &Request, number: INodeNo, reply: ReplyStatfs) {
        self.asked(Kind::Statfs);
        let node = self.tree.nodes.get(number);
        match node.and_then(|node| rustix::fs::fstatvfs(node.file())) {
            Ok(it) => reply.statfs(
                it.f_blocks,
                it.f_bfree,
                it.f_bavail,
                it.f_files,
                it.f_ffree,
                u32::try_from(it.f_bsize).unwrap_or(u32::MAX),
                u32::try_from(it.f_namemax).unwrap_or(u32::MAX),
                u32::try_from(it.f_frsize).unwrap_or(u32::MAX),
            ),
            Err(errno) => reply.error(error(errno)),
        }
    }

    fn setxattr(
        &self,
        _: &Request,
        number: INodeNo,
        name: &OsStr,
        value: &[u8],
        flags: i32,
        _: u32,
        reply: ReplyEmpty,
    ) {
        self.asked(Kind::Setxattr);
        let flags = XattrFlags::from_bits_retain(flags.cast_unsigned());
        let node = self.tree.nodes.get(number);
        let set = node.and_then(|it| rustix::fs::setxattr(it.path(), name, value, flags));
        empty(reply, set);
    }

    fn getxattr(&self, _: &Request, number: INodeNo, name: &OsStr, size: u32, reply: ReplyXattr) {
        self.asked(Kind::Getxattr);
        match self.tree.nodes.get(number) {
            Ok(node) => value(
                reply,
                size,
                || rustix::fs::getxattr_query(node.path(), name),
                |room| rustix::fs::getxattr(node.path(), name, room),
            ),
            Err(errno) => reply.error(error(errno)),
        }
    }

    fn listxattr(&self, _: &Request, number: INodeNo, size: u32, reply: ReplyXattr) {
        self.asked(Kind::Listxattr);
        match self.tree.nodes.get(number) {
            Ok(node) => value(
                reply,
                size,
                || rustix::fs::listxattr_query(node.path()),
                |room| rustix::fs::listxattr(node.path(), room),
            ),
            Err(errno) => reply.error(error(errno)),
        }
    }

    fn removexattr(&self, _: &Request, number: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.asked(Kind::Removexattr);
        let node = self.tree.nodes.get(number);
        empty(
            reply,
            node.and_then(|it| rustix::fs::removexattr(it.path(), name)),
        );
    }

    fn access(&self, _: &Request, number: INodeNo, mask: AccessFlags, reply: ReplyEmpty) {
        self.asked(Kind::Access);
        let mask = Access::from_bits_retain(mask.bits().cast_unsigned());
        let node = self.tree.nodes.get(number);
        let may = |path| rustix::fs::accessat(CWD, path, mask, AtFlags::EACCESS);
        empty(reply, node.and_then(|it| may(it.path())));
    }

    /// flock(2) alone comes here; the others the kernel keeps itself.
    fn setlk(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        _: LockOwner,
        _: u64,
        _: u64,
        kind: i32,
        _: u32,
        waits: bool,
        reply: ReplyEmpty,
    ) {
        self.asked(Kind::Setlk);
        let open = match self.open.get(handle) {
            Ok(open) => open,
            Err(errno) => return reply.error(error(errno)),
        };
        match lock(&open.file, kind) {
            // The holder of the lock needs an answer, too: this thread must not wait.
            Err(Errno::WOULDBLOCK) if waits => wait_for_lock(open, kind, reply),
            done => empty(reply, done),
        }
    }

    fn fallocate(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        self.asked(Kind::Fallocate);
        let mode = FallocateFlags::from_bits_retain(mode.cast_unsigned());
        let done = self.with_open(handle, |file| {
            rustix::fs::fallocate(file, mode, offset, length)
        });
        empty(reply, done);
    }

    fn lseek(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: i64,
        whence: i32,
        reply: ReplyLseek,
    ) {
        self.asked(Kind::Lseek);
        // All else the kernel does itself (include/uapi/linux/fs.h).
        let place = u64::try_from(offset).map_err(|_| Errno::NXIO);
        let to = place.and_then(|place| match whence {
            3 => Ok(SeekFrom::Data(place)),
            4 => Ok(SeekFrom::Hole(place)),
            _ => Err(Errno::INVAL),
        });
        match to.and_then(|to| self.with_open(handle, |file| rustix::fs::seek(file, to))) {
            Ok(place) => reply.offset(i64::try_from(place).unwrap_or(i64::MAX)),
            Err(errno) => reply.error(error(errno)),
        }
    }

    fn copy_file_range(
        &self,
        _: &Request,
        _: INodeNo,
        from: FileHandle,
        mut from_offset: u64,
        _: INodeNo,
        to: FileHandle,
        mut to_offset: u64,
        length: u64,
        _: CopyFileRangeFlags,
        reply: ReplyWrite,
    ) {
        self.asked(Kind::CopyFileRange);
        let length = usize::try_from(length.min(1 << 30)).unwrap_or(usize::MAX);
        let done = self.open.get(to).and_then(|to| {
            self.with_open(from, |from| {
                let (from_offset, to_offset) = (Some(&mut from_offset), Some(&mut to_offset));
                rustix::fs::copy_file_range(from, from_offset, &to.file, to_offset, length)
            })
        });
        written(reply, done);
    }
}

/// Reads until the buffer is full or the file ends: the kernel takes a short read for the end.
fn read_all(file: &OwnedFd, bytes: &mut [u8], offset: u64) -> Result<usize> {
    let mut length = 0;
    while length < bytes.len() {
        match rustix::io::pread(file, &mut bytes[length..], offset + length as u64)? {
            0 => break,
            read => length += read,
        }
    }
    Ok(length)
}

fn sync(file: &OwnedFd, data_only: bool) -> Result<()> {
    match data_only {
        true => rustix::fs::fdatasync(file),
        false => rustix::fs::fsync(file),
    }
}

/// Locks an open file, or unlocks it, without waiting (kinds of include/uapi/asm-generic/fcntl.h).
fn lock(file: &OwnedFd, kind: i32) -> Result<()> {
    rustix::fs::flock(
        file,
        match kind {
            0 => FlockOperation::NonBlockingLockShared,
            1 => FlockOperation::NonBlockingLockExclusive,
            _ => FlockOperation::Unlock,
        },
    )
}

/// Locks an open file as soon as that is possible.
fn wait_for_lock(open: Arc<Open>, kind: i32, reply: ReplyEmpty) {
    let wanted = match kind {
        0 => FlockOperation::LockShared,
        _ => FlockOperation::LockExclusive,
    };
    // If there can be no thread, the reply is dropped, which answers with an error.
    let _ = thread::Builder::new()
        .name("headrace-mirror-lock".to_owned())
        .spawn(move || empty(reply, rustix::fs::flock(&open.file, wanted)));
}
