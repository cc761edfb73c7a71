//! A process of a job: keeps as many requests in flight as it may, and records each.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use headrace_net::Random;

use crate::Error;
use crate::clock::{Clock, Nanoseconds, in_nanoseconds};
use crate::jobs::Job;
use crate::jobs::offsets::Offsets;
use crate::jobs::queue::{Completion, Kind, Queue};
use crate::jobs::target::JobTarget;
use crate::operation;
use crate::page_cache::KnownPages;
use crate::record::{Done, Record};

/// One in this many direct reads is looked up in the page cache. A file system may accept O_DIRECT
/// and still serve from memory; each check costs a system call.
const SAMPLED: u64 = 16;

/// The longest that a process waits without a look at whether the run is over.
const LOOK: Duration = Duration::from_millis(50);

/// Progress of one kind of request: completed requests, bytes moved, and the sum of latencies in
/// nanoseconds.
#[derive(Debug, Default)]
pub struct Progress {
    /// Reads, writes and syncs.
    pub kinds: [[AtomicU64; 3]; 3],
}

impl Progress {
    fn add(&self, kind: Kind, bytes: u64, latency: u64) {
        let counters = &self.kinds[kind as usize];
        for (counter, more) in counters.iter().zip([1, bytes, latency]) {
            // Only the process itself writes, so there is no race.
            counter.store(counter.load(Ordering::Relaxed) + more, Ordering::Relaxed);
        }
    }
}

/// Number of requests that were in flight over time.
#[derive(Clone, Copy, Debug, Default)]
pub struct InFlight {
    /// The most at a time.
    pub most: usize,
    /// Requests times nanoseconds.
    pub area: u128,
    /// Nanoseconds.
    pub span: u64,
    since: Nanoseconds,
}

impl InFlight {
    /// Accounts for the number of requests in flight until `now`.
    fn passed(&mut self, now: Nanoseconds, in_flight: usize) {
        // Before the end of the warm-up nothing counts.
        let span = now.saturating_sub(self.since);
        self.area += in_flight as u128 * u128::from(span);
        self.span += span;
        self.since = self.since.max(now);
    }
}

/// Result of a process.
pub struct ProcessOutcome {
    /// All requests.
    pub record: Record,
    /// Requests in flight, from the end of the warm-up.
    pub in_flight: InFlight,
    /// Requests that were due before the end and were not made.
    pub not_made: u64,
}

/// Inputs of a process.
pub struct ProcessPlan<'a> {
    pub job: &'a Job,
    /// The job's number in its stage, and the process's in the job.
    pub number: usize,
    pub rank: u32,
    pub target: &'a JobTarget,
    pub known: &'a KnownPages,
    pub clock: Clock,
    /// Set when the stage ends early.
    pub ends: &'a AtomicBool,
    pub progress: Arc<Progress>,
}

/// A request in flight.
#[derive(Clone, Copy)]
struct InFlightRequest {
    kind: Kind,
    intended: Nanoseconds,
    started: Nanoseconds,
}

impl ProcessPlan<'_> {
    /// Carries the job out until it, or the stage, is over. The stage is over for all if a
    /// request fails.
    pub fn run(self) -> (ProcessOutcome, Result<(), Error>) {
        let warm_up = in_nanoseconds(self.job.warm_up);
        let mut outcome = ProcessOutcome {
            record: Record::new(operation::ALL.len(), warm_up, None),
            in_flight: InFlight::default(),
            not_made: 0,
        };
        let ended = Process::new(&self).and_then(|mut process| {
            // All begin together.
            self.clock.wait_until(1, self.ends);
            let ended = process.run(&mut outcome);
            outcome.in_flight = process.in_flight;
            ended
        });
        if ended.is_err() {
            self.ends.store(true, Ordering::Relaxed);
        }
        (outcome, ended)
    }
}

struct Process<'a> {
    plan: &'a ProcessPlan<'a>,
    file: OwnedFd,
    file_number: u32,
    queue: Queue,
    free: Vec<usize>,
    asked: Vec<InFlightRequest>,
    done: Vec<Completion>,
    offsets: Offsets,
    /// Requests of all passes together, where there is an end to them.
    requests: Option<u64>,
    /// Time when no more requests begin.
    stop_at: Option<Nanoseconds>,
    /// Between two requests.
    pause: Option<f64>,
    written: u64,
    unsynced: u32,
    looked: u64,
    in_flight: InFlight,
}

