//! `[scheduler]`: the order in which jobs are served.

mod crrn;
mod dsfq;
mod edf;
mod fifo;
mod groups;
mod least_loaded;
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
pub use least_loaded::{Choices, KnownLoad, LeastLoaded};
pub use mclock::Mclock;
pub use none::NoScheduler;
pub use orr::{Ordered, Orr, Trr};
pub use python::{ClassOption, ClassOptions, PythonClass, PythonScheduler};
pub use round_robin::{Class, RoundRobin};
pub use sfq::Sfq;
pub use sfq_plus::SfqPlus;
pub use tbf::Tbf;
pub use two_level::TwoLevel;

use crate::Error;
use crate::declare::{Place, kinds, section};
use crate::sections::{Parallel, Scenario};
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
    /// The schedulers of jobs. Write `[[scheduler]]` for several of them, each at a position of its
    /// own.
    pub struct Scheduler {
        /// Kind of scheduler.
        #[serde(flatten)]
        kind: SchedulerKind = kinds(),
        /// Position of the schedulers: one behind the network card of each data `server`, on each
        /// `client`, or behind the card of each `metadata` server. One `gateway` for all, or one
        /// `proxy` for each data server, stands where jobs enter the network. At every grain, a job
        /// that it dispatches takes the network's latency to the server and back.
        position: Position = default("server", "PFSsim, Liu et al. 2011, section 5: a proxy on every data server"),
        /// Time that a message from one scheduler to another takes.
        message_latency: Option<Seconds> = optional("network.latency"),
        /// Interval at which the schedulers learn the state of all data servers: jobs, utilisation,
        /// dirty and cached bytes.
        view_period: Option<Seconds> = optional("the schedulers know nothing of the servers but their own jobs") aka ["sample_period", "update_period"],
        /// Age of that state when the schedulers learn it.
        view_delay: Seconds = default("0 s", "Mitzenmacher, IEEE TPDS 2000, section 3: a bulletin board that is current when it is updated") aka ["view_latency"],
    }
    check of_scheduler;
}

impl Scheduler {
    /// Returns true if jobs go on at once.
    #[must_use]
    pub fn is_none(&self) -> bool {
        matches!(self.kind, SchedulerKind::NoScheduler(_))
    }
}

fn of_scheduler(scheduler: &Scheduler, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    let Some(parallel) = all.parallel() else {
        return Ok(());
    };
    let before = &parallel.scheduler[..groups::number(at)];
    if before.iter().any(|it| it.position == scheduler.position) {
        let word = scheduler.position.word();
        let message = format!(
            "another [[scheduler]] has the position {word:?}: give each a position of its own"
        );
        return Err(at.error("position", message));
    }
    in_network(parallel, at)?;
    messages_are_sent(scheduler, at)?;
    view_is_collected(scheduler, parallel, at)
}

/// Clients notify a scheduler in the network of aborted jobs, and not two of them.
fn in_network(parallel: &Parallel, at: &Place<'_>) -> Result<(), Error> {
    let stands = |position| parallel.scheduler.iter().any(|it| it.position == position);
    let both = stands(Position::Gateway) && stands(Position::Proxy);
    if !both || parallel.failures().is_empty() {
        return Ok(());
    }
    let message = "with [[failure]] a job that passes two schedulers in the network is not \
                   modelled: expected \"gateway\" or \"proxy\", not both";
    Err(at.error("position", message))
}

/// Refuses the latency of messages where schedulers send none.
fn messages_are_sent(scheduler: &Scheduler, at: &Place<'_>) -> Result<(), Error> {
    let send = matches!(
        scheduler.kind,
        SchedulerKind::Dsfq(_) | SchedulerKind::PythonScheduler(_)
    );
    if send || scheduler.message_latency.is_none() {
        return Ok(());
    }
    let message = format!(
        "schedulers of kind \"{}\" send each other no messages: expected kind = \"dsfq\" or \
         \"python\", or leave it out",
        scheduler.kind.kind()
    );
    Err(at.error("message_latency", message))
}

/// Shortest time between two reports of the servers.
const SHORTEST_PERIOD: f64 = 1e-6;

fn view_is_collected(
    scheduler: &Scheduler,
    parallel: &Parallel,
    at: &Place<'_>,
) -> Result<(), Error> {
    match scheduler.view_period {
        Some(period) if period.0 <= 0.0 => {
            Err(at.error("view_period", "expected a time of more than 0"))
        }
        Some(period) if period.0 < SHORTEST_PERIOD => {
            let message = "the reports alone would take more time than the run: expected at \
                           least 1 us";
            Err(at.error("view_period", message))
        }
        None if scheduler.view_delay.0 > 0.0 => {
            let message = "nothing is learnt of the servers: give view_period, or leave it out";
            Err(at.error("view_delay", message))
        }
        Some(_) if scheduler.is_none() => {
            let message = "there is no scheduler that would learn it: give a kind, or leave it out";
            Err(at.error("view_period", message))
        }
        Some(_) if !uses_view(&scheduler.kind) => {
            let message = match &scheduler.kind {
                SchedulerKind::LeastLoaded(_) => {
                    "its own jobs are all that it compares: expected load = \"view\", or leave it \
                     out"
                    .to_owned()
                }
                kind => format!(
                    "schedulers of kind \"{}\" do not use it: expected kind = \"least-loaded\" or \
                     \"python\", or leave it out",
                    kind.kind()
                ),
            };
            Err(at.error("view_period", message))
        }
        Some(_) if scheduler.position == Position::Metadata => {
            let message = "the state is of data servers, and these schedulers stand before \
                           metadata servers: expected another position, or no view_period";
            Err(at.error("view_period", message))
        }
        Some(_) if parallel.servers.streaming => {
            let message = "streamed data passes no queue of a server: expected \
                           servers.streaming = false, or no view_period";
            Err(at.error("view_period", message))
        }
        _ => Ok(()),
    }
}

/// Returns true if schedulers of this kind look at the state of the servers.
fn uses_view(kind: &SchedulerKind) -> bool {
    match kind {
        SchedulerKind::LeastLoaded(it) => it.load == KnownLoad::View,
        // Only its code could tell.
        kind => matches!(kind, SchedulerKind::PythonScheduler(_)),
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
        LeastLoaded = "least-loaded",
        PythonScheduler = "python",
    }
}
