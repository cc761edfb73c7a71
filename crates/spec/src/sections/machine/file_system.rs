//! `[machine.file_system]`: the file system itself.

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::{Allocation, Device, Journal, JournalMode};
use crate::values::Seconds;

section! {
    /// A file system: its journal, where it puts files, and what its own work
    /// costs the processor. The presets `ext2`, `ext3`, `ext4` and `xfs` fill it.
    pub struct FileSystem {
        /// The journal.
        journal: Journal = section(),
        /// Block allocation of files.
        allocation: Allocation = section(),
        /// Without a journal: whether an fsync writes the file's inode besides its data, as ext4
        /// does. With pointers for blocks (`allocation.mapping`) it always does, as on ext2.
        sync_writes_inode: bool = default(false, "a file's own blocks take no time where nothing is said of them"),
        /// Processor time of each write call besides copying: finding pages,
        /// opening and closing a journal handle.
        write_call: Seconds = default("0 s", "nothing is assumed: measure it"),
        /// Processor time for each page written that is cached already.
        write_page: Seconds = default("0 s", "nothing is assumed: measure it"),
        /// The same where data goes through the journal and the running transaction has the page
        /// already: it joins that only once.
        write_page_in_transaction: Seconds = same(write_page),
        /// Processor time for each block of a written folio of several pages, unless the last-level
        /// cache still has the folio's list of buffer heads (`copying.l3_reach`). ext4 follows that
        /// list, XFS has none. Without `l3_reach` a list is found again only by the next write.
        buffer_head: Seconds = default("0 s", "nothing is assumed: measure it"),
        /// Processor time for each page written that is new: taking memory and
        /// choosing blocks.
        new_page: Seconds = same(write_page),
        /// Processor time for each page written that is not cached and has its blocks: taking
        /// memory alone.
        uncached_page: Seconds = same(new_page),
        /// Processor time for each folio that was not cached, besides its pages: taking it and
        /// putting it into the page cache. A call makes folios of its own length, up to
        /// `memory.largest_folio`.
        new_folio: Seconds = default("0 s", "all of it is counted with the pages: measure it"),
        /// Processor time for each page that is read from the device: the reader allocates memory
        /// and inserts it into the page cache.
        read_page: Seconds = default("0 s", "nothing is assumed: measure it"),
        /// Processor time for each written page, of the flusher or of the process that syncs a
        /// file.
        flush_page: Seconds = default("0 s", "nothing is assumed: measure it"),
        /// Processor time to make a file.
        create: Seconds = default("0 s", "nothing is assumed: measure it"),
        /// Processor time to remove a file.
        unlink: Seconds = default("0 s", "nothing is assumed: measure it"),
        /// Processor time of any other call on names and attributes.
        lookup: Seconds = default("0 s", "nothing is assumed: measure it") aka ["stat"],
    }
    removed {
        "buffer_head_in_l2": Seconds = default("0 s"), "lists in the processor's caches take no time: give \"buffer_head\" alone";
        "buffer_head_in_l3": Seconds = default("0 s"), "lists in the processor's caches take no time: give \"buffer_head\" alone";
        "buffer_heads": bool = default(false), "give \"buffer_head\", the time of each";
        "new_folio_order": Seconds = default("0 s"), "folios of all sizes take \"new_folio\"";
    }
}

/// Rejects a journal that does not fit on the device; `at` has the file system.
pub(super) fn journal_fits(
    file_system: &FileSystem,
    device: &Device,
    at: &Place<'_>,
) -> Result<(), Error> {
    let journal = &file_system.journal;
    match device.capacity() {
        Some(capacity) if journal.mode != JournalMode::None && journal.size >= capacity => {
            let message = format!("expected less than the device holds, \"{capacity}\"");
            let at = at.field("file_system");
            Err(at.field("journal").error("size", message))
        }
        _ => Ok(()),
    }
}
