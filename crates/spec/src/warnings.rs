//! Warnings about valid scenarios whose results need care.

use crate::links;
use crate::sections::{FlowControl, Grain, Scenario};

/// A warning of a result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Caution {
    /// Subject, as a keyword for programs.
    pub condition: &'static str,
    /// Consequence for the result, and the suggested change.
    pub message: String,
}

/// The scenario's warnings.
#[must_use]
pub fn cautions(scenario: &Scenario) -> Vec<Caution> {
    lossless_link(scenario).into_iter().collect()
}

/// At the grain of packets the model is TCP over Ethernet, whose switches drop packets.
fn lossless_link(scenario: &Scenario) -> Option<Caution> {
    let network = &scenario.parallel()?.network;
    let link = network.link.as_deref()?;
    let source = links::lossless(link)?;
    let drops = network.grain == Grain::Packet && network.flow_control == FlowControl::None;
    drops.then(|| Caution {
        condition: "lossless-link",
        message: format!(
            "network.link = {link:?} with network.grain = \"packet\": a sender on this link waits \
             for credits, and no packet is dropped ({source}); the model has TCP over queues that \
             drop packets, and its losses and timeouts are not this link's: take \
             network.flow_control = \"credits\", or grain = \"message\" or \"flow\""
        ),
    })
}
