//! `[metadata]`: the servers that know where the data is.

mod database;
mod times;

pub use database::{Database, Together};
pub use times::OperationTimes;

use crate::declare::{kinds, section};
use crate::sections::Card;
use crate::values::{AtLeastOne, Seconds, choice};

choice! {
    /// Which server knows a file.
    pub enum Distribution {
        /// A hash of each file's number tells its server, whatever directory it lies in.
        File = "file",
        /// Directories take them in turn: all files of one are on one server.
        Directory = "directory",
    }
}

section! {
    /// The metadata servers.
    pub struct Metadata {
        /// How many metadata servers there are.
        servers: u32 as AtLeastOne = default(1, "the smallest system that works") aka ["count"],
        /// Which of them knows a file.
        distribution: Distribution = default("file", "hashing names spreads files evenly") aka ["partitioning"],
        /// How many operations a server works on at once.
        threads: u32 as AtLeastOne = default(1, "one operation after the other") aka ["cores"],
        /// Time that a thread takes for an operation, where `times` does not say it.
        time_per_operation: Seconds = default("0 s", "nothing is assumed: measure it"),
        /// Times of single operations.
        times: OperationTimes = section(),
        /// What the metadata is kept in.
        #[serde(flatten)]
        kind: MetadataKind = kinds(),
        /// Whether a client asks only once for the layout of a file.
        client_cache: bool = default(true, "PFSsim, Liu et al. 2011, section 4.1: the client looks in its own cache first"),
        /// The metadata servers' network cards.
        card: Card = section(),
    }
}

kinds! {
    /// What metadata is kept in.
    pub enum MetadataKind default "memory", "nothing is assumed about a device" {
        InMemory = "memory",
        Database = "database",
    }
}

section! {
    /// All of it is in memory, and nothing waits for a device.
    pub struct InMemory {}
}

impl Metadata {
    /// What a server keeps its metadata in, if that is not memory alone.
    #[must_use]
    pub fn database(&self) -> Option<&Database> {
        match &self.kind {
            MetadataKind::InMemory(_) => None,
            MetadataKind::Database(database) => Some(database),
        }
    }
}
