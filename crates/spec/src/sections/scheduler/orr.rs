//! `kind = "orr"` and `kind = "trr"`: Lustre's round robin over objects and targets.

use crate::declare::section;
use crate::values::{AtLeastOne, choice};

choice! {
    /// Jobs that are ordered by offset.
    pub enum Ordered {
        /// Reads; others go first come, first served.
        Reads = "reads",
        /// Writes; others go first come, first served.
        Writes = "writes",
        /// Reads and writes.
        ReadsAndWrites = "reads-and-writes",
    }
}

section! {
    /// Object-based round robin, ORR, of Lustre's network request scheduler: batches of jobs, each
    /// of one file, in order of their offsets. Sources: Qian et al. 2013; Lustre manual, section
    /// "Object-based Round-Robin (ORR) policy".
    pub struct Orr {
        /// Maximum number of dispatched jobs: Lustre's service threads.
        depth: u32 as AtLeastOne = required(4) aka ["threads"],
        /// The most jobs of a batch.
        quantum: u32 as AtLeastOne = default(256, "Lustre, nrs_orr.c: NRS_ORR_QUANTUM_DFLT") aka ["nrs_orr_quantum"],
        /// Jobs that are ordered: `reads`, `writes` or `reads-and-writes`.
        ordered: Ordered = default("reads", "Lustre manual: nrs_orr_supported") aka ["supported", "nrs_orr_supported"],
    }
}

section! {
    /// Target-based round robin, TRR, of Lustre's network request scheduler: batches
    /// of jobs, each of one data server, in order of file and offset. Before a
    /// server there is one target, and its batches follow each other.
    pub struct Trr {
        /// Maximum number of dispatched jobs: Lustre's service threads.
        depth: u32 as AtLeastOne = required(4) aka ["threads"],
        /// The most jobs of a batch.
        quantum: u32 as AtLeastOne = default(256, "Lustre, nrs_orr.c: NRS_ORR_QUANTUM_DFLT") aka ["nrs_trr_quantum"],
        /// Jobs that are ordered: `reads`, `writes` or `reads-and-writes`.
        ordered: Ordered = default("reads", "Lustre manual: nrs_trr_supported") aka ["supported", "nrs_trr_supported"],
    }
}
