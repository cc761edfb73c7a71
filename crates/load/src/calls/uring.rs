//! Calls through io_uring: each is put into the ring, and its completion awaited. Its latency can
//! then be compared with that of the system call.
//!
//! Calls without an io_uring operation are made as system calls: locks, directories' lists,
//! statvfs, access, chmod, chdir, readlink, mappings and the C library's. ftruncate came late
//! (Linux
//! 6.9), and is one before.
#![expect(
    unsafe_code,
    reason = "the kernel works on the memory that an entry names until it is completed"
)]

use std::ffi::CStr;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::rc::Rc;
use std::sync::Arc;

use io_uring::types::{self, Fd};
use io_uring::{IoUring, Probe, opcode, squeue};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::posix::DIRECTORY_MODE;
use super::{Calls, Handle, Mapping, Posix, Range, Result, Stream};
use crate::Error;

/// Entries of the ring: one is used at a time.
const ENTRIES: u32 = 2;

/// io_uring operations that the kernel must support (Linux 5.19).
const NEEDED: [u8; 13] = [
    opcode::OpenAt::CODE,
    opcode::Close::CODE,
    opcode::Read::CODE,
    opcode::Write::CODE,
    opcode::Fsync::CODE,
    opcode::Statx::CODE,
    opcode::FGetXattr::CODE,
    opcode::FSetXattr::CODE,
    opcode::MkDirAt::CODE,
    opcode::UnlinkAt::CODE,
    opcode::RenameAt::CODE,
    opcode::SymlinkAt::CODE,
    opcode::LinkAt::CODE,
];

/// Calls through a ring of the process's own.
pub struct Uring {
    ring: IoUring,
    root: Arc<OwnedFd>,
    /// Makes the calls that io_uring has not.
    rest: Posix,
    truncates: bool,
    /// The error after which the ring is unusable: an entry that the kernel has not taken names
    /// memory that is freed.
    broken: Option<Errno>,
    attributes: libc::statx,
    value: Vec<u8>,
}

impl Uring {
    /// Calls with paths below a directory.
    ///
    /// # Errors
    /// If the kernel has no io_uring, or does not let this program use it.
    pub fn new(root: &Arc<OwnedFd>) -> std::result::Result<Uring, Error> {
        let ring = IoUring::new(ENTRIES).map_err(|error| missing(&error.to_string()))?;
        let mut probe = Probe::new();
        let probed = ring.submitter().register_probe(&mut probe);
        probed.map_err(|error| missing(&error.to_string()))?;
        if NEEDED.iter().any(|code| !probe.is_supported(*code)) {
            return Err(missing("the kernel is older than Linux 5.19"));
        }
        Ok(Uring {
            ring,
            root: Arc::clone(root),
            rest: Posix::new(Arc::clone(root)),
            truncates: probe.is_supported(opcode::Ftruncate::CODE),
            broken: None,
            // SAFETY: a struct of integers, of which all may be 0.
            attributes: unsafe { std::mem::zeroed() },
            value: vec![0; 4096],
        })
    }

    /// The directory that paths start at.
    fn root(&self) -> Fd {
        Fd(self.root.as_raw_fd())
    }

    /// Puts an entry into the ring and waits until it is completed.
    ///
    /// Submits one entry and waits for it. Memory that the entry points to must stay valid until
    /// this returns.
    fn completed(&mut self, entry: &squeue::Entry) -> Result<i32> {
        if let Some(errno) = self.broken {
            return Err(errno);
        }
        // SAFETY: all callers borrow or own the memory of the entry until this returns. It does not
        // return before the kernel has completed the entry.
        let pushed = unsafe { self.ring.submission().push(entry) };
        pushed.map_err(|_| Errno::BUSY)?;
        loop {
            let waited = self.ring.submit_and_wait(1);
            if let Some(done) = self.ring.completion().next() {
                let result = done.result();
                return match result < 0 {
                    true => Err(Errno::from_raw_os_error(-result)),
                    false => Ok(result),
                };
            }
            let taken = self.ring.submission().is_empty();
            match waited.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO)) {
                Err(errno) if errno != Errno::INTR && !taken => {
                    self.broken = Some(errno);
                    return Err(errno);
                }
                _ => {}
            }
        }
    }

    fn done(&mut self, entry: &squeue::Entry) -> Result<()> {
        self.completed(entry).map(drop)
    }

    fn remove(&mut self, path: &CStr, flags: i32) -> Result<()> {
        let entry = opcode::UnlinkAt::new(self.root(), path.as_ptr());
        self.done(&entry.flags(flags).build())
    }

    fn look_up(&mut self, at: Fd, path: &CStr, flags: i32) -> Result<()> {
        let attributes = (&raw mut self.attributes).cast();
        let entry = opcode::Statx::new(at, path.as_ptr(), attributes);
        self.done(&entry.flags(flags).mask(libc::STATX_BASIC_STATS).build())
    }
}

fn missing(why: &str) -> Error {
    Error::Unsuitable(format!(
        "calls \"io-uring\": {why}: the kernel or a sandbox does not permit io_uring (see /proc/sys/kernel/io_uring_disabled); take calls \"posix\""
    ))
}

fn descriptor(file: &Handle) -> Fd {
    Fd(file.as_raw_fd())
}

/// The largest number of bytes of an entry; the caller handles the rest.
fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

impl Calls for Uring {
    fn open(&mut self, path: &CStr, flags: OFlags, mode: Mode) -> Result<Handle> {
        let flags = (flags | OFlags::NOFOLLOW | OFlags::CLOEXEC).bits();
        let entry = opcode::OpenAt::new(self.root(), path.as_ptr());
        let entry = entry.flags(flags as i32).mode(mode.bits()).build();
        let opened = self.completed(&entry)?;
        // SAFETY: the kernel has just returned the descriptor, and it has no other owner.
        Ok(Rc::new(unsafe { OwnedFd::from_raw_fd(opened) }))
    }

