//! `kind = "bfq"`: budgets for processes by weight.

use crate::declare::section;
use crate::values::{AtLeastOne, Bytes, NonEmpty, Seconds};

section! {
    /// Budget fair queueing: processes have the device for a number of bytes, and get shares by
    /// weight. It is in Linux since 4.12 (Valente and Checconi: IEEE Transactions on Computers
    /// 59(9), 2010).
    pub struct Bfq {
        /// The most bytes that a process has the device for at a time.
        max_budget: Bytes = default("8 MiB", "block/bfq-iosched.c: bfq_default_max_budget, 16 * 1024 sectors"),
        /// The longest time that a process has the device.
        timeout_sync: Seconds = default("125 ms", "block/bfq-iosched.c: bfq_timeout, HZ/8"),
        /// Idle time of the device while it waits for a process's next request; 0: none.
        slice_idle: Seconds = default("8 ms", "block/bfq-iosched.c: bfq_slice_idle, 1/125 s"),
        /// A synchronous request that has waited this long goes first.
        fifo_expire_sync: Seconds = default("125 ms", "block/bfq-iosched.c: bfq_fifo_expire"),
        /// Another request that has waited this long goes first.
        fifo_expire_async: Seconds = default("250 ms", "block/bfq-iosched.c: bfq_fifo_expire"),
        /// Maximum distance of the next request behind the head.
        back_seek_max: Bytes = default("16 MiB", "block/bfq-iosched.c: bfq_back_max"),
        /// Cost factor of a backward seek relative to a forward seek of the same distance.
        back_seek_penalty: u32 as AtLeastOne = default(2, "block/bfq-iosched.c: bfq_back_penalty"),
        /// The weight of process 0, 1, ... within its priority class.
        weights: Option<Vec<u32>> as Option<NonEmpty<AtLeastOne>> = optional("by the level of priority, (8 - level) * 10: bfq_ioprio_to_weight in block/bfq-wf2q.c; 40 at level 4") aka ["shares"],
    }
}
