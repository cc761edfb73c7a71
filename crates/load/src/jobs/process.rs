//! A process of a job: keeps as many requests in flight as it may, and records each.

use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use headrace_net::Random;
use rustix::fs::{Advice, FallocateFlags};
use rustix::io::Errno;

use crate::Error;
use crate::clock::{Clock, Nanoseconds, in_nanoseconds};
use crate::jobs::Job;
use crate::jobs::content::BlockContent;
use crate::jobs::job::{PageAdvice, Work};
use crate::jobs::offsets::{Offsets, Place};
use crate::jobs::pace::{DepthSearch, DueTimes, Flows};
use crate::jobs::queue::{Completion, Kind, Queue, Request};
use crate::jobs::scheduling::schedule;
use crate::jobs::target::{JobTarget, OpenAs};
use crate::operation;
use crate::page_cache::KnownPages;
use crate::record::{Done, Record};

/// One in this many direct reads is looked up in the page cache. A file system may accept O_DIRECT
/// and still serve from memory; each check costs a system call.
const SAMPLED: u64 = 16;

/// The longest that a process waits without a look at whether the run is over.
const LOOK: Duration = Duration::from_millis(50);

/// Files that a process has open at a time.
const MOST_OPEN: usize = 128;

/// How often a process looks whether its part of a group has grown.
const FLOW_LOOK: Duration = Duration::from_micros(200);

/// Logged requests of a process at the most: 1 GB.
const MOST_LOGGED: usize = 1 << 25;

/// Progress of one kind of request: completed requests, bytes moved, and the sum of latencies in
/// nanoseconds.
#[derive(Debug, Default)]
pub struct Progress {
    /// Reads, writes and others.
    pub kinds: [[AtomicU64; 3]; 3],
}

