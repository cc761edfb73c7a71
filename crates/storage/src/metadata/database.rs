//! Entries of metadata on a device: some are in memory, changes go to a log.
//!
//! An operation on an uncached entry waits for the device to read it. Files that exist before the
//! run are not cached. Changes wait for a write to the end of the log which the device confirms
//! from its medium. Changes that arrive during a write go together in the next one. This is the
//! group commit of jbd2 in Linux, and the coalescing of PVFS2's database syncs. Without
//! `synchronous`, changes are written too, but no operation waits.
//!
//! Data of files on the metadata server is read if it is not in memory, and written before the
//! answer.
//!
//! Not modelled: entries that go from the log to their place, which happens in idle time only; the
//! end of the log; a limit of pending changes without `synchronous`.

use headrace_net::{Firing, Node, Page, Port, Slot, Store};
use headrace_spec::Database as Spec;
use headrace_trace::Operation;

use crate::cache_counts::{self, CacheCounts};
use crate::device;
use crate::failure::{Crash, Failing};
use crate::layout::file_hash;
use crate::localfs::{ActiveInactiveLru, Range};
use crate::tokens::{Job, Transfer};

/// Half of the pages in use may be active, as in the page cache of Linux.
const ACTIVE_SHARE: f64 = 0.5;

/// State of one server's database.
struct Entries {
    entry: u64,
    /// Bytes of the device; the log lies in the second half.
    capacity: u64,
    log: u64,
    /// Entries in memory; none if all are.
    memory: Option<ActiveInactiveLru>,
    /// Number of bytes of them can be.
    cache: Option<u64>,
    synchronous: bool,
    group: usize,
    /// Changes that wait for the log, and those that are being written to it.
    waiting: Vec<Slot>,
    writing: Vec<Slot>,
    /// Changes to be written that no operation waits for.
    behind: u64,
    is_writing: bool,
    /// Counts of memory that was lost.
    lost: CacheCounts,
}

/// The "file" of data in memory, and the most bytes of a file that are data on metadata.
const DATA: u32 = 1;
const MOST_DATA: u64 = 1 << 30;

/// The owner of a transfer to the log.
const LOG: u32 = u32::MAX;

fn changes(operation: Operation) -> bool {
    use Operation::{Create, Mkdir, Rename, Rmdir, Unlink};
    matches!(operation, Create | Unlink | Rename | Mkdir | Rmdir)
}

/// Returns true if the object is new and needs no read.
fn is_new(operation: Operation) -> bool {
    matches!(operation, Operation::Create | Operation::Mkdir)
}

impl Entries {
    fn new(spec: &Spec) -> Entries {
        let entry = spec.entry.0;
        let capacity = device::capacity(&spec.device).min(1 << 62) / (2 * entry) * 2 * entry;
        Entries {
            entry,
            capacity,
            log: 0,
            memory: spec
                .cache
                .map(|cache| ActiveInactiveLru::new(cache.0, entry, ACTIVE_SHARE)),
            cache: spec.cache.map(|cache| cache.0),
            synchronous: spec.synchronous,
            group: spec.group.limit().map_or(usize::MAX, |most| most as usize),
            waiting: Vec::new(),
            writing: Vec::new(),
            behind: 0,
            is_writing: false,
            lost: CacheCounts::default(),
        }
    }

    fn range(&self, file: u32) -> Range {
        let start = u64::from(file) * self.entry;
        Range {
            file: 0,
            start,
            end: start + self.entry,
        }
    }

    /// Returns true if an entry is in memory; if so, it is used.
    fn has(&mut self, file: u32) -> bool {
        let range = self.range(file);
        let Some(memory) = &mut self.memory else {
            return true;
        };
        let has = memory.held_until(0, range.start, range.end) == range.end;
        if has {
            memory.touch(range);
        }
        has
    }

    fn counts(&self) -> CacheCounts {
        let memory = self.memory.as_ref();
        let mut counts = memory.map_or_else(CacheCounts::default, ActiveInactiveLru::counts);
        counts.add(&self.lost);
        counts
    }

    /// Counts an entry that was looked for.
    fn count(&mut self, file: u32, has: bool) {
        let range = self.range(file);
        if let Some(memory) = &mut self.memory {
            memory.count_read(range, u64::from(!has));
        }
    }

    fn keep(&mut self, file: u32) {
        let range = self.range(file);
        if let Some(memory) = &mut self.memory {
            memory.fill(range);
            memory.reclaim();
        }
    }

    /// Discards memory contents and returns the bytes of lost changes.
    fn forget(&mut self) -> u64 {
        self.lost = self.counts();
        self.memory =
            (self.cache).map(|cache| ActiveInactiveLru::new(cache, self.entry, ACTIVE_SHARE));
        std::mem::take(&mut self.behind) * self.entry
    }

    /// The transfer that reads an entry.
    fn read(&self, file: u32, slot: Slot) -> Transfer {
        // Entries lie where a hash of their names puts them.
        let place = file_hash(file) % (self.capacity / 2 / self.entry) * self.entry;
        Transfer {
            owner: Some(slot.0),
            file,
            synchronous: true,
            ..Transfer::new(Operation::Read, place, self.entry)
        }
    }

