//! `[clients.machine.attributes]`: validity of a client's cached attributes of files.

use crate::Error;
use crate::declare::{Place, kinds, section};
use crate::sections::Scenario;
use crate::values::Seconds;

section! {
    /// Client cache of file attributes and names.
    pub struct Attributes {
        /// For how long it believes them.
        #[serde(flatten)]
        kind: AttributeCache = kinds(),
    }
}

kinds! {
    /// Validity of a client's cached attributes of a file.
    pub enum AttributeCache default "asked", "nothing is assumed" {
        AskedAttributes = "asked",
        TimedAttributes = "timed",
        OpportunisticLocks = "oplocks",
    }
}

section! {
    /// Attributes are asked for each time, and data in the cache is never checked.
    pub struct AskedAttributes {}
}

section! {
    /// For a limited time, as NFS clients do. The timeout starts at the shortest and doubles, up to
    /// the longest, with each check at the server that finds no change. A change resets it to the
    /// shortest. Until then names, attributes and cached data need no message. Afterwards the
    /// client asks the server first, and re-reads a file that has changed. All times 0: `noac`.
    pub struct TimedAttributes {
        /// The shortest time for a file.
        file_min: Seconds = default("3 s", "nfs(5), acregmin; NFS_DEF_ACREGMIN in Linux, include/linux/nfs_fs.h") aka ["acregmin"],
        /// The longest time for a file.
        file_max: Seconds = default("60 s", "nfs(5), acregmax") aka ["acregmax"],
        /// The shortest time for a directory, and so for the names in it.
        directory_min: Seconds = default("30 s", "nfs(5), acdirmin") aka ["acdirmin"],
        /// The longest time for a directory.
        directory_max: Seconds = default("60 s", "nfs(5), acdirmax") aka ["acdirmax"],
        /// If true, opening a file asks the server, even if its attributes are fresh, and closing
        /// it has the server store written data (close-to-open consistency).
        close_to_open: bool = default(true, "nfs(5), cto") aka ["cto"],
    }
    check shortest_before_longest;
}

section! {
    /// As long as no other client can change them, as CIFS clients do. A client that has opened a
    /// file alone caches all of it, and needs no message to look at it or to open it again. When
    /// another one opens it, the first flushes its dirty data to the server, and the other waits
    /// for that. Then both cache their reads. Once one of them writes, none caches it: every
    /// request goes to the server.
    pub struct OpportunisticLocks {
        /// If true, several clients may cache their reads of a file that none of them writes.
        level_two: bool = default(true, "[MS-CIFS], section 3.2.4.18: granted where an exclusive lock is not available"),
    }
}

fn shortest_before_longest(
    times: &TimedAttributes,
    _all: &Scenario,
    at: &Place<'_>,
) -> Result<(), Error> {
    for (field, longest, least, most) in [
        ("file_min", "file_max", times.file_min, times.file_max),
        (
            "directory_min",
            "directory_max",
            times.directory_min,
            times.directory_max,
        ),
    ] {
        if least > most {
            let path = at.field(longest).path;
            let message = format!("expected at most the longest time: {path} = \"{most}\"");
            return Err(at.error(field, message));
        }
    }
    Ok(())
}

impl Attributes {
    /// The times, if attributes are cached for some.
    #[must_use]
    pub fn timed(&self) -> Option<&TimedAttributes> {
        match &self.kind {
            AttributeCache::TimedAttributes(times) => Some(times),
            _ => None,
        }
    }

    /// Returns true if closing a file sends written data to the servers.
    #[must_use]
    pub fn closing_writes_back(&self) -> bool {
        self.oplocks().is_some() || self.timed().is_some_and(|it| it.close_to_open)
    }

    /// The opportunistic locks, if clients cache under them.
    #[must_use]
    pub fn oplocks(&self) -> Option<&OpportunisticLocks> {
        match &self.kind {
            AttributeCache::OpportunisticLocks(locks) => Some(locks),
            _ => None,
        }
    }
}
