//! A data server of a page cache and a device.
//!
//! ```text
//!   received ─▶ (daemon) ─▶ [begin]
//!     read:  [look up] ─ cached ─▶ (memory) ─▶ [copied] ─▶ [reply] ─▶ send
//!               └─ gaps ─▶ (device) ─▶ [transferred] ─▶ [go on] ─▶ (memory) …
//!     write: (memory) ─▶ [copied] ─▶ [store] ─ below the limit ─▶ [reply]
//!               └─ write back ─▶ (device) ─▶ [transferred] ─▶ [go on] ─▶ [reply]
//!   without a cache: [start] ─▶ (device) ─▶ [reply]
//! ```
//!
//! Reads wait for missing data. Without write-back, writes wait for the device. With write-back,
//! they wait only for as much old dirty data as they push over the limit (Liu et al. 2011 (PFSsim),
//! §5.1). Dirty data that a read evicts goes to the device without that read waiting for it. An
//! fsync waits until all dirty data of its file is on the device, and for a flush of the device's
//! own cache. The daemon is first come, first served by `daemon.threads` threads. With
//! `memory.rate`, one copier copies data between page cache and network buffers. Writes are copied
//! before they are stored, reads after they are fetched.
//!
//! Not modelled: locks and read-ahead; a daemon thread that waits for the device: it is free after
//! it passes the job on; the local file system's metadata and journal; jobs that miss the same page
//! at the same time and need it from the device only once.

mod cached;

use headrace_net::{Fcfs, Node, Page, Random, Slot, Span, Store, To};
use headrace_spec::{Parallel, SimpleServer};
use headrace_trace::Operation;

pub use self::cached::set_policies;
use self::cached::{Parts, cached};
use super::partner::{self, PartnerPorts};
use super::targets::{Targets, targets};
use super::{DaemonPorts, Names, Ports, Reply, Served};
use crate::failure::Failing;
use crate::localfs::Range;
use crate::metadata::Times;
use crate::tokens::{Job, Role, Transfer};

/// Without a file system, every file lies in one piece, this far from the next;
/// devices of a size count addresses round.
const FILES_APART: u64 = 1 << 30;

/// Writes what of a data server is behind its scheduler, if it is simple.
pub(super) fn server(
    page: &mut Page<'_>,
    scenario: &Parallel,
    spec: &SimpleServer,
    jobs: DaemonPorts,
    failing: Option<Failing>,
) -> Ports {
    let DaemonPorts {
        received,
        names,
        reply,
        served: count,
    } = jobs;
    let (device, partner) = devices(page, scenario, spec);
    let waiting = page.bag::<Job>("waiting for device");
    let spec_of_daemon = &scenario.servers.daemon;
    let work = Span::from_seconds(spec_of_daemon.time_per_job.0);
    let daemon = match (names, work) {
        (Some(names), work) => for_both(page, scenario, work, names, received),
        (None, Span::ZERO) => received,
        (None, work) => {
            let daemon = page.station("daemon", Fcfs::new(spec_of_daemon.threads, work));
            page.connect(received, daemon);
            daemon
        }
    };
    if spec.memory.cache.0 == 0 {
        uncached(page, daemon, device, waiting, (reply, count));
        Ports {
            forget: None,
            partner,
        }
    } else {
        let served = page.place("served");
        page.transition("reply")
            .take(served)
            .with(count)
            .put(reply.send, move |_, job, served| {
                reply.to(served.count(job))
            });
        let write_back = page.wait("waiting for write-back");
        let forget = cached(
            page,
            daemon,
            Parts {
                device,
                waiting,
                served,
                targets: scenario.servers.targets,
                write_back,
            },
            &spec.memory,
            failing,
        );
        Ports { forget, partner }
    }
}

/// The server's devices, and its partner's if it has one.
fn devices(
    page: &mut Page<'_>,
    scenario: &Parallel,
    spec: &SimpleServer,
) -> (Targets, Option<PartnerPorts>) {
    let own = targets(page, scenario, spec);
    if scenario.servers.partner(0).is_none() {
        return (own, None);
    }
    let (all, ports) = partner::shared(page, scenario.servers.targets, own);
    (all, Some(ports))
}

/// A daemon whose threads serve names as well as data; gives the data.
fn for_both(
    page: &mut Page<'_>,
    scenario: &Parallel,
    work: Span,
    names: Names,
    received: Node<Job>,
) -> Node<Job> {
    let times = Times::new(&scenario.metadata);
    if work == Span::ZERO && times.all_zero() {
        page.connect(names.received, names.processed);
        return received;
    }
    let time = move |job: &Job, _: &mut Random<'_>| match job.role {
        Role::Metadata => times.of(job.operation),
        Role::Data => work,
    };
    let daemon = page.station("daemon", Fcfs::new(scenario.servers.daemon.threads, time));
    page.connect(received, daemon);
    page.connect(names.received, daemon);
    let data = page.place("served data");
    let (to_names, to_data): (To<Job>, To<Job>) = (names.processed, data.into());
    page.transition("name or data").take(daemon).route(
        [to_names, to_data],
        move |_, job: &mut Job, ()| match job.role {
            Role::Metadata => to_names,
            Role::Data => to_data,
        },
    );
    data
}

/// Every job is one transfer.
fn uncached(
    page: &mut Page<'_>,
    daemon: Node<Job>,
    device: Targets,
    waiting: Node<Job>,
    (reply, count): (Reply, Store<Served>),
) {
    page.transition("start")
        .take(daemon)
        .puts(waiting)
        .puts(device.submit)
        .fires(move |firing, job: Job, ()| {
            let slot = firing.put(waiting, job);
            let (start, end) = (job.offset, job.offset + job.size);
            let range = Range {
                file: job.file,
                start,
                end,
            };
            let transfer = transfer_of(range, job.operation, Some(slot), job.target);
            firing.put(device.submit, transfer);
        });
    page.transition("reply")
        .take(device.done)
        .with(count)
        .may_pass(waiting, reply.send)
        .fires(move |firing, transfer: Transfer, served| {
            if let Some(job) = transfer.owner
                && let Some(job) = firing.take(waiting, Slot(job))
            {
                firing.put(reply.send, reply.to(served.count(job)));
            }
        });
}

fn transfer_of(range: Range, operation: Operation, job: Option<Slot>, target: u16) -> Transfer {
    let address = (u64::from(range.file) * FILES_APART).wrapping_add(range.start) % (1 << 62);
    Transfer {
        owner: job.map(|slot| slot.0),
        file: range.file,
        offset: range.start,
        synchronous: job.is_some(),
        member: target,
        ..Transfer::new(operation, address, range.len())
    }
}
