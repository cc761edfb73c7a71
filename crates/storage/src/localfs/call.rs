//! The colour of a system call on its way through the local file system.

use headrace_net::Span;
use headrace_trace::Operation;

use crate::tokens::{Extent, ObjectId};

/// Next stage of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// It has just been made.
    Entered,
    /// Its next piece is being copied, or its own work done.
    Working,
    /// A piece that was copied waits for room among the dirty pages.
    Filling,
    /// Its data is on its way to the device.
    Flushing,
    /// The call prepares it in parts.
    Sending,
    /// The journal commits its change.
    Committing,
    /// Committed journal data is being written to its final place.
    Placing,
    /// The device's write cache is flushed.
    Settling,
    /// All is done.
    Returning,
}

/// On whose behalf a call runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Caller {
    /// A process of the workload.
    Process,
    /// A process, for processor time of its own.
    Computation,
    /// The kernel's flusher, for its processor time.
    Flusher,
    /// The journal, which commits a transaction.
    Journal,
    /// The journal, in which room is made.
    Checkpoint,
    /// No process: a client releases a lock.
    Lock,
}

/// A call.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// The slot of the request that it serves.
    pub request: u32,
    /// The process.
    pub process: u32,
    /// The file.
    pub file: u32,
    /// Transfers that it waits for.
    pub transfers: u32,
    /// The next byte to read or write; the transaction of a commit or a checkpoint.
    pub at: u64,
    /// The byte after the last; where a commit or a checkpoint moves the journal's tail.
    pub end: u64,
    /// Bytes of the whole call: they decide how well a copy is cached.
    pub size: u64,
    /// Processor time of the current step, or duration of a pause of a throttled writer.
    pub time: Span,
    /// Bytes of the piece that is being copied; of an fsync, whether it has sent some.
    pub piece: u32,
    /// The workload, for how it opened its files.
    pub workload: u16,
    /// The machine's volume.
    pub volume: u8,
    /// Operation.
    pub operation: Operation,
    /// Next stage.
    pub stage: Stage,
    /// It waited for transfers that it made: the processor's part of them comes first.
    pub made: bool,
    /// On whose behalf.
    pub caller: Caller,
    /// It goes past the page cache however the file was opened.
    pub uncached: bool,
    /// A write that returns when the device has it, however the file was opened.
    pub synchronous: bool,
    /// A sync or synchronous write of the data, and of metadata that reading it needs (fdatasync,
    /// O_DSYNC).
    pub data_only: bool,
    /// A sync whose own log force flushes the device's write cache: XFS flushes it again for any
    /// other.
    pub forces_log: bool,
}

impl Call {
    /// Returns the extent of the lock that is released.
    pub(super) fn lock(&self) -> Extent {
        Extent {
            file: self.file,
            object: ObjectId {
                target: self.size as u32,
                index: (self.size >> 32) as u32,
            },
            start: self.at,
            end: self.end,
        }
    }
}
