//! `kind = "local"`: a local file system.

use crate::declare::section;
use crate::sections::Machine;

section! {
    /// A local file system on every client.
    pub struct Local {
        /// What each client is made of.
        machine: Machine = section() aka ["host"],
    }
}
