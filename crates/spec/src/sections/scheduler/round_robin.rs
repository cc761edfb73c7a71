//! `kind = "round-robin"`: all clients in turn.

use crate::declare::section;
use crate::values::{AtLeastOne, choice};

choice! {
    /// Class that has its own turn or share.
    pub enum Class {
        /// A group of clients.
        Group = "group",
        /// A client.
        Client = "client",
        /// A workload, as a batch system's job.
        Workload = "workload",
        /// A file.
        File = "file",
    }
}

section! {
    /// Each class of jobs in turn, those without jobs left out (Nagle: On packet
    /// switches with infinite storage, IEEE Transactions on Communications 1987).
    pub struct RoundRobin {
        /// Maximum number of dispatched jobs.
        depth: u32 as AtLeastOne = required(4),
        /// Jobs of the same `group`, `client`, `workload` or `file` have their turn together.
        by: Class = default("client", "Nagle 1987: a queue for each source host"),
        /// Number of jobs that go in one turn.
        quantum: u32 as AtLeastOne = default(1, "Nagle 1987: one packet a turn"),
    }
}
