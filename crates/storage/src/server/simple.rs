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
//! Reads wait for what is not cached. Writes wait for the device only if there
//! is no write-back, or for as much old dirty data as they push over the limit
//! (Liu et al. 2011 (PFSsim), §5.1). Dirty data that a read pushes out goes to
//! the device without that read waiting for it. An fsync waits until all that is dirty
//! of its file is on the device, and for a flush of the device's own cache.
//!
//! Not modelled: locks, the daemon waiting for the file system, read-ahead, and
//! that jobs which miss the same page at the same time need it from the device
//! only once.

use headrace_net::{Account, Fcfs, Firing, Node, Page, Port, Random, Slot, Span, Store, To};
use headrace_spec::{Bytes, Memory, Parallel, SimpleServer};
use headrace_trace::Operation;

use super::partner::{self, PartnerPorts};
use super::targets::{Targets, targets};
use super::writes_in_flight::WritesInFlight;
use super::{DaemonPorts, Names, Ports, Reply};
use crate::failure::{Crash, Failing};
use crate::localfs::{PageCache, Range};
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
        uncached(page, daemon, device, waiting, reply);
        Ports {
            forget: None,
            partner,
        }
    } else {
        let served = page.place("served");
        page.transition("reply")
            .take(served)
            .put(reply.send, move |_, job, ()| reply.to(job));
        let forget = cached(
            page,
            daemon,
            Parts {
                device,
                waiting,
                served,
                targets: scenario.servers.targets,
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

#[derive(Clone, Copy)]
struct Parts {
    device: Targets,
    /// Jobs whose transfers are at the device.
    waiting: Node<Job>,
    /// Jobs that are done.
    served: Node<Job>,
    /// Number of targets that are the server's own.
    targets: u32,
}

/// Cache and sizes of a server's files.
#[derive(Debug)]
struct Cached {
    /// A cache for each target.
    targets: Vec<PageCache>,
    /// Writes in flight to the devices.
    writes: WritesInFlight,
}

/// A write that an fsync waits for is done: the slot of the fsync's job.
#[derive(Clone, Copy, Debug)]
struct Written(u32);

/// Offset that separates file numbers of a partner's target from the server's own in the shared
/// cache; greater than any file number.
const PARTNERS: u32 = 1 << 31;

impl Parts {
    /// Returns the cache of a target.
    fn cache(self, target: u16) -> usize {
        (u32::from(target) % self.targets) as usize
    }

    /// A file's name in the cache of a target.
    fn in_cache(self, file: u32, target: u16) -> u32 {
        match u32::from(target) < self.targets {
            true => file,
            false => file | PARTNERS,
        }
    }

    /// The transfer of bytes that are in a cache, or are to be.
    fn transfer(
        self,
        range: Range,
        operation: Operation,
        job: Option<Slot>,
        cache: usize,
    ) -> Transfer {
        let file = range.file & !PARTNERS;
        let target = match range.file == file {
            true => cache as u16,
            false => (cache as u32 + self.targets) as u16,
        };
        transfer_of(Range { file, ..range }, operation, job, target)
    }

    /// Sends what a cache gives up to its device; the job with this slot waits for it.
    fn write(
        self,
        firing: &mut Firing<'_>,
        writes: &mut WritesInFlight,
        range: Range,
        job: Option<Slot>,
        cache: usize,
    ) {
        let owner = writes.begin((cache, range.file), job.map(|slot| slot.0));
        let transfer = Transfer {
            synchronous: job.is_some(),
            ..self.transfer(range, Operation::Write, Some(Slot(owner)), cache)
        };
        firing.put(self.device.submit, transfer);
    }

    /// One of the transfers that a job waits for is done; the job goes on to `done` if it
    /// was the last.
    fn one_is_done(
        self,
        firing: &mut Firing<'_>,
        job: Slot,
        operation: Operation,
        done: Node<Job>,
    ) {
        let waits = firing.token_mut(self.waiting, job);
        waits.pending -= 1;
        if waits.pending > 0 {
            return;
        }
        if waits.operation == Operation::Sync && operation != Operation::Sync {
            let synced = *waits;
            self.flush(firing, &synced, job);
        } else if let Some(job) = firing.take(self.waiting, job) {
            firing.put(done, job);
        }
    }

    /// Has the device of a job bring to the medium what its own cache holds.
    fn flush(self, firing: &mut Firing<'_>, job: &Job, slot: Slot) {
        firing.token_mut(self.waiting, slot).pending = 1;
        let nothing = Range {
            file: job.file,
            start: 0,
            end: 0,
        };
        let transfer = transfer_of(nothing, Operation::Sync, Some(slot), job.target);
        firing.put(self.device.submit, transfer);
    }
}

/// Every job is one transfer.
fn uncached(
    page: &mut Page<'_>,
    daemon: Node<Job>,
    device: Targets,
    waiting: Node<Job>,
    reply: Reply,
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
        .may_pass(waiting, reply.send)
        .fires(move |firing, transfer: Transfer, ()| {
            if let Some(job) = transfer.owner
                && let Some(job) = firing.take(waiting, Slot(job))
            {
                firing.put(reply.send, reply.to(job));
            }
        });
}

fn cached(
    page: &mut Page<'_>,
    daemon: Node<Job>,
    parts: Parts,
    spec: &Memory,
    failing: Option<Failing>,
) -> Option<Port<Crash>> {
    let Parts {
        device,
        waiting,
        served,
        targets: count,
    } = parts;
    let targets = u64::from(count);
    // Where there are several targets, each has an equal part of the cache.
    let part = Memory {
        cache: Bytes((spec.cache.0 / targets).max(spec.page.0)),
        dirty_limit: Bytes(spec.dirty_limit.0 / targets),
        ..spec.clone()
    };
    let cache = page.store("page cache", |_| Cached {
        targets: (0..targets).map(|_| PageCache::new(&part)).collect(),
        writes: WritesInFlight::default(),
    });
    page.level(cache, |cached: &Cached| {
        let parts = cached.targets.iter();
        parts.map(|it| it.dirty_part() + it.warm_part()).sum()
    });
    // Copying between cache and network buffers: reads last, writes first.
    let memory = match spec.rate.map(|rate| 1e12 / rate.0) {
        None => page.place("memory"),
        Some(per_byte) => {
            let copy = move |job: &Job, _: &mut Random<'_>| {
                Span((job.size as f64 * per_byte + 0.5) as u64)
            };
            page.station("memory", Fcfs::new(1, copy))
        }
    };
    let read = page.place("read");
    let write = page.place("write");
    let sync = page.place("sync");
    let targets: [To<Job>; 3] = [read.into(), memory.into(), sync.into()];
    page.transition("begin")
        .take(daemon)
        .route(targets, move |_, job, ()| match job.operation {
            Operation::Write => memory.into(),
            Operation::Sync => sync.into(),
            _ => read.into(),
        });
    let targets: [To<Job>; 2] = [write.into(), served.into()];
    page.transition("copied")
        .take(memory)
        .route(targets, move |_, job, ()| {
            if job.operation == Operation::Write {
                write.into()
            } else {
                served.into()
            }
        });

    page.transition("look up")
        .take(read)
        .with(cache)
        .puts_one_of([waiting.into(), memory.into()])
        .puts_many(device.submit)
        .fires(move |firing, job: Job, cache| {
            let held = &mut cache.targets[parts.cache(job.target)];
            let file = parts.in_cache(job.file, job.target);
            let gaps = held.read(file, job.offset, job.size);
            wait_for(firing, job, &gaps, cache, parts, memory);
        });
    page.transition("store")
        .take(write)
        .with(cache)
        .puts_one_of([waiting.into(), served.into()])
        .puts_many(device.submit)
        .fires(move |firing, job: Job, cache| {
            let held = &mut cache.targets[parts.cache(job.target)];
            let file = parts.in_cache(job.file, job.target);
            let ranges = if held.buffers_writes() {
                held.write(file, job.offset, job.size)
            } else {
                let mut ranges = held.write_through(file, job.offset, job.size);
                let end = job.offset + job.size;
                ranges.push(Range {
                    file,
                    start: job.offset,
                    end,
                });
                ranges
            };
            wait_for(firing, job, &ranges, cache, parts, served);
        });
    page.transition("synchronise")
        .take(sync)
        .with(cache)
        .puts(waiting)
        .puts_many(device.submit)
        .fires(move |firing, job: Job, cache| {
            let slot = firing.put(waiting, job);
            let at = parts.cache(job.target);
            let file = parts.in_cache(job.file, job.target);
            for range in cache.targets[at].write_back_file(file) {
                parts.write(firing, &mut cache.writes, range, None, at);
            }
            match cache.writes.wait((at, file), slot.0) {
                0 => parts.flush(firing, &job, slot),
                writes => firing.token_mut(waiting, slot).pending = writes,
            }
        });
    let done = page.place("device done");
    let written = page.place::<Written>("written for fsync");
    page.transition("transferred")
        .take(device.done)
        .with(cache)
        .may_pass(waiting, done)
        .puts_many(device.submit)
        .puts_many(written)
        .fires(move |firing, transfer: Transfer, cache| {
            let Some(owner) = transfer.owner else {
                return;
            };
            let job = match cache.writes.end(owner) {
                Some(write) => {
                    for job in write.syncs {
                        firing.put(written, Written(job));
                    }
                    write.job
                }
                None => Some(owner),
            };
            let Some(job) = job.map(Slot) else {
                return;
            };
            if transfer.operation == Operation::Read {
                let target = firing.token_mut(waiting, job).target;
                let Transfer {
                    file, offset, size, ..
                } = transfer;
                let delivered = Range {
                    file: parts.in_cache(file, target),
                    start: offset,
                    end: offset + size,
                };
                let at = parts.cache(target);
                let account = firing.account();
                firing.charge(Account::NOBODY);
                for range in cache.targets[at].fill(delivered) {
                    parts.write(firing, &mut cache.writes, range, None, at);
                }
                firing.charge(account);
            }
            parts.one_is_done(firing, job, transfer.operation, done);
        });
    page.transition("written")
        .take(written)
        .may_pass(waiting, done)
        .may_put(device.submit)
        .fires(move |firing, Written(job), ()| {
            parts.one_is_done(firing, Slot(job), Operation::Write, done);
        });
    let targets: [To<Job>; 2] = [memory.into(), served.into()];
    page.transition("go on")
        .take(done)
        .route(targets, move |_, job, ()| {
            if job.operation == Operation::Read {
                memory.into()
            } else {
                served.into()
            }
        });
    failing.map(|failing| forget(page, failing, cache, part))
}

/// Place where a server loses its page cache.
fn forget(
    page: &mut Page<'_>,
    failing: Failing,
    cache: Store<Cached>,
    spec: Memory,
) -> Port<Crash> {
    let crash = page.input("crash");
    let crashed = page.place("crashed");
    page.connect(crash, crashed);
    page.transition("forget")
        .take(crashed)
        .with(cache)
        .with(failing.store)
        .fires(move |_, crash: Crash, (cache, failures)| {
            let held = &mut cache.targets;
            let dirty = held.iter().map(PageCache::dirty_bytes).sum();
            failures.world.hosts.forgets(crash.server, dirty);
            held.fill_with(|| PageCache::new(&spec));
        });
    crash
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

/// Sends a job's transfers to the device and lets it wait for them, or lets it
/// go on if there are none.
fn wait_for(
    firing: &mut Firing<'_>,
    mut job: Job,
    ranges: &[Range],
    cache: &mut Cached,
    parts: Parts,
    on: Node<Job>,
) {
    if ranges.is_empty() {
        firing.put(on, job);
        return;
    }
    job.pending = ranges.len() as u32;
    let at = parts.cache(job.target);
    let slot = firing.put(parts.waiting, job);
    for &range in ranges {
        if job.operation == Operation::Write {
            parts.write(firing, &mut cache.writes, range, Some(slot), at);
        } else {
            let transfer = parts.transfer(range, Operation::Read, Some(slot), at);
            firing.put(parts.device.submit, transfer);
        }
    }
}
