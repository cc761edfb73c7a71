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
/// If another process truncates the file, or the device fails, a read kills the program with
/// SIGBUS, as with every mapping.
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
    /// The error of mmap(2).
    pub fn new(file: impl AsFd, offset: u64, size: usize) -> Result<Mapping> {
        let first = offset / PAGE * PAGE;
        let length = size.saturating_add((offset - first) as usize).max(1);
        // SAFETY: the kernel chooses a free address, and the program has no reference into the
        // mapping: it only copies from it by pointer.
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
            // SAFETY: `skipped + size` bytes are mapped for reading, and the buffer is as long. The
            // kernel chose an unused address for the mapping, so they do not overlap.
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
    /// The error of the call.
    pub fn unmap(mut self) -> Result<()> {
        self.memory.take().map_or(Ok(()), Memory::unmap)
    }
}

impl Memory {
    fn unmap(self) -> Result<()> {
        // SAFETY: the address and length are those of the mapping, which is unmapped once, as
        // `self` is consumed, and has no pointers into it.
        unsafe { rustix::mm::munmap(self.address.as_ptr(), self.length) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // A drop cannot return an error, and no data is lost: the mapping was only read.
        let _ = self.memory.take().map(Memory::unmap);
    }
}
