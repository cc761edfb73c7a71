//! `kind = "rendezvous"`: the data of large jobs follows once both sides are ready.

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::{Position, Scenario};
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
    if messages.buffer.0 == 0 {
        return Err(at.error(
            "buffer",
            r#"expected a size of more than 0 such as "256 KiB""#,
        ));
    }
    let Some(parallel) = all.parallel() else {
        return Ok(());
    };
    if parallel.servers.streaming {
        let message = "data that passes network and device at once is in no buffers: \
                       servers.streaming = true; expected \"whole\"";
        return Err(at.error("kind", message));
    }
    let in_network = [Position::Gateway, Position::Proxy];
    if let Some(scheduler) = parallel.scheduler_in(&in_network) {
        let message = format!(
            "a scheduler in the network sees messages, not jobs: scheduler.position = \"{}\"; \
             expected \"whole\", or schedulers at the \"server\" or \"client\"",
            scheduler.position.word()
        );
        return Err(at.error("kind", message));
    }
    Ok(())
}
