//! A data server: what takes jobs, and puts them back when they are done.
//!
//! Each kind of server has its own module: a page cache and a device, or a complete machine. To add
//! a kind, write a module and name it in [`server`].

mod lock_table;
mod locks;
mod machine;
mod partner;
mod receive_buffer;
mod replication_chain;
mod simple;
mod streaming_server;
mod targets;
mod writes_in_flight;

pub use locks::locks;
pub use partner::PartnerPorts;
pub use receive_buffer::receive_buffers;
pub use replication_chain::replication_chain;
pub(crate) use simple::set_policies;

use headrace_net::{Node, Page, Port, Store, To};
use headrace_spec::{Parallel, ServerKind};
use headrace_trace::Operation;

use crate::duplex::Duplex;
use crate::failure::{Crash, Failing};
use crate::localfs::{Callers, StoredFile};
use crate::network::Wire;
use crate::tokens::{Direction, Job};

/// Initial state of servers: the callers of their files, and the files that exist before the run,
/// by server.
pub struct InitialFiles<'a> {
    /// Open flags of files.
    pub callers: Callers,
    /// The parts of files that a server has before the run.
    pub files: &'a dyn Fn(u32) -> Vec<StoredFile>,
}

/// Metadata ports of a data server that is also a metadata server.
#[derive(Clone, Copy)]
pub struct Names {
    /// Received messages.
    pub received: Node<Job>,
    /// Destination after processing by the daemon.
    pub processed: To<Job>,
}

/// A data server's ports to and from the outside of the network.
#[derive(Clone, Copy, Default)]
pub struct Ports {
    /// Place where a failure clears its memory, if it has any.
    pub forget: Option<Port<Crash>>,
    /// To its partner's devices, and its partner's to its own, if it has one.
    pub partner: Option<PartnerPorts>,
}

/// Jobs that a server has answered, and the bytes of their data.
#[derive(Clone, Copy, Default, Debug)]
pub struct Served {
    /// Jobs.
    pub jobs: u64,
    /// Bytes read.
    pub read: u64,
    /// Bytes written.
    pub written: u64,
}

impl Served {
    /// Counts a job, and gives it back. More bytes than can be counted end the run elsewhere.
    #[inline]
    fn count(&mut self, job: Job) -> Job {
        self.jobs += 1;
        match job.operation {
            Operation::Read => self.read = self.read.saturating_add(job.size),
            Operation::Write => self.written = self.written.saturating_add(job.size),
            _ => {}
        }
        job
    }
}

/// Writes the page of a data server, which takes jobs and sends them back when they are done.
pub fn server(
    page: &mut Page<'_>,
    scenario: &Parallel,
    initial_files: &InitialFiles<'_>,
    names: Option<Names>,
    outside: Duplex,
    failing: Option<Failing>,
) -> (Ports, Store<Served>) {
    let served = page.store("answered jobs", |_| Served::default());
    let reply = Reply {
        wire: Wire::new(&scenario.network),
        send: outside.send,
    };
    let jobs = DaemonPorts {
        received: outside.received,
        names,
        reply,
        served,
    };
    let ports = match &scenario.servers.kind {
        ServerKind::SimpleServer(_) if scenario.servers.streaming => {
            streaming_server::server(page, scenario, jobs);
            Ports::default()
        }
        ServerKind::SimpleServer(spec) => simple::server(page, scenario, spec, jobs, failing),
        ServerKind::MachineServer(spec) => {
            // Threads of their own see to names.
            if let Some(names) = jobs.names {
                page.connect(names.received, names.processed);
            }
            let daemon = &scenario.servers.daemon;
            let machine = &spec.machine;
            let forget = machine::server(page, daemon, machine, initial_files, jobs, failing);
            Ports {
                forget,
                partner: None,
            }
        }
    };
    (ports, served)
}

/// A daemon's ways in and out.
#[derive(Clone, Copy)]
struct DaemonPorts {
    /// Jobs to be done.
    received: Node<Job>,
    /// Messages about names, if the server is a metadata server too.
    names: Option<Names>,
    /// Reply path of completed jobs.
    reply: Reply,
    /// Count of answered jobs.
    served: Store<Served>,
}

/// Reply path of a completed job.
#[derive(Clone, Copy)]
struct Reply {
    wire: Wire,
    send: To<Job>,
}

impl Reply {
    fn to(self, mut job: Job) -> Job {
        job.direction = match job.direction {
            Direction::Out | Direction::Back => Direction::Back,
            Direction::ToNextCopy | Direction::FromNextCopy => Direction::FromNextCopy,
        };
        job.wire = self.wire.bytes(job.payload());
        job
    }
}
