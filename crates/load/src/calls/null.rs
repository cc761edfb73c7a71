//! No calls at all: what remains is what the engine itself costs.

use std::ffi::CStr;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};

use super::{Calls, Handle, Mapping, Range, Result, Stream};

/// Calls that do nothing and succeed. Nothing is read, written or changed.
#[derive(Debug)]
pub struct Null {
    file: Handle,
}

impl Null {
    /// Calls that do nothing; any open file stands for all.
    ///
    /// # Errors
    /// If the file's descriptor cannot be doubled.
    pub fn new(root: &Arc<OwnedFd>) -> Result<Null> {
        let file = rustix::io::fcntl_dupfd_cloexec(root, 0)?;
        Ok(Null {
            file: Rc::new(file),
        })
    }
}

impl Calls for Null {
    fn open(&mut self, _: &CStr, _: OFlags, _: Mode) -> Result<Handle> {
        Ok(Rc::clone(&self.file))
    }

    fn close(&mut self, _: Handle) -> Result<()> {
        Ok(())
    }

    fn read(&mut self, _: &Handle, buffer: &mut [u8], _: u64) -> Result<usize> {
        Ok(buffer.len())
    }

    fn write(&mut self, _: &Handle, buffer: &[u8], _: u64) -> Result<usize> {
        Ok(buffer.len())
    }

    fn sync(&mut self, _: &Handle) -> Result<()> {
        Ok(())
    }

    fn are_real(&self) -> bool {
        false
    }

    fn sync_all(&mut self, _: &Handle) -> Result<()> {
        Ok(())
    }

    fn sync_data(&mut self, _: &Handle) -> Result<()> {
        Ok(())
    }

    fn truncate(&mut self, _: &Handle, _: u64) -> Result<()> {
        Ok(())
    }

    fn length(&mut self, _: &Handle) -> Result<u64> {
        Ok(u64::MAX)
    }

    fn stream(&mut self, _: &Handle, _: usize) -> Result<Stream> {
        Ok(Stream::default())
    }

    fn map(&mut self, _: &Handle, _: u64, _: usize) -> Result<Mapping> {
        Ok(Mapping::default())
    }

    fn stat(&mut self, _: &CStr) -> Result<()> {
        Ok(())
    }

    fn stat_open(&mut self, _: &Handle) -> Result<()> {
        Ok(())
    }

    fn state(&mut self, _: &CStr) -> Result<()> {
        Ok(())
    }

    fn state_open(&mut self, _: &Handle) -> Result<()> {
        Ok(())
    }

    fn access(&mut self, _: &CStr) -> Result<()> {
        Ok(())
    }

    fn attribute(&mut self, _: &Handle, _: &CStr) -> Result<()> {
        Ok(())
    }

    fn set_attribute(&mut self, _: &Handle, _: &CStr, _: &[u8]) -> Result<()> {
        Ok(())
    }

    fn change_mode(&mut self, _: &CStr, _: Mode) -> Result<()> {
        Ok(())
    }

    fn enter_directory(&mut self, _: &CStr) -> Result<()> {
        Ok(())
    }

    fn leave_directory(&mut self) -> Result<()> {
        Ok(())
    }

    fn make_directory(&mut self, _: &CStr) -> Result<()> {
        Ok(())
    }

    fn remove_directory(&mut self, _: &CStr) -> Result<()> {
        Ok(())
    }

    fn list(&mut self, _: &Handle) -> Result<usize> {
        Ok(0)
    }

    fn rewind(&mut self, _: &Handle) -> Result<()> {
        Ok(())
    }

    fn symbolic_link(&mut self, _: &CStr, _: &CStr) -> Result<()> {
        Ok(())
    }

    fn read_link(&mut self, _: &CStr) -> Result<()> {
        Ok(())
    }

    fn link(&mut self, _: &CStr, _: &CStr) -> Result<()> {
        Ok(())
    }

    fn unlink(&mut self, _: &CStr) -> Result<()> {
        Ok(())
    }

    fn rename(&mut self, _: &CStr, _: &CStr) -> Result<()> {
        Ok(())
    }

    fn lock(&mut self, _: &Handle, _: Range) -> Result<()> {
        Ok(())
    }

    fn unlock(&mut self, _: &Handle, _: Range) -> Result<()> {
        Ok(())
    }
}
