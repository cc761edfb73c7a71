//! The page cache of a simple data server, above its devices.

use headrace_net::{
    Account, Fcfs, Firing, Net, Node, Page, Port, Random, Slot, Span, Store, To, WaitId,
};
use headrace_spec::{Bytes, Memory};
use headrace_trace::Operation;

use super::super::targets::Targets;
use super::super::writes_in_flight::WritesInFlight;
use super::transfer_of;
use crate::cache_counts::{self, CACHED, CacheCounts, PAGE_CACHE};
use crate::failure::{Crash, Failing};
use crate::localfs::{PageCache, Range};
use crate::replacement::MakePolicy;
use crate::tokens::{Job, Transfer};

/// Parts of a server that its cache joins.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    /// The devices.
    pub device: Targets,
    /// Jobs whose transfers are at the device.
    pub waiting: Node<Job>,
    /// Jobs that are done.
    pub served: Node<Job>,
    /// Number of targets that are the server's own.
    pub targets: u32,
    /// Wait of an fsync for writes that others began.
    pub write_back: WaitId,
}

/// Cache and sizes of a server's files.
#[derive(Debug)]
struct Cached {
    /// A cache for each target.
    targets: Vec<PageCache>,
    /// Writes in flight to the devices.
    writes: WritesInFlight,
}

impl Cached {
    fn counts(&self) -> CacheCounts {
        let mut counts = CacheCounts::default();
        for cache in &self.targets {
            counts.add(cache.counts());
        }
        counts
    }

    fn dirty_bytes(&self) -> u64 {
        self.targets.iter().map(PageCache::dirty_bytes).sum()
    }
}

/// Puts policies of the caller's own into all servers' caches.
pub fn set_policies(net: &mut Net, make: &MakePolicy<'_>) {
    let caches = net.stores_mut::<Cached>().flat_map(|it| &mut it.targets);
    let caches = caches.filter(|cache| cache.needs_policy());
    for (cache, number) in caches.zip(0..) {
        cache.set_policy(|pages| make(number, pages));
    }
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

    /// Sends evicted data of a cache to its device; the job with this slot waits for it.
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
            firing.charge_as(self.waiting, job);
            firing.end_gap_wait();
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

/// Writes what a page cache and the devices do for the jobs that the daemon has taken. Gives where
/// the server loses the cache, if servers fail.
pub(super) fn cached(
    page: &mut Page<'_>,
    daemon: Node<Job>,
    parts: Parts,
    spec: &Memory,
    failing: Option<Failing>,
) -> Option<Port<Crash>> {
    let targets = u64::from(parts.targets);
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
    cache_counts::report(
        page,
        cache,
        PAGE_CACHE,
        Cached::counts,
        Some(Cached::dirty_bytes),
    );
    page.gauge(cache, PAGE_CACHE, CACHED, |cached: &Cached| {
        cached.targets.iter().map(PageCache::bytes).sum()
    });
    let places = Places {
        memory: memory(page, spec),
        read: page.place("read"),
        write: page.place("write"),
        sync: page.place("sync"),
    };
    distribute(page, daemon, parts, places);
    read_and_write(page, parts, places, cache);
    synchronise(page, parts, places, cache);
    complete(page, parts, places, cache);
    failing.map(|failing| forget(page, failing, cache))
}

/// Places of jobs by their next step.
#[derive(Clone, Copy)]
struct Places {
    /// Copying between cache and network buffers: reads last, writes first.
    memory: Node<Job>,
    read: Node<Job>,
    write: Node<Job>,
    sync: Node<Job>,
}

/// The memory, which takes time if it has a rate.
fn memory(page: &mut Page<'_>, spec: &Memory) -> Node<Job> {
    match spec.rate.map(|rate| 1e12 / rate.0) {
        None => page.place("memory"),
        Some(per_byte) => {
            let copy = move |job: &Job, _: &mut Random<'_>| {
                Span((job.size as f64 * per_byte + 0.5) as u64)
            };
            page.station("memory", Fcfs::new(1, copy))
        }
    }
}

/// Sends jobs to their first step, and from the memory to their next one.
fn distribute(page: &mut Page<'_>, daemon: Node<Job>, parts: Parts, places: Places) {
    let Places {
        memory,
        read,
        write,
        sync,
    } = places;
    let served = parts.served;
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
}

/// Looks data up for reads, and stores that of writes.
fn read_and_write(page: &mut Page<'_>, parts: Parts, places: Places, cache: Store<Cached>) {
    let Places {
        memory,
        read,
        write,
        ..
    } = places;
    let Parts {
        device,
        waiting,
        served,
        ..
    } = parts;
    page.transition("look up")
        .take(read)
        .with(cache)
        .puts_one_of([waiting.into(), memory.into()])
        .puts_many(device.submit)
        .fires(move |firing, job: Job, cache| {
            let held = &mut cache.targets[parts.cache(job.target)];
            let file = parts.in_cache(job.file, job.target);
            let gaps = held.read(file, job.offset, job.size);
            if let Some(failure) = held.failure() {
                firing.fail(failure);
            }
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
            if let Some(failure) = held.failure() {
                firing.fail(failure);
            }
            wait_for(firing, job, &ranges, cache, parts, served);
        });
}

/// Writes back what an fsync waits for.
fn synchronise(page: &mut Page<'_>, parts: Parts, places: Places, cache: Store<Cached>) {
    let Parts {
        device, waiting, ..
    } = parts;
    page.transition("synchronise")
        .take(places.sync)
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
                writes => {
                    firing.token_mut(waiting, slot).pending = writes;
                    firing.begin_gap_wait(parts.write_back);
                }
            }
        });
}

/// Goes on with jobs whose transfers are done.
fn complete(page: &mut Page<'_>, parts: Parts, places: Places, cache: Store<Cached>) {
    let memory = places.memory;
    let Parts {
        device,
        waiting,
        served,
        ..
    } = parts;
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
                if let Some(failure) = cache.targets[at].failure() {
                    firing.fail(failure);
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
}

/// Place where a server loses its page cache.
fn forget(page: &mut Page<'_>, failing: Failing, cache: Store<Cached>) -> Port<Crash> {
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
            held.iter_mut().for_each(PageCache::clear);
        });
    crash
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
