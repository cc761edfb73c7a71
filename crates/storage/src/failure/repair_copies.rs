//! Transfer of copies between servers.
//!
//! ```text
//!   (repair due) ─▶ [plan] ─▶ a server: (copies) ─▶ its device
//!        ▲                                              │ read
//!        │                 network ◀─ [copied] ◀────────┤
//!        └─ acknowledged ◀─┘    └─▶ another: (copies) ──┘ written
//! ```
//!
//! They pass the servers' cards, processors, caches and devices, and neither receive
//! buffers nor schedulers, which are for clients' jobs.

use headrace_net::{Node, Page, Port, To};
use headrace_spec::Parallel;
use headrace_trace::Operation;

use super::repair::RepairEvent;
use super::{Failing, Failures, Repairing};
use crate::duplex::Duplex;
use crate::network::Wire;
use crate::tokens::{Direction, Job, Message};

/// A server's way between its network and its device for copies.
pub struct Copying {
    /// Copies to read and send.
    pub order: Port<Job>,
    store: headrace_net::Store<Failures>,
    /// Copies to be read or written.
    copies: Node<Job>,
    /// Next destination.
    send: To<Job>,
    wire: Wire,
}

/// Tells copies from jobs among what a server has received, if any are made.
pub fn sort(
    page: &mut Page<'_>,
    parallel: &Parallel,
    failing: Option<Failing>,
    outside: Duplex,
) -> (Option<Copying>, Duplex) {
    let Some((failing, repairing)) = failing.and_then(|it| Some((it, it.repairing?))) else {
        return (None, outside);
    };
    let Duplex { send, received } = outside;
    let order = page.input("order");
    let jobs = page.place::<Job>("jobs");
    let copies = page.place::<Job>("copies");
    page.connect(order, copies);
    page.transition("job or copy")
        .take(received)
        .with(failing.store)
        .may_put(jobs)
        .may_put(copies)
        .may_put(repairing.due)
        .fires(
            move |firing, job: Job, failures| match (job.message, job.direction) {
                (Message::Repair, Direction::FromNextCopy) => {
                    let number = job.request;
                    firing.put(repairing.due, RepairEvent::Copied { number });
                }
                (Message::Repair, _) => {
                    let repair = failures.world.repair.as_mut();
                    if repair.is_none_or(|it| it.arrives(job.request)) {
                        firing.put(copies, job);
                    }
                }
                _ => {
                    firing.put(jobs, job);
                }
            },
        );
    let copying = Copying {
        order,
        store: failing.store,
        copies,
        send,
        wire: Wire::new(&parallel.network),
    };
    let received = jobs;
    (Some(copying), Duplex { send, received })
}

/// Lets copies to a server's device and from there on, if any are made.
pub fn join(page: &mut Page<'_>, copying: Option<&Copying>, outside: Duplex) -> Duplex {
    let Some(copying) = copying else {
        return outside;
    };
    let Duplex { send, received } = outside;
    let both = page.place::<Job>("jobs and copies");
    page.connect(received, both);
    page.connect(copying.copies, both);
    let served = page.place::<Job>("jobs and copies served");
    let (on, wire) = (copying.send, copying.wire);
    page.transition("copied or served")
        .take(served)
        .with(copying.store)
        .may_put(send)
        .may_put(on)
        .fires(move |firing, job: Job, failures| {
            if job.message != Message::Repair {
                firing.put(send, job);
                return;
            }
            if job.operation == Operation::Write {
                firing.put(on, job);
                return;
            }
            let repair = failures.world.repair.as_ref();
            // Aborted copies are dropped.
            let Some((server, target)) = repair.and_then(|it| it.onward(job.request)) else {
                return;
            };
            let mut copy = Job {
                server,
                target,
                operation: Operation::Write,
                direction: Direction::ToNextCopy,
                pending: 0,
                received: false,
                ..job
            };
            copy.wire = wire.bytes(copy.payload());
            firing.put(on, copy);
        });
    Duplex {
        send: served.into(),
        received: both,
    }
}

/// Adds the planner of copies; `order` receives the servers' orders.
pub fn plan(page: &mut Page<'_>, failing: Failing, repairing: Repairing, order: To<Job>) {
    page.transition("plan")
        .take(repairing.due)
        .with(failing.store)
        .puts_many(order)
        .fires(move |firing, due: RepairEvent, failures| {
            let now = firing.now();
            let super::ServerState {
                hosts,
                ways,
                repair,
            } = &mut failures.world;
            let Some(repair) = repair else {
                return;
            };
            for job in repair.event(due, now, hosts, ways) {
                firing.put(order, job);
            }
            if repair.run_is_over(hosts) {
                firing.stop();
            }
        });
    page.transition("end or wait")
        .take(repairing.over)
        .with(failing.store)
        .fires(move |firing, (): (), failures| {
            let super::ServerState { hosts, repair, .. } = &mut failures.world;
            if repair.as_mut().is_none_or(|it| it.workload_is_over(hosts)) {
                firing.stop();
            }
        });
}