impl<'a> Process<'a> {
    fn new(plan: &'a ProcessPlan<'a>) -> Result<Process<'a>, Error> {
        let job = plan.job;
        let number = job.file_of(plan.rank);
        let opened = plan
            .target
            .open(number, job.writes(), job.direct, job.stable);
        let file = opened.map_err(|errno| Error::Operation {
            operation: "open",
            path: plan.target.called(number),
            errno,
        })?;
        let seed = job.seed ^ (u64::from(plan.rank) << 32);
        let queue = Queue::new(job.backend()?, job.queue_depth, job.block, seed)?;
        let slots = queue.slots();
        let warm_up = in_nanoseconds(job.warm_up);
        let nothing = InFlightRequest {
            kind: Kind::Sync,
            intended: 0,
            started: 0,
        };
        Ok(Process {
            plan,
            file,
            file_number: number,
            queue,
            free: (0..slots).rev().collect(),
            asked: vec![nothing; slots],
            done: Vec::with_capacity(slots),
            offsets: Offsets::new(job.blocks(), job.random, seed),
            requests: (!job.repeated).then(|| job.blocks()),
            stop_at: job
                .seconds
                .map(|seconds| warm_up.saturating_add(in_nanoseconds(seconds))),
            pause: job.rate.map(|rate| 1e9 / rate),
            written: 0,
            unsynced: 0,
            looked: 0,
            in_flight: InFlight {
                since: warm_up,
                ..InFlight::default()
            },
        })
    }

    fn run(&mut self, outcome: &mut ProcessOutcome) -> Result<(), Error> {
        let job = self.plan.job;
        let mut draws = 0;
        let key = job.seed ^ (u64::from(self.plan.rank) << 16);
        let mut random = Random::named(key, "job", &mut draws);
        loop {
            let now = self.plan.clock.now();
            let intended = match self.pause {
                Some(pause) => (self.offsets.drawn() as f64 * pause) as Nanoseconds,
                None => now,
            };
            let over = self.plan.ends.load(Ordering::Relaxed)
                || self.is_late(now.max(intended))
                || self.requests.is_some_and(|all| self.offsets.drawn() >= all);
            if over {
                if self.queue.in_flight() == 0 {
                    outcome.not_made = self.not_made(now);
                    break;
                }
                self.reap(outcome, None)?;
                continue;
            }
            let sync = job.sync_every.is_some_and(|most| self.unsynced >= most);
            // An fsync is of the writes that are completed.
            let room = !self.free.is_empty() && (!sync || self.queue.in_flight() == 0);
            if !room {
                self.reap(outcome, None)?;
                continue;
            }
            if !sync && intended > now {
                let span = Duration::from_nanos(intended - now).min(LOOK);
                if self.queue.in_flight() > 0 {
                    self.reap(outcome, Some(span))?;
                } else {
                    self.plan
                        .clock
                        .wait_until(now + span.as_nanos() as u64, self.plan.ends);
                }
                continue;
            }
            if sync {
                self.ask(Kind::Sync, 0, now)?;
                self.unsynced = 0;
                continue;
            }
            let reads = job.read_share >= 1.0 || random.uniform() < job.read_share;
            let offset = self.offsets.next(reads) * u64::from(job.block);
            if reads {
                self.look(offset, outcome);
                self.ask(Kind::Read, offset, intended)?;
            } else {
                self.plan
                    .known
                    .note(self.file_number, offset, u64::from(job.block));
                self.ask(Kind::Write, offset, intended)?;
                self.written += 1;
                self.unsynced += 1;
            }
            // System calls are done already; completed entries of a ring make room.
            self.reap_ready(outcome)?;
        }
        if job.sync_at_end && self.written > 0 {
            let now = self.plan.clock.now();
            self.ask(Kind::Sync, 0, now)?;
            self.reap(outcome, None)?;
        }
        Ok(())
    }

    /// Returns true if its time is over. A process that gets no processor for so long makes one
    /// request.
    fn is_late(&self, time: Nanoseconds) -> bool {
        self.offsets.drawn() > 0 && self.stop_at.is_some_and(|stop| time >= stop)
    }

    /// Requests that were due before the end, less those that were made.
    fn not_made(&self, now: Nanoseconds) -> u64 {
        let (Some(stop), Some(pause)) = (self.stop_at, self.pause) else {
            return 0;
        };
        let until = match self.plan.ends.load(Ordering::Relaxed) {
            true => now.min(stop),
            false => stop,
        };
        let due = (until as f64 / pause).ceil() as u64;
        let due = self.requests.map_or(due, |all| due.min(all));
        due.saturating_sub(self.offsets.drawn())
    }

    /// Notes whether the page cache has the range of the next read.
    fn look(&mut self, offset: u64, outcome: &mut ProcessOutcome) {
        self.looked += 1;
        if self.plan.job.direct && !self.looked.is_multiple_of(SAMPLED) && self.looked > 1 {
            return;
        }
        let block = u64::from(self.plan.job.block);
        let known = self.plan.known;
        let found = known.look(self.file_number, self.file.as_fd(), offset, block);
        outcome.record.reads = outcome.record.reads.and(found);
    }

    /// Begins a request.
    fn ask(&mut self, kind: Kind, offset: u64, intended: Nanoseconds) -> Result<(), Error> {
        let Some(slot) = self.free.pop() else {
            return Err(Error::Own("no slot is free for a request".to_owned()));
        };
        let started = self.plan.clock.now();
        self.in_flight.passed(started, self.queue.in_flight());
        self.asked[slot] = InFlightRequest {
            kind,
            intended: match self.pause {
                Some(_) => intended.min(started),
                None => started,
            },
            started,
        };
        let number = self.written << 16 | u64::from(self.plan.rank);
        let asked = self.queue.submit(&self.file, kind, offset, slot, number);
        self.in_flight.most = self.in_flight.most.max(self.queue.in_flight());
        asked.map_err(|errno| self.failed(kind, errno))
    }

    fn reap_ready(&mut self, outcome: &mut ProcessOutcome) -> Result<(), Error> {
        match self.free.is_empty() || self.queue.is_ready() {
            true => self.reap(outcome, None),
            false => Ok(()),
        }
    }

    /// Waits until a request is completed, or for a time, and records all that are.
    fn reap(&mut self, outcome: &mut ProcessOutcome, most: Option<Duration>) -> Result<(), Error> {
        let mut done = std::mem::take(&mut self.done);
        let before = self.queue.in_flight();
        let waited = self.queue.wait(most, &mut done);
        let ended = self.plan.clock.now();
        self.in_flight.passed(ended, before);
        let mut first_error = waited.map_err(|errno| self.failed(Kind::Read, errno)).err();
        for (slot, result) in done.drain(..) {
            self.free.push(slot);
            let asked = self.asked[slot];
            match self.completed(asked, ended, result) {
                Ok(of) => outcome.record.add(&of),
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        self.done = done;
        first_error.map_or(Ok(()), Err)
    }

    fn completed(
        &self,
        asked: InFlightRequest,
        ended: Nanoseconds,
        result: Result<usize, rustix::io::Errno>,
    ) -> Result<Done, Error> {
        let moved = result.map_err(|errno| self.failed(asked.kind, errno))?;
        let block = self.plan.job.block as usize;
        if asked.kind != Kind::Sync && moved != block {
            return Err(Error::Wrong {
                operation: word(asked.kind),
                path: self.plan.target.called(self.file_number),
                found: format!("{moved} of {block} bytes were moved"),
            });
        }
        let latency = ended.saturating_sub(asked.started);
        self.plan.progress.add(asked.kind, moved as u64, latency);
        Ok(Done {
            operation: number(asked.kind),
            workload: self.plan.number,
            phase: 0,
            bytes: moved as u64,
            prepared: 0,
            intended: asked.intended,
            started: asked.started,
            ended,
        })
    }

    fn failed(&self, kind: Kind, errno: rustix::io::Errno) -> Error {
        Error::Operation {
            operation: word(kind),
            path: self.plan.target.called(self.file_number),
            errno,
        }
    }
}

/// The name of a kind of request among operations.
pub fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Read => "read",
        Kind::Write => "write",
        Kind::Sync => "sync",
    }
}

/// Its number among operations.
pub fn number(kind: Kind) -> usize {
    operation::number(word(kind)).unwrap_or_else(|| unreachable!("they are operations"))
}
