//! Requests in flight: through a ring of the process's own, or one system call at a time.
#![expect(
    unsafe_code,
    reason = "the kernel works on the memory that an entry names until it is completed"
)]

use std::io::{IoSlice, IoSliceMut};
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

use io_uring::types::{Fd, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode};
use rustix::fs::SeekFrom;
use rustix::io::Errno;
use rustix::mm::{MapFlags, MsyncFlags, ProtFlags};

use crate::Error;
use crate::jobs::job::PageAdvice;
use crate::operation::Buffer;

/// Address alignment of buffers for direct transfers.
const ALIGNED: usize = 4096;

/// `IORING_ENTER_GETEVENTS` of include/uapi/linux/io_uring.h.
const GETEVENTS: u32 = 1;

/// Kind of request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Reads data.
    Read,
    /// Writes data.
    Write,
    /// fsync(2).
    Sync,
    /// fdatasync(2).
    SyncData,
}

/// Way in which requests are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// pread(2) and pwrite(2).
    Posix,
    /// read(2) and write(2), after lseek(2) where the offset is not the last end.
    Seek,
    /// readv(2) and writev(2), likewise.
    SeekVector,
    /// preadv(2) and pwritev(2).
    Vector,
    /// Copies to and from a mapping of the file.
    Mapped,
    /// io_uring.
    Uring,
    /// Not at all.
    Null,
}

impl Way {
    /// All of them.
    pub const ALL: [Way; 7] = [
        Way::Posix,
        Way::Seek,
        Way::SeekVector,
        Way::Vector,
        Way::Mapped,
        Way::Uring,
        Way::Null,
    ];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Way::Posix => "posix",
            Way::Seek => "posix-seek",
            Way::SeekVector => "posix-seek-vector",
            Way::Vector => "posix-vector",
            Way::Mapped => "mapped",
            Way::Uring => "io-uring",
            Way::Null => "null",
        }
    }

    /// The way with a word.
    pub fn with_word(word: &str) -> Option<Way> {
        Way::ALL.into_iter().find(|it| it.word() == word)
    }

    /// Returns true if several requests can be in flight.
    pub fn has_queue(self) -> bool {
        matches!(self, Way::Uring | Way::Null)
    }
}

/// A request to be made.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Its kind.
    pub kind: Kind,
    /// The open file, and its number among the process's.
    pub file: (usize, &'a OwnedFd),
    /// Offset in the file.
    pub offset: u64,
    /// Bytes.
    pub size: u32,
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
    way: Way,
    /// None where calls are system calls.
    ring: Option<IoUring>,
    /// Results of system calls that have not been returned yet.
    made: Vec<Completion>,
    /// File and offset behind the last request, for [`Way::Seek`].
    position: Option<(usize, u64)>,
    /// Mappings of the files.
    mapped: Vec<Option<Mapped>>,
    advice: PageAdvice,
}

/// A file that is mapped as a whole.
struct Mapped {
    first: *mut u8,
    size: usize,
}