impl Progress {
    fn add(&self, kind: usize, bytes: u64, latency: u64) {
        let counters = &self.kinds[kind];
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

/// A request that was logged: end and latency in nanoseconds, whether it is a read (0), a write (1)
/// or another (2), bytes and offset.
pub type Logged = (Nanoseconds, Nanoseconds, u8, u32, u64);

/// Result of a process.
pub struct ProcessOutcome {
    /// All requests.
    pub record: Record,
    /// Requests in flight, from the end of the warm-up.
    pub in_flight: InFlight,
    /// Requests that were due before the end and were not made.
    pub not_made: u64,
    /// Requests, where they are logged.
    pub log: Vec<Logged>,
    /// The queue depth that a search ended with.
    pub depth: Option<u32>,
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
    /// Set when the job ends early.
    pub ends: &'a AtomicBool,
    /// Processes of the job that it awaits, which run still.
    pub awaited: Option<&'a AtomicU64>,
    pub flows: &'a Flows,
    pub progress: Arc<Progress>,
}

/// A call on the name of a file, by its number.
type NameCall = fn(&JobTarget, u32) -> Result<(), Errno>;

/// A request in flight.
#[derive(Clone, Copy)]
struct InFlightRequest {
    kind: Kind,
    place: Place,
    intended: Nanoseconds,
    started: Nanoseconds,
}

impl ProcessPlan<'_> {
    /// Carries the job out until it, or the stage, is over.
    pub fn run(self) -> (ProcessOutcome, Result<(), Error>) {
        let job = self.job;
        let mut outcome = ProcessOutcome {
            record: Record::new(operation::ALL.len(), 0, None),
            in_flight: InFlight::default(),
            not_made: 0,
            log: Vec::new(),
            depth: None,
        };
        let ready = schedule(job, self.rank);
        let ended = ready.and_then(|()| {
            // All begin together, unless one awaits another or its delay.
            self.clock.wait_until(1, self.ends);
            let start = self.begins();
            outcome.record = Record::new(
                operation::ALL.len(),
                start.saturating_add(in_nanoseconds(job.warm_up)),
                None,
            );
            match job.work {
                Work::Compute => {
                    self.compute(start);
                    Ok(())
                }
                work if work.is_of_names() => self.names(&mut outcome),
                _ => {
                    let mut process = Process::new(&self, start)?;
                    let ended = process.run(&mut outcome);
                    outcome.in_flight = process.in_flight;
                    outcome.depth = process.search.as_ref().map(DepthSearch::depth);
                    ended
                }
            }
        });
        (outcome, ended)
    }

    /// Waits for the job before and for the delay. Returns the time of the start.
    fn begins(&self) -> Nanoseconds {
        let over = || self.ends.load(Ordering::Relaxed);
        if let Some(awaited) = self.awaited {
            while awaited.load(Ordering::Acquire) > 0 && !over() {
                self.clock
                    .wait_until(self.clock.now() + 1_000_000, self.ends);
            }
        }
        let (least, most) = self.job.pace.delay;
        let now = match self.awaited {
            Some(_) => self.clock.now(),
            None => 0,
        };
        let mut draws = 0;
        let key = self.job.seed ^ (u64::from(self.rank) << 16);
        let drawn = Random::named(key, "delay", &mut draws).uniform();
        let start = now.saturating_add(in_nanoseconds(least + (most - least) * drawn));
        self.clock.wait_until(start, self.ends);
        start
    }

    /// Uses a share of the processor.
    fn compute(&self, start: Nanoseconds) {
        let (share, chunk) = self.job.compute.unwrap_or((1.0, 0.05));
        let seconds = self.job.warm_up + self.job.seconds.unwrap_or(0.0);
        let stop = start.saturating_add(in_nanoseconds(seconds));
        let pause = in_nanoseconds(chunk * (1.0 - share) / share.max(1e-3));
        while !self.ends.load(Ordering::Relaxed) && self.clock.now() < stop {
            let until = (self.clock.now() + in_nanoseconds(chunk)).min(stop);
            while self.clock.now() < until && !self.ends.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
            if pause > 0 {
                let until = (self.clock.now() + pause).min(stop);
                self.clock.wait_until(until, self.ends);
            }
        }
    }

    /// Does its work on each name once a pass.
    fn names(&self, outcome: &mut ProcessOutcome) -> Result<(), Error> {
        let job = self.job;
        let (call, word): (NameCall, _) = match job.work {
            Work::Create => (JobTarget::create, "create"),
            Work::Unlink => (JobTarget::unlink, "unlink"),
            Work::Mkdir => (JobTarget::mkdir, "mkdir"),
            Work::Rmdir => (JobTarget::rmdir, "rmdir"),
            _ => (JobTarget::stat, "stat"),
        };
        let first = job.file_of(self.rank);
        let stop = job
            .seconds
            .map(|seconds| in_nanoseconds(job.warm_up + seconds));
        for _ in 0..if job.work == Work::Stat {
            job.passes
        } else {
            1
        } {
            for file in first..first + job.files {
                let started = self.clock.now();
                let over =
                    self.ends.load(Ordering::Relaxed) || stop.is_some_and(|stop| started >= stop);
                if over {
                    return Ok(());
                }
                call(self.target, file).map_err(|errno| Error::Operation {
                    operation: word,
                    path: self.target.called(file),
                    errno,
                })?;
                let ended = self.clock.now();
                self.progress.add(2, 0, ended - started);
                outcome.record.add(&Done {
                    operation: number(word),
                    workload: self.number,
                    phase: 0,
                    bytes: 0,
                    prepared: 0,
                    intended: started,
                    started,
                    ended,
                });
                outcome.in_flight.most = 1;
                if job.log && outcome.log.len() < MOST_LOGGED {
                    outcome.log.push((ended, ended - started, 2, 0, 0));
                }
            }
        }
        Ok(())
    }
}

struct Process<'a> {
    plan: &'a ProcessPlan<'a>,
    /// Its files, as far as they are open, and those that are in the order in which they were
    /// opened.
    files: Vec<Option<OwnedFd>>,
    opened: VecDeque<usize>,
    first_file: u32,
    /// First byte of each file.
    first_byte: u64,
    queue: Queue,
    free: Vec<usize>,
    asked: Vec<InFlightRequest>,
    done: Vec<Completion>,
    offsets: Offsets,
    content: BlockContent,
    /// True if the next request reads, if that is drawn.
    reads: Option<bool>,
    due: DueTimes,
    search: Option<DepthSearch>,
    /// Entries that were not handed over.
    held: u32,
    /// True while a full queue is emptied.
    drains: bool,
    /// Passes that have begun, and bytes of this one.
    pass: u32,
    moved: u64,
    /// Requests of a group of jobs, and requests since the last pause.
    own: u64,
    since_pause: u32,
    /// Time when no more requests begin.
    stop_at: Option<Nanoseconds>,
    written: u64,
    unsynced: [u32; 2],
    /// Places that were written in this pass, to be read back.
    history: Vec<Place>,
    reads_back: bool,
    looked: u64,
    in_flight: InFlight,
    draws: u64,
}

