//! Requests to stripes of an erasure code, by the client or the primary server that encodes.
//!
//! ```text
//!   job ─▶ [encode] ─ pieces ─▶ send        (stripes)        received ─▶ [join]
//!              └─ old pieces ─▶ send … [join] ─▶ (code) ─▶ [coded] ─ new pieces ─▶ send
//! ```
//!
//! A job for a set of servers becomes jobs for their pieces. It takes up to three steps:
//!
//! 1. Pieces are read: those of a read, or those that new parity needs.
//! 2. A core decodes or encodes, at `replication.code.rate`. Its bytes are those of the pieces that
//!    were read, and of new data. A read of intact pieces needs no computation.
//! 3. A write sends the pieces that it changes, and is done when all servers have stored them.
//!
//! With `by = "primary"` clients send each job to the server of the first piece. It stores its own
//! piece and sends the others to their servers.
//!
//! `layout/coded_stripes.rs` says which pieces these are. With a `[[failure]]`, pieces of servers
//! that the client takes for failed, and those not yet repaired, count as lost. A read that finds
//! out on the way begins again. A write goes to the servers that remain.
//!
//! While more servers of a set are away than it has parity pieces, requests wait or fail as
//! `[recovery]` says.
//!
//! Not modelled: two writes to one stripe at a time, which would need a lock or versions; commit of
//! a write on all servers in two phases; DAOS' copies of partial stripes on the servers of parity,
//! and the aggregation that encodes them later; parity computed by the servers that store it;
//! caches of stripes; small extents that are stored in the metadata; processor time for decoding in
//! a repair; the competition of coding and messages for cores; files that shrink: a write after it
//! counts as one to old data.

use std::collections::BTreeMap;

use headrace_net::{Fcfs, Firing, Node, Page, Random, Slot, Span, Store, To};
use headrace_spec::{Parallel, Scenario};
use headrace_trace::Operation;

use crate::duplex::Duplex;
use crate::failure::{Failing, Failures};
use crate::layout::{CodedStripes, PieceRange, Ranges, ReplicaPlacement};
use crate::network::Wire;
use crate::tokens::{Direction, Job, Message};

/// The bytes that files have on each set of targets.
#[derive(Clone, Default, Debug)]
pub struct CodedFiles(BTreeMap<(u32, u32), u64>);

impl CodedFiles {
    /// A set has the bytes of a file up to `end`; returns how many it had.
    pub fn grow(&mut self, file: u32, place: u32, end: u64) -> u64 {
        let bytes = self.0.entry((file, place)).or_insert(0);
        let before = *bytes;
        *bytes = before.max(end);
        before
    }
}

/// Step of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    Read,
    Compute,
    /// It also stands for the only step of jobs that are no access to stripes.
    Write,
}

/// Progress of a job.
#[derive(Clone, Copy, Debug)]
struct Progress {
    step: Step,
    /// Jobs for pieces that are still out.
    pending: u32,
    /// Bytes that enter the computation.
    bytes: u64,
    /// Bytes that its set had before.
    there: u64,
    /// A job for a piece has failed.
    failed: bool,
    /// A piece was lost on the way, so that others have to be read.
    lost: bool,
}

/// The jobs in progress at a host, by their slot.
type UnderWay = BTreeMap<u32, Progress>;

/// Stores that a coder borrows.
#[derive(Clone, Copy)]
struct CoderStores {
    files: Store<CodedFiles>,
    under_way: Store<UnderWay>,
    failing: Option<Failing>,
}

/// The same in a firing.
struct Borrowed<'a> {
    files: &'a mut CodedFiles,
    under_way: &'a mut UnderWay,
    failures: Option<&'a Failures>,
}

/// Encodes and decodes at a host.
#[derive(Clone)]
struct Coder {
    stripes: CodedStripes,
    placement: ReplicaPlacement,
    servers: u32,
    /// Bytes of the largest job for a piece.
    largest: u64,
    wire: Wire,
    jobs: Node<Job>,
    stores: CoderStores,
    send: To<Job>,
    /// Jobs of a server for its own pieces.
    own: Option<Node<Job>>,
    /// Where done jobs go.
    reply: To<Job>,
    /// The cores, if computation takes time.
    cores: Option<Node<Job>>,
}

