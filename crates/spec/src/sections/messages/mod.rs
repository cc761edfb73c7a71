//! `[messages]`: the messages that carry data and requests.

mod rdma;
mod rendezvous;
mod whole;

pub use rdma::Rdma;
pub use rendezvous::Rendezvous;
pub use whole::Whole;

use crate::Error;
use crate::declare::{Place, kinds};
use crate::sections::{Position, Scenario};
use crate::values::Bytes;

kinds! {
    /// Message protocol between a client and a data server.
    pub enum Messages default "whole", "the fewest messages: data goes along with what is asked or answered" {
        Whole = "whole",
        Rendezvous = "rendezvous",
        Rdma = "rdma",
    }
}

impl Messages {
    /// The limits of an exchange in several messages, if there are any.
    #[must_use]
    pub fn rendezvous(&self) -> Option<&Rendezvous> {
        match self {
            Messages::Whole(_) | Messages::Rdma(_) => None,
            Messages::Rendezvous(rendezvous) => Some(rendezvous),
        }
    }

    /// RDMA, if servers move data by it.
    #[must_use]
    pub fn rdma(&self) -> Option<&Rdma> {
        match self {
            Messages::Rdma(rdma) => Some(rdma),
            _ => None,
        }
    }
}

/// Checks what protocols have in common that move data in buffers of this size.
fn suits_data_in_parts(buffer: Bytes, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    if buffer.0 == 0 {
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
