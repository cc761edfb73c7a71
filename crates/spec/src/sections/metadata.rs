//! `[metadata]`: the servers that know where the data is.

mod database;
mod network;
mod subtrees;
mod times;
mod write_once;

pub use database::Database;
pub use network::{MetadataNetwork, OwnNetwork, SharedNetwork, WhichNetwork};
pub use subtrees::Subtree;
pub use times::OperationTimes;

use crate::Error;
use crate::declare::{Place, Tables, kinds, section};
use crate::sections::{Card, Network, Parallel, Position, Scenario, Topology};
use crate::values::{AtLeastOne, Seconds, choice};

choice! {
    /// Distribution of files over metadata servers.
    pub enum Distribution {
        /// A hash of each file's number tells its server, whatever directory it lies in.
        File = "file",
        /// Directories take them in turn: all files of one are on one server.
        Directory = "directory",
        /// The longest `[[metadata.subtree]]` that a file's directory lies in tells its server;
        /// what lies in none is on server 0.
        Subtree = "subtree",
    }
}

choice! {
    /// Hosts of the metadata servers.
    pub enum MetadataHosts {
        /// On hosts of their own.
        Own = "own-hosts",
        /// The first data servers are metadata servers too: with the same network card,
        /// and, where they are simple, the same daemon.
        DataServers = "data-servers",
        /// All data servers are metadata servers too, in the same way; how many there are
        /// is left out.
        EveryDataServer = "every-data-server",
    }
}

choice! {
    /// Servers that are asked for a name.
    pub enum Lookups {
        /// The one that knows it.
        One = "one",
        /// The one that knows it; what makes a name first asks all of them whether it is
        /// there, and waits for their answers.
        NewEverywhere = "new-everywhere",
        /// All of them, at once, for every operation, which waits for their answers.
        Everywhere = "everywhere",
    }
}

choice! {
    /// Operations on names that wait for others in their directory.
    pub enum DirectoryLocks {
        /// None.
        None = "none",
        /// Changes of a directory exclude each other and lists of it; names are looked up beside
        /// them.
        Changes = "changes",
        /// Every operation on a name excludes all others in its directory.
        Exclusive = "exclusive",
    }
}

section! {
    /// The metadata servers.
    pub struct Metadata {
        /// Number of metadata servers.
        servers: u32 as AtLeastOne = default(1, "the smallest system that works") aka ["count"],
        /// Hosts of the metadata servers.
        on: MetadataHosts = default("own-hosts", "PFSsim, Liu et al. 2011, section 4.1: metadata servers are apart") aka ["hosts", "where"],
        /// Distribution of files over metadata servers.
        distribution: Distribution = default("file", "hashing names spreads files evenly") aka ["partitioning"],
        /// Parts of the tree of directories with servers of their own; only with `distribution =
        /// "subtree"`.
        subtree: Option<Vec<Subtree>> as Option<Tables<Subtree>> = optional("all directories are on server 0, unless `distribution` spreads them") aka ["subtrees", "pin", "pins"],
        /// Servers that are asked for a name.
        lookups: Lookups = default("one", "a hash or a directory tells which server knows a name"),
        /// Number of operations served at once; on simple data servers the threads are the
        /// daemon's, and this is left out.
        threads: u32 as AtLeastOne = default(1, "one operation after the other") aka ["cores"],
        /// Time that a thread takes for an operation, where `times` does not say it.
        time_per_operation: Seconds = default("0 s", "nothing is assumed: measure it"),
        /// Times of single operations.
        times: OperationTimes = section(),
        /// Operations that wait for others in their directory: a thread holds a lock for the time of
        /// the operation. On simple data servers it is left out.
        directory_locks: DirectoryLocks = default("none", "directories are split by the hash of names, as by Lustre's parallel directory operations"),
        /// Kind of metadata store.
        #[serde(flatten)]
        kind: MetadataKind = kinds(),
        /// If true, a client asks only once for the layout of a file.
        client_cache: bool = default(true, "PFSsim, Liu et al. 2011, section 4.1: the client looks in its own cache first"),
        /// If true, files are written once, in order, by one process: workloads that write
        /// otherwise are refused.
        write_once: bool = default(false, "as POSIX has it, files are written anywhere, by anybody"),
        /// Time from the failure of a server (`[[failure]]`) until a standby, which reaches the
        /// same devices, serves in its place. A server that restarts sooner serves again itself.
        takeover: Option<Seconds> = optional("no standby waits") aka ["standby", "failover"],
        /// The metadata servers' network cards.
        card: Card = section(),
        /// By which network clients reach them.
        network: MetadataNetwork = section(),
    }
    check of_metadata;
}

