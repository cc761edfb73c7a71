//! `kind = "mq-deadline"`: by address, with deadlines.

use crate::declare::section;
use crate::values::{AtLeastOne, Seconds};

section! {
    /// Batches of reads or writes by address, and none waits too long; each
    /// direction goes on where it was left (Linux 4.11 and later).
    pub struct MqDeadline {
        /// A read that has waited this long is the first of the next batch of reads.
        read_expire: Seconds = default("500 ms", "block/mq-deadline.c: read_expire"),
        /// A write that has waited this long is the first of the next batch of writes.
        write_expire: Seconds = default("5 s", "block/mq-deadline.c: write_expire"),
        /// Maximum number of read batches served before a waiting write.
        writes_starved: u32 as AtLeastOne = default(2, "block/mq-deadline.c: writes_starved"),
        /// Requests of a batch, which goes on by rising address.
        fifo_batch: u32 as AtLeastOne = default(16, "block/mq-deadline.c: fifo_batch"),
        /// A request of a lower priority class that has waited this long goes although
        /// others of a higher class wait.
        prio_aging_expire: Seconds = default("10 s", "block/mq-deadline.c: prio_aging_expire"),
        /// If true, a request may be merged with one that ends where it begins (front merge).
        front_merges: bool = default(true, "block/mq-deadline.c: front_merges"),
    }
}