    fn close(&mut self, file: Handle) -> Result<()> {
        match Rc::into_inner(file) {
            Some(file) => self.done(&opcode::Close::new(Fd(file.into_raw_fd())).build()),
            None => Ok(()),
        }
    }

    fn read(&mut self, file: &Handle, buffer: &mut [u8], offset: u64) -> Result<usize> {
        let (place, size) = (buffer.as_mut_ptr(), length(buffer.len()));
        let entry = opcode::Read::new(descriptor(file), place, size);
        let read = self.completed(&entry.offset(offset).build())?;
        usize::try_from(read).map_err(|_| Errno::IO)
    }

    fn write(&mut self, file: &Handle, buffer: &[u8], offset: u64) -> Result<usize> {
        let (place, size) = (buffer.as_ptr(), length(buffer.len()));
        let entry = opcode::Write::new(descriptor(file), place, size);
        let written = self.completed(&entry.offset(offset).build())?;
        usize::try_from(written).map_err(|_| Errno::IO)
    }

    fn sync(&mut self, file: &Handle) -> Result<()> {
        self.done(&opcode::Fsync::new(descriptor(file)).build())
    }

    fn sync_all(&mut self, file: &Handle) -> Result<()> {
        self.rest.sync_all(file)
    }

    fn sync_data(&mut self, file: &Handle) -> Result<()> {
        let data = types::FsyncFlags::DATASYNC;
        self.done(&opcode::Fsync::new(descriptor(file)).flags(data).build())
    }

    fn truncate(&mut self, file: &Handle, length: u64) -> Result<()> {
        match self.truncates {
            true => self.done(&opcode::Ftruncate::new(descriptor(file), length).build()),
            false => self.rest.truncate(file, length),
        }
    }

    fn length(&mut self, file: &Handle) -> Result<u64> {
        self.rest.length(file)
    }

    fn stream(&mut self, file: &Handle, buffer: usize) -> Result<Stream> {
        self.rest.stream(file, buffer)
    }

    fn map(&mut self, file: &Handle, offset: u64, size: usize) -> Result<Mapping> {
        self.rest.map(file, offset, size)
    }

    fn stat(&mut self, path: &CStr) -> Result<()> {
        self.look_up(self.root(), path, 0)
    }

    fn stat_open(&mut self, file: &Handle) -> Result<()> {
        self.look_up(descriptor(file), c"", libc::AT_EMPTY_PATH)
    }

    fn state(&mut self, path: &CStr) -> Result<()> {
        self.rest.state(path)
    }

    fn state_open(&mut self, file: &Handle) -> Result<()> {
        self.rest.state_open(file)
    }

    fn access(&mut self, path: &CStr) -> Result<()> {
        self.rest.access(path)
    }

    fn attribute(&mut self, file: &Handle, name: &CStr) -> Result<()> {
        let place = self.value.as_mut_ptr().cast();
        let size = length(self.value.len());
        let entry = opcode::FGetXattr::new(descriptor(file), name.as_ptr(), place, size);
        self.done(&entry.build())
    }

    fn set_attribute(&mut self, file: &Handle, name: &CStr, value: &[u8]) -> Result<()> {
        let (place, size) = (value.as_ptr().cast(), length(value.len()));
        let entry = opcode::FSetXattr::new(descriptor(file), name.as_ptr(), place, size);
        self.done(&entry.build())
    }

    fn change_mode(&mut self, path: &CStr, mode: Mode) -> Result<()> {
        self.rest.change_mode(path, mode)
    }

    fn enter_directory(&mut self, path: &CStr) -> Result<()> {
        self.rest.enter_directory(path)
    }

    fn leave_directory(&mut self) -> Result<()> {
        self.rest.leave_directory()
    }

    fn make_directory(&mut self, path: &CStr) -> Result<()> {
        let entry = opcode::MkDirAt::new(self.root(), path.as_ptr());
        self.done(&entry.mode(DIRECTORY_MODE.bits()).build())
    }

    fn remove_directory(&mut self, path: &CStr) -> Result<()> {
        self.remove(path, libc::AT_REMOVEDIR)
    }

    fn list(&mut self, directory: &Handle) -> Result<usize> {
        self.rest.list(directory)
    }

    fn rewind(&mut self, directory: &Handle) -> Result<()> {
        self.rest.rewind(directory)
    }

    fn symbolic_link(&mut self, to: &CStr, path: &CStr) -> Result<()> {
        let entry = opcode::SymlinkAt::new(self.root(), to.as_ptr(), path.as_ptr());
        self.done(&entry.build())
    }

    fn read_link(&mut self, path: &CStr) -> Result<()> {
        self.rest.read_link(path)
    }

    fn link(&mut self, path: &CStr, new: &CStr) -> Result<()> {
        let root = self.root();
        self.done(&opcode::LinkAt::new(root, path.as_ptr(), root, new.as_ptr()).build())
    }

    fn unlink(&mut self, path: &CStr) -> Result<()> {
        self.remove(path, 0)
    }

    fn rename(&mut self, path: &CStr, new: &CStr) -> Result<()> {
        let root = self.root();
        self.done(&opcode::RenameAt::new(root, path.as_ptr(), root, new.as_ptr()).build())
    }

    fn lock(&mut self, file: &Handle, range: Range) -> Result<()> {
        self.rest.lock(file, range)
    }

    fn unlock(&mut self, file: &Handle, range: Range) -> Result<()> {
        self.rest.unlock(file, range)
    }
}
