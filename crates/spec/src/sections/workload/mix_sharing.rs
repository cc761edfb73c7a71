//! Processes that execute an operation on the common file together.

use super::{MixedOperation, OperationMix};
use crate::Error;
use crate::declare::Place;
use crate::values::choice;

choice! {
    /// By whom `shared-read`, `shared-write` and `shared-read-write` are executed: a process that
    /// draws such an operation waits until all participants are idle. Then all begin at the same
    /// moment (Wang 2002, section 3.3.6).
    pub enum Sharing {
        /// By whichever process draws one, without the others.
        None = "none",
        /// By all processes of the client.
        Client = "client",
        /// By one process of each client that has operations left, the next that is free.
        Clients = "clients",
    }
}

impl Sharing {
    /// Rejects options without effect.
    pub(super) fn suits(mix: &OperationMix, at: &Place<'_>) -> Result<(), Error> {
        if mix.sharing == Sharing::None {
            return Ok(());
        }
        if !mix.weights.values().any(MixedOperation::is_shared) {
            let message = "no operation of the mix is shared: give shared-read, shared-write or \
                           shared-read-write a weight, or leave it out";
            return Err(at.error("sharing", message));
        }
        Ok(())
    }
}
