//! `[scheduler]`: who decides which job is served next.

mod crrn;
mod dsfq;
mod edf;
mod fifo;
mod groups;
mod mclock;
mod none;
mod orr;
mod python;
mod round_robin;
mod sfq;
mod sfq_plus;
mod tbf;
mod two_level;

pub use crrn::Crrn;
pub use dsfq::Dsfq;
pub use edf::Edf;
pub use fifo::Fifo;
pub use mclock::Mclock;
pub use none::NoScheduler;
pub use orr::{Ordered, Orr, Trr};
pub use python::{ClassOption, ClassOptions, PythonClass, PythonScheduler};
pub use round_robin::{Class, RoundRobin};
pub use sfq::Sfq;
pub use sfq_plus::SfqPlus;
pub use tbf::Tbf;
pub use two_level::TwoLevel;

use crate::declare::{kinds, section};
use crate::values::{Seconds, choice};

choice! {
    /// Position of schedulers.
    pub enum Position {
        /// One before each data server.
        Server = "server",
        /// One on each client.
        Client = "client",
        /// One between all clients and all servers.
        Gateway = "gateway",
        /// One in the network before each data server.
        Proxy = "proxy",
        /// One before each metadata server.
        Metadata = "metadata",
    }
}

section! {
    /// The schedulers of jobs.
    pub struct Scheduler {
        /// Kind of scheduler.
        #[serde(flatten)]
        kind: SchedulerKind = kinds(),
        /// Position of the schedulers: one behind the network card of each data `server`, one on
        /// each `client`, one `gateway` between them, one `proxy` in the network before the card of
        /// each data server, or one behind the card of each `metadata` server.
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
        RoundRobin = "round-robin",
        Sfq = "sfq",
        SfqPlus = "sfq-plus",
        Dsfq = "dsfq",
        Edf = "edf",
        TwoLevel = "two-level",
        Mclock = "mclock",
        Crrn = "crrn",
        Orr = "orr",
        Trr = "trr",
        Tbf = "tbf",
        PythonScheduler = "python",
    }
}
