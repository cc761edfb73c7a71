//! Copies from server to server. With `replication.by = "chain"` a server stores a write, and
//! forwards it to the next server with a copy. With "primary" the first forwards it to all others.
//!
//! ```text
//!   received ─▶ [take in] ─ own part ─▶ jobs        served ─▶ [give back]
//!                 │  └─ a write with further copies ─▶ send       │
//!                 └─ another server's answer ─▶ (passing on) ─▶ send
//! ```
//!
//! A server forwards a message over its own card as soon as it has all of it, and stores its part
//! meanwhile. It answers when all are done. Data thus crosses the servers like a pipeline of
//! messages. With HDFS' packets of 64 KiB (`clients.rpc.size`), the pipeline is that of HDFS
//! (Shvachko et al., MSST 2010, section II.C). With messages of a whole block, one server follows
//! the other.
//!
//! Requests that start together at the grain of flows also arrive and are forwarded together, so
//! chains overlap badly there.
//!
//! Chains need a network between servers (not `pairs`), full duplex, whole messages, and servers
//! without `servers.streaming`. Schedulers at servers see forwarded messages as jobs of the writing
//! client.
//!
//! Not modelled: locks, versions and checksums that make copies equal; limits of a server's memory
//! for messages that it forwards; schedulers at a gateway or at proxies, which do not see messages
//! between servers.

use headrace_net::{Firing, Node, Page, Slot};
use headrace_spec::{Parallel, ReplicatedBy};
use headrace_trace::Operation;
use smallvec::SmallVec;

use super::Reply;
use crate::duplex::Duplex;
use crate::failure::Failing;
use crate::layout::ReplicaPlacement;
use crate::network::Wire;
use crate::tokens::{Direction, Job};

/// Puts the chain between a server's messages and its jobs, if copies go that way.
pub fn replication_chain(
    page: &mut Page<'_>,
    scenario: &Parallel,
    failing: Option<Failing>,
    outside: Duplex,
) -> Duplex {
    if !scenario.replication.chained() || scenario.replication.reed_solomon().is_some() {
        return outside;
    }
    let Duplex { send, received } = outside;
    let wire = Wire::new(&scenario.network);
    let reply = Reply { wire, send };
    let jobs = page.place::<Job>("copies taken in");
    let served = page.place::<Job>("copies served");
    // Writes as they arrived; their field `wire` counts the answers that they wait for.
    let passing_on = page.bag::<Job>("passing on");
    let link = Link {
        copies: ReplicaPlacement::new(scenario, page.seed()),
        servers: scenario.servers.count,
        by: scenario.replication.by,
        reply,
        jobs,
        passing_on,
    };
    let pass_on = page
        .transition("pass on")
        .take(received)
        .may_put(jobs)
        .may_put(passing_on)
        .puts_many(send)
        .may_pass(passing_on, send);
    match failing {
        None => pass_on.fires(move |firing, job: Job, ()| link.pass_on(firing, job, |_, _| false)),
        Some(failing) => {
            pass_on
                .with(failing.store)
                .fires(move |firing, job: Job, failures| {
                    let clients = &failures.clients;
                    link.pass_on(firing, job, |client, server| {
                        clients[client as usize].takes_for_failed(server)
                    });
                });
            // Requests to a failed server stay unanswered.
            page.rest(passing_on);
        }
    }
    page.transition("stored")
        .take(served)
        .may_pass(passing_on, send)
        .may_put(send)
        .fires(move |firing, job: Job, ()| {
            if job.operation == Operation::Write {
                settle(firing, passing_on, Slot(job.request), reply);
            } else {
                firing.put(send, job);
            }
        });
    Duplex {
        send: served.into(),
        received: jobs,
    }
}

/// A server's link of the chain.
struct Link {
    copies: ReplicaPlacement,
    servers: u32,
    by: ReplicatedBy,
    reply: Reply,
    jobs: Node<Job>,
    passing_on: Node<Job>,
}

impl Link {
    /// The targets that a server forwards a write to.
    fn further(&self, job: &Job, target: u32, failed: impl Fn(u32) -> bool) -> SmallVec<[u32; 4]> {
        let most = match (self.by, job.direction) {
            (ReplicatedBy::Primary, Direction::ToNextCopy) => 0,
            (ReplicatedBy::Primary, _) => usize::MAX,
            _ => 1,
        };
        let next = |target: &u32| self.copies.next(job.file, job.offset, *target);
        let behind = std::iter::successors(next(&target), next);
        let there = behind.filter(|it| !failed(it % self.servers));
        there.take(most).collect()
    }

    /// Takes a message in; servers that the client takes for failed are left out.
    fn pass_on(&self, firing: &mut Firing<'_>, job: Job, failed: impl Fn(u32, u32) -> bool) {
        match job.direction {
            Direction::FromNextCopy => {
                settle(firing, self.passing_on, Slot(job.request), self.reply);
                return;
            }
            _ if job.operation != Operation::Write => {
                firing.put(self.jobs, job);
                return;
            }
            _ => {}
        }
        // Schedulers go by the client.
        let client = match job.direction {
            Direction::ToNextCopy => job.pending,
            _ => job.client,
        };
        let target = u32::from(job.target) * self.servers + job.server;
        let further = self.further(&job, target, |server| failed(client, server));
        let waits = Job {
            wire: 1 + further.len() as u64,
            ..job
        };
        let request = firing.put(self.passing_on, waits).0;
        let own = Job {
            request,
            client,
            pending: 0,
            direction: Direction::Out,
            ..job
        };
        firing.put(self.jobs, own);
        for next in further {
            let mut onward = Job {
                request,
                client: job.server,
                pending: client,
                server: next % self.servers,
                target: (next / self.servers) as u16,
                direction: Direction::ToNextCopy,
                received: false,
                ..job
            };
            onward.wire = self.reply.wire.bytes(onward.payload());
            firing.put(self.reply.send, onward);
        }
    }
}

/// One of them is done: a write that has all is answered.
fn settle(firing: &mut Firing<'_>, passing_on: Node<Job>, slot: Slot, reply: Reply) {
    let waits = firing.token_mut(passing_on, slot);
    waits.wire -= 1;
    if waits.wire == 0
        && let Some(done) = firing.take(passing_on, slot)
    {
        firing.put(reply.send, reply.to(done));
    }
}
