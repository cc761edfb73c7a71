//! `kind = "database"`: entries on a device.

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::{Device, IoScheduler, Scenario};
use crate::values::{Bytes, CountOr, Limit};

section! {
    /// An entry for each file, on a device of the metadata server, with some of them in
    /// memory. A change is written to the end of a log.
    pub struct Database {
        /// Bytes that are read for an entry which is not in memory, and written for one
        /// that is changed.
        entry: Bytes = default("4 KiB", "a block of ext4's directories, a page of Berkeley DB and of LMDB"),
        /// Room for entries in memory; 0: every one is read when it is needed.
        cache: Option<Bytes> = optional("all of them fit"),
        /// If true, the server acknowledges a change only when the device has it.
        synchronous: bool = default(true, "PVFS2: TroveSyncMeta yes, as pvfs2-genconfig writes it") aka ["sync"],
        /// Maximum number of changes committed with one flush: those that wait when the last write
        /// ends.
        group: Limit as CountOr<Limit> = default("unlimited", "as a journal commits") aka ["coalescing"],
        /// The queue of the device.
        io_scheduler: IoScheduler = section() aka ["elevator"],
        /// Device that stores the metadata.
        device: Device = section() aka ["disk", "storage"],
    }
    check entries_fit;
}

fn entries_fit(database: &Database, _all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    let entry = database.entry.0;
    if entry == 0 || !entry.is_multiple_of(512) {
        return Err(at.error("entry", r#"expected a multiple of 512 B such as "4 KiB""#));
    }
    if let Some(cache) = database.cache.filter(|cache| cache.0 > 0)
        && cache.0 < entry
    {
        let message = format!(
            "expected 0 or at least an entry: metadata.entry = \"{}\"",
            database.entry
        );
        return Err(at.error("cache", message));
    }
    let capacity = database.device.capacity();
    if let Some(capacity) = capacity.filter(|capacity| capacity.0 < 4 * entry) {
        let message = format!("the device holds {capacity}: expected at most a fourth of it");
        return Err(at.error("entry", message));
    }
    Ok(())
}
