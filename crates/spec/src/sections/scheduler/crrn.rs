//! `kind = "crrn"`: Lustre's client round robin.

use crate::declare::section;
use crate::values::AtLeastOne;

section! {
    /// Client round robin over NIDs, CRR-N, of Lustre's network request scheduler: batches of jobs,
    /// each of one client. Sources: Qian et al. 2013; Lustre manual, section "Client Round-Robin
    /// over NIDs (CRR-N) policy".
    pub struct Crrn {
        /// Maximum number of dispatched jobs: Lustre's service threads.
        depth: u32 as AtLeastOne = required(4) aka ["threads"],
        /// The most jobs of a batch.
        quantum: u32 as AtLeastOne = default(8, "Lustre, nrs_crr.c: OBD_MAX_RIF_DEFAULT, a client's RPCs in flight") aka ["nrs_crrn_quantum"],
    }
}
