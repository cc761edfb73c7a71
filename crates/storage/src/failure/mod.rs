//! Servers that fail, the reaction of clients, and the return of redundancy.
//!
//! The net of a scenario without a `[[failure]]` contains nothing of it. With one:
//!
//! ```text
//!   client: jobs ─▶ [try] ─▶ network ─▶ server: (door) ─▶ jobs …
//!              ▲ [hear] ◀─────────────────────── (door) ◀─ answers …
//!              └ [time out] ◀·· (timer)             ▲
//!   (due) ─▶ [happen]: a server goes or comes ······┘
//! ```
//!
//! While a server is away, its door lets no message in or out. After its return, answers to earlier
//! messages do not leave. A store has the knowledge of clients beside the state of servers, since
//! both ends need some of it.
//!
//! # A failed server
//!
//! The failure destroys the contents of the server's memory. These are the page cache, acknowledged
//! dirty data in it (`forgotten_bytes` of a result), and the jobs in service, which are never
//! answered. The contents of its devices survive. On a machine, transfers already at the device
//! survive too. So does data that `fsync`, a synchronous daemon, the flusher or a commit in ordered
//! mode has written. A data server that is also a metadata server fails as both.
//!
//! # Clients
//!
//! 1. A client declares a server failed after `recovery.timeout` without an answer, if the server
//!    is down or was down since the request was sent. A slow server answers keep-alives, and is not
//!    declared failed.
//! 2. The client then aborts all its other requests at this server, and sends it no more. Reads go
//!    to another copy. Writes by the client complete with the remaining copies. Writes along a
//!    chain bypass the server. All others wait on the client.
//! 3. The client probes the server every `recovery.retry`. When a probe is answered, the waiting
//!    requests are sent. A request fails when a try is due after `recovery.retries` unanswered
//!    ones.
//! 4. If a server was down since its last answer, the client detects a new connection, and resends
//!    its earlier requests at once.
//!
//! A request lost in a failure of 1 s is thus delayed by the timeout. Later requests to the same
//! server wait only for the next answered probe. A scheduler in the network sees aborted requests
//! at once; probes bypass it.
//!
//! # Standby and failover
//!
//! `metadata.takeover` adds a standby to each metadata server, with access to the same devices and
//! empty memory. `servers.failover` does so for data servers: an idle machine (`active-passive`),
//! or the other server of a pair (`active-active`). The partner serves the targets of both with its
//! one card, scheduler, daemon and page cache. The devices are those of the failed server, and its
//! pending transfers precede the partner's. Targets stay at the partner for the rest of the run
//! (Lustre Operations Manual, "Understanding Failover in a Lustre File System").
//!
//! # Omissions
//!
//! Not modelled: failures of clients and networks; the end of requests in service at the failure:
//! they still pass the server's queues and devices, and only their answers are lost; retransmission
//! by TCP of messages to a failed server; detection of a failure that is shorter than the timeout;
//! adaptive timeouts and back-off; the common recovery of a server and its clients, which
//! `failure.until` includes; clients that resend data which the server has lost (Lustre's replay,
//! NFS' COMMIT); clients that try one machine after the other; lookups at another brick while a
//! brick with names is away.

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
    /// A message arrives at a closed gate: its sender waits from now on.
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
