use crate::{Flags, Operation};

/// One file operation of one process: the common form of every trace.
///
/// `file` and `process` are indices into the reader's [`Names`](crate::Names).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Start of the operation, in nanoseconds since the trace's start.
    ///
    /// Negative only if a trace's lines are not in the order of their times; 0 where the trace
    /// tells none, which [`Flags::UNTIMED`] says.
    pub time_ns: i64,
    /// Time that it took, in nanoseconds; 0 where the trace does not tell it, which
    /// [`Flags::NO_DURATION`] says.
    pub duration_ns: i64,
    /// The first byte concerned. After a seek, the new position; for a
    /// truncation, the new length; 0 where an offset has no meaning.
    pub offset: u64,
    /// Bytes moved, for an operation that [carries bytes](Operation::carries_bytes). Else it is the
    /// length of the range, or of a [regular](Flags::REGULAR) file at a stat, the bytes or wake-ups
    /// of a message, or 0.
    pub size: u64,
    /// Process or thread of the operation. One process's records follow each other; those of
    /// different processes may overlap.
    pub process: u32,
    /// To which file. A rename names the old file, a link the new one.
    pub file: u32,
    /// Operation.
    pub operation: Operation,
    /// Open flags, kind of file, outcome of the call, and a flag that it has a time.
    pub flags: Flags,
    /// The other name: the new one of a rename, the old one of a link, the target of a symbolic
    /// link. It is [`Record::NO_FILE`] if there is none.
    pub other: u32,
}

impl Record {
    /// No file, in [`other`](Record::other).
    pub const NO_FILE: u32 = u32::MAX;

    /// Returns true if the call failed.
    #[must_use]
    pub fn failed(&self) -> bool {
        self.flags.has(Flags::FAILED)
    }

    /// The first byte after the range; saturates at the largest offset.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.size)
    }
}

// A replayed workload holds many of these.
const _: () = assert!(size_of::<Record>() <= 48);
