//! A client's messages about its jobs.
//!
//! ```text
//!   jobs ─▶ [ask] ─ whole ─▶ send
//!             └─ request ─▶ send, (under way)
//!   received ─▶ [take in] ─ data, if asked for ─▶ send
//!                   └─ the last of a job ─▶ answered
//! ```

use headrace_net::{Node, Page, Slot, To};
use headrace_spec::{Messages, Parallel};
use headrace_trace::Operation;

use super::{Buffers, rdma};
use crate::duplex::Duplex;
use crate::tokens::{Job, Message};

/// Puts the messages between a client's jobs and its way to the servers, if jobs are
/// more than a message each way.
pub fn client(page: &mut Page<'_>, scenario: &Parallel, outside: Duplex) -> Duplex {
    let spec = match &scenario.messages {
        Messages::Whole(_) => return outside,
        Messages::Rdma(spec) => return rdma::client(page, scenario, spec, outside),
        Messages::Rendezvous(spec) => spec,
    };
    let Duplex { send, received } = outside;
    let network = &scenario.network;
    let buffers = Buffers::new(network, spec.eager_limit, spec.buffer, spec.buffers);
    let Asking {
        jobs,
        answered,
        under_way,
    } = ask(page, buffers, send);
    page.transition("take in")
        .take(received)
        .may_take(under_way)
        .may_put(answered)
        .puts_many(send)
        .fires(move |firing, job: Job, ()| {
            let slot = Slot(job.request);
            match job.message {
                Message::Whole => {
                    firing.put(answered, job);
                    return;
                }
                Message::Ready | Message::Room => {
                    let whole = firing.token_mut(under_way, slot);
                    if whole.operation != Operation::Write {
                        return;
                    }
                    let from = whole.wire;
                    let to = match job.message {
                        Message::Ready => buffers.at_once(whole),
                        _ => (from + 1).min(whole.size),
                    };
                    let mut next = Job {
                        request: slot.0,
                        ..*whole
                    };
                    next.wire = from;
                    let mut at = from;
                    while at < to {
                        let part = buffers.part(&next, at, Message::Data);
                        at += part.size;
                        firing.put(send, part);
                    }
                    firing.token_mut(under_way, slot).wire = at;
                    return;
                }
                Message::Data => {
                    let whole = firing.token_mut(under_way, slot);
                    whole.wire += job.size;
                    let (got, whole) = (whole.wire, *whole);
                    if got < whole.size {
                        if buffers.waits(&whole, got) {
                            let room = buffers.about(&whole, Message::Room);
                            let request = slot.0;
                            firing.put(send, Job { request, ..room });
                        }
                        return;
                    }
                }
                // Messages about locks do not arrive here.
                _ => {}
            }
            if let Some(whole) = firing.take(under_way, slot) {
                firing.put(answered, buffers.answered(whole));
            }
        });
    Duplex {
        send: jobs.into(),
        received: answered,
    }
}

/// A client's jobs until they are answered.
pub(super) struct Asking {
    /// Jobs to ask for.
    pub jobs: Node<Job>,
    /// Jobs that are done.
    pub answered: Node<Job>,
    /// Large jobs in between. Their field `wire` holds the bytes that have been sent or received.
    pub under_way: Node<Job>,
}

/// Sends small jobs, and requests for large ones, which are in progress from then on.
pub(super) fn ask(page: &mut Page<'_>, buffers: Buffers, send: To<Job>) -> Asking {
    let jobs = page.place::<Job>("to ask for");
    let answered = page.place::<Job>("answered");
    let under_way = page.bag::<Job>("under way");
    page.transition("ask")
        .take(jobs)
        .may_put(under_way)
        .puts(send)
        .fires(move |firing, job: Job, ()| {
            if buffers.is_whole(&job) {
                firing.put(send, job);
                return;
            }
            let whole = Job {
                wire: 0,
                received: false,
                ..job
            };
            let request = firing.put(under_way, whole).0;
            let asked = buffers.about(&job, Message::Request);
            firing.put(send, Job { request, ..asked });
        });
    Asking {
        jobs,
        answered,
        under_way,
    }
}
