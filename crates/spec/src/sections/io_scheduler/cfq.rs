//! `kind = "cfq"`: time slices for processes in turn.

use super::priority::Priority;
use crate::declare::section;
use crate::values::{AtLeastOne, Bytes, NonEmpty, Seconds};

section! {
    /// Complete fair queueing: processes have the device in turn, for a time by
    /// priority (Linux 2.6.6-4.20).
    pub struct Cfq {
        /// Maximum number of a queue's requests at the device while other queues wait.
        quantum: u32 as AtLeastOne = default(8, "block/cfq-iosched.c: quantum"),
        /// The time that a process of priority 4 has the device.
        slice_sync: Seconds = default("100 ms", "block/cfq-iosched.c: slice_sync, HZ/10"),
        /// Time slice of asynchronous requests.
        slice_async: Seconds = default("40 ms", "block/cfq-iosched.c: slice_async, HZ/25"),
        /// Most asynchronous requests in a time slice: this, times 8 at priority 4.
        slice_async_requests: u32 as AtLeastOne = default(2, "block/cfq-iosched.c: slice_async_rq")
            aka ["slice_async_rq"],
        /// Idle time of the device while it waits for a process's next request; 0: none.
        slice_idle: Seconds = default("8 ms", "block/cfq-iosched.c: slice_idle, HZ/125"),
        /// A synchronous request that has waited this long is the first of a slice.
        fifo_expire_sync: Seconds = default("125 ms", "block/cfq-iosched.c: fifo_expire_sync, HZ/8"),
        /// Another request that has waited this long is the first of a slice.
        fifo_expire_async: Seconds = default("250 ms", "block/cfq-iosched.c: fifo_expire_async, HZ/4"),
        /// Maximum distance of the next request behind the head.
        back_seek_max: Bytes = default("16 MiB", "block/cfq-iosched.c: back_seek_max"),
        /// Cost factor of a backward seek relative to a forward seek of the same distance.
        back_seek_penalty: u32 as AtLeastOne = default(2, "block/cfq-iosched.c: back_seek_penalty"),
        /// The best-effort priority of process 0, 1, ... (ionice -n): 0 is the highest, 7 the
        /// lowest; goes before `workload.io.priority`.
        priorities: Option<Vec<u32>> as Option<NonEmpty<Priority>> = optional("workload.io.priority; elsewhere 4 for every process, IOPRIO_BE_NORM in include/linux/ioprio.h"),
    }
}