impl Mapped {
    fn new(file: &OwnedFd, advice: PageAdvice) -> Result<Mapped, Errno> {
        let flags = rustix::fs::fcntl_getfl(file)?;
        let writes = flags.contains(rustix::fs::OFlags::RDWR);
        let size = usize::try_from(rustix::fs::fstat(file)?.st_size).map_err(|_| Errno::NOMEM)?;
        let mut protection = ProtFlags::READ;
        if writes {
            protection |= ProtFlags::WRITE;
        }
        // SAFETY: the kernel chooses the addresses; the memory is reached through `copy` only.
        let first = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                size.max(1),
                protection,
                MapFlags::SHARED,
                file,
                0,
            )
        };
        let first = first?;
        let advice = match advice {
            PageAdvice::None => rustix::mm::Advice::Normal,
            PageAdvice::Random => rustix::mm::Advice::Random,
            PageAdvice::Sequential => rustix::mm::Advice::Sequential,
        };
        // SAFETY: the range is the mapping; the advice changes the read-ahead only.
        let _ = unsafe { rustix::mm::madvise(first, size.max(1), advice) };
        let first = first.cast();
        Ok(Mapped { first, size })
    }

    /// Copies a part of the file from or to memory of the process.
    fn copy(&self, kind: Kind, offset: u64, block: &mut [u8]) -> Result<usize, Errno> {
        let offset = usize::try_from(offset).map_err(|_| Errno::INVAL)?;
        let size = block.len().min(self.size.saturating_sub(offset));
        // SAFETY: the range is within the mapping, which lives as long as the queue. Other
        // processes may write to it meanwhile; raw copies of bytes do not depend on it. Files do
        // not become shorter during a stage.
        unsafe {
            let place = self.first.add(offset);
            match kind {
                Kind::Read => std::ptr::copy_nonoverlapping(place, block.as_mut_ptr(), size),
                _ => std::ptr::copy_nonoverlapping(block.as_ptr(), place, size),
            }
        }
        Ok(size)
    }

    fn sync(&self) -> Result<usize, Errno> {
        // SAFETY: the range is the mapping.
        unsafe { rustix::mm::msync(self.first.cast(), self.size, MsyncFlags::SYNC) }.map(|()| 0)
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: no reference into the mapping outlives a call of `copy`.
        let _ = unsafe { rustix::mm::munmap(self.first.cast(), self.size.max(1)) };
    }
}

