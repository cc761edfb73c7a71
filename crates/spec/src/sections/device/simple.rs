//! `kind = "simple"`: a queue with a rate.

use crate::declare::section;
use crate::values::{Rate, Seconds};

section! {
    /// One request after the other, each for a fixed time and its bytes at a
    /// rate. Not modelled: seeks, rotation, the order of requests.
    pub struct SimpleDevice {
        /// Rate of reading.
        read_rate: Rate = required("60 MB/s") aka ["read", "read_bandwidth"],
        /// Rate of writing.
        write_rate: Rate = required("60 MB/s") aka ["write", "write_bandwidth"],
        /// Time that each request takes in addition.
        time_per_request: Seconds = default("0 s", "nothing is assumed: measure it")
            aka ["overhead", "seek_time"],
    }
}