impl<'a> Process<'a> {
    fn new(plan: &'a ProcessPlan<'a>, start: Nanoseconds) -> Result<Process<'a>, Error> {
        let job = plan.job;
        let seed = job.seed ^ (u64::from(plan.rank) << 32);
        let mut queue = Queue::new(job.way()?, job.queue_depth, job.largest(), seed)?;
        queue.advise(job.advice);
        let slots = queue.slots();
        let warm_up = start.saturating_add(in_nanoseconds(job.warm_up));
        let nothing = InFlightRequest {
            kind: Kind::Sync,
            place: Place {
                file: 0,
                offset: 0,
                size: 0,
            },
            intended: 0,
            started: 0,
        };
        let search = job.pace.latency_target;
        if let Some(flow) = job.pace.flow
            && !job.begins_at_once()
        {
            plan.flows.enter(flow);
        }
        let mut process = Process {
            plan,
            files: (0..job.files).map(|_| None).collect(),
            opened: VecDeque::new(),
            first_file: job.file_of(plan.rank),
            first_byte: job.offset + job.offset_step * u64::from(plan.rank),
            queue,
            free: (0..slots).rev().collect(),
            asked: vec![nothing; slots],
            done: Vec::with_capacity(slots),
            offsets: Offsets::new(job, seed),
            content: BlockContent::new(&job.content),
            reads: None,
            due: DueTimes::new(job, start),
            search: search.map(|it| DepthSearch::new(it, job.queue_depth, start)),
            held: 0,
            drains: false,
            pass: 0,
            moved: 0,
            own: 0,
            since_pause: 0,
            stop_at: job
                .seconds
                .map(|seconds| warm_up.saturating_add(in_nanoseconds(seconds))),
            written: 0,
            unsynced: [0; 2],
            history: Vec::new(),
            reads_back: false,
            looked: 0,
            in_flight: InFlight {
                since: warm_up,
                ..InFlight::default()
            },
            draws: 0,
        };
        // An error of the first file is reported before anything is measured.
        process.open(0)?;
        Ok(process)
    }

    fn random(&mut self) -> Random<'_> {
        let key = self.plan.job.seed ^ (u64::from(self.plan.rank) << 16);
        Random::named(key, "job", &mut self.draws)
    }

    fn run(&mut self, outcome: &mut ProcessOutcome) -> Result<(), Error> {
        let ended = self.requests(outcome);
        if let Some(flow) = self.plan.job.pace.flow {
            self.plan.flows.leave(flow, self.own);
        }
        ended?;
        if self.plan.job.sync_at_end && self.written > 0 {
            for file in 0..self.files.len() {
                if self.files[file].is_some() || self.files.len() <= MOST_OPEN {
                    self.open(file)?;
                    self.sync(Kind::Sync, file)?;
                    self.reap(outcome, 1, None)?;
                }
            }
        }
        Ok(())
    }

    fn requests(&mut self, outcome: &mut ProcessOutcome) -> Result<(), Error> {
        let job = self.plan.job;
        loop {
            let now = self.plan.clock.now();
            if self.is_over(now) {
                self.drain(outcome)?;
                self.read_back(outcome)?;
                if self.has_another_pass(now) {
                    self.pass += 1;
                    self.moved = 0;
                    self.cool();
                    self.offsets.restart();
                    continue;
                }
                outcome.not_made = self.not_made(now);
                return Ok(());
            }
            if self.has_to_wait(outcome)? {
                continue;
            }
            let kind = [job.sync_every, job.sync_data_every];
            let due = [Kind::Sync, Kind::SyncData].into_iter().enumerate();
            let mut due = due.filter(|(place, _)| {
                kind[*place].is_some_and(|most| self.unsynced[*place] >= most)
            });
            if let Some((place, kind)) = due.next() {
                // An fsync is of the writes that are completed.
                self.drain(outcome)?;
                let last = self.opened.back().copied().unwrap_or(0);
                self.sync(kind, last)?;
                self.unsynced[place] = 0;
                self.reap(outcome, 1, None)?;
                continue;
            }
            if self.pauses(outcome)? {
                continue;
            }
            let Some((reads, intended)) = self.draw(now, outcome)? else {
                continue;
            };
            if self.is_late(intended) {
                // The next look ends it.
                self.stop_at = Some(now);
                continue;
            }
            if let Some(flow) = job.pace.flow
                && !self.plan.flows.takes(flow, self.own)
            {
                self.wait(outcome, FLOW_LOOK)?;
                continue;
            }
            let Some(place) = self.offsets.next(reads) else {
                if self.starts_again() {
                    self.cool();
                    self.offsets.restart();
                } else {
                    self.moved = u64::MAX;
                }
                continue;
            };
            let goes_on = job.access.random || job.files > 1 || place.offset > 0 || self.moved == 0;
            if !goes_on {
                self.cool();
            }
            self.reads = None;
            self.own += 1;
            self.since_pause += 1;
            self.moved += u64::from(place.size);
            if self.due.has_rates() {
                let key = job.seed ^ (u64::from(self.plan.rank) << 16);
                let mut random = Random::named(key, "pace", &mut self.draws);
                self.due.made(reads, place.size, &mut random);
            }
            self.ask(reads, place, intended, outcome)?;
        }
    }

    /// Returns true if no more requests begin in this pass, or at all.
    fn is_over(&self, now: Nanoseconds) -> bool {
        let job = self.plan.job;
        self.plan.ends.load(Ordering::Relaxed)
            || self.is_late(now)
            || self.made_all()
            || self.moved == u64::MAX
            || !job.repeated && job.total.is_some_and(|total| self.moved >= total)
            || !job.repeated && job.total.is_none() && self.moved >= self.whole()
    }

    /// Bytes of all files.
    fn whole(&self) -> u64 {
        let job = self.plan.job;
        let unit = match job.sizes.iter().all(Vec::is_empty) {
            true => u64::from(job.block),
            false => 1,
        };
        job.bytes / unit * unit * u64::from(job.files)
    }

    fn made_all(&self) -> bool {
        let most = self.plan.job.most;
        most.is_some_and(|most| self.offsets.requests() >= most)
    }

    /// Returns true if files begin again within a pass.
    fn starts_again(&self) -> bool {
        let job = self.plan.job;
        job.repeated || job.total.is_some_and(|total| self.moved < total)
    }

    fn has_another_pass(&self, now: Nanoseconds) -> bool {
        !self.plan.ends.load(Ordering::Relaxed)
            && !self.is_late(now)
            && !self.made_all()
            && !self.plan.job.repeated
            && self.pass + 1 < self.plan.job.passes
    }

    /// Returns true if its time is over. A process that gets no processor for so long makes one
    /// request.
    fn is_late(&self, time: Nanoseconds) -> bool {
        self.offsets.requests() > 0 && self.stop_at.is_some_and(|stop| time >= stop)
    }

    /// Waits for completions if the queue is as full as it may be.
    fn has_to_wait(&mut self, outcome: &mut ProcessOutcome) -> Result<bool, Error> {
        let job = self.plan.job;
        let depth = match &mut self.search {
            Some(search) => {
                if search.step(self.plan.clock.now()) {
                    self.stop_at = Some(0);
                    return Ok(true);
                }
                search.depth() as usize
            }
            None => self.queue.slots(),
        };
        let in_flight = self.queue.in_flight();
        if in_flight >= depth || self.free.is_empty() {
            self.drains = job.batches.low > 0;
        }
        let waits = match self.drains {
            true => in_flight > job.batches.low as usize,
            false => in_flight >= depth || self.free.is_empty(),
        };
        if waits {
            self.reap(outcome, job.batches.complete.max(1) as usize, None)?;
        } else {
            self.drains = false;
        }
        Ok(waits)
    }

    /// Pauses after as many requests as the job says.
    fn pauses(&mut self, outcome: &mut ProcessOutcome) -> Result<bool, Error> {
        let Some((seconds, spun, requests)) = self.plan.job.pace.think else {
            return Ok(false);
        };
        if self.since_pause < requests {
            return Ok(false);
        }
        self.drain(outcome)?;
        self.since_pause = 0;
        let now = self.plan.clock.now();
        let stop = self.stop_at.unwrap_or(Nanoseconds::MAX);
        let spin = (now + in_nanoseconds(spun)).min(stop);
        while self.plan.clock.now() < spin && !self.plan.ends.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
        let until = (now + in_nanoseconds(seconds)).min(stop);
        self.plan.clock.wait_until(until, self.plan.ends);
        Ok(true)
    }

    /// Draws whether the next request reads, and gives its time. None if that is not yet: some time has
    /// passed.
    fn draw(
        &mut self,
        now: Nanoseconds,
        outcome: &mut ProcessOutcome,
    ) -> Result<Option<(bool, Nanoseconds)>, Error> {
        let share = self.plan.job.read_share;
        let mut reads = match self.reads {
            Some(reads) => reads,
            None => share >= 1.0 || share > 0.0 && self.random().uniform() < share,
        };
        let mut intended = self.due.due(reads, now);
        if intended > now && share > 0.0 && share < 1.0 {
            // The other way may be behind.
            let other = self.due.due(!reads, now);
            if other < intended {
                (reads, intended) = (!reads, other);
            }
        }
        self.reads = Some(reads);
        if intended <= now || self.is_late(intended) {
            return Ok(Some((reads, intended)));
        }
        self.wait(outcome, Duration::from_nanos(intended - now).min(LOOK))?;
        Ok(None)
    }

    /// Lets time pass, and takes what is completed.
    fn wait(&mut self, outcome: &mut ProcessOutcome, span: Duration) -> Result<(), Error> {
        if self.queue.in_flight() > 0 {
            return self.reap(outcome, 1, Some(span));
        }
        let until = self.plan.clock.now() + span.as_nanos() as u64;
        self.plan.clock.wait_until(until, self.plan.ends);
        Ok(())
    }

    /// Requests that were due before the end, less those that were made.
    fn not_made(&self, now: Nanoseconds) -> u64 {
        let Some(stop) = self.stop_at.filter(|_| self.due.has_rates()) else {
            return 0;
        };
        let until = match self.plan.ends.load(Ordering::Relaxed) {
            true => now.min(stop),
            false => stop,
        };
        let job = self.plan.job;
        if !job.repeated && (self.moved >= job.total.unwrap_or(self.whole()) || self.made_all()) {
            return 0;
        }
        let late = self.due.not_made(until);
        let left = job.most.map(|most| most - self.offsets.requests());
        let whole = (!job.repeated).then(|| {
            let rest = job.total.unwrap_or(self.whole()) - self.moved;
            rest / u64::from(job.block)
        });
        left.into_iter().chain(whole).fold(late, u64::min)
    }

    /// Notes whether the page cache has the range of the next read.
    fn look(&mut self, place: Place, outcome: &mut ProcessOutcome) {
        if self.plan.job.calls == "null" {
            return;
        }
        self.looked += 1;
        if self.plan.job.direct && !self.looked.is_multiple_of(SAMPLED) && self.looked > 1 {
            return;
        }
        let Some(file) = &self.files[place.file] else {
            return;
        };
        let found = self.plan.known.look(
            self.first_file + place.file as u32,
            file.as_fd(),
            self.first_byte + place.offset,
            u64::from(place.size),
        );
        outcome.record.reads = outcome.record.reads.and(found);
    }

    /// Has the open files leave the page cache before another pass.
    fn cool(&self) {
        if !self.plan.job.cold_again {
            return;
        }
        for (number, file) in (self.first_file..).zip(&self.files) {
            if let Some(file) = file {
                let _ = rustix::fs::fadvise(file, 0, None, Advice::DontNeed);
                self.plan.known.forget(number);
            }
        }
    }

    /// Opens a file, if it is not open. If there are many, the first is closed.
    fn open(&mut self, file: usize) -> Result<(), Error> {
        if self.files[file].is_some() {
            return Ok(());
        }
        if self.opened.len() >= MOST_OPEN
            && let Some(oldest) = self.opened.pop_front()
        {
            self.files[oldest] = None;
        }
        let job = self.plan.job;
        let number = self.first_file + file as u32;
        let opened = self.plan.target.open(
            number,
            OpenAs {
                nothing: job.calls == "null",
                writes: job.writes(),
                reads: job.reads() || job.content.read_back || job.calls == "mapped",
                direct: job.direct,
                stable: job.stable,
                stable_attributes: job.stable_attributes,
                creates: job.creates,
            },
        );
        let opened = opened.map_err(|errno| Error::Operation {
            operation: "open",
            path: self.plan.target.called(number),
            errno,
        })?;
        let advice = match job.advice {
            PageAdvice::None => None,
            PageAdvice::Random => Some(Advice::Random),
            PageAdvice::Sequential => Some(Advice::Sequential),
        };
        if let Some(advice) = advice {
            // Not every file system takes it.
            let _ = rustix::fs::fadvise(&opened, 0, None, advice);
        }
        self.files[file] = Some(opened);
        self.opened.push_back(file);
        Ok(())
    }

    /// Begins a read or write.
    fn ask(
        &mut self,
        reads: bool,
        place: Place,
        intended: Nanoseconds,
        outcome: &mut ProcessOutcome,
    ) -> Result<(), Error> {
        if self.files[place.file].is_none() {
            if self.opened.len() >= MOST_OPEN {
                self.drain(outcome)?;
            }
            self.open(place.file)?;
        }
        let job = self.plan.job;
        if job.work != Work::Transfer {
            return self.change(reads, place, intended, outcome);
        }
        let kind = if reads { Kind::Read } else { Kind::Write };
        if reads {
            self.look(place, outcome);
        } else {
            let number = self.first_file + place.file as u32;
            let first = self.first_byte + place.offset;
            self.plan.known.note(number, first, u64::from(place.size));
            self.written += 1;
            self.unsynced = self.unsynced.map(|it| it + 1);
            if job.content.read_back {
                self.history.push(place);
            }
        }
        self.submit(kind, place, intended)?;
        // System calls are done already; completed entries of a ring make room.
        let batch = job.batches.submit.max(1);
        if self.held >= batch || self.free.is_empty() {
            self.hand_over(kind)?;
        }
        if self.queue.is_ready() && job.batches.complete <= 1 && !self.drains {
            self.reap(outcome, 1, None)?;
        }
        Ok(())
    }

    /// Puts a request in the queue.
    fn submit(&mut self, kind: Kind, place: Place, intended: Nanoseconds) -> Result<(), Error> {
        let Some(slot) = self.free.pop() else {
            return Err(Error::Own("no slot is free for a request".to_owned()));
        };
        let number = self.first_file + place.file as u32;
        let offset = self.first_byte + place.offset;
        if kind == Kind::Write {
            let stamp = self.written << 16 | u64::from(self.plan.rank);
            let block = self.queue.block(slot, place.size);
            self.content.fill(number, offset, block, stamp);
        }
        let started = self.plan.clock.now();
        self.in_flight.passed(started, self.queue.in_flight());
        self.asked[slot] = InFlightRequest {
            kind,
            place,
            intended: match self.due.has_rates() {
                true => intended.min(started),
                false => started,
            },
            started,
        };
        let Some(file) = &self.files[place.file] else {
            return Err(Error::Own("a file of a request is not open".to_owned()));
        };
        let request = Request {
            kind,
            file: (place.file, file),
            offset,
            size: place.size,
        };
        let asked = self.queue.submit(request, slot);
        self.held += 1;
        self.in_flight.most = self.in_flight.most.max(self.queue.in_flight());
        asked.map_err(|errno| self.failed(kind, place.file, errno))
    }

    fn sync(&mut self, kind: Kind, file: usize) -> Result<(), Error> {
        let place = Place {
            file,
            offset: 0,
            size: 0,
        };
        let now = self.plan.clock.now();
        self.submit(kind, place, now)?;
        self.hand_over(kind)
    }

    fn hand_over(&mut self, kind: Kind) -> Result<(), Error> {
        self.held = 0;
        let result = self.queue.hand_over();
        result.map_err(|errno| self.failed(kind, 0, errno))
    }

    /// ftruncate(2) or fallocate(2) at a place.
    fn change(
        &mut self,
        reads: bool,
        place: Place,
        intended: Nanoseconds,
        outcome: &mut ProcessOutcome,
    ) -> Result<(), Error> {
        let truncates = self.plan.job.work == Work::Truncate;
        let word = match (truncates, reads) {
            (true, _) => "truncate",
            (false, true) => "read",
            (false, false) => "write",
        };
        let Some(file) = &self.files[place.file] else {
            return Err(Error::Own("a file of a request is not open".to_owned()));
        };
        let (first, size) = (self.first_byte + place.offset, u64::from(place.size));
        let started = self.plan.clock.now();
        let flags = match (self.plan.job.work, reads) {
            (Work::Punch, _) => FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE,
            (_, true) => FallocateFlags::KEEP_SIZE,
            (_, false) => FallocateFlags::empty(),
        };
        let result = match truncates {
            true => rustix::fs::ftruncate(file, first),
            false => rustix::fs::fallocate(file, flags, first, size),
        };
        let ended = self.plan.clock.now();
        let number_of_file = self.first_file + place.file as u32;
        result.map_err(|errno| Error::Operation {
            operation: if truncates { "truncate" } else { "allocate" },
            path: self.plan.target.called(number_of_file),
            errno,
        })?;
        let bytes = if truncates { 0 } else { size };
        let counted = if truncates { 2 } else { usize::from(!reads) };
        self.plan.progress.add(counted, bytes, ended - started);
        self.in_flight.most = 1;
        outcome.record.add(&Done {
            operation: number(word),
            workload: self.plan.number,
            phase: 0,
            bytes,
            prepared: 0,
            intended: intended.min(started),
            started,
            ended,
        });
        Ok(())
    }

    /// Hands over all and waits for all.
    fn drain(&mut self, outcome: &mut ProcessOutcome) -> Result<(), Error> {
        while self.queue.in_flight() > 0 {
            self.reap(outcome, 1, None)?;
        }
        Ok(())
    }

    /// Reads what was written in this pass, and compares it.
    fn read_back(&mut self, outcome: &mut ProcessOutcome) -> Result<(), Error> {
        let history = std::mem::take(&mut self.history);
        self.reads_back = true;
        for place in history {
            if self.plan.ends.load(Ordering::Relaxed) {
                break;
            }
            if self.free.is_empty() {
                self.reap(outcome, 1, None)?;
            }
            if self.files[place.file].is_none() {
                self.drain(outcome)?;
                self.open(place.file)?;
            }
            let now = self.plan.clock.now();
            self.submit(Kind::Read, place, now)?;
            self.hand_over(Kind::Read)?;
        }
        self.drain(outcome)?;
        self.reads_back = false;
        Ok(())
    }

    /// Waits until some requests are completed, or for a time, and records all that are.
    fn reap(
        &mut self,
        outcome: &mut ProcessOutcome,
        least: usize,
        most: Option<Duration>,
    ) -> Result<(), Error> {
        if self.held > 0 {
            self.hand_over(Kind::Read)?;
        }
        let mut done = std::mem::take(&mut self.done);
        let before = self.queue.in_flight();
        let waited = self.queue.wait(least, most, &mut done);
        let ended = self.plan.clock.now();
        self.in_flight.passed(ended, before);
        let mut first_error = waited
            .map_err(|errno| self.failed(Kind::Read, 0, errno))
            .err();
        for (slot, result) in done.drain(..) {
            self.free.push(slot);
            let asked = self.asked[slot];
            match self.completed(slot, asked, ended, result) {
                Ok(request) => {
                    outcome.record.add(&request);
                    let latency = ended.saturating_sub(asked.started);
                    if let Some(search) = &mut self.search {
                        search.note(latency);
                    }
                    if self.plan.job.log && outcome.log.len() < MOST_LOGGED {
                        let offset = self.first_byte + asked.place.offset;
                        let kind = counted(asked.kind) as u8;
                        let size = asked.place.size;
                        outcome.log.push((ended, latency, kind, size, offset));
                    }
                }
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        self.done = done;
        first_error.map_or(Ok(()), Err)
    }

    fn completed(
        &mut self,
        slot: usize,
        asked: InFlightRequest,
        ended: Nanoseconds,
        result: Result<usize, Errno>,
    ) -> Result<Done, Error> {
        let place = asked.place;
        let moved = result.map_err(|errno| self.failed(asked.kind, place.file, errno))?;
        let size = place.size as usize;
        let number_of_file = self.first_file + place.file as u32;
        let wrong = |found: String| Error::Wrong {
            operation: word(asked.kind),
            path: self.plan.target.called(number_of_file),
            found,
        };
        if moved != size {
            return Err(wrong(format!("{moved} of {size} bytes were moved")));
        }
        let checks = self.plan.job.content.verify || self.reads_back;
        if asked.kind == Kind::Read && checks {
            let offset = self.first_byte + place.offset;
            let block = self.queue.block(slot, place.size);
            let result = self.content.check(number_of_file, offset, block);
            result.map_err(wrong)?;
        }
        let latency = ended.saturating_sub(asked.started);
        self.plan
            .progress
            .add(counted(asked.kind), moved as u64, latency);
        Ok(Done {
            operation: number(word(asked.kind)),
            workload: self.plan.number,
            phase: 0,
            bytes: moved as u64,
            prepared: 0,
            intended: asked.intended,
            started: asked.started,
            ended,
        })
    }

    fn failed(&self, kind: Kind, file: usize, errno: Errno) -> Error {
        Error::Operation {
            operation: word(kind),
            path: self.plan.target.called(self.first_file + file as u32),
            errno,
        }
    }
}

/// Class of a kind of request in [`Progress`].
fn counted(kind: Kind) -> usize {
    match kind {
        Kind::Read => 0,
        Kind::Write => 1,
        Kind::Sync | Kind::SyncData => 2,
    }
}

/// The name of a kind of request among operations.
pub fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Read => "read",
        Kind::Write => "write",
        Kind::Sync | Kind::SyncData => "sync",
    }
}

/// An operation's number by its name.
fn number(word: &str) -> usize {
    operation::number(word).unwrap_or_else(|| unreachable!("they are operations"))
}