kinds! {
    /// Kind of metadata store.
    pub enum MetadataKind default "memory", "nothing is assumed about a device" {
        InMemory = "memory",
        Database = "database",
    }
}

section! {
    /// All of it is in memory, and nothing waits for a device.
    pub struct InMemory {}
}

fn of_metadata(metadata: &Metadata, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    subtrees::are_used(metadata, at)?;
    locks_last(metadata, at)?;
    if metadata.write_once && all.parallel().is_some() {
        write_once::suits(all, at)?;
    }
    standby_is_for_something(metadata, all, at)?;
    hosts_can_serve_both(metadata, all, at)
}

fn locks_last(metadata: &Metadata, at: &Place<'_>) -> Result<(), Error> {
    let locks = metadata.directory_locks != DirectoryLocks::None;
    match locks && metadata.time_per_operation.0 == 0.0 && !metadata.times.any() {
        true => {
            let path = at.field("time_per_operation").path;
            let message = format!("operations take no time: give {path}, or leave it out");
            Err(at.error("directory_locks", message))
        }
        false => Ok(()),
    }
}

fn standby_is_for_something(
    metadata: &Metadata,
    all: &Scenario,
    at: &Place<'_>,
) -> Result<(), Error> {
    let Some(parallel) = all.parallel() else {
        return Ok(());
    };
    let fails = parallel.failures().iter().any(|it| it.metadata.is_some());
    if metadata.takeover.is_none() || fails {
        return Ok(());
    }
    let message = "no metadata server fails, so that no standby takes over: expected a \
                   [[failure]] with metadata = 0, or leave it out";
    Err(at.error("takeover", message))
}

fn hosts_can_serve_both(metadata: &Metadata, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    let Some(parallel) = all.parallel() else {
        return Ok(());
    };
    let alone = metadata.on != MetadataHosts::EveryDataServer && metadata.servers == 1;
    if metadata.lookups != Lookups::One && alone {
        let message = "one metadata server is all of them: expected \"one\", or metadata.on = \
                       \"every-data-server\"";
        return Err(at.error("lookups", message));
    }
    if metadata.on == MetadataHosts::Own {
        return Ok(());
    }
    let servers = parallel.servers.count;
    if metadata.on == MetadataHosts::EveryDataServer && metadata.servers > 1 {
        let message = format!("there are as many as data servers, {servers}: leave it out");
        return Err(at.error("servers", message));
    }
    if metadata.servers > servers {
        let message =
            format!("each is on a data server: expected at most servers.count = {servers}");
        return Err(at.error("servers", message));
    }
    let wrong = if parallel.servers.streaming {
        "streamed data bypasses the daemon: expected servers.streaming = false"
    } else if matches!(parallel.network.topology, Topology::Pairs(_)) {
        "pairs of hosts have links of their own: expected another network.topology"
    } else if parallel.scheduler.iter().any(|it| {
        matches!(
            it.position,
            Position::Gateway | Position::Proxy | Position::Metadata
        )
    }) {
        "schedulers tell data and names apart only on clients and servers: expected \
         scheduler.position = \"client\" or \"server\""
    } else if metadata.card.bandwidth.is_some()
        || metadata.card.burst.is_some()
        || metadata.card.ports > 1
    {
        "the card is the data server's: expected no metadata.card"
    } else if metadata.network.own().is_some() {
        "the network is the data servers': expected no metadata.network"
    } else if metadata.directory_locks != DirectoryLocks::None
        && parallel.servers.machine().is_none()
    {
        "the daemon has no locks: expected no metadata.directory_locks"
    } else if metadata.threads > 1 && parallel.servers.machine().is_none() {
        "the threads are those of servers.daemon: expected no metadata.threads"
    } else {
        return Ok(());
    };
    Err(at.error("on", wrong))
}

impl Parallel {
    /// Number of metadata servers.
    #[must_use]
    pub fn metadata_servers(&self) -> u32 {
        match self.metadata.on {
            MetadataHosts::EveryDataServer => self.servers.count,
            MetadataHosts::Own | MetadataHosts::DataServers => self.metadata.servers,
        }
    }

    /// The network between clients and metadata servers.
    #[must_use]
    pub fn metadata_network(&self) -> Network {
        match self.metadata.network.own() {
            None => self.network.clone(),
            Some(own) => own.over(&self.network),
        }
    }
}

impl Metadata {
    /// Returns the metadata store of a server, unless it is memory alone.
    #[must_use]
    pub fn database(&self) -> Option<&Database> {
        match &self.kind {
            MetadataKind::InMemory(_) => None,
            MetadataKind::Database(database) => Some(database),
        }
    }
}
