//! `[servers.receive_buffer]`: where a server keeps the jobs that it has received.

use crate::declare::section;
use crate::values::Seconds;

section! {
    /// A list of jobs for each client, from a job's arrival to its answer. Every job that arrives
    /// is inserted into its client's list, one after the other, for all clients.
    pub struct ReceiveBuffer {
        /// Time to put a job into its list.
        time_per_job: Seconds = default("0 s", "nothing is assumed: measure it") aka ["time_per_access"],
        /// Time for each job of the same client in the list, the new one included: that of
        /// traversing a linked list (Nguyen 2011, section 7.3.1).
        time_per_entry: Seconds = default("0 s", "a list that is not gone through") aka ["search"],
    }
}
