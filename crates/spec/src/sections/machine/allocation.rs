//! `[machine.file_system.allocation]`: where a file's blocks lie.

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::Scenario;
use crate::values::{AtLeastOne, Bytes, choice};

choice! {
    /// Block mapping of a file system.
    pub enum Mapping {
        /// A pointer to each block, in indirect blocks (ext2, ext3).
        Indirect = "indirect",
        /// The first block and the length of each contiguous run (ext4, XFS).
        Extents = "extents",
    }
}

section! {
    /// Block allocation of files on the device, and their block mapping.
    pub struct Allocation {
        /// Block mapping of files.
        mapping: Mapping = default("extents", "ext4 and XFS"),
        /// If true, blocks are chosen when data is written back rather than when it is written.
        delayed: bool = default(false, "ext2 and ext3 choose at once"),
        /// The size of a group of blocks of 4 KiB; files are spread over the groups.
        group: Bytes = default("128 MiB", "8 blocks of 4 KiB bitmap: mke2fs"),
        /// In how many pieces each group's part of a file lies: 1 is contiguous.
        fragments: u32 as AtLeastOne = default(1, "a fresh file system") aka ["fragmentation"],
    }
    check groups_hold_whole_blocks;
}

/// Bytes of a file system's block.
const BLOCK: u64 = 4096;

fn groups_hold_whole_blocks(
    allocation: &Allocation,
    _all: &Scenario,
    at: &Place<'_>,
) -> Result<(), Error> {
    let group = allocation.group.0;
    if group < 1 << 20 {
        return Err(at.error("group", r#"expected at least "1 MiB""#));
    }
    if !group.is_multiple_of(BLOCK) {
        // The nearest that people write.
        let nearest = Bytes((group + (1 << 19)) >> 20 << 20);
        let message = format!(
            "a group has whole blocks of {BLOCK} B: expected a multiple, such as \"{nearest}\""
        );
        return Err(at.error("group", message));
    }
    Ok(())
}
