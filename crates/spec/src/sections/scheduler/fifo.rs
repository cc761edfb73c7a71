//! `kind = "fifo"`: first come, first served.

use crate::declare::section;
use crate::values::AtLeastOne;

section! {
    /// Jobs go on in the order in which they come.
    pub struct Fifo {
        /// Maximum number of dispatched jobs: before a server, with that server; at a gateway, with
        /// all servers together.
        depth: Option<u32> as Option<AtLeastOne> = optional("any number"),
    }
}
