//! `kind = "fifo"`: first come, first served.

use crate::declare::section;
use crate::values::AtLeastOne;

section! {
    /// Jobs go on in the order in which they come.
    pub struct Fifo {
        /// How many jobs may be with a server at once.
        depth: Option<u32> as Option<AtLeastOne> = optional("any number"),
    }
}
