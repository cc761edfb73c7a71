//! A metadata server: answers where files are, and does what changes names.
//!
//! ```text
//!   receive ─▶ (processor) ─▶ [answer] ─▶ send
//! ```
//!
//! Not modelled: its own storage, locks, the tree of names.

use headrace_net::{Fcfs, Node, Page, Span, To};
use headrace_spec::Parallel;

use crate::network::Wire;
use crate::tokens::{Direction, Job};

/// Writes the page of a metadata server that takes jobs from `received` and
/// puts answers into `send`.
pub fn server(page: &mut Page<'_>, scenario: &Parallel, received: Node<Job>, send: To<Job>) {
    let wire = Wire::new(&scenario.network);
    let time = Span::from_seconds(scenario.metadata.time_per_operation.0);
    let done = match time {
        Span::ZERO => received,
        time => {
            let processor = page.station("processor", Fcfs::new(1, time));
            page.connect(received, processor);
            processor
        }
    };
    page.transition("answer")
        .take(done)
        .put(send, move |_, job: Job, ()| Job {
            direction: Direction::Back,
            wire: wire.bytes(0),
            ..job
        });
}
