//! The two directions of a host's jobs.

use headrace_net::{Node, Page, To};

use crate::tokens::Job;

/// Both directions between a part of a host and its network.
///
/// A stage stands in them: it takes the directions on its outer side and returns those on its inner
/// side. They are the same ones if the scenario has no such stage. A host is a list of stages.
///
/// ```text
///                  ┌───────┐
///   received ─────▶│       │─────▶ received
///       send ◀─────│ stage │◀───── send
///                  └───────┘
/// ```
#[derive(Clone, Copy)]
pub struct Duplex {
    /// Destination of jobs that leave.
    pub send: To<Job>,
    /// Jobs that have arrived.
    pub received: Node<Job>,
}

impl Duplex {
    /// Separates the arrived jobs that pass a test from the others. The names are of the transition
    /// and the two places.
    pub fn separate(
        self,
        page: &mut Page<'_>,
        transition: &str,
        [passing, others]: [&str; 2],
        test: impl Fn(&Job) -> bool + Send + 'static,
    ) -> (Node<Job>, Duplex) {
        let (passing, others) = (page.place(passing), page.place(others));
        let (to_passing, to_others): (To<Job>, To<Job>) = (passing.into(), others.into());
        page.transition(transition).take(self.received).route(
            [to_passing, to_others],
            move |_, job: &mut Job, ()| match test(job) {
                true => to_passing,
                false => to_others,
            },
        );
        let received = others;
        (passing, Duplex { received, ..self })
    }
}
