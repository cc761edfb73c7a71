//! cachestat(2).
#![expect(
    unsafe_code,
    reason = "neither libraries nor the C library have the call yet"
)]

use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::io::Errno;

/// Its number on all architectures that Rust has (Linux 6.5, include/uapi/asm-generic/unistd.h).
const CACHESTAT: libc::c_long = 451;

/// `struct cachestat_range` of include/uapi/linux/mman.h.
#[repr(C)]
struct Range {
    offset: u64,
    length: u64,
}

/// `struct cachestat`: pages of the range.
#[repr(C)]
#[derive(Default)]
struct Cachestat {
    cached: u64,
    dirty: u64,
    written_back: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// Returns the number of cached pages in a file's range, including pages that are being read.
///
/// # Errors
/// ENOSYS before Linux 6.5; EPERM for files of others that cannot be written.
pub fn cached_pages(file: BorrowedFd<'_>, offset: u64, length: u64) -> Result<u64, Errno> {
    // A length of 0 stands for the rest of the file.
    if length == 0 {
        return Ok(0);
    }
    let range = Range { offset, length };
    let mut found = Cachestat::default();
    // SAFETY: the kernel reads the range and writes the result, both as it declares them; they
    // outlive the call.
    let told = unsafe {
        libc::syscall(
            CACHESTAT,
            file.as_raw_fd(),
            &raw const range,
            &raw mut found,
            0_u32,
        )
    };
    match told {
        0 => Ok(found.cached),
        _ => Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)),
    }
}
