//! `kind = "pairs"`: a link between every two hosts.

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::{Grain, Scenario};

section! {
    /// Every client has a link of its own to every server: for bandwidths that were
    /// measured between pairs of hosts.
    pub struct Pairs {}
    check links_carry_messages;
}

fn links_carry_messages(_: &Pairs, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    match all.parallel() {
        Some(parallel) if parallel.network.grain != Grain::Message => {
            let message = format!(
                "a link between two hosts carries one message after the other: expected \
                 network.grain = \"message\" in place of \"{}\"",
                parallel.network.grain.word()
            );
            Err(at.error("kind", message))
        }
        _ => Ok(()),
    }
}
