//! `[machine.file_system.journal]`: the journal.

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::Scenario;
use crate::values::{Bytes, Fraction, Seconds, choice};

choice! {
    /// Journal mode.
    pub enum JournalMode {
        /// There is no journal (ext2).
        None = "none",
        /// Metadata; data is written whenever.
        WriteBack = "writeback",
        /// Metadata, after the data that it names.
        Ordered = "ordered",
        /// Metadata and data.
        Data = "journal",
        /// Records of what changed rather than whole blocks (XFS).
        Log = "log",
    }
}

section! {
    /// The journal: a transaction gathers changes and is committed after a
    /// while, or when a process waits for it.
    pub struct Journal {
        /// Journal mode.
        mode: JournalMode = default("none", "nothing is assumed") aka ["data"],
        /// Its size on the device.
        size: Bytes = default("128 MiB", "mke2fs for file systems of 16 GiB to 32 GiB: e2fsprogs, lib/ext2fs/mkjournal.c"),
        /// Commit interval of the journal.
        commit_interval: Seconds = default("5 s", "JBD2_DEFAULT_MAX_COMMIT_AGE of Linux") aka ["commit"],
        /// The free part of the journal below which its blocks are written to their places
        /// (checkpoint): ext3 does so between 1/2 and 1/4. With data in it, a third, the largest
        /// transaction, if that is more.
        checkpoint_at: f64 as Fraction = default(0.25, "a quarter, the least that a transaction may need: Linux, fs/jbd2/journal.c"),
        /// If true, the device's write cache is flushed around the commit record.
        barriers: bool = default(true, "the mount option barrier=1 of Linux"),
    }
    check journal_holds_something;
}

fn journal_holds_something(
    journal: &Journal,
    _all: &Scenario,
    at: &Place<'_>,
) -> Result<(), Error> {
    if journal.mode != JournalMode::None && journal.size.0 < 1 << 20 {
        return Err(at.error("size", r#"expected at least "1 MiB""#));
    }
    // The kernel's clock ticks no more often than each millisecond (CONFIG_HZ of Linux).
    if journal.commit_interval.0 < 0.001 {
        return Err(at.error(
            "commit_interval",
            r#"expected at least "1 ms", such as "5 s""#,
        ));
    }
    Ok(())
}
