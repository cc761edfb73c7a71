//! A client: finds where a request's data is, splits the request into one job
//! a server, and puts the request together again.
//!
//! ```text
//!   request ─▶ [map] ─ known ─▶ [split] ─ jobs ─▶ send
//!                └─ ask ─▶ (asking) …            (outstanding) …
//!   receive ─▶ [answered] / [collect] ─ the last job ─▶ complete
//! ```
//!
//! Not modelled: a data cache on the client, a limit of jobs in flight.

mod known;
mod layout;

pub use known::KnownFiles;
pub use layout::{Layout, Piece};

use headrace_net::{Page, Port, Slot, Time};
use headrace_spec::Scenario;
use headrace_trace::{Group, Operation};

use crate::network::Wire;
use crate::tokens::{Direction, Job, Request, Role};

/// A client's ways in and out.
pub struct ClientPorts {
    /// Requests of its processes.
    pub request: Port<Request>,
    /// Requests that are done.
    pub complete: Port<Request>,
    /// Jobs for data servers.
    pub send: Port<Job>,
    /// Questions for metadata servers.
    pub ask: Port<Job>,
    /// What comes back.
    pub receive: Port<Job>,
}

/// More jobs than any request has on purpose.
const MOST_JOBS: u64 = 1_000_000;

/// Writes the page of a client.
pub fn client(page: &mut Page<'_>, scenario: &Scenario) -> ClientPorts {
    let ports = ClientPorts {
        request: page.input("request"),
        complete: page.output("complete"),
        send: page.output("send"),
        ask: page.output("ask"),
        receive: page.input("receive"),
    };
    let wire = Wire::new(&scenario.network);
    let keeps = scenario.metadata.client_cache;
    let metadata = scenario.metadata.servers;
    let known = page.store("layouts known", |_| KnownFiles::default());

    let new = page.place::<Request>("new");
    let mapped = page.place::<Request>("mapped");
    let asking = page.bag::<Request>("asking");
    let outstanding = page.bag::<Request>("outstanding");
    let back = page.place::<Job>("back");
    page.conserve(outstanding);
    page.conserve(asking);
    page.connect(ports.request, new);
    page.connect(ports.receive, back);

    page.transition("map")
        .take(new)
        .with(known)
        .puts_one_of([mapped.into(), asking.into()])
        .may_put(ports.ask)
        .fires(move |firing, request: Request, known| {
            let data = request.operation.group() == Group::Data;
            if data && known.contains(request.file) {
                firing.put(mapped, request);
                return;
            }
            let slot = firing.put(asking, request);
            firing.put(
                ports.ask,
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

    let layout = Layout::new(scenario);
    page.transition("split")
        .take(mapped)
        .puts(outstanding)
        .puts_many(ports.send)
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
            layout.pieces(request.file, request.offset, request.size, |piece| {
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
                    group: request.group,
                    operation: request.operation,
                    direction: Direction::Out,
                    role: Role::Data,
                };
                job.wire = wire.bytes(job.payload());
                firing.put(ports.send, job);
                jobs += 1;
            });
            firing.token_mut(outstanding, slot).pending = jobs;
        });

    page.transition("collect")
        .take(back)
        .with(known)
        .may_pass(outstanding, ports.complete)
        .may_pass_to_one_of(asking, [mapped.into(), ports.complete.into()])
        .fires(move |firing, job: Job, known| {
            let slot = Slot(job.request);
            if job.role == Role::Data {
                let request = firing.token_mut(outstanding, slot);
                request.pending -= 1;
                if request.pending == 0
                    && let Some(request) = firing.take(outstanding, slot)
                {
                    firing.put(ports.complete, request);
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
                firing.put(ports.complete, request);
            }
        });
    ports
}
