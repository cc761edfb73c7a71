//! The system calls that operations make, by whatever way they are made.
//!
//! To add a way, write a file with a type that implements [`Calls`] and name it in
//! [`Backend`].

mod backend;
mod mapping;
mod null;
mod posix;
mod stalling;
mod stream;
mod uring;

pub use backend::Backend;
pub use mapping::Mapping;
pub use null::Null;
pub use posix::Posix;
pub use stalling::{STALL, Stalling, Stalls};
pub use stream::Stream;
pub use uring::Uring;

use std::ffi::CStr;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// An open file.
pub type Handle = Rc<OwnedFd>;

/// Result of a call.
pub type Result<T> = std::result::Result<T, Errno>;

/// A range of bytes that is locked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// The first byte.
    pub start: u64,
    /// Bytes.
    pub length: u64,
}

/// Behind all bytes of files: a lock there conflicts with no lock of their bytes.
pub const END_OF_FILES: u64 = 1 << 60;

/// The calls; paths are relative to the benchmark's own directory, but for
/// [`state`](Calls::state). Each process has one of its own.
pub trait Calls {
    /// Returns true if they reach a file system.
    fn are_real(&self) -> bool {
        true
    }
    /// open(2).
    fn open(&mut self, path: &CStr, flags: OFlags, mode: Mode) -> Result<Handle>;
    /// close(2), if no other reference to the handle exists.
    fn close(&mut self, file: Handle) -> Result<()>;
    /// pread(2).
    fn read(&mut self, file: &Handle, buffer: &mut [u8], offset: u64) -> Result<usize>;
    /// pwrite(2).
    fn write(&mut self, file: &Handle, buffer: &[u8], offset: u64) -> Result<usize>;
    /// fsync(2).
    fn sync(&mut self, file: &Handle) -> Result<()>;
    /// syncfs(2).
    fn sync_all(&mut self, file: &Handle) -> Result<()>;
    /// fdatasync(2).
    fn sync_data(&mut self, file: &Handle) -> Result<()>;
    /// ftruncate(2).
    fn truncate(&mut self, file: &Handle, length: u64) -> Result<()>;
    /// A file's length, by fstat(2).
    fn length(&mut self, file: &Handle) -> Result<u64>;
    /// Makes the C library use an open descriptor: fdopen(3), setvbuf(3).
    fn stream(&mut self, file: &Handle, buffer: usize) -> Result<Stream>;
    /// mmap(2) of a part of a file, to be read.
    fn map(&mut self, file: &Handle, offset: u64, size: usize) -> Result<Mapping>;
    /// stat(2), of what a symbolic link leads to.
    fn stat(&mut self, path: &CStr) -> Result<()>;
    /// fstat(2).
    fn stat_open(&mut self, file: &Handle) -> Result<()>;
    /// statvfs(3), by a path from the file system's root on.
    fn state(&mut self, path: &CStr) -> Result<()>;
    /// fstatvfs(3).
    fn state_open(&mut self, file: &Handle) -> Result<()>;
    /// access(2), for reading.
    fn access(&mut self, path: &CStr) -> Result<()>;
    /// fgetxattr(2).
    fn attribute(&mut self, file: &Handle, name: &CStr) -> Result<()>;
    /// fsetxattr(2).
    fn set_attribute(&mut self, file: &Handle, name: &CStr, value: &[u8]) -> Result<()>;
    /// chmod(2).
    fn change_mode(&mut self, path: &CStr, mode: Mode) -> Result<()>;
    /// chdir(2).
    fn enter_directory(&mut self, path: &CStr) -> Result<()>;
    /// Back to the benchmark's own directory, as this thread's alone.
    fn leave_directory(&mut self) -> Result<()>;
    /// mkdir(2).
    fn make_directory(&mut self, path: &CStr) -> Result<()>;
    /// rmdir(2).
    fn remove_directory(&mut self, path: &CStr) -> Result<()>;
    /// getdents(2) with the buffer of readdir(3): how many names there were.
    fn list(&mut self, directory: &Handle) -> Result<usize>;
    /// rewinddir(3).
    fn rewind(&mut self, directory: &Handle) -> Result<()>;
    /// symlink(2).
    fn symbolic_link(&mut self, to: &CStr, path: &CStr) -> Result<()>;
    /// readlink(2).
    fn read_link(&mut self, path: &CStr) -> Result<()>;
    /// link(2).
    fn link(&mut self, path: &CStr, new: &CStr) -> Result<()>;
    /// unlink(2).
    fn unlink(&mut self, path: &CStr) -> Result<()>;
    /// rename(2).
    fn rename(&mut self, path: &CStr, new: &CStr) -> Result<()>;
    /// fcntl(2) with F_OFD_SETLKW and F_WRLCK.
    fn lock(&mut self, file: &Handle, range: Range) -> Result<()>;
    /// fcntl(2) with F_OFD_SETLK and F_UNLCK.
    fn unlock(&mut self, file: &Handle, range: Range) -> Result<()>;
}

#[cfg(test)]
mod tests;
