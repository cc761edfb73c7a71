//! `kind = "local"`: a local file system.

use crate::declare::section;
use crate::sections::Machine;

section! {
    /// A local file system on every client.
    pub struct Local {
        /// Machine of each client.
        machine: Machine = section() aka ["host"],
    }
}
