//! `kind = "rendezvous"`: the data of large jobs follows once both sides are ready.

use super::suits_data_in_parts;
use crate::Error;
use crate::declare::{Place, section};
use crate::sections::Scenario;
use crate::values::{AtLeastOne, Bytes};

section! {
    /// Small jobs go as with `whole` (eager). For a large one the client first asks the server,
    /// which replies. Then the data flows in buffers, and the server acknowledges written data. A
    /// read takes one more message, a write two.
    pub struct Rendezvous {
        /// The largest message that goes without asking, `network.message` included.
        eager_limit: Bytes = default("16 KiB", "OrangeFS, bmi_tcp: TCP_MODE_EAGER_LIMIT 16384, the largest unexpected message; sys-io.sm compares a server's part of a request with it")
            aka ["small_io", "eager"],
        /// Bytes of a buffer: the data of a large job crosses the network and reaches
        /// the server's file system in such parts.
        buffer: Bytes = default("256 KiB", "OrangeFS, FlowBufferSizeBytes") aka ["flow_buffer", "buffer_size"],
        /// Buffers of a job that may be between the two file systems at a time.
        buffers: u32 as AtLeastOne = default(8, "OrangeFS, FlowBuffersPerFlow") aka ["flow_buffers"],
    }
    check suits_the_rest;
}

fn suits_the_rest(messages: &Rendezvous, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    suits_data_in_parts(messages.buffer, all, at)
}