    /// The transfer of a file's data that a job waits for: a read of uncached data, or a write.
    fn data_transfer(&mut self, job: &Job) -> Option<Transfer> {
        let range = Range {
            file: DATA,
            start: u64::from(job.file) * MOST_DATA + job.offset,
            end: u64::from(job.file) * MOST_DATA + job.offset + job.size,
        };
        let has = self.memory.as_mut().is_none_or(|memory| {
            let has = memory.held_until(DATA, range.start, range.end) == range.end;
            memory.fill(memory.pages(DATA, range.start, range.end));
            memory.touch(range);
            memory.reclaim();
            has
        });
        let waits = match job.operation {
            Operation::Read => !has,
            Operation::Write => job.size > 0,
            _ => false,
        };
        let half = self.capacity / 2;
        let size = job.size.min(half);
        let place = (file_hash(job.file).wrapping_mul(self.entry)).wrapping_add(job.offset);
        waits.then(|| Transfer {
            file: job.file,
            synchronous: true,
            ..Transfer::new(job.operation, place % (half - size).max(1), size)
        })
    }

    /// The next write to the log, if one is to be made.
    fn next_write(&mut self) -> Option<Transfer> {
        if self.is_writing {
            return None;
        }
        let together = self.waiting.len().min(self.group);
        self.writing.extend(self.waiting.drain(..together));
        let behind = self.behind.min((self.group - together) as u64);
        self.behind -= behind;
        let entries = together as u64 + behind;
        if entries == 0 {
            return None;
        }
        self.is_writing = true;
        let half = self.capacity / 2;
        let size = (entries * self.entry).min(half);
        if self.log + size > half {
            self.log = 0;
        }
        let address = half + self.log;
        self.log += size;
        Some(Transfer {
            owner: Some(LOG),
            synchronous: self.synchronous,
            forced: self.synchronous,
            ..Transfer::new(Operation::Write, address, size)
        })
    }
}

/// The nodes of a database.
#[derive(Clone, Copy)]
struct Nodes {
    submit: Node<Transfer>,
    waiting: Node<Job>,
    done: Node<Job>,
}

/// Writes a database: it sends jobs from `processed` on when it is done with them. Gives where its
/// memory is lost as well, if servers fail.
pub(super) fn stored(
    page: &mut Page<'_>,
    spec: &Spec,
    processed: Node<Job>,
    failing: Option<Failing>,
) -> (Node<Job>, Option<Port<Crash>>) {
    let device = device::queued(page, &spec.device, &spec.io_scheduler);
    let nodes = Nodes {
        submit: device.submit,
        waiting: page.bag::<Job>("waiting for device"),
        done: page.place::<Job>("stored"),
    };
    let spec = spec.clone();
    let is_cached = spec.cache.is_some();
    let entries = page.store("database", move |_| Entries::new(&spec));
    if is_cached {
        cache_counts::report(page, entries, "metadata cache", Entries::counts, None);
    }
    page.transition("look up")
        .take(processed)
        .with(entries)
        .puts_one_of([nodes.waiting.into(), nodes.done.into()])
        .puts_many(nodes.submit)
        .fires(move |firing, job: Job, entries| {
            if job.is_for_data() {
                match entries.data_transfer(&job) {
                    Some(transfer) => {
                        let slot = firing.put(nodes.waiting, job);
                        let owner = Some(slot.0);
                        firing.put(nodes.submit, Transfer { owner, ..transfer });
                    }
                    None => {
                        firing.put(nodes.done, job);
                    }
                }
                return;
            }
            let (has, is_new) = (entries.has(job.file), is_new(job.operation));
            if !is_new {
                entries.count(job.file, has);
            }
            if has || is_new {
                go_on(firing, job, entries, nodes);
                return;
            }
            let slot = firing.put(nodes.waiting, job);
            firing.put(nodes.submit, entries.read(job.file, slot));
        });
    page.transition("transferred")
        .take(device.done)
        .with(entries)
        .may_take(nodes.waiting)
        .puts_many(nodes.waiting)
        .puts_many(nodes.done)
        .puts_many(nodes.submit)
        .fires(move |firing, transfer: Transfer, entries| {
            match transfer.owner {
                Some(LOG) => {
                    entries.is_writing = false;
                    for slot in std::mem::take(&mut entries.writing) {
                        if let Some(job) = firing.take(nodes.waiting, slot) {
                            firing.put(nodes.done, job);
                        }
                    }
                }
                Some(slot) => {
                    if let Some(job) = firing.take(nodes.waiting, Slot(slot)) {
                        go_on(firing, job, entries, nodes);
                    }
                }
                None => {}
            }
            if let Some(write) = entries.next_write() {
                firing.put(nodes.submit, write);
            }
        });
    let forget = failing.map(|failing| forget(page, failing, entries));
    (nodes.done, forget)
}

/// Place where a server loses its memory.
fn forget(page: &mut Page<'_>, failing: Failing, entries: Store<Entries>) -> Port<Crash> {
    let crash = page.input("crash");
    let crashed = page.place("crashed");
    page.connect(crash, crashed);
    page.transition("forget")
        .take(crashed)
        .with(entries)
        .with(failing.store)
        .fires(move |_, crash: Crash, (entries, failures)| {
            failures.world.forgets_names(crash.server, entries.forget());
        });
    crash
}

/// Continues a job whose entry is in memory.
fn go_on(firing: &mut Firing<'_>, job: Job, entries: &mut Entries, nodes: Nodes) {
    entries.keep(job.file);
    if !changes(job.operation) {
        firing.put(nodes.done, job);
        return;
    }
    if entries.synchronous {
        let slot = firing.put(nodes.waiting, job);
        entries.waiting.push(slot);
    } else {
        entries.behind += 1;
        firing.put(nodes.done, job);
    }
    if let Some(write) = entries.next_write() {
        firing.put(nodes.submit, write);
    }
}
