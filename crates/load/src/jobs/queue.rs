//! Requests in flight: through a ring of the process's own, or one system call at a time.
#![expect(
    unsafe_code,
    reason = "the kernel works on the memory that an entry names until it is completed"
)]

use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode};
use rustix::io::Errno;

use crate::Error;
use crate::calls::Backend;
use crate::jobs::layout::stamp;
use crate::operation::Buffer;

/// Address alignment of buffers for direct transfers.
const ALIGNED: usize = 4096;

/// `IORING_ENTER_GETEVENTS` of include/uapi/linux/io_uring.h.
const GETEVENTS: u32 = 1;

/// Kind of request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// pread(2).
    Read,
    /// pwrite(2).
    Write,
    /// fsync(2).
    Sync,
}

/// A request that is done: the slot that it had, and bytes moved.
pub type Completion = (usize, Result<usize, Errno>);

/// The requests of a process that are in flight. Each has a slot, with memory of its own.
pub struct Queue {
    /// The queue drops the buffer unless the kernel still owns it.
    memory: ManuallyDrop<Buffer>,
    stride: usize,
    block: usize,
    slots: usize,
    in_flight: usize,
    /// None where calls are system calls.
    ring: Option<IoUring>,
    /// The system call that was made and whose result has not been returned yet.
    made: Option<Completion>,
}

impl Queue {
    /// A queue of `slots` requests of up to `block` bytes each.
    ///
    /// # Errors
    /// If the kernel has no io_uring, or does not let this program use it.
    pub fn new(backend: Backend, slots: u32, block: u32, seed: u64) -> Result<Queue, Error> {
        let ring = match backend {
            Backend::Uring => Some(ring(slots)?),
            _ => None,
        };
        let block = block as usize;
        let (stride, slots) = (block.next_multiple_of(ALIGNED), slots as usize);
        Ok(Queue {
            memory: ManuallyDrop::new(Buffer::new(stride * slots, seed, false)),
            stride,
            block,
            slots,
            in_flight: 0,
            ring,
            made: None,
        })
    }

    /// Requests in flight.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Returns the capacity.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Returns true if a request is completed.
    pub fn is_ready(&mut self) -> bool {
        let ring = self.ring.as_mut();
        self.made.is_some() || ring.is_some_and(|ring| !ring.completion().is_empty())
    }

    /// The memory of a slot that is not in flight.
    fn block(&mut self, slot: usize) -> &mut [u8] {
        let (first, end) = (slot * self.stride, slot * self.stride + self.block);
        &mut self.memory.bytes_mut(end)[first..]
    }

    /// Begins a request in a slot that is free. A write's data are like no other's; `number` is
    /// to differ from write to write.
    ///
    /// # Errors
    /// If the kernel does not take it.
    pub fn submit(
        &mut self,
        file: &OwnedFd,
        kind: Kind,
        offset: u64,
        slot: usize,
        number: u64,
    ) -> Result<(), Errno> {
        debug_assert!(slot < self.slots && self.in_flight < self.slots);
        if kind == Kind::Write {
            stamp(self.block(slot), number);
        }
        let block = self.block(slot);
        let (place, size) = (block.as_mut_ptr(), block.len() as u32);
        let Some(ring) = &mut self.ring else {
            let block = self.block(slot);
            let made = match kind {
                Kind::Read => rustix::io::pread(file, block, offset),
                Kind::Write => rustix::io::pwrite(file, block, offset),
                Kind::Sync => rustix::fs::fsync(file).map(|()| 0),
            };
            self.made = Some((slot, made));
            self.in_flight += 1;
            return Ok(());
        };
        let file = Fd(file.as_raw_fd());
        let entry = match kind {
            Kind::Read => opcode::Read::new(file, place, size).offset(offset).build(),
            Kind::Write => opcode::Write::new(file, place, size).offset(offset).build(),
            Kind::Sync => opcode::Fsync::new(file).build(),
        };
        // SAFETY: the slot's memory belongs to the queue, which lends it to no caller while the
        // request is in flight. It lives until all requests are completed (see `drop`).
        let pushed = unsafe { ring.submission().push(&entry.user_data(slot as u64)) };
        pushed.map_err(|_| Errno::BUSY)?;
        self.in_flight += 1;
        // Now, and not with the next wait: its time counts from here.
        submitted(ring)
    }

