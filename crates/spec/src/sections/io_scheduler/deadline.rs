//! `kind = "deadline"`: by address, with deadlines.

use crate::declare::section;
use crate::values::{AtLeastOne, Seconds};

section! {
    /// Batches of reads or writes by address, and none waits too long (Linux
    /// 2.6-4.20).
    pub struct Deadline {
        /// A read that has waited this long is the first of the next batch of reads.
        read_expire: Seconds = default("500 ms", "block/deadline-iosched.c: read_expire"),
        /// A write that has waited this long is the first of the next batch of writes.
        write_expire: Seconds = default("5 s", "block/deadline-iosched.c: write_expire"),
        /// Maximum number of read batches served before a waiting write.
        writes_starved: u32 as AtLeastOne = default(2, "block/deadline-iosched.c: writes_starved"),
        /// Requests of a batch, which goes on by rising address.
        fifo_batch: u32 as AtLeastOne = default(16, "block/deadline-iosched.c: fifo_batch"),
        /// If true, a request may be merged with one that ends where it begins (front merge).
        front_merges: bool = default(true, "block/deadline-iosched.c: front_merges"),
    }
}
