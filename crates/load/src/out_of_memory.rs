//! Exits with one line and a failure status when memory runs out, instead of aborting.

#![expect(
    unsafe_code,
    reason = "an allocator takes and gives raw pointers: each call is passed on to the \
              system's allocator as it came, under the same contract"
)]

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator, for whose failure the process ends with exit status 1. A panic
/// may not leave an allocator, and Rust's own answer is to abort.
pub struct ExitingAllocator;

const MESSAGE: &[u8] = b"out of memory: the system refuses to give more; \
    fewer clients, processes, files or requests need less, \
    and a state space needs less with a lower --max-markings\n";

/// Ends the process unless there is memory.
fn given(memory: *mut u8) -> *mut u8 {
    if memory.is_null() {
        // Nothing here may allocate, and no handler may run.
        // SAFETY: the message is so long, and both calls are made for such ends.
        unsafe {
            libc::write(libc::STDERR_FILENO, MESSAGE.as_ptr().cast(), MESSAGE.len());
            libc::_exit(1);
        }
    }
    memory
}

// SAFETY: all is passed on to the system's allocator.
unsafe impl GlobalAlloc for ExitingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as promised by the caller.
        given(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as promised by the caller.
        given(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as promised by the caller.
        given(unsafe { System.realloc(memory, layout, size) })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(memory, layout) }
    }
}
