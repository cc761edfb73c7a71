//! A client's locks. A request waits until the client has locks on all its bytes, and they are not
//! released until it is done.
//!
//! ```text
//!   mapped ─▶ [lock] ─ held ─▶ locked ─▶ …cache or servers… ─▶ done ─▶ [unlock] ─▶ complete
//!               └─ asks a server ─▶ (waiting for locks)                    │
//!   about locks ─▶ [take in] ─ granted ─▶ locked                           │
//!                      └─ called back, and nobody uses it ◀────────────────┘
//!                             ├─ no cache ───────────────────────────▶ send
//!                             └─ locks to give up ─▶ …cache… ─▶ [give up] ─▶ send
//! ```
//!
//! A request asks for one lock after the other, by the number of their objects, so that two
//! requests never wait for each other. A request asks for a lock of its own if none of the client's
//! locks covers it (lustre/osc/osc_request.c, osc_enqueue_base). A write lock also covers reads.
//!
//! Not modelled: release of locks that are unused; locks requested ahead; locks of a removed file.

use std::collections::BTreeMap;

use headrace_net::{Account, Firing, Node, Page, Port, Slot, Store, To};
use headrace_spec::{ExtentLocks, Parallel};
use headrace_trace::Operation;

use super::ClientContext;
use crate::duplex::Duplex;
use crate::host_pages::HostNumbers;
use crate::layout::{FirstTargets, Layouts};
use crate::locks::{Lock, LockSet};
use crate::network::Wire;
use crate::tokens::{Extent, Job, Message, ObjectId, ReleasedLock, Request, Role};

/// A client's ways to the servers' lock tables and to its cache.
#[derive(Clone, Copy)]
pub(super) struct LockPorts {
    /// Output and input of lock messages.
    pub server: Duplex,
    /// Output of locks whose data must be flushed, and the input where they return.
    pub flushed: Option<(Node<ReleasedLock>, Node<ReleasedLock>)>,
}

/// Locks that a client asks for and uses.
#[derive(Default)]
struct Locks {
    /// The number of the next one.
    next: u32,
    /// Requested locks, by number.
    asked: BTreeMap<u32, RequestedLock>,
    /// Locks used by requests in flight, by workload and rank: object and number.
    in_use: BTreeMap<(u32, u32), Vec<(ObjectId, u32)>>,
}

/// A lock that has been asked for.
#[derive(Clone, Copy)]
struct RequestedLock {
    /// Slot of the request that waits for it.
    slot: Slot,
    /// The server wants it back before it has come.
    called: bool,
}

/// Rules common to all clients.
#[derive(Clone)]
struct Rules {
    /// The clients' numbers.
    numbers: HostNumbers,
    layouts: Layouts,
    unit: u64,
    servers: u32,
    wire: Wire,
    send: To<Job>,
    /// Output of locks whose data must be flushed.
    flush: Option<Node<ReleasedLock>>,
}

/// Writes the locks of a client's page, between `mapped` and `done`; gives where requests
/// are that have theirs, and what locks it has.
pub(super) fn locks(
    page: &mut Page<'_>,
    parallel: &Parallel,
    spec: &ExtentLocks,
    context: &ClientContext,
    (mapped, done): (Node<Request>, Node<Request>),
    complete: Port<Request>,
    ports: LockPorts,
) -> (Node<Request>, Store<LockSet>) {
    let locks = page.store("locks", |_| Locks::default());
    let held = page.store("locks held", |_| LockSet::default());
    let Duplex { send, received } = ports.server;
    let locked = page.place::<Request>("locked");
    let waiting = page.bag::<Request>("waiting for locks");
    page.conserve(waiting);
    let rules = Rules {
        numbers: context.numbers.clone(),
        layouts: context.layouts.clone(),
        unit: spec.unit.0,
        servers: parallel.servers.count,
        wire: Wire::new(&parallel.network),
        send,
        flush: ports.flushed.map(|(flush, _)| flush),
    };
    let of = rules.clone();
    page.transition("lock")
        .take(mapped)
        .with(locks)
        .with(held)
        .with(context.first_targets)
        .puts_one_of([locked.into(), waiting.into()])
        .may_put(send)
        .fires(
            move |firing, request: Request, (locks, held, first_targets)| match of.missing(
                locks,
                held,
                first_targets,
                &request,
            ) {
                None => {
                    firing.put(locked, request);
                }
                Some(extent) => {
                    let slot = firing.put(waiting, request);
                    of.ask(firing, locks, &request, extent, slot);
                }
            },
        );
    let of = rules.clone();
    let take_in = page
        .transition("take in locks")
        .take(received)
        .with(locks)
        .with(held)
        .with(context.first_targets)
        .may_pass(waiting, locked)
        .puts_many(send);
    let take_in = match ports.flushed {
        Some((flush, _)) => take_in.may_put(flush),
        None => take_in,
    };
    take_in.fires(move |firing, job: Job, (locks, held, first_targets)| {
        let number = job.request;
        match job.message {
            Message::Granted => {
                let Some(asked) = locks.asked.remove(&number) else {
                    return;
                };
                let request = *firing.token_mut(waiting, asked.slot);
                locks.granted(held, &of, &job, &request, asked.called);
                match of.missing(locks, held, first_targets, &request) {
                    None => {
                        if let Some(request) = firing.take(waiting, asked.slot) {
                            firing.put(locked, request);
                        }
                    }
                    Some(extent) => of.ask(firing, locks, &request, extent, asked.slot),
                }
            }
            Message::Blocking => {
                let object = of.object_of(&job);
                if let Some(asked) = locks.asked.get_mut(&number) {
                    asked.called = true;
                } else if let Some(lock) = held.call_back(job.file, object, number) {
                    of.give_up(firing, held, lock);
                }
            }
            _ => {}
        }
    });
    if let Some((_, flushed)) = ports.flushed {
        let of = rules.clone();
        page.transition("give up")
            .take(flushed)
            .with(held)
            .puts(send)
            .fires(move |firing, lock: ReleasedLock, held| of.cancel(firing, held, lock));
    }
    let unlock = page
        .transition("unlock")
        .take(done)
        .with(locks)
        .with(held)
        .puts(complete)
        .puts_many(send);
    let unlock = match ports.flushed {
        Some((flush, _)) => unlock.puts_many(flush),
        None => unlock,
    };
    unlock.fires(move |firing, request: Request, (locks, held)| {
        let key = (request.process.workload, request.process.rank);
        let used = locks.in_use.remove(&key).unwrap_or_default();
        let account = firing.account();
        firing.charge(Account::NOBODY);
        for (object, number) in used {
            if let Some(lock) = held.release(request.file, object, number) {
                rules.give_up(firing, held, lock);
            }
        }
        firing.charge(account);
        firing.put(complete, request);
    });
    (locked, held)
}

