//! `[scheduler]`: who decides which job is served next.

mod fifo;
mod none;
mod sfq;

pub use fifo::Fifo;
pub use none::NoScheduler;
pub use sfq::Sfq;

use crate::declare::{kinds, section};
use crate::values::{Seconds, choice};

choice! {
    /// Where schedulers stand.
    pub enum Position {
        /// One before each data server.
        Server = "server",
        /// One on each client.
        Client = "client",
        /// One between all clients and all servers.
        Gateway = "gateway",
    }
}

section! {
    /// The schedulers of jobs.
    pub struct Scheduler {
        /// How the next job is chosen.
        #[serde(flatten)]
        kind: SchedulerKind = kinds(),
        /// Where the schedulers stand: one before each data `server`, one on each
        /// `client`, or one `gateway` between them.
        position: Position = default("server", "PFSsim, Liu et al. 2011, section 5: a proxy on every data server"),
        /// Time that a message from one scheduler to another takes.
        message_latency: Option<Seconds> = optional("network.latency"),
    }
}

kinds! {
    /// The ways to choose the next job.
    pub enum SchedulerKind default "none", "jobs go on as they come" {
        NoScheduler = "none",
        Fifo = "fifo",
        Sfq = "sfq",
    }
}
