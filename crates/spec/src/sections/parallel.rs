//! `kind = "parallel"`: a parallel file system.

use crate::declare::{Tables, section};
use crate::sections::{
    Failure, Hosts, Layout, Locks, Messages, Metadata, Network, Pool, Recovery, Replication,
    Scheduler, Servers,
};

section! {
    /// A parallel file system: the clients reach servers over a network.
    pub struct Parallel {
        /// The machines that hold the data.
        servers: Servers = section() aka ["server"],
        /// The machines that know where the data is.
        metadata: Metadata = section(),
        /// Network between the hosts.
        network: Network = section(),
        /// Message protocol of data.
        messages: Messages = section() aka ["protocol"],
        /// Settings of all hosts.
        hosts: Hosts = section(),
        /// Replication of data over several servers.
        replication: Replication = section() aka ["replicas", "mirroring"],
        /// Distribution of files over servers.
        layout: Layout = section() aka ["striping", "distribution"],
        /// Sets of servers that layouts can name.
        pool: Option<Vec<Pool>> as Option<Tables<Pool>> = optional("every server is for every file") aka ["pools"],
        /// Locks that clients must hold before they read or write.
        locks: Locks = section() aka ["locking"],
        /// Scheduler that selects the next job.
        scheduler: Scheduler = section(),
        /// Servers that fail, and when.
        failure: Option<Vec<Failure>> as Option<Tables<Failure>> = optional("no server fails") aka ["failures"],
        /// Recovery of clients when a server does not reply.
        recovery: Recovery = section(),
    }
}

impl Parallel {
    /// The sets of servers that have names.
    #[must_use]
    pub fn pools(&self) -> &[Pool] {
        self.pool.as_deref().unwrap_or_default()
    }

    /// Over how many places the layout spreads files: targets, or, where data is
    /// replicated, sets of them.
    #[must_use]
    pub fn places(&self) -> u32 {
        (self.servers.all_targets() / self.replication.copies).max(1)
    }
}