/// Encodes at a client, between its jobs and its network, if clients do.
pub fn client(
    page: &mut Page<'_>,
    scenario: &Scenario,
    parallel: &Parallel,
    files: Option<Store<CodedFiles>>,
    failing: Option<Failing>,
    outside: Duplex,
) -> Duplex {
    let (Some(files), false) = (files, parallel.replication.chained()) else {
        return outside;
    };
    let done = page.place::<Job>("joined");
    let ways = (outside.send, None, done.into());
    let Some(coder) = Coder::new(page, scenario, parallel, (files, failing), ways) else {
        return outside;
    };
    let jobs = page.place::<Job>("to encode");
    coder.when(page, "encode", jobs, Coder::begin);
    coder.when(
        page,
        "join",
        outside.received,
        |coder, firing, job, stores| {
            match job.is_for_data() {
                true => coder.answered(firing, job, stores),
                // Metadata servers were asked past this.
                false => {
                    firing.put(coder.reply, job);
                }
            }
        },
    );
    coder.computes(page);
    Duplex {
        send: jobs.into(),
        received: done,
    }
}

/// Encodes at a server, between its messages and its jobs, if a primary does.
pub fn server(
    page: &mut Page<'_>,
    scenario: &Scenario,
    parallel: &Parallel,
    files: Option<Store<CodedFiles>>,
    failing: Option<Failing>,
    outside: Duplex,
) -> Duplex {
    let (Some(files), true) = (files, parallel.replication.chained()) else {
        return outside;
    };
    let own = page.place::<Job>("own pieces");
    let ways = (outside.send, Some(own), outside.send);
    let Some(coder) = Coder::new(page, scenario, parallel, (files, failing), ways) else {
        return outside;
    };
    if failing.is_some() {
        // Requests to a failed server stay unanswered.
        page.rest(coder.jobs);
    }
    let served = page.place::<Job>("pieces served");
    coder.when(
        page,
        "encode",
        outside.received,
        |coder, firing, job, stores| match job.direction {
            Direction::FromNextCopy => coder.answered(firing, job, stores),
            _ => coder.begin(firing, job, stores),
        },
    );
    coder.when(page, "join", served, Coder::answered);
    coder.computes(page);
    Duplex {
        send: served.into(),
        received: own,
    }
}

