//! `kind = "striped"`: pieces of equal size, one server after the other.

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::Scenario;
use crate::values::{Bytes, CountOr, choice, word};

choice! {
    /// Which server holds the first stripe of a file.
    pub enum FirstServer {
        /// The one after the previous file's first server.
        RoundRobin = "round-robin",
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
        /// Over so many.
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
        /// Which server holds the first stripe of a file.
        first: FirstServer = default("round-robin", "spreads the first stripes evenly")
            aka ["start", "offset"],
    }
    check stripes_fit;
}

fn stripes_fit(striped: &Striped, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    if striped.unit.0 == 0 {
        return Err(at.error("unit", r#"expected a size of more than 0 such as "64 KiB""#));
    }
    let Some(parallel) = all.parallel() else {
        return Ok(());
    };
    let there = parallel.places();
    match striped.servers {
        ServersPerFile::Count(wanted) if wanted > there => {
            let servers = &parallel.servers;
            let message = match servers.targets {
                _ if parallel.replication.copies > 1 => format!(
                    "there are fewer sets of servers with the same data: {there}, because \
                     replication.copies = {}",
                    parallel.replication.copies
                ),
                1 => format!("there are fewer servers: servers.count = {there}"),
                targets => format!(
                    "there are {there} targets: servers.count = {} and servers.targets = {targets}",
                    servers.count
                ),
            };
            Err(at.error("servers", message))
        }
        _ => Ok(()),
    }
}
