//! The system calls that operations make, by whatever way they are made.

mod null;
mod posix;

pub use null::Null;
pub use posix::Posix;

use std::ffi::CStr;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// An open file.
pub type Handle = Rc<OwnedFd>;

/// What a call gives.
pub type Result<T> = std::result::Result<T, Errno>;

/// The calls; paths are relative to the benchmark's own directory. Each process has one of
/// its own.
pub trait Calls {
    /// open(2).
    fn open(&mut self, path: &CStr, flags: OFlags, mode: Mode) -> Result<Handle>;
    /// close(2); only a handle that nobody else holds is really closed.
    fn close(&mut self, file: Handle) -> Result<()>;
    /// pread(2).
    fn read(&mut self, file: &Handle, buffer: &mut [u8], offset: u64) -> Result<usize>;
    /// pwrite(2).
    fn write(&mut self, file: &Handle, buffer: &[u8], offset: u64) -> Result<usize>;
    /// fsync(2).
    fn sync(&mut self, file: &Handle) -> Result<()>;
    /// stat(2), of what a symbolic link leads to.
    fn stat(&mut self, path: &CStr) -> Result<()>;
    /// unlink(2).
    fn unlink(&mut self, path: &CStr) -> Result<()>;
}
