//! `kind = "shared"`: a rate that is shared fairly.

use crate::declare::section;
use crate::values::{Rate, Seconds};

section! {
    /// All requests at once: n requests each get 1/n of the rate (processor sharing). A fair queue
    /// in the device or a virtual disk behaves so. Not modelled: seeks, rotation, the order of
    /// requests.
    pub struct SharedDevice {
        /// Rate of reading, of all requests together.
        read_rate: Rate = required("500 MB/s") aka ["read", "read_bandwidth"],
        /// Rate of writing, of all requests together.
        write_rate: Rate = required("500 MB/s") aka ["write", "write_bandwidth"],
        /// Time that each request takes in addition, if it is alone; it is shared as the bytes'
        /// time is.
        time_per_request: Seconds = default("0 s", "nothing is assumed: measure it")
            aka ["overhead", "seek_time"],
    }
}