impl Queue {
    /// A queue of `slots` requests of up to `block` bytes each.
    ///
    /// # Errors
    /// If the kernel has no io_uring, or does not let this program use it.
    pub fn new(way: Way, slots: u32, block: u32, seed: u64) -> Result<Queue, Error> {
        let ring = match way {
            Way::Uring => Some(ring(slots)?),
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
            way,
            ring,
            made: Vec::with_capacity(slots),
            position: None,
            mapped: Vec::new(),
            advice: PageAdvice::None,
        })
    }

    /// Advice for files that are mapped from now on.
    pub fn advise(&mut self, advice: PageAdvice) {
        self.advice = advice;
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
        !self.made.is_empty() || ring.is_some_and(|ring| !ring.completion().is_empty())
    }

    /// The memory of a slot that is not in flight.
    pub fn block(&mut self, slot: usize, size: u32) -> &mut [u8] {
        let first = slot * self.stride;
        let end = first + self.block.min(size as usize);
        &mut self.memory.bytes_mut(end)[first..]
    }

    /// Puts a request in a slot that is free. System calls are made at once, and entries of a ring
    /// are handed over by [`Queue::hand_over`].
    ///
    /// # Errors
    /// If the kernel does not take it.
    pub fn submit(&mut self, request: Request<'_>, slot: usize) -> Result<(), Errno> {
        debug_assert!(slot < self.slots && self.in_flight < self.slots);
        let Request {
            kind, offset, size, ..
        } = request;
        let (number, file) = request.file;
        if self.ring.is_none() {
            let result = match (kind, self.way) {
                (_, Way::Null) => Ok(match kind {
                    Kind::Read | Kind::Write => size as usize,
                    _ => 0,
                }),
                (Kind::Read | Kind::Write, Way::Mapped) => {
                    self.map(number, file)?;
                    let first = slot * self.stride;
                    let end = first + self.block.min(size as usize);
                    let block = &mut self.memory.bytes_mut(end)[first..];
                    let mapped = self.mapped[number].as_ref();
                    mapped.map_or(Err(Errno::INVAL), |it| it.copy(kind, offset, block))
                }
                (_, Way::Mapped) => {
                    self.map(number, file)?;
                    let mapped = self.mapped[number].as_ref();
                    mapped.map_or(Ok(0), Mapped::sync)
                }
                (Kind::Sync, _) => rustix::fs::fsync(file).map(|()| 0),
                (Kind::SyncData, _) => rustix::fs::fdatasync(file).map(|()| 0),
                (Kind::Read | Kind::Write, _) => self.call(request, slot),
            };
            self.made.push((slot, result));
            self.in_flight += 1;
            return Ok(());
        }
        let block = self.block(slot, size);
        let (place, size) = (block.as_mut_ptr(), block.len() as u32);
        let Some(ring) = &mut self.ring else {
            return Ok(());
        };
        let file = Fd(file.as_raw_fd());
        let entry = match kind {
            Kind::Read => opcode::Read::new(file, place, size).offset(offset).build(),
            Kind::Write => opcode::Write::new(file, place, size).offset(offset).build(),
            Kind::Sync => opcode::Fsync::new(file).build(),
            Kind::SyncData => opcode::Fsync::new(file).flags(FsyncFlags::DATASYNC).build(),
        };
        // SAFETY: the slot's memory belongs to the queue, which lends it to no caller while the
        // request is in flight. It lives until all requests are completed (see `drop`).
        let pushed = unsafe { ring.submission().push(&entry.user_data(slot as u64)) };
        pushed.map_err(|_| Errno::BUSY)?;
        self.in_flight += 1;
        Ok(())
    }

    /// Makes a system call that moves data.
    fn call(&mut self, request: Request<'_>, slot: usize) -> Result<usize, Errno> {
        let (number, file) = request.file;
        let offset = request.offset;
        let seeks = matches!(self.way, Way::Seek | Way::SeekVector);
        if seeks && self.position != Some((number, offset)) {
            rustix::fs::seek(file, SeekFrom::Start(offset))?;
        }
        let way = self.way;
        let block = self.block(slot, request.size);
        let vector = matches!(way, Way::SeekVector | Way::Vector);
        let moved = match (request.kind, vector, seeks) {
            (Kind::Read, false, false) => rustix::io::pread(file, block, offset),
            (Kind::Read, false, true) => rustix::io::read(file, block),
            (Kind::Read, true, false) => {
                rustix::io::preadv(file, &mut [IoSliceMut::new(block)], offset)
            }
            (Kind::Read, true, true) => rustix::io::readv(file, &mut [IoSliceMut::new(block)]),
            (_, false, false) => rustix::io::pwrite(file, block, offset),
            (_, false, true) => rustix::io::write(file, block),
            (_, true, false) => rustix::io::pwritev(file, &[IoSlice::new(block)], offset),
            (_, true, true) => rustix::io::writev(file, &[IoSlice::new(block)]),
        }?;
        self.position = Some((number, offset + moved as u64));
        Ok(moved)
    }

    /// Maps a file, once.
    fn map(&mut self, number: usize, file: &OwnedFd) -> Result<(), Errno> {
        if self.mapped.len() <= number {
            self.mapped.resize_with(number + 1, || None);
        }
        if self.mapped[number].is_none() {
            self.mapped[number] = Some(Mapped::new(file, self.advice)?);
        }
        Ok(())
    }

    /// Hands the entries of the ring over to the kernel.
    ///
    /// # Errors
    /// If it does not take them.
    pub fn hand_over(&mut self) -> Result<(), Errno> {
        self.ring.as_mut().map_or(Ok(()), submitted)
    }

    /// Waits until `least` requests are completed, or for a time at the most; adds all that are.
    ///
    /// # Errors
    /// If the kernel refuses to wait.
    pub fn wait(
        &mut self,
        least: usize,
        most: Option<Duration>,
        done: &mut Vec<Completion>,
    ) -> Result<(), Errno> {
        if !self.made.is_empty() {
            self.in_flight -= self.made.len();
            done.append(&mut self.made);
            return Ok(());
        }
        let least = least.min(self.in_flight);
        let (Some(ring), true) = (&mut self.ring, least > 0) else {
            return Ok(());
        };
        if ring.completion().len() < least {
            let waited = match most {
                None => ring.submit_and_wait(least),
                Some(most) => {
                    let time = Timespec::from(most);
                    let arguments = SubmitArgs::new().timespec(&time);
                    ring.submitter().submit_with_args(least, &arguments)
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
            if self.wait(1, None, &mut done).is_err() {
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
