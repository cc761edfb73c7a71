//! `kind = "striped"`: pieces of equal size, one server after the other.

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::{Layout, Parallel, Scenario};
use crate::values::{AtLeastOne, Bytes, CountOr, choice, word};

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
        /// Objects of a file, if several may lie on one target (overstriping: `lfs setstripe
        /// --overstripe-count`). Stripe n is of object n modulo this number, on the file's first
        /// target plus the object's number modulo `servers`. Each object has locks of its own.
        /// Requests, cache and device see the objects on one target as one.
        overstripe_count: Option<u32> as Option<AtLeastOne> = optional("one object on each of its servers or targets")
            aka ["overstripe", "overstriping", "objects"],
        /// Server that holds the first stripe of a file.
        first: FirstServer = default("round-robin", "spreads the first stripes evenly")
            aka ["start", "offset"],
    }
    check stripes_and_objects_fit;
}

/// The most objects of a file: maximum stripe count, Lustre Operations Manual, "File and file system
/// limits".
const MOST_OBJECTS: u32 = 2000;

fn stripes_and_objects_fit(striped: &Striped, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    if striped.unit.0 == 0 {
        return Err(at.error("unit", r#"expected a size of more than 0 such as "64 KiB""#));
    }
    let Some(objects) = striped.overstripe_count else {
        return Ok(());
    };
    if objects > MOST_OBJECTS {
        let message = format!("expected at most {MOST_OBJECTS}, as in Lustre");
        return Err(at.error("overstripe_count", message));
    }
    match all.parallel() {
        Some(parallel) if parallel.locks.extent().is_none() => {
            let message = "only locks tell the objects on one target apart: expected locks.kind = \
                           \"extent\", as in Lustre; or leave it out";
            Err(at.error("overstripe_count", message))
        }
        _ => Ok(()),
    }
}

impl Striped {
    /// Number of targets that one file is spread over, given how many there are.
    #[must_use]
    pub fn width(&self, targets: u32) -> u32 {
        let width = self.servers.of(targets);
        self.overstripe_count.map_or(width, |it| it.min(width))
    }

    /// Number of objects of a file, if it has more than one on some target.
    #[must_use]
    pub fn objects(&self, targets: u32) -> Option<u32> {
        self.overstripe_count
            .filter(|it| *it > self.servers.of(targets))
    }

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
