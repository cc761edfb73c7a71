//! A data server's messages about its clients' jobs.
//!
//! ```text
//!   received ─▶ [take in] ─ whole, data ─▶ jobs
//!                   └─ ready ─▶ send
//!   served ─▶ [give back] ─ data, whole, done ─▶ send
//! ```

use std::collections::BTreeMap;

use headrace_net::Page;
use headrace_spec::{Messages, Parallel};
use headrace_trace::Operation;

use super::{Buffers, rdma};
use crate::duplex::Duplex;
use crate::tokens::{Direction, Job, Message};

/// Large jobs in progress by client and the client's number of it. Each is the whole job; its field
/// `wire` holds the bytes requested from the file system (of a read), or stored (of a write).
type UnderWay = BTreeMap<(u32, u32), Job>;

/// Puts the messages between a server's jobs and its way to the clients, if jobs are
/// more than a message each way.
pub fn server(page: &mut Page<'_>, scenario: &Parallel, outside: Duplex) -> Duplex {
    let spec = match &scenario.messages {
        Messages::Whole(_) => return outside,
        Messages::Rdma(spec) => return rdma::server(page, scenario, spec, outside),
        Messages::Rendezvous(spec) => spec,
    };
    let Duplex { send, received } = outside;
    let network = &scenario.network;
    let buffers = Buffers::new(network, spec.eager_limit, spec.buffer, spec.buffers);
    let jobs = page.place::<Job>("taken in");
    let served = page.place::<Job>("to give back");
    let under_way = page.store("jobs under way", |_| UnderWay::new());
    page.transition("take in")
        .take(received)
        .with(under_way)
        .may_put(send)
        .puts_many(jobs)
        .fires(move |firing, job: Job, under_way| {
            let key = (job.client, job.request);
            match job.message {
                Message::Request => {
                    let ready = buffers.about(&job, Message::Ready);
                    let direction = Direction::Back;
                    firing.put(send, Job { direction, ..ready });
                    let mut whole = Job { wire: 0, ..job };
                    if job.operation != Operation::Write {
                        let to = buffers.at_once(&job);
                        while whole.wire < to {
                            let part = buffers.part(&whole, whole.wire, Message::Data);
                            whole.wire += part.size;
                            firing.put(jobs, part);
                        }
                        if whole.wire == job.size {
                            return;
                        }
                    }
                    under_way.insert(key, whole);
                }
                Message::Room => {
                    let Some(whole) = under_way.get_mut(&key) else {
                        return;
                    };
                    let part = buffers.part(whole, whole.wire, Message::Data);
                    whole.wire += part.size;
                    if whole.wire == whole.size {
                        under_way.remove(&key);
                    }
                    firing.put(jobs, part);
                }
                _ => {
                    firing.put(jobs, job);
                }
            }
        });
    page.transition("give back")
        .take(served)
        .with(under_way)
        .may_put(send)
        .fires(move |firing, job: Job, under_way| {
            if job.message != Message::Data || job.operation != Operation::Write {
                firing.put(send, job);
                return;
            }
            let key = (job.client, job.request);
            let Some(whole) = under_way.get_mut(&key) else {
                return;
            };
            whole.wire += job.size;
            let message = if whole.wire == whole.size {
                under_way.remove(&key);
                Message::Done
            } else if buffers.waits(whole, whole.wire) {
                Message::Room
            } else {
                return;
            };
            firing.put(send, buffers.about(&job, message));
        });
    Duplex {
        send: served.into(),
        received: jobs,
    }
}
