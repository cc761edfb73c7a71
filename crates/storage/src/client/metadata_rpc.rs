//! Metadata requests of a client: one to the server that knows a name, or one to each server. An
//! operation waits for the slowest server.
//!
//! If names are on all servers (GlusterFS), the client asks the server that a hash selects. Before
//! the client creates a name, it asks all servers, since another one may have the name
//! (cluster/distribute with lookup-unhashed). If each server has a part or a copy, the client
//! always asks all (cluster/stripe, cluster/replicate).
//!
//! Not modelled: the order in which the server that the hash names is asked before all others; a
//! faster lookup on a server that has nothing of the name.

use headrace_net::{Firing, Node, To};
use headrace_spec::{Lookups, Parallel};
use headrace_trace::Operation;
use headrace_workload::Directories;

use crate::layout::MetadataPlacement;
use crate::network::Wire;
use crate::tokens::{Job, Request, Role};

/// Set in the number of outstanding requests during the look-up of a name, and alone when that has
/// been answered. The highest bit says that one failed.
const LOOKED_UP: u32 = 1 << 30;

/// Metadata requests of a client.
#[derive(Clone)]
pub(super) struct MetadataRpc {
    placement: MetadataPlacement,
    wire: Wire,
    servers: u32,
    lookups: Lookups,
}

impl MetadataRpc {
    /// As the scenario says, of files in these directories.
    pub fn new(parallel: &Parallel, directories: &Directories) -> MetadataRpc {
        MetadataRpc {
            placement: MetadataPlacement::new(parallel, directories),
            wire: Wire::new(&parallel.metadata_network()),
            servers: parallel.metadata_servers(),
            lookups: parallel.metadata.lookups,
        }
    }

    /// Asks for a request, which waits in `asking`, and for that many bytes of its file with the
    /// answer.
    pub fn ask(
        &self,
        firing: &mut Firing<'_>,
        (asking, ask): (Node<Request>, To<Job>),
        mut request: Request,
        operation: Operation,
        size: u64,
    ) {
        let knows_it = self.placement.server_of(request.file);
        let looked_up = std::mem::take(&mut request.pending) == LOOKED_UP;
        let (servers, operation) = match self.lookups {
            Lookups::Everywhere => (0..self.servers, operation),
            Lookups::NewEverywhere if makes_a_name(operation) && !looked_up => {
                request.pending = LOOKED_UP;
                (0..self.servers, Operation::Stat)
            }
            _ => (knows_it..knows_it + 1, operation),
        };
        request.pending += servers.len() as u32;
        let slot = firing.put(asking, request);
        for server in servers {
            let (client, file) = (request.process.client, request.file);
            let question = Job {
                server,
                size,
                wire: self.wire.bytes(0),
                workload: request.process.workload as u16,
                group: request.group,
                ..Job::new(slot.0, client, file, operation, Role::Metadata)
            };
            firing.put(ask, question);
        }
    }
}

/// A question of a request has been answered; gives whether it was the last.
pub(super) fn is_last_answer(request: &mut Request) -> bool {
    request.pending -= 1;
    request.pending & (LOOKED_UP - 1) == 0
}

/// Returns true if a request whose questions have been answered was only looked up.
pub(super) fn is_looked_up(request: &Request) -> bool {
    request.pending == LOOKED_UP
}

fn makes_a_name(operation: Operation) -> bool {
    use Operation::{Create, Link, Mkdir, Rename, Symlink};
    matches!(operation, Create | Mkdir | Symlink | Link | Rename)
}
