//! RDMA: a data server reads and writes the clients' memory (RFC 8166; Lustre, lnet/klnds/o2iblnd).
//!
//! ```text
//!   read:  request ─▶   ◀─ data ◀─ data …   ◀─ done
//!   write: request ─▶   ◀─ RDMA Read   data ─▶ …   ◀─ done
//! ```
//!
//! The client's card answers RDMA Reads and stores data that is written to its memory. Its
//! processor sends the request and receives the answer. A job ends at its client when all data and
//! the answer have arrived. A read alone takes two one-way latencies, a write four. Jobs up to
//! `inline_limit` go as one message each way.
//!
//! The server's processor takes `send` to start each operation, and `receive` at the end of an RDMA
//! Read. The rates of `hosts.cpu` do not apply, because no byte is copied. Data is moved in
//! operations of `buffer` bytes, at most `buffers` at a time.
//!
//! Not modelled: registration of memory; limits of a card on RDMA Reads in progress; completions
//! that are signalled by polling or interrupts.

use std::collections::BTreeMap;

use headrace_net::{Page, Slot};
use headrace_spec::{Parallel, Rdma};
use headrace_trace::Operation;

use super::Buffers;
use super::client::{Asking, ask};
use crate::duplex::Duplex;
use crate::tokens::{Direction, Job, Message};

/// The buffers of operations.
fn buffers(scenario: &Parallel, spec: &Rdma) -> Buffers {
    Buffers::new(
        &scenario.network,
        spec.inline_limit,
        spec.buffer,
        spec.buffers,
    )
}

/// Puts the messages between a client's jobs and its way to the servers.
///
/// ```text
///   jobs ─▶ [ask] ─ inline ─▶ send
///             └─ request ─▶ send, (under way)
///   received ─▶ [take in] ─ data, if it is read from memory ─▶ send
///                   └─ all data and the answer ─▶ answered
/// ```
pub(super) fn client(
    page: &mut Page<'_>,
    scenario: &Parallel,
    spec: &Rdma,
    outside: Duplex,
) -> Duplex {
    let Duplex { send, received } = outside;
    let buffers = buffers(scenario, spec);
    // The field `received` of a job in progress is true once the answer has arrived.
    let Asking {
        jobs,
        answered,
        under_way,
    } = ask(page, buffers, send);
    page.transition("take in")
        .take(received)
        .may_take(under_way)
        .may_put(answered)
        .may_put(send)
        .fires(move |firing, job: Job, ()| {
            let slot = Slot(job.request);
            match job.message {
                Message::RdmaRead => {
                    let part = Job {
                        wire: buffers.wire.bytes_of(job.size),
                        direction: Direction::Out,
                        message: Message::RdmaData,
                        ..job
                    };
                    firing.put(send, part);
                    return;
                }
                Message::RdmaData => firing.token_mut(under_way, slot).wire += job.size,
                Message::Done => firing.token_mut(under_way, slot).received = true,
                _ => {
                    firing.put(answered, job);
                    return;
                }
            }
            let whole = *firing.token_mut(under_way, slot);
            let all = whole.operation == Operation::Write || whole.wire == whole.size;
            if whole.received
                && all
                && let Some(whole) = firing.take(under_way, slot)
            {
                firing.put(answered, buffers.answered(whole));
            }
        });
    Duplex {
        send: jobs.into(),
        received: answered,
    }
}

/// A large job in progress.
#[derive(Clone, Copy)]
struct Moving {
    job: Job,
    /// Bytes of begun operations, and of ended ones.
    begun: u64,
    over: u64,
}

/// Puts the messages between a server's jobs and its way to the clients.
///
/// ```text
///   received ─▶ [take in] ─ inline, data ─▶ jobs
///                   └─ RDMA Reads ─▶ send
///   served ─▶ [give back] ─ inline, data, done, the next RDMA Read ─▶ send
///                   └─ the next part to read ─▶ jobs
/// ```
pub(super) fn server(
    page: &mut Page<'_>,
    scenario: &Parallel,
    spec: &Rdma,
    outside: Duplex,
) -> Duplex {
    let Duplex { send, received } = outside;
    let buffers = buffers(scenario, spec);
    let read_request = buffers.wire.bytes_of(spec.read_request.0);
    // The request of the RDMA Read that moves a part.
    let read = move |part: &Job| Job {
        wire: read_request,
        direction: Direction::Back,
        message: Message::RdmaRead,
        ..*part
    };
    let jobs = page.place::<Job>("taken in");
    let served = page.place::<Job>("to give back");
    // By client, and the client's number of the job.
    let under_way = page.store("jobs under way", |_| BTreeMap::<(u32, u32), Moving>::new());
    page.transition("take in")
        .take(received)
        .with(under_way)
        .puts_many(send)
        .puts_many(jobs)
        .fires(move |firing, job: Job, under_way| {
            if job.message != Message::Request {
                firing.put(jobs, job);
                return;
            }
            let mut begun = 0;
            while begun < buffers.at_once(&job) {
                let part = buffers.part(&job, begun, Message::RdmaData);
                begun += part.size;
                match job.operation {
                    Operation::Write => firing.put(send, read(&part)),
                    _ => firing.put(jobs, part),
                };
            }
            let moving = Moving {
                job,
                begun,
                over: 0,
            };
            under_way.insert((job.client, job.request), moving);
        });
    page.transition("give back")
        .take(served)
        .with(under_way)
        .puts_many(send)
        .may_put(jobs)
        .fires(move |firing, job: Job, under_way| {
            if job.message != Message::RdmaData {
                firing.put(send, job);
                return;
            }
            let key = (job.client, job.request);
            let Some(moving) = under_way.get_mut(&key) else {
                return;
            };
            moving.over += job.size;
            let writes = job.operation == Operation::Write;
            if !writes {
                let wire = buffers.wire.bytes_of(job.size);
                firing.put(send, Job { wire, ..job });
            }
            if moving.begun < moving.job.size {
                let part = buffers.part(&moving.job, moving.begun, Message::RdmaData);
                moving.begun += part.size;
                match writes {
                    true => firing.put(send, read(&part)),
                    false => firing.put(jobs, part),
                };
            } else if moving.over == moving.job.size {
                under_way.remove(&key);
                firing.put(send, buffers.about(&job, Message::Done));
            }
        });
    Duplex {
        send: served.into(),
        received: jobs,
    }
}
