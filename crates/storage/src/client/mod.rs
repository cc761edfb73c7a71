//! A client: finds where a request's data is, splits the request into one job
//! a server, and puts the request together again. Requests that wait for an answer or for
//! their jobs lie in bags.
//!
//! ```text
//!   request ─▶ [map] ─ known ─▶ [split] ─ jobs ─▶ send
//!                └─ ask ─▶ (asking) …            (outstanding) …
//!   received ─▶ [collect] ─ the last job ─▶ complete
//!                └─ an answer ─▶ [split] or, for names, complete
//! ```
//!
//! Not modelled: a data cache on the client, a limit of jobs in flight.

mod known;
mod layout;

pub use known::KnownFiles;
pub use layout::{Layout, Piece};

use headrace_net::{Node, Page, Port, Slot, Time, To};
use headrace_spec::{MOST_JOBS, Parallel};
use headrace_trace::{Group, Operation};

use crate::network::Wire;
use crate::tokens::{Direction, Job, Request, Role};

/// A client's way to the servers.
pub struct Network {
    /// Where jobs for data servers go.
    pub send: To<Job>,
    /// Where questions for metadata servers go.
    pub ask: To<Job>,
    /// What has come back.
    pub received: Node<Job>,
}

/// Writes the page of a client: requests come in by `request` and go out by
/// `complete` when they are done.
pub fn client(
    page: &mut Page<'_>,
    scenario: &Parallel,
    request: Port<Request>,
    complete: Port<Request>,
    network: Network,
) {
    let Network {
        send,
        ask,
        received,
    } = network;
    let wire = Wire::new(&scenario.network);
    let keeps = scenario.metadata.client_cache;
    let metadata = scenario.metadata.servers;
    let known = page.store("layouts known", |_| KnownFiles::default());

    let new = page.place::<Request>("new");
    let mapped = page.place::<Request>("mapped");
    let asking = page.bag::<Request>("asking");
    let outstanding = page.bag::<Request>("outstanding");
    page.conserve(outstanding);
    page.conserve(asking);
    page.connect(request, new);

    page.transition("map")
        .take(new)
        .with(known)
        .puts_one_of([mapped.into(), asking.into()])
        .may_put(ask)
        .fires(move |firing, request: Request, known| {
            let data = request.operation.group() == Group::Data;
            if data && known.contains(request.file) {
                firing.put(mapped, request);
                return;
            }
            let slot = firing.put(asking, request);
            firing.put(
                ask,
                Job {
                    request: slot.0,
                    client: request.process.client,
                    server: request.file % metadata,
                    file: request.file,
                    offset: 0,
                    size: 0,
                    wire: wire.bytes(0),
                    tail: Time::ZERO,
                    pending: 0,
                    workload: request.process.workload,
                    group: request.group,
                    operation: match request.operation.group() {
                        Group::Data => Operation::Open,
                        Group::Metadata | Group::Local => request.operation,
                    },
                    direction: Direction::Out,
                    role: Role::Metadata,
                },
            );
        });

    let layout = Layout::new(scenario, page.seed());
    // Servers with a file system have something to bring to the device; the others
    // are asked as if for a byte.
    let everywhere = scenario.servers.machine().is_some();
    page.transition("split")
        .take(mapped)
        .puts(outstanding)
        .puts_many(send)
        .fires(move |firing, request: Request, ()| {
            let slot = firing.put(outstanding, request);
            let mut jobs = 0;
            if layout.jobs(request.size) > MOST_JOBS {
                firing.fail(format!(
                    "a request of {} bytes makes more than {MOST_JOBS} jobs: raise layout.packet",
                    request.size
                ));
                return;
            }
            let mut ask = |piece: Piece| {
                let mut job = Job {
                    request: slot.0,
                    client: request.process.client,
                    server: piece.server,
                    file: request.file,
                    offset: piece.offset,
                    size: piece.size,
                    wire: 0,
                    tail: Time::ZERO,
                    pending: 0,
                    workload: request.process.workload,
                    group: request.group,
                    operation: request.operation,
                    direction: Direction::Out,
                    role: Role::Data,
                };
                job.wire = wire.bytes(job.payload());
                firing.put(send, job);
                jobs += 1;
            };
            if everywhere && request.operation == Operation::Sync {
                for server in layout.servers_of(request.file) {
                    ask(Piece {
                        server,
                        offset: 0,
                        size: 0,
                    });
                }
            } else {
                layout.pieces(request.file, request.offset, request.size, ask);
            }
            firing.token_mut(outstanding, slot).pending = jobs;
        });

    page.transition("collect")
        .take(received)
        .with(known)
        .may_pass(outstanding, complete)
        .may_pass_to_one_of(asking, [mapped.into(), complete.into()])
        .fires(move |firing, job: Job, known| {
            let slot = Slot(job.request);
            if job.role == Role::Data {
                let request = firing.token_mut(outstanding, slot);
                request.pending -= 1;
                if request.pending == 0
                    && let Some(request) = firing.take(outstanding, slot)
                {
                    firing.put(complete, request);
                }
                return;
            }
            let Some(request) = firing.take(asking, slot) else {
                return;
            };
            if request.operation.group() == Group::Data {
                if keeps {
                    known.insert(request.file);
                }
                firing.put(mapped, request);
            } else {
                firing.put(complete, request);
            }
        });
}
