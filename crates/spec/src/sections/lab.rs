//! `[lab]`: what only `headrace lab` asks for.

use crate::declare::section;
use crate::values::{AtLeastOne, Bytes};

section! {
    /// Settings of `headrace lab`, which sets up the scenario on one machine. They do not affect a
    /// simulation.
    pub struct Lab {
        /// The programs that serve: "none", "glusterfs" or "moosefs".
        server: Option<String> = optional("glusterfs where `system` is so; else none: file systems of the hosts' own"),
        /// GlusterFS volume type: "distribute", "disperse" or "shard". Copies are those of
        /// `replication.copies`.
        volume: Option<String> = optional("distribute"),
        /// Number of bricks of a dispersed volume that may be lost.
        redundancy: Option<u32> as Option<AtLeastOne> = optional("1"),
        /// The file system on each disk: "ext2", "ext3", "ext4", "xfs" or "btrfs".
        file_system: Option<String> = optional("the one that the machine's journal and mapping make; ext4 below a simple server"),
        /// Mount options besides those that follow from the machine.
        mount_options: Option<String> = optional("none"),
        /// Size of each disk: a sparse file, which occupies only the written blocks.
        image: Option<Bytes> = optional("16 GiB"),
        /// Directory of these files.
        directory: Option<String> = optional("/var/lib/headrace/labs"),
    }
}
