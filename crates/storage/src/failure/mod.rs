//! Servers that fail, what clients do about it, and how redundancy comes back.
//!
//! Nothing of it is in the net of a scenario without a `[[failure]]`. With one:
//!
//! ```text
//!   client: jobs ─▶ [try] ─▶ network ─▶ server: (door) ─▶ jobs …
//!              ▲ [hear] ◀─────────────────────── (door) ◀─ answers …
//!              └ [time out] ◀·· (timer)             ▲
//!   (due) ─▶ [happen]: a server goes or comes ······┘
//! ```
//!
//! While a server is away its door lets nothing in or out, and when it is back nothing
//! out that came in before. What clients know lies in a store with what there is to
//! know of servers, since both ends need some of it.
//!
//! Not modelled: what a server has in progress when it fails goes on to its devices, and only its
//! answers are lost; the time of the recovery that clients and a server that is back have in
//! common, but as a part of `failure.until`; the replay of what clients still have of the memory
//! that a server lost.

mod attempts;
mod availability_gate;
mod client;
mod failover_routing;
mod hosts;
mod lossy_scheduler;
mod outage_clock;
mod ranges;
mod repair;
mod repair_copies;

pub use attempts::Attempts;
pub use availability_gate::availability_gate;
pub use client::client;
pub use failover_routing::FailoverRoutes;
use failover_routing::Route;
pub use hosts::{HostStates, Outage};
pub use lossy_scheduler::lossy_scheduler;
pub use outage_clock::{Crash, clock};
pub use ranges::{Part, Parts};
pub use repair::{Repair, RepairEvent};
pub use repair_copies::{join, plan, sort};

use headrace_net::{Firing, Node, Page, Store};
use headrace_spec::{Parallel, Position, Scenario};

use crate::layout::ReplicaPlacement;
use crate::tokens::Job;

/// State of a run with server failures.
pub struct Failures {
    /// Outstanding attempts, by client.
    pub clients: Vec<Attempts>,
    /// The servers, and where data is.
    pub world: ServerState,
}

impl Failures {
    /// A message has come to a door that is shut: whoever sent it waits from now on.
    fn is_lost(&mut self, firing: &mut Firing<'_>, message: &Job) {
        // Between servers, the number is that of the server's own request.
        if message.direction.between_servers() {
            return;
        }
        if let Some(attempts) = self.clients.get_mut(message.client as usize) {
            attempts.is_lost(message.request, firing);
        }
    }
}

/// The servers, and where data is.
pub struct ServerState {
    /// The servers.
    pub hosts: HostStates,
    /// Routing of jobs to servers.
    pub ways: FailoverRoutes,
    /// Copies that are to be recreated, if they are.
    pub repair: Option<Repair>,
}

impl ServerState {
    /// Returns the route of a job for a client that considers some servers failed.
    fn way(&self, job: &Job, failed: impl Fn(u32) -> bool) -> Route {
        let repair = self.repair.as_ref();
        let lacks = |job: &Job| repair.is_some_and(|it| it.lacks(job));
        self.ways.way(job, failed, lacks)
    }

    /// The message by which a job goes to its server.
    fn message(&self, job: Job) -> Job {
        let machine = self.hosts.machine(self.ways.host(&job));
        self.ways.at_machine(job, machine)
    }

    /// The server that a message on some machine is to or from.
    fn server_on(&self, machine: u32, message: &Job) -> u32 {
        match self.ways.of_server(*message).server == message.server {
            true => machine,
            false => machine ^ 1,
        }
    }

    /// A file of some size is there before the run; `part` tells how much of it lies at a
    /// place of its layout.
    pub fn has(&mut self, file: u32, size: u64, part: impl Fn(u32) -> u64) {
        let Some(repair) = &mut self.repair else {
            return;
        };
        for (target, start, end) in self.ways.parts(file, size, part) {
            let (server, target) = self.ways.server_of(target);
            let held = Part {
                target,
                file,
                start,
                end,
            };
            repair.holds(server, held);
        }
    }

    /// A metadata server lost changes that it had answered.
    pub fn forgets_names(&mut self, server: u32, bytes: u64) {
        let host = self.ways.metadata_host(server);
        self.hosts.forgets(host, bytes);
    }
}

/// The places through which copies are called for.
#[derive(Clone, Copy)]
pub struct Repairing {
    /// Events that may require copies.
    pub due: Node<RepairEvent>,
    /// The workload is over.
    pub over: Node<()>,
}

/// Handles of this state.
#[derive(Clone, Copy)]
pub struct Failing {
    /// The store.
    pub store: Store<Failures>,
    /// The places, if copies are recreated.
    pub repairing: Option<Repairing>,
    /// Jobs that clients have abandoned, if schedulers in the network must be notified.
    pub given_up: Option<Node<Job>>,
}

/// The store and the places, if the scenario's servers fail, in the outermost page.
pub fn failures(page: &mut Page<'_>, scenario: &Scenario, parallel: &Parallel) -> Option<Failing> {
    if parallel.failures().is_empty() {
        return None;
    }
    let seed = page.seed();
    let copies = ReplicaPlacement::new(parallel, seed);
    let clients = scenario.clients.count;
    let run_ends = scenario.run.stop.time.is_some();
    let wait = page.wait("waiting for failed servers");
    let store = page.store("failures", |_| Failures {
        clients: (0..clients)
            .map(|client| Attempts::new(client, &parallel.recovery, run_ends, wait))
            .collect(),
        world: ServerState {
            hosts: HostStates::new(parallel),
            ways: FailoverRoutes::new(parallel, copies.clone()),
            repair: Repair::new(parallel, copies.block(), seed),
        },
    });
    let repairing = parallel.repairs().then(|| {
        let due = page.place("repair due");
        page.rest(due);
        Repairing {
            due,
            over: page.place("workload over"),
        }
    });
    let mut schedulers = parallel.scheduler.iter();
    let between = schedulers.any(|it| matches!(it.position, Position::Gateway | Position::Proxy));
    let given_up = between.then(|| page.place("given up"));
    Some(Failing {
        store,
        repairing,
        given_up,
    })
}
