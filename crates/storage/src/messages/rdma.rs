//! RDMA: a data server reads and writes the clients' memory.
//!
//! ```text
//!   read:  request ─▶   ◀─ data ◀─ data …   ◀─ done
//!   write: request ─▶   ◀─ RDMA Read   data ─▶ …   ◀─ done
//! ```
//!
//! The client's card answers RDMA Reads and stores data that is written to its memory. Its
//! processor sends the request and receives the answer. A job ends at its client when all data and
//! the answer have arrived. Small jobs go as one message each way.
//!
//! Not modelled: registration of memory, limits of a card on RDMA Reads in progress, completions
//! that are signalled by polling or interrupts.

use std::collections::BTreeMap;

use headrace_net::{Page, Slot};
use headrace_spec::{Parallel, Rdma};
use headrace_trace::Operation;

use crate::duplex::Duplex;
use crate::network::Wire;
use crate::tokens::{Direction, Job, Message};

/// Sizes of messages and operations.
#[derive(Clone, Copy)]
struct Sizes {
    inline: u64,
    message: u64,
    buffer: u64,
    window: u64,
    wire: Wire,
    /// Bytes on the wire of an RDMA Read's request.
    read_request: u64,
}

impl Sizes {
    fn new(scenario: &Parallel, spec: &Rdma) -> Sizes {
        let network = &scenario.network;
        let wire = Wire::new(network);
        Sizes {
            inline: spec.inline_limit.0,
            message: network.message.0,
            buffer: spec.buffer.0,
            window: u64::from(spec.buffers),
            wire,
            read_request: wire.bytes_of(spec.read_request.0),
        }
    }

    /// Returns true if a job goes as one message each way.
    fn is_inline(&self, job: &Job) -> bool {
        job.size == 0 || job.size.saturating_add(self.message) <= self.inline
    }

    /// Bytes that are moved by the first operations, before one of them is over.
    fn at_once(&self, job: &Job) -> u64 {
        job.size.min(self.buffer.saturating_mul(self.window))
    }

    /// The part of a job that one operation moves, from byte `from` of the job on.
    fn part(&self, job: &Job, from: u64) -> Job {
        let size = self.buffer.min(job.size - from);
        Job {
            offset: job.offset + from,
            size,
            wire: self.wire.bytes_of(size),
            message: Message::RdmaData,
            ..*job
        }
    }

    /// The request of the RDMA Read that moves a part.
    fn read(&self, part: &Job) -> Job {
        Job {
            wire: self.read_request,
            direction: Direction::Back,
            message: Message::RdmaRead,
            ..*part
        }
    }

    /// A message about a job that carries none of its data.
    fn about(&self, job: &Job, message: Message) -> Job {
        Job {
            wire: self.wire.bytes(0),
            message,
            ..*job
        }
    }
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
    let sizes = Sizes::new(scenario, spec);
    let jobs = page.place::<Job>("to ask for");
    let answered = page.place::<Job>("answered");
    // Their field `wire` holds the bytes that have been written to memory; `received` is true once
    // the answer has arrived.
    let under_way = page.bag::<Job>("under way");
    page.transition("ask")
        .take(jobs)
        .may_put(under_way)
        .puts(send)
        .fires(move |firing, job: Job, ()| {
            if sizes.is_inline(&job) {
                firing.put(send, job);
                return;
            }
            let whole = Job {
                wire: 0,
                received: false,
                ..job
            };
            let request = firing.put(under_way, whole).0;
            let asked = sizes.about(&job, Message::Request);
            firing.put(send, Job { request, ..asked });
        });
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
                        wire: sizes.wire.bytes_of(job.size),
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
                let mut back = Job {
                    direction: Direction::Back,
                    received: false,
                    ..whole
                };
                back.wire = sizes.wire.bytes(back.payload());
                firing.put(answered, back);
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
    /// Bytes whose operation has begun, and whose operation is over.
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
    let sizes = Sizes::new(scenario, spec);
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
            while begun < sizes.at_once(&job) {
                let part = sizes.part(&job, begun);
                begun += part.size;
                match job.operation {
                    Operation::Write => firing.put(send, sizes.read(&part)),
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
                let wire = sizes.wire.bytes_of(job.size);
                firing.put(send, Job { wire, ..job });
            }
            if moving.begun < moving.job.size {
                let part = sizes.part(&moving.job, moving.begun);
                moving.begun += part.size;
                match writes {
                    true => firing.put(send, sizes.read(&part)),
                    false => firing.put(jobs, part),
                };
            } else if moving.over == moving.job.size {
                under_way.remove(&key);
                firing.put(send, sizes.about(&job, Message::Done));
            }
        });
    Duplex {
        send: served.into(),
        received: jobs,
    }
}
