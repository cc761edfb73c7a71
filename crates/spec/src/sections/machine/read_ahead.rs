//! `[machine.read_ahead]`: reads ahead of requests.

use crate::declare::section;
use crate::values::Bytes;

section! {
    /// Read-ahead: a window that doubles while a file is read in order, and is
    /// given up when it is not (Linux, mm/readahead.c).
    pub struct ReadAhead {
        /// The largest window; 0: nothing is read ahead.
        window: Bytes = default("128 KiB", "read_ahead_kb of Linux") aka ["max", "size", "maximum"],
    }
}
