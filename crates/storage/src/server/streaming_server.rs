//! A data server whose device is a part of the network's paths: data passes the device while it is
//! in transit.
//!
//! ```text
//!   received ─▶ (daemon) ─▶ [reply] ─▶ send
//! ```
//!
//! A write has passed the device when it is here; a read passes it on its way back.
//!
//! Not modelled: the device, except for a rate of reading and one of writing, which do not slow
//! each other.

use headrace_net::{Fcfs, Page, Span};
use headrace_spec::Parallel;

use super::DaemonPorts;
use crate::tokens::Job;

/// Writes what of a data server is behind its scheduler, if data streams through it.
pub(super) fn server(page: &mut Page<'_>, scenario: &Parallel, jobs: DaemonPorts) {
    let DaemonPorts {
        received,
        reply,
        served: count,
        ..
    } = jobs;
    let daemon = &scenario.servers.daemon;
    let done = match Span::from_seconds(daemon.time_per_job.0) {
        Span::ZERO => received,
        work => {
            let daemon = page.station("daemon", Fcfs::new(daemon.threads, work));
            page.connect(received, daemon);
            daemon
        }
    };
    page.transition("reply")
        .take(done)
        .with(count)
        .put(reply.send, move |_, job: Job, served| {
            reply.to(served.count(job))
        });
}