impl Locks {
    /// A lock has come, and the request that waited for it uses it.
    fn granted(
        &mut self,
        held: &mut LockSet,
        rules: &Rules,
        job: &Job,
        request: &Request,
        called: bool,
    ) {
        let extent = Extent {
            file: job.file,
            object: rules.object_of(job),
            start: job.offset,
            end: job.offset + job.size,
        };
        held.add(Lock {
            number: job.request,
            extent,
            write: job.operation == Operation::Write,
            users: 1,
            called,
        });
        let key = (request.process.workload, request.process.rank);
        let used = self.in_use.entry(key).or_default();
        used.push((extent.object, job.request));
    }
}

impl Rules {
    /// The first extent of a request for which the client has no lock; it uses those
    /// before it.
    fn missing(
        &self,
        locks: &mut Locks,
        held: &mut LockSet,
        first_targets: &mut FirstTargets,
        request: &Request,
    ) -> Option<Extent> {
        let write = match request.operation {
            Operation::Write => true,
            Operation::Read => false,
            _ => return None,
        };
        if request.only_computes() || request.size == 0 {
            return None;
        }
        let file = self.layouts.file(request.file, first_targets);
        let key = (request.process.workload, request.process.rank);
        let used = locks.in_use.entry(key).or_default();
        let extents = file.extents(request.offset, request.size);
        for (object, start, end) in extents.into_iter().skip(used.len()) {
            let extent = Extent {
                file: request.file,
                object,
                start: start - start % self.unit,
                end: end.checked_next_multiple_of(self.unit).unwrap_or(u64::MAX),
            };
            match held.take(extent, write) {
                Some(number) => used.push((object, number)),
                None => return Some(extent),
            }
        }
        None
    }

    /// Asks a server for a lock for a request that waits.
    fn ask(
        &self,
        firing: &mut Firing<'_>,
        locks: &mut Locks,
        request: &Request,
        extent: Extent,
        slot: Slot,
    ) {
        let number = locks.next;
        locks.next = locks.next.wrapping_add(1);
        let called = false;
        locks.asked.insert(number, RequestedLock { slot, called });
        let operation = request.operation;
        let message = self.message(
            self.numbers.of(firing.copy()),
            extent.file,
            extent.object,
            number,
        );
        let ask = Job {
            offset: extent.start,
            size: extent.end - extent.start,
            operation,
            workload: request.process.workload as u16,
            group: request.group,
            message: Message::Enqueue,
            ..message
        };
        // The request is where it waits.
        let account = firing.account();
        firing.charge(Account::NOBODY);
        firing.put(self.send, ask);
        firing.charge(account);
    }

    /// Releases an unused lock, after the data cached under it has been written.
    fn give_up(&self, firing: &mut Firing<'_>, held: &mut LockSet, lock: Lock) {
        let Lock { number, extent, .. } = lock;
        let lock = ReleasedLock { number, extent };
        match self.flush {
            Some(flush) => {
                firing.put(flush, lock);
            }
            None => self.cancel(firing, held, lock),
        }
    }

    /// Nothing is cached under a lock any more.
    fn cancel(&self, firing: &mut Firing<'_>, held: &mut LockSet, lock: ReleasedLock) {
        let Extent { file, object, .. } = lock.extent;
        held.remove(file, object, lock.number);
        firing.put(
            self.send,
            self.message(self.numbers.of(firing.copy()), file, object, lock.number),
        );
    }

    /// Creates the message that a client releases a lock.
    fn message(&self, client: u32, file: u32, object: ObjectId, number: u32) -> Job {
        Job {
            server: object.target % self.servers,
            target: (object.target / self.servers) as u16,
            pending: object.index,
            wire: self.wire.bytes(0),
            message: Message::Cancel,
            ..Job::new(number, client, file, Operation::Write, Role::Data)
        }
    }

    fn object_of(&self, job: &Job) -> ObjectId {
        ObjectId {
            target: u32::from(job.target) * self.servers + job.server,
            index: job.pending,
        }
    }
}
