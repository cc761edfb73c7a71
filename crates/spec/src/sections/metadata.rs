//! `[metadata]`: the servers that know where the data is.

use crate::declare::section;
use crate::sections::Card;
use crate::values::{AtLeastOne, Seconds};

section! {
    /// The metadata servers.
    pub struct Metadata {
        /// How many metadata servers there are.
        servers: u32 as AtLeastOne = default(1, "the smallest system that works") aka ["count"],
        /// Time that a metadata server takes for an operation.
        time_per_operation: Seconds = default("0 s", "nothing is assumed: measure it"),
        /// Whether a client asks only once for the layout of a file.
        client_cache: bool = default(true, "PFSsim, Liu et al. 2011, section 4.1: the client looks in its own cache first"),
        /// The metadata servers' network cards.
        card: Card = section(),
    }
}
