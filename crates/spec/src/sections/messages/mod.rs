//! `[messages]`: how data and what is asked about it cross the network.

mod rendezvous;
mod whole;

pub use rendezvous::Rendezvous;
pub use whole::Whole;

use crate::declare::kinds;

kinds! {
    /// Message protocol between a client and a data server.
    pub enum Messages default "whole", "the fewest messages: data goes along with what is asked or answered" {
        Whole = "whole",
        Rendezvous = "rendezvous",
    }
}

impl Messages {
    /// The limits of an exchange in several messages, if there are any.
    #[must_use]
    pub fn rendezvous(&self) -> Option<&Rendezvous> {
        match self {
            Messages::Whole(_) => None,
            Messages::Rendezvous(rendezvous) => Some(rendezvous),
        }
    }
}