impl Coder {
    fn new(
        page: &mut Page<'_>,
        scenario: &Scenario,
        parallel: &Parallel,
        (files, failing): (Store<CodedFiles>, Option<Failing>),
        (send, own, reply): (To<Job>, Option<Node<Job>>, To<Job>),
    ) -> Option<Coder> {
        let stripes = CodedStripes::new(parallel)?;
        let rate = parallel.replication.reed_solomon()?.rate;
        let cores = rate.map(|rate| {
            let per_byte = 1e12 / rate.0;
            let time = move |job: &Job, _: &mut Random<'_>| {
                Span((job.size as f64 * per_byte + 0.5) as u64)
            };
            page.station("code", Fcfs::new(parallel.hosts.cpu.cores, time))
        });
        Some(Coder {
            stripes,
            placement: ReplicaPlacement::new(parallel, page.seed()),
            servers: parallel.servers.count,
            largest: scenario.largest_job(&parallel.layout).unwrap_or(u64::MAX),
            wire: Wire::new(&parallel.network),
            jobs: page.bag("stripes"),
            stores: CoderStores {
                files,
                under_way: page.store("stripes under way", |_| UnderWay::new()),
                failing,
            },
            send,
            own,
            reply,
            cores,
        })
    }

    /// Writes a transition by which the coder does something with each job.
    fn when(
        &self,
        page: &mut Page<'_>,
        name: &str,
        from: Node<Job>,
        act: impl Fn(&Coder, &mut Firing<'_>, Job, &mut Borrowed<'_>) + Send + 'static,
    ) {
        let transition = page
            .transition(name)
            .take(from)
            .with(self.stores.files)
            .with(self.stores.under_way)
            .may_take(self.jobs)
            .may_put(self.jobs)
            .puts_many(self.send);
        let transition = match self.own {
            Some(own) => transition.puts_many(own),
            None => transition.may_put(self.reply),
        };
        let transition = match self.cores {
            Some(cores) => transition.may_put(cores),
            None => transition,
        };
        let coder = self.clone();
        match self.stores.failing {
            None => transition.fires(move |firing, job, (files, under_way)| {
                let mut stores = Borrowed {
                    files,
                    under_way,
                    failures: None,
                };
                act(&coder, firing, job, &mut stores);
            }),
            Some(failing) => transition.with(failing.store).fires(
                move |firing, job, (files, under_way, failures)| {
                    let mut stores = Borrowed {
                        files,
                        under_way,
                        failures: Some(failures),
                    };
                    act(&coder, firing, job, &mut stores);
                },
            ),
        }
    }

    fn computes(&self, page: &mut Page<'_>) {
        if let Some(cores) = self.cores {
            self.when(page, "coded", cores, |coder, firing, job, stores| {
                coder.go_on(firing, Slot(job.request), stores);
            });
        }
    }

    /// The set of a job.
    fn place(&self, job: &Job) -> u32 {
        let target = u32::from(job.target) * self.servers + job.server;
        let place = self.placement.place(job.file, job.offset, target);
        place.map_or(0, |(place, _)| place)
    }

    /// The job for some bytes of a piece.
    fn piece(&self, job: &Job, place: u32, range: &PieceRange) -> Job {
        let target = self.placement.target(job.file, place, range.piece);
        Job {
            server: target % self.servers,
            target: (target / self.servers) as u16,
            offset: range.start,
            size: range.size(),
            ..*job
        }
    }

    /// A job comes.
    fn begin(&self, firing: &mut Firing<'_>, job: Job, stores: &mut Borrowed<'_>) {
        let mut progress = Progress {
            step: Step::Write,
            pending: 1,
            bytes: 0,
            there: 0,
            failed: false,
            lost: false,
        };
        let slot = firing.put(self.jobs, job);
        let is_access = matches!(job.operation, Operation::Read | Operation::Write);
        if !is_access || job.size == 0 || job.direction == Direction::ToNextCopy {
            stores.under_way.insert(slot.0, progress);
            // Schedulers go by the client.
            let client = match job.direction {
                Direction::ToNextCopy => job.pending,
                _ => job.client,
            };
            self.put(firing, slot, Job { client, ..job }, &job);
            return;
        }
        if job.operation == Operation::Write {
            // Blocks keep their offset in the file.
            let place = match self.placement.block() {
                Some(_) => 0,
                None => self.place(&job),
            };
            progress.there = stores.files.grow(job.file, place, job.offset + job.size);
        }
        stores.under_way.insert(slot.0, progress);
        self.read(firing, slot, job, stores);
    }

    /// Asks for the pieces that a job reads, or that it needs before it writes.
    fn read(&self, firing: &mut Firing<'_>, slot: Slot, job: Job, stores: &mut Borrowed<'_>) {
        let Some(progress) = stores.under_way.get_mut(&slot.0) else {
            return;
        };
        let (place, failures) = (self.place(&job), stores.failures);
        let failed = |range: &PieceRange| {
            let server = self.piece(&job, place, range).server;
            failures.is_some_and(|it| it.clients[job.client as usize].takes_for_failed(server))
        };
        let lost = |range: &PieceRange| {
            let repair = failures.and_then(|it| it.world.repair.as_ref());
            failed(range) || repair.is_some_and(|it| it.lacks(&self.piece(&job, place, range)))
        };
        let ranges: Ranges = if job.operation == Operation::Read {
            let mut read = self.stripes.read(job.offset, job.size, lost);
            if !read.1 && read.0.iter().any(failed) {
                // Pieces that are not repaired yet are read as they are.
                read = self.stripes.read(job.offset, job.size, failed);
            }
            progress.bytes = if read.1 { total(&read.0) } else { 0 };
            read.0
        } else {
            let mut old = (self.stripes).old(job.offset, job.size, progress.there, lost);
            if old.iter().any(failed) {
                // As with reads.
                old = (self.stripes).old(job.offset, job.size, progress.there, failed);
            }
            let new = self.stripes.written(job.offset, job.size);
            let data = new.iter().filter(|it| it.piece < self.stripes.needed());
            progress.bytes = total(&old) + data.map(PieceRange::size).sum::<u64>();
            old
        };
        (progress.step, progress.lost) = (Step::Read, false);
        progress.pending = self.ask(firing, slot, &job, Operation::Read, &ranges);
        if progress.pending == 0 {
            self.go_on(firing, slot, stores);
        }
    }

    /// Sends jobs for pieces; gives their number.
    fn ask(
        &self,
        firing: &mut Firing<'_>,
        slot: Slot,
        job: &Job,
        operation: Operation,
        ranges: &[PieceRange],
    ) -> u32 {
        let place = self.place(job);
        let mut asked = 0;
        for range in ranges {
            let mut start = range.start;
            while start < range.end {
                let end = start.saturating_add(self.largest).min(range.end);
                let part = PieceRange {
                    start,
                    end,
                    ..*range
                };
                let one = Job {
                    operation,
                    ..self.piece(job, place, &part)
                };
                self.put(firing, slot, one, job);
                asked += 1;
                start = end;
            }
        }
        asked
    }

    /// Sends a job for a piece to its server, or to the server's own jobs.
    fn put(&self, firing: &mut Firing<'_>, slot: Slot, one: Job, whole: &Job) {
        let request = slot.0;
        match self.own {
            Some(own) if one.server == whole.server => {
                let own_job = Job {
                    request,
                    direction: Direction::Out,
                    pending: 0,
                    ..one
                };
                firing.put(own, own_job);
            }
            Some(_) => {
                let mut onward = Job {
                    request,
                    client: whole.server,
                    pending: one.client,
                    direction: Direction::ToNextCopy,
                    received: false,
                    ..one
                };
                onward.wire = self.wire.bytes(onward.payload());
                firing.put(self.send, onward);
            }
            None => {
                let mut piece = Job { request, ..one };
                piece.wire = self.wire.bytes(piece.payload());
                firing.put(self.send, piece);
            }
        }
    }

    /// A job for a piece is answered.
    fn answered(&self, firing: &mut Firing<'_>, piece: Job, stores: &mut Borrowed<'_>) {
        let Some(progress) = stores.under_way.get_mut(&piece.request) else {
            return;
        };
        progress.failed |= piece.message == Message::Failed;
        progress.lost |= piece.message == Message::Lost;
        progress.pending -= 1;
        if progress.pending == 0 {
            self.go_on(firing, Slot(piece.request), stores);
        }
    }

    /// A step is done.
    fn go_on(&self, firing: &mut Firing<'_>, slot: Slot, stores: &mut Borrowed<'_>) {
        let job = *firing.token_mut(self.jobs, slot);
        let Some(progress) = stores.under_way.get_mut(&slot.0) else {
            return;
        };
        if progress.step == Step::Read && progress.lost && !progress.failed {
            self.read(firing, slot, job, stores);
            return;
        }
        if progress.step == Step::Read && !progress.failed {
            progress.step = Step::Compute;
            if let Some(cores) = self.cores.filter(|_| progress.bytes > 0) {
                let computed = Job {
                    request: slot.0,
                    size: progress.bytes,
                    ..job
                };
                firing.put(cores, computed);
                return;
            }
        }
        if progress.step == Step::Compute && job.operation == Operation::Write {
            progress.step = Step::Write;
            let mut ranges = self.stripes.written(job.offset, job.size);
            if let (Some(_), Some(failures)) = (self.own, stores.failures) {
                let place = self.place(&job);
                let attempts = &failures.clients[job.client as usize];
                ranges.retain(|it| !attempts.takes_for_failed(self.piece(&job, place, it).server));
            }
            progress.pending = self.ask(firing, slot, &job, Operation::Write, &ranges);
            if progress.pending > 0 {
                return;
            }
        }
        let failed = progress.failed;
        stores.under_way.remove(&slot.0);
        if let Some(job) = firing.take(self.jobs, slot) {
            firing.put(self.reply, self.answer(job, failed));
        }
    }

    fn answer(&self, job: Job, failed: bool) -> Job {
        let direction = match job.direction {
            Direction::ToNextCopy => Direction::FromNextCopy,
            _ => Direction::Back,
        };
        let mut answer = Job { direction, ..job };
        if failed {
            answer.message = Message::Failed;
        }
        answer.wire = self.wire.bytes(answer.payload());
        answer
    }
}

fn total(ranges: &[PieceRange]) -> u64 {
    ranges.iter().map(PieceRange::size).sum()
}
