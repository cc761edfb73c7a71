//! `kind = "least-loaded"`: reads go to the least loaded of some servers.

use super::groups;
use crate::Error;
use crate::declare::{Place, section};
use crate::sections::{Position, Scenario};
use crate::values::{AtLeastOne, CountOr, choice, word};

word! {
    /// Number of servers to choose among.
    pub enum Choices {
        /// All servers with a copy.
        All = "all",
        /// This number, drawn with equal probability.
        Count(u32),
    }
}

choice! {
    /// Load of a server as the scheduler knows it.
    pub enum KnownLoad {
        /// The jobs that this scheduler has sent there and that have not come back.
        Own = "own",
        /// The jobs at the server, of all clients, as of the last view.
        View = "view",
    }
}

section! {
    /// Each read goes to the least loaded of some servers with a copy of the data, drawn at random.
    /// This is the power of two choices (Mitzenmacher, IEEE Transactions on Parallel and
    /// Distributed Systems 12(10), 2001). Other jobs go to their own servers.
    pub struct LeastLoaded {
        /// Maximum number of dispatched jobs.
        depth: Option<u32> as Option<AtLeastOne> = optional("any number"),
        /// Number of servers to choose among.
        choices: Choices as CountOr<Choices> = default(2, "Mitzenmacher 2001: two choices give most of the gain") aka ["d"],
        /// Load that is compared: of this scheduler's `own` jobs, or of all jobs by the last `view`.
        load: KnownLoad = default("own", "known without messages"),
    }
    check check;
}

fn check(least: &LeastLoaded, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    let Some(parallel) = all.parallel() else {
        return Ok(());
    };
    let scheduler = groups::own(parallel, at);
    if !matches!(scheduler.position, Position::Client | Position::Gateway) {
        let message =
            "schedulers before one server choose none: expected \"client\" or \"gateway\"";
        return Err(at.error("position", message));
    }
    if parallel.replication.copies < 2 {
        let message = "without copies each job has one server: give replication.copies of at \
                       least 2, or another kind";
        return Err(at.error("kind", message));
    }
    if scheduler.position == Position::Gateway && !parallel.failures().is_empty() {
        let message = "with [[failure]] clients must know where their jobs are: expected \
                       position = \"client\"";
        return Err(at.error("position", message));
    }
    if least.load == KnownLoad::View && scheduler.view_period.is_none() {
        let message = "nothing is learnt of the servers: give scheduler.view_period, or expected \
                       \"own\"";
        return Err(at.error("load", message));
    }
    Ok(())
}
