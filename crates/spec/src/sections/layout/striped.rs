//! `kind = "striped"`: pieces of equal size, one server after the other.

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::{Layout, Parallel, Scenario};
use crate::values::{Bytes, CountOr, choice, word};

choice! {
    /// Server that holds the first stripe of a file.
    pub enum FirstServer {
        /// The one after the previous file's first server.
        RoundRobin = "round-robin",
        /// The server after the last one of the previously created file in the same pool. Each
        /// server gets equally many stripes, independent of the files' numbers (Lustre:
        /// lustre/lod/lod_qos.c, `lod_ost_alloc_rr`).
        Balance = "balance",
        /// Any, with equal probability.
        Random = "random",
        /// Always server 0.
        Zero = "zero",
    }
}

word! {
    /// Over how many servers one file is spread.
    pub enum ServersPerFile {
        /// Over all of them.
        All = "all",
        /// Over this number.
        Count(u32),
    }
}

impl ServersPerFile {
    /// The number of servers one file is spread over, given how many there are.
    #[must_use]
    pub fn of(self, servers: u32) -> u32 {
        match self {
            ServersPerFile::All => servers,
            ServersPerFile::Count(count) => count.min(servers),
        }
    }
}

section! {
    /// Stripes of equal size on one server after the other, round and round.
    pub struct Striped {
        /// Size of a stripe: the contiguous bytes of a file on one server.
        unit: Bytes = required("64 KiB")
            aka ["stripe", "stripe_size", "stripe_unit", "strip", "strip_size", "stripe_depth"],
        /// Over how many servers one file is spread; where a server has several targets,
        /// over how many of these.
        servers: ServersPerFile as CountOr<ServersPerFile> = default("all", "every file uses every server")
            aka ["count", "stripe_count"],
        /// Server that holds the first stripe of a file.
        first: FirstServer = default("round-robin", "spreads the first stripes evenly")
            aka ["start", "offset"],
    }
    check stripe_is_not_empty;
}

fn stripe_is_not_empty(striped: &Striped, _all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    match striped.unit.0 {
        0 => Err(at.error("unit", r#"expected a size of more than 0 such as "64 KiB""#)),
        _ => Ok(()),
    }
}

impl Striped {
    /// Rejects more targets a file than exist.
    pub(super) fn fits(
        &self,
        layout: &Layout,
        there: u32,
        parallel: &Parallel,
        at: &Place<'_>,
    ) -> Result<(), Error> {
        fits(self.servers, layout, there, parallel, at)
    }
}

/// Rejects more targets a file than exist.
pub(super) fn fits(
    per_file: ServersPerFile,
    layout: &Layout,
    there: u32,
    parallel: &Parallel,
    at: &Place<'_>,
) -> Result<(), Error> {
    match per_file {
        ServersPerFile::Count(wanted) if wanted > there => {}
        _ => return Ok(()),
    }
    let servers = &parallel.servers;
    let copies = parallel.replication.pieces();
    let message = match (servers.targets, &layout.pool) {
        (_, Some(pool)) => format!("pool {pool:?} has fewer targets: {there}"),
        _ if copies > 1 => format!(
            "there are fewer sets of servers with the same data: {there}, because a set has \
                 {copies} servers"
        ),
        (1, None) => format!("there are fewer servers: servers.count = {there}"),
        (targets, None) => format!(
            "there are {there} targets: servers.count = {} and servers.targets = {targets}",
            servers.count
        ),
    };
    Err(at.error("servers", message))
}
