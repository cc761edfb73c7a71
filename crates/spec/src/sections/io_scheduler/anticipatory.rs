//! `kind = "anticipatory"`: waiting for the next read of the same process.

use crate::declare::section;
use crate::values::Seconds;

section! {
    /// Batches of synchronous and asynchronous requests by address. After a synchronous request,
    /// the device may idle for its process's next one (Linux
    /// 2.6.0-2.6.32; Iyer and Druschel: SOSP 2001).
    pub struct Anticipatory {
        /// A synchronous request that has waited this long goes next.
        read_expire: Seconds = default("125 ms", "block/as-iosched.c: read_expire, HZ/8"),
        /// Another request that has waited this long goes next in its batch.
        write_expire: Seconds = default("250 ms", "block/as-iosched.c: write_expire, HZ/4"),
        /// Duration of a batch of synchronous requests while others wait.
        read_batch_expire: Seconds = default("500 ms", "block/as-iosched.c: read_batch_expire, HZ/2"),
        /// Duration of a batch of asynchronous requests while synchronous ones wait.
        write_batch_expire: Seconds = default("125 ms", "block/as-iosched.c: write_batch_expire, HZ/8"),
        /// Maximum idle time of the device while it waits for a process; 0: never.
        antic_expire: Seconds = default("6 ms", "block/as-iosched.c: antic_expire, HZ/150 with HZ = 1000"),
    }
}
