//! A metadata server: answers where files are, and does what changes names.
//!
//! ```text
//!   receive ─▶ (processor) ─▶ [answer] ─▶ send
//! ```
//!
//! Not modelled: its own storage, locks, the tree of names.

use headrace_net::{Fcfs, Page, Port, Span};
use headrace_spec::Scenario;

use crate::network::Wire;
use crate::tokens::{Direction, Job};

/// A server's ways in and out.
pub struct ServerPorts {
    /// Jobs that arrive from the network.
    pub receive: Port<Job>,
    /// Jobs that go back.
    pub send: Port<Job>,
}

/// Writes the page of a metadata server.
pub fn server(page: &mut Page<'_>, scenario: &Scenario) -> ServerPorts {
    let wire = Wire::new(&scenario.network);
    let ports = ServerPorts {
        receive: page.input("receive"),
        send: page.output("send"),
    };
    let time = Span::from_seconds(scenario.metadata.time_per_operation.0);
    let processor = match time {
        Span::ZERO => page.place("processor"),
        time => page.station("processor", Fcfs::new(1, time)),
    };
    page.connect(ports.receive, processor);
    page.transition("answer")
        .take(processor)
        .put(ports.send, move |_, job: Job, ()| Job {
            direction: Direction::Back,
            wire: wire.bytes(0),
            ..job
        });
    ports
}
