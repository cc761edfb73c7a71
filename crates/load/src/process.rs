//! A process of a workload: asks what to do next, does it, and takes note.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use headrace_net::{Random, Time};
use headrace_workload::{Ask, Next};
use rustix::fs::OFlags;

use crate::Error;
use crate::clock::{Clock, Nanoseconds};
use crate::operation::{self, FileOperation, OpContext, ReadMethod, Target};
use crate::page_cache::{KnownPages, Reads};
use crate::record::{Done, Record};
use crate::rendezvous::Rendezvous;
use crate::source::Source;

/// Picoseconds, which applications count in, of a nanosecond.
const PICOSECONDS: u64 = 1000;

/// State shared by all processes of a run.
pub struct Shared {
    /// The clock of the run.
    pub clock: Clock,
    /// Set when the run ends, for whatever reason.
    pub ends: AtomicBool,
    /// Time when it ended; [`NOT_ENDED`] before.
    pub ended_at: AtomicU64,
    /// Time when it ends at the latest.
    pub stop_at: Option<Nanoseconds>,
    /// After how many operations it ends, and how many are done.
    pub stop_after: Option<u64>,
    pub done: AtomicU64,
    /// Seed of the random numbers.
    pub seed: u64,
}

/// Before the run has ended.
pub const NOT_ENDED: Nanoseconds = Nanoseconds::MAX;

impl Shared {
    /// Returns true if the run is over.
    pub fn is_over(&self) -> bool {
        self.ends.load(Ordering::Relaxed)
    }

    /// An operation is done; with the last one that is wanted the run is over.
    pub fn one_more_done(&self, ended: Nanoseconds) {
        if let Some(most) = self.stop_after
            && self.done.fetch_add(1, Ordering::Relaxed) + 1 >= most
        {
            self.end(ended);
        }
    }

    /// Ends the run, at a time; the first one to do so says when.
    pub fn end(&self, at: Nanoseconds) {
        let first = Ordering::AcqRel;
        let _ = self
            .ended_at
            .compare_exchange(NOT_ENDED, at, first, Ordering::Acquire);
        self.ends.store(true, Ordering::Release);
    }
}

/// Progress of a process: operations and bytes by the operation's number.
#[derive(Debug, Default)]
pub struct Progress {
    operations: Vec<[AtomicU64; 2]>,
}

impl Progress {
    /// Nothing done yet.
    pub fn new() -> Progress {
        let operations = operation::ALL.iter().map(|_| Default::default());
        Progress {
            operations: operations.collect(),
        }
    }

    /// Operations done, and bytes that they moved.
    pub fn of(&self, operation: usize) -> (u64, u64) {
        let [count, bytes] = &self.operations[operation];
        (count.load(Ordering::Relaxed), bytes.load(Ordering::Relaxed))
    }

    /// Only the process itself writes, so there is no race.
    pub fn add(&self, operation: usize, calls: u64, moved: u64) {
        let [count, bytes] = &self.operations[operation];
        count.store(count.load(Ordering::Relaxed) + calls, Ordering::Relaxed);
        bytes.store(bytes.load(Ordering::Relaxed) + moved, Ordering::Relaxed);
    }
}

/// A process.
pub struct Process {
    pub workload: usize,
    pub rank: u32,
    pub source: Source,
    pub context: OpContext,
    pub known: Option<Arc<KnownPages>>,
    pub record: Record,
    pub meeting: Arc<Rendezvous>,
    /// Where processes of all workloads that come in turn meet.
    pub turns: Option<Arc<Rendezvous>>,
    pub progress: Arc<Progress>,
    /// Operations that were asked for and not issued because the run ended, with the time at which
    /// each was due.
    pub dropped: Vec<(usize, Nanoseconds)>,
}

impl Process {
    pub fn run(&mut self, shared: &Shared) -> Result<(), Error> {
        let mut draws = 0;
        let key = shared.seed ^ ((self.workload as u64) << 48) ^ (u64::from(self.rank) << 16);
        let mut random = Random::named(key, "process", &mut draws);
        while !shared.ends.load(Ordering::Relaxed) {
            let now = shared.clock.now();
            let next = self
                .source
                .next(self.rank, Time(now * PICOSECONDS), &mut random);
            match next.map_err(Error::Unsuitable)? {
                Next::Ask(ask) => self.one(&ask, now, shared)?,
                next @ (Next::Barrier | Next::PhaseOver | Next::Turn) => {
                    self.flush()?;
                    let meeting = match (next, &self.turns) {
                        (Next::Turn, Some(turns)) => turns,
                        _ => &self.meeting,
                    };
                    let here = self.source.farthest(0);
                    let all = meeting.wait(here, &shared.ends);
                    if next == Next::Barrier {
                        self.source.farthest(all);
                    }
                }
                Next::Compute(span) | Next::Pause(span) => {
                    let until = now + span.0 / PICOSECONDS;
                    shared.clock.wait_until(until, &shared.ends);
                }
                Next::Finished => {
                    self.flush()?;
                    break;
                }
                Next::Wait => self.wait(shared),
            }
        }
        Ok(())
    }

    /// Waits for what others do; not longer than the run lasts, of which those on another host
    /// that come to its end first say nothing.
    fn wait(&self, shared: &Shared) {
        let late = || {
            shared
                .stop_at
                .is_some_and(|stop| shared.clock.now() >= stop)
        };
        let over = || shared.ends.load(Ordering::Relaxed) || late();
        self.source.wait(self.rank, over);
        if let Some(stop) = shared.stop_at.filter(|_| late()) {
            shared.end(stop);
        }
    }

