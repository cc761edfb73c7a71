//! `kind = "parallel"`: a parallel file system.

use crate::declare::{OneOrSeveral, Tables, section};
use crate::sections::{
    Failure, Hosts, Layout, Locks, Messages, Metadata, Network, Pool, Position, Recovery,
    Replication, Scheduler, Servers,
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
        /// Scheduler that selects the next job; or several, as `[[scheduler]]`, each at a position
        /// of its own.
        #[serde(serialize_with = "crate::declare::one_or_several")]
        scheduler: Vec<Scheduler> as OneOrSeveral<Scheduler> = section() aka ["schedulers"],
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

    /// The scheduler at a position, if one that does something stands there.
    #[must_use]
    pub fn scheduler_at(&self, position: Position) -> Option<&Scheduler> {
        let mut all = self.scheduler.iter();
        all.find(|it| it.position == position && !it.is_none())
    }

    /// The first scheduler at one of these positions, and its field's path.
    pub(crate) fn scheduler_in(&self, positions: &[Position]) -> Option<&Scheduler> {
        let mut positions = positions.iter();
        positions.find_map(|it| self.scheduler_at(*it))
    }

    /// Over how many places the layout spreads files: targets, or, where data is
    /// replicated, sets of them.
    #[must_use]
    pub fn places(&self) -> u32 {
        (self.servers.all_targets() / self.replication.pieces()).max(1)
    }
}
