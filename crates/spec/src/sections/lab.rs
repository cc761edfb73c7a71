//! `[lab]`: what only `headrace lab` asks for.

use crate::declare::section;
use crate::values::{AtLeastOne, Bytes};

section! {
    /// What `headrace lab` needs to stand the scenario up on one machine and a
    /// simulation does not. Nothing of it changes a simulation.
    pub struct Lab {
        /// The programs that serve: "none", "glusterfs" or "moosefs".
        server: Option<String> = optional("glusterfs where `system` is so; else none: file systems of the hosts' own"),
        /// How GlusterFS lays files over its bricks: "distribute", "disperse" or
        /// "shard". Copies are those of `replication.copies`.
        volume: Option<String> = optional("distribute"),
        /// How many bricks of a dispersed volume may be lost.
        redundancy: Option<u32> as Option<AtLeastOne> = optional("1"),
        /// The file system on each disk: "ext2", "ext3", "ext4", "xfs" or "btrfs".
        file_system: Option<String> = optional("the one that the machine's journal and mapping make; ext4 below a simple server"),
        /// Mount options besides those that follow from the machine.
        mount_options: Option<String> = optional("none"),
        /// How large each disk is: a sparse file, which takes what is written to it.
        image: Option<Bytes> = optional("16 GiB"),
        /// Where these files are made.
        directory: Option<String> = optional("/var/lib/headrace/labs"),
    }
}