    /// Counts requests that were due before the end of the run and not issued: pending ones, and
    /// the next ones of all processes concerned.
    pub fn count_unfinished(&mut self, shared: &Shared) {
        let end = shared.ended_at.load(Ordering::Acquire);
        if end == NOT_ENDED {
            // The workload came to its end.
            return;
        }
        for (number, intended) in self.dropped.drain(..).filter(|(_, due)| *due < end) {
            self.record.add_unfinished(number, intended, end);
        }
        let record = &mut self.record;
        let until = Time(end.saturating_mul(PICOSECONDS));
        // The run is over: errors of requests that are not issued do not matter.
        let _ = self.source.not_issued(self.rank, until, &mut |ask| {
            if let (Ok(number), Some(intended)) = (number(ask), ask.intended) {
                record.add_unfinished(number, intended.0 / PICOSECONDS, end);
            }
        });
    }

    /// Flushes the C library's buffers so that other processes see the data. Neither timed nor
    /// counted.
    fn flush(&mut self) -> Result<(), Error> {
        let flushed = self.context.flush_streams();
        flushed.map_err(|errno| Error::Operation {
            operation: "fflush",
            path: format!("w{}", self.workload),
            errno,
        })
    }

    /// Checks the page cache for the bytes that an operation is about to read, if cache hits are
    /// counted.
    fn look(&self, operation: &dyn FileOperation, ask: &Ask, target: &Target) -> Reads {
        let Some(known) = self.known.as_ref().filter(|_| operation.moves_bytes()) else {
            return Reads::default();
        };
        let past = self.context.flags.contains(OFlags::DIRECT);
        match (operation.reads(target), self.context.descriptor(target)) {
            (Some(ReadMethod::ThroughCache), Some(opened)) if !past => {
                known.look(ask.file, opened, ask.offset, ask.size)
            }
            (Some(_), _) => Reads::missed(ask.size),
            (None, _) => {
                known.note(ask.file, ask.offset, ask.size);
                Reads::default()
            }
        }
    }

    /// One operation, from its preparation to its record.
    fn one(&mut self, ask: &Ask, now: Nanoseconds, shared: &Shared) -> Result<(), Error> {
        let number = number(ask)?;
        let operation = operation::implementation(number, self.context.interface);
        let after = now + ask.after.0 / PICOSECONDS;
        let intended = ask.intended.map_or(after, |time| time.0 / PICOSECONDS);
        if shared.stop_at.is_some_and(|stop| intended.max(now) >= stop) {
            self.drop_ask(number, ask);
            wait_for_the_end(shared);
            return Ok(());
        }
        let failed = |errno| Error::Operation {
            operation: operation.name(),
            path: format!("w{}, file {}", self.workload, ask.file),
            errno,
        };
        let mut target = operation.prepare(&mut self.context, ask).map_err(failed)?;
        let reads = self.look(operation, ask, &target);
        let prepared = shared.clock.now() - now;
        if after > now {
            shared.clock.wait_until(after, &shared.ends);
            if shared.ends.load(Ordering::Relaxed) {
                self.drop_ask(number, ask);
                return Ok(());
            }
        }
        let started = shared.clock.now();
        let moved = operation.execute(&mut self.context, &mut target);
        let ended = shared.clock.now();
        let moved = moved.map_err(failed)?;
        // In a closed loop no request is late: preparation delays no other request.
        let intended = match ask.intended {
            Some(_) => intended.min(started),
            None => started,
        };
        let done = Done {
            operation: number,
            workload: self.workload,
            phase: ask.phase,
            bytes: moved,
            prepared,
            intended,
            started,
            ended,
        };
        let calls = match self.context.short_call {
            Some(call) if operation.moves_bytes() => moved.div_ceil(call as u64).max(1),
            _ => 1,
        };
        self.record.add_batch(&done, calls);
        self.record.reads = self.record.reads.and(reads);
        self.progress.add(number, calls, moved);
        let verified = operation.verify(&mut self.context, ask, target, moved);
        self.context.give_names();
        verified.map_err(|found| Error::Wrong {
            operation: operation.name(),
            path: format!("w{}, file {}", self.workload, ask.file),
            found,
        })?;
        shared.one_more_done(ended);
        Ok(())
    }

    /// Discards a request that is not issued.
    fn drop_ask(&mut self, number: usize, ask: &Ask) {
        if let Some(intended) = ask.intended {
            self.dropped.push((number, intended.0 / PICOSECONDS));
        }
    }
}

/// The requested operation: the call, where one is named.
fn number(ask: &Ask) -> Result<usize, Error> {
    let name = match ask.call {
        Some(call) => call.word(),
        None => ask.operation.name(),
    };
    operation::number(name).ok_or_else(|| {
        Error::Unsuitable(format!(
            "operation {name}: not supported on a real file system; remove it from the workload"
        ))
    })
}

/// No request is begun before the end of the run: processes that finish earlier wait for it.
pub fn wait_for_the_end(shared: &Shared) {
    if let Some(stop) = shared.stop_at {
        shared.clock.wait_until(stop, &shared.ends);
        shared.end(stop);
    }
}