    /// Waits until a request is completed, or for a time at the most; adds all that are.
    ///
    /// # Errors
    /// If the kernel refuses to wait.
    pub fn wait(
        &mut self,
        most: Option<Duration>,
        done: &mut Vec<Completion>,
    ) -> Result<(), Errno> {
        if let Some(completion) = self.made.take() {
            self.in_flight -= 1;
            done.push(completion);
            return Ok(());
        }
        let (Some(ring), true) = (&mut self.ring, self.in_flight > 0) else {
            return Ok(());
        };
        let ready = !ring.completion().is_empty();
        if !ready {
            let waited = match most {
                None => ring.submit_and_wait(1),
                Some(most) => {
                    let time = Timespec::from(most);
                    let arguments = SubmitArgs::new().timespec(&time);
                    ring.submitter().submit_with_args(1, &arguments)
                }
            };
            match waited.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO)) {
                Ok(_) | Err(Errno::INTR | Errno::TIME | Errno::BUSY | Errno::AGAIN) => {}
                Err(errno) => return Err(errno),
            }
        }
        for entry in ring.completion() {
            self.in_flight -= 1;
            let result = entry.result();
            let result = usize::try_from(result).map_err(|_| Errno::from_raw_os_error(-result));
            done.push((entry.user_data() as usize, result));
        }
        Ok(())
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        let mut done = Vec::new();
        while self.in_flight > 0 {
            if self.wait(None, &mut done).is_err() {
                // The kernel may still write to it, so the memory is leaked.
                return;
            }
        }
        // SAFETY: nothing is in flight, and the memory is not used after this.
        unsafe { ManuallyDrop::drop(&mut self.memory) };
    }
}

/// Returns true if the kernel has io_uring, and lets this program use it.
#[must_use]
pub fn has_io_uring() -> bool {
    ring(1).is_ok()
}

fn ring(slots: u32) -> Result<IoUring, Error> {
    // Without these each completion interrupts the process, by an inter-processor interrupt if
    // another processor took the device's. In a virtual machine that costs as much as the request.
    // With them completions are taken when the process enters the kernel for events, which it does
    // with each request and each wait. Linux 6.1 has them all.
    let mut deferred = IoUring::builder();
    deferred
        .setup_coop_taskrun()
        .setup_single_issuer()
        .setup_defer_taskrun();
    let made = deferred.build(slots).or_else(|_| IoUring::new(slots));
    made.map_err(|error| {
        Error::Unsuitable(format!(
            "calls \"io-uring\": {error}: the kernel or a sandbox does not permit io_uring (see /proc/sys/kernel/io_uring_disabled); take calls \"posix\" and a queue \
             depth of 1"
        ))
    })
}

/// Submits the ring's entries to the kernel, and takes the completed ones.
fn submitted(ring: &mut IoUring) -> Result<(), Errno> {
    loop {
        let entries = ring.submission().len() as u32;
        if entries == 0 {
            return Ok(());
        }
        // SAFETY: the entries are those that were pushed, and there is no argument to point at.
        match unsafe { ring.submitter().enter::<()>(entries, 0, GETEVENTS, None) } {
            Ok(_) => {}
            Err(error) => match Errno::from_io_error(&error) {
                // Completions have to be taken first, or the call is repeated.
                Some(Errno::BUSY | Errno::AGAIN | Errno::INTR) => return Ok(()),
                errno => return Err(errno.unwrap_or(Errno::IO)),
            },
        }
    }
}
