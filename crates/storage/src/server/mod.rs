//! A data server: what takes jobs, and puts them back when they are done.
//!
//! What it is made of stands in a file for each kind: a page cache and a device, or
//! a whole machine. To add a kind, write a file and name it in [`server`].

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
pub use replication_chain::chain;

use headrace_net::{Node, Page, Port, To};
use headrace_spec::{Parallel, ServerKind};

use crate::failure::{Crash, Failing};
use crate::localfs::{Callers, StoredFile};
use crate::network::Wire;
use crate::tokens::{Direction, Job};

/// What servers know of the run: whose files they hold, and which they have before
/// it, by server.
pub struct InitialFiles<'a> {
    /// How files were opened.
    pub callers: Callers,
    /// The parts of files that a server has before the run.
    pub files: &'a dyn Fn(u32) -> Vec<StoredFile>,
}

/// What concerns names, where a data server is a metadata server too.
#[derive(Clone, Copy)]
pub struct Names {
    /// What has been received.
    pub received: Node<Job>,
    /// Where it goes when the daemon has seen to it.
    pub processed: To<Job>,
}

/// A data server's ways to and from what is outside the network.
#[derive(Clone, Copy, Default)]
pub struct Ports {
    /// Where it loses its memory when it fails, if it has any.
    pub forget: Option<Port<Crash>>,
    /// To its partner's devices, and its partner's to its own, if it has one.
    pub partner: Option<PartnerPorts>,
}

/// Writes the page of a data server that takes jobs from `received` and puts
/// them back into `send` when they are done.
pub fn server(
    page: &mut Page<'_>,
    scenario: &Parallel,
    initial_files: &InitialFiles<'_>,
    names: Option<Names>,
    received: Node<Job>,
    send: To<Job>,
    failing: Option<Failing>,
) -> Ports {
    let reply = Reply {
        wire: Wire::new(&scenario.network),
        send,
    };
    match &scenario.servers.kind {
        ServerKind::SimpleServer(_) if scenario.servers.streaming => {
            streaming_server::server(page, scenario, received, reply);
            Ports::default()
        }
        ServerKind::SimpleServer(spec) => {
            simple::server(page, scenario, spec, names, received, reply, failing)
        }
        ServerKind::MachineServer(spec) => {
            // Threads of their own see to names.
            if let Some(names) = names {
                page.connect(names.received, names.processed);
            }
            let daemon = &scenario.servers.daemon;
            let machine = &spec.machine;
            let forget = machine::server(
                page,
                daemon,
                machine,
                initial_files,
                received,
                reply,
                failing,
            );
            Ports {
                forget,
                partner: None,
            }
        }
    }
}

/// How a job that is done goes back.
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
