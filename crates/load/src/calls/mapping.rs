//! A part of a file in memory.
#![expect(
    unsafe_code,
    reason = "memory that the kernel gives and takes is not the compiler's to look after"
)]

use std::ffi::c_void;
use std::os::fd::AsFd;
use std::ptr::NonNull;

use rustix::mm::{MapFlags, ProtFlags};

use super::Result;

/// The unit of mappings: the largest page of usual machines, a multiple of the smaller ones.
const PAGE: u64 = 65_536;

/// A part of a file that is mapped, or of none, by calls that do nothing.
///
/// A file that somebody else cuts short, or a device that fails, while it is read, kills the
/// program with SIGBUS, as it does every program that reads so.
#[derive(Debug, Default)]
pub struct Mapping {
    memory: Option<Memory>,
}

#[derive(Debug)]
struct Memory {
    address: NonNull<c_void>,
    /// The file's first byte that is mapped, and how many are.
    offset: u64,
    length: usize,
}

impl Mapping {
    /// Maps a part of a file, from the beginning of a page.
    ///
    /// # Errors
    /// Of mmap(2).
    pub fn new(file: impl AsFd, offset: u64, size: usize) -> Result<Mapping> {
        let first = offset / PAGE * PAGE;
        let length = size.saturating_add((offset - first) as usize).max(1);
        // SAFETY: the kernel chooses a place where nothing is, and nobody takes references
        // to what lies in it: it is only copied from, by pointer.
        let address = unsafe {
            let (access, kind) = (ProtFlags::READ, MapFlags::SHARED);
            rustix::mm::mmap(std::ptr::null_mut(), length, access, kind, file, first)?
        };
        let memory = NonNull::new(address).map(|address| Memory {
            address,
            offset: first,
            length,
        });
        Ok(Mapping { memory })
    }

    /// Copies what a file has from a place on, as far as it is mapped: how many bytes.
    pub fn load(&self, offset: u64, buffer: &mut [u8]) -> usize {
        let Some(memory) = &self.memory else {
            return buffer.len();
        };
        let Some(skipped) = offset.checked_sub(memory.offset) else {
            return 0;
        };
        let skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
        let size = memory.length.saturating_sub(skipped).min(buffer.len());
        if size > 0 {
            // SAFETY: `skipped + size` bytes are mapped to be read, the buffer is as long,
            // and as the kernel found a place for the mapping, they do not overlap.
            unsafe {
                let from = memory.address.as_ptr().cast::<u8>().add(skipped);
                std::ptr::copy_nonoverlapping(from, buffer.as_mut_ptr(), size);
            }
        }
        size
    }

    /// munmap(2).
    ///
    /// # Errors
    /// Of the call.
    pub fn unmap(mut self) -> Result<()> {
        self.memory.take().map_or(Ok(()), Memory::unmap)
    }
}

impl Memory {
    fn unmap(self) -> Result<()> {
        // SAFETY: it was mapped so, is unmapped once, as it is consumed, and nobody has a
        // pointer into it.
        unsafe { rustix::mm::munmap(self.address.as_ptr(), self.length) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // Nobody can be told, and nothing is lost: it was only read.
        let _ = self.memory.take().map(Memory::unmap);
    }
}
