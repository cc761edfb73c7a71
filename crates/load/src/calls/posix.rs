//! The calls as they are.

use std::ffi::CStr;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::Arc;

use rustix::fs::{AtFlags, Mode, OFlags};

use super::{Calls, Handle, Result};

/// System calls, made one by one and waited for.
#[derive(Debug)]
pub struct Posix {
    root: Arc<OwnedFd>,
}

impl Posix {
    /// Calls with paths below a directory.
    pub fn new(root: Arc<OwnedFd>) -> Posix {
        Posix { root }
    }
}

impl Calls for Posix {
    fn open(&mut self, path: &CStr, flags: OFlags, mode: Mode) -> Result<Handle> {
        let flags = flags | OFlags::CLOEXEC;
        rustix::fs::openat(&self.root, path, flags, mode).map(Rc::new)
    }

    fn close(&mut self, file: Handle) -> Result<()> {
        drop(file);
        Ok(())
    }

    fn read(&mut self, file: &Handle, buffer: &mut [u8], offset: u64) -> Result<usize> {
        rustix::io::pread(file, buffer, offset)
    }

    fn write(&mut self, file: &Handle, buffer: &[u8], offset: u64) -> Result<usize> {
        rustix::io::pwrite(file, buffer, offset)
    }

    fn sync(&mut self, file: &Handle) -> Result<()> {
        rustix::fs::fsync(file)
    }

    fn stat(&mut self, path: &CStr) -> Result<()> {
        rustix::fs::statat(&self.root, path, AtFlags::empty()).map(drop)
    }

    fn unlink(&mut self, path: &CStr) -> Result<()> {
        rustix::fs::unlinkat(&self.root, path, AtFlags::empty())
    }
}
