//! A run: files are made that must be there, processes begin together, and what they did
//! is put together.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use headrace_spec::{Bytes, DIRECT_UNIT, Scenario, Workload, WorkloadKind};
use headrace_workload::{Application, clients, sequence};
use rustix::fs::Mode;
use rustix::io::Errno;

use crate::Error;
use crate::calls::Backend;
use crate::clock::{Clock, Nanoseconds};
use crate::directory::Directory;
use crate::files::{self, Names};
use crate::load::Load;
use crate::meeting::Meeting;
use crate::operation::{self, Buffer, Content, OwnNames};
use crate::outcome::{Outcome, Phase};
use crate::process::{Plan, Progress, Shared, Source};
use crate::record::Record;

/// How often the caller is told how far the run is.
const LOOK: Duration = Duration::from_millis(50);

/// How long a look at the processes takes at the most, so that a short run is not made
/// longer.
const SHORT: Duration = Duration::from_millis(2);

/// How long it takes until every process is there: the clock begins then.
const TOGETHER: Duration = Duration::from_millis(10);

/// Bytes of the largest call by which files are made that must be there.
const LARGEST_CALL: usize = 16 << 20;

/// How a run is made.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// How calls are made.
    pub calls: Backend,
}

/// How far a run is.
#[derive(Clone, Debug)]
pub struct Live {
    /// What it is doing.
    pub phase: Phase,
    /// Seconds since the processes began.
    pub seconds: f64,
    /// Operations done and bytes moved, by the operation's number.
    pub operations: Vec<(u64, u64)>,
}

/// Who watches a run, and may break it off.
pub type Watch<'a> = &'a mut dyn FnMut(&Live) -> ControlFlow<()>;

/// Carries a scenario's workloads out in a directory.
///
/// An operation that fails ends the run; what was measured before it is in the outcome,
/// and so is the error.
///
/// # Errors
/// If it cannot begin.
pub fn run(
    scenario: &Scenario,
    directory: &Directory,
    options: Options,
    watch: Watch<'_>,
) -> Result<Outcome, Error> {
    let parts = scenario.workload.iter().enumerate();
    let parts: Vec<Part<'_>> = parts
        .map(|(number, workload)| Part::new(scenario, workload, number))
        .collect::<Result<_, _>>()?;
    // What cannot be used is known before files are made.
    options.calls.calls(directory.root())?;
    let began = Instant::now();
    if options.calls != Backend::Null {
        room_for_all(&parts, directory)?;
        for part in &parts {
            part.make_files(directory, part.content(scenario), watch)?;
        }
    }
    let prepared = nanoseconds(began.elapsed());
    let mut processes = Vec::new();
    for part in &parts {
        processes.extend(part.processes(scenario, directory, options)?);
    }
    let mut outcome = carried_out(scenario, processes, prepared, watch)?;
    outcome.load = Load::of(scenario, &outcome)?;
    Ok(outcome)
}

/// Says no to files that would fill the file system up, before any is made.
fn room_for_all(parts: &[Part<'_>], directory: &Directory) -> Result<(), Error> {
    let existing = parts.iter().flat_map(|part| part.application.existing());
    let needed = existing.fold(0, |sum: u64, file| sum.saturating_add(file.size));
    // Where a file system does not tell, the first file that does not fit does.
    let Ok(room) = rustix::fs::fstatvfs(directory.root()) else {
        return Ok(());
    };
    let free = room.f_bavail.saturating_mul(room.f_frsize);
    // What an earlier run in this directory has made is used again.
    if needed > free && needed > free.saturating_add(directory.usage()?.1) {
        return Err(Error::Unsuitable(format!(
            "the files of the workloads take \"{}\": expected no more than \"{}\", which is free; \
             take fewer or smaller ones",
            Bytes(needed),
            Bytes(free)
        )));
    }
    Ok(())
}

/// A workload and its files.
struct Part<'a> {
    workload: &'a Workload,
    number: usize,
    processes: u32,
    names: Names,
    application: Box<dyn Application>,
}

impl<'a> Part<'a> {
    fn new(scenario: &Scenario, workload: &'a Workload, number: usize) -> Result<Self, Error> {
        suitable(workload)?;
        let processes =
            (clients(scenario, workload).len() as u32).saturating_mul(scenario.clients.processes);
        let application = sequence(scenario, workload, processes)?;
        Ok(Part {
            workload,
            number,
            processes,
            names: Names::new(number, &*application),
            application,
        })
    }

    /// What its files have in them, if what is read is to be looked at.
    fn content(&self, scenario: &Scenario) -> Option<Content> {
        let verify = self.workload.io.verify;
        verify.then(|| Content::new(self.number, scenario.run.seed))
    }

    fn make_files(
        &self,
        directory: &Directory,
        content: Option<Content>,
        watch: Watch<'_>,
    ) -> Result<(), Error> {
        let failed = |what: &str, errno| Error::Operation {
            operation: "preparing",
            path: what.to_owned(),
            errno,
        };
        let make = |path: &std::ffi::CStr| {
            match rustix::fs::mkdirat(directory.root(), path, Mode::from_raw_mode(0o755)) {
                // An earlier run in this directory has made it.
                Ok(()) | Err(Errno::EXIST) => Ok(()),
                Err(errno) => Err(failed(&path.to_string_lossy(), errno)),
            }
        };
        for path in self.names.directories() {
            make(&path)?;
        }
        if self.draws_names() {
            for rank in 0..self.processes {
                let own = self.names.own(rank);
                make(&own)?;
                directory
                    .empty_below(&own)
                    .map_err(|errno| failed(&own.to_string_lossy(), errno))?;
            }
        }
        let io = &self.workload.io;
        let call = usize::try_from(io.made_by.0).unwrap_or(usize::MAX);
        let mut buffer = Buffer::new(call.min(LARGEST_CALL), u64::MAX);
        let existing = self.application.existing();
        for file in &existing {
            let root = directory.root();
            files::make(root, &self.names, *file, call, &mut buffer, content)
                .map_err(|errno| failed(&self.names.path(file.file).to_string_lossy(), errno))?;
            let live = Live {
                phase: Phase::Preparing,
                seconds: 0.0,
                operations: Vec::new(),
            };
            if watch(&live).is_break() {
                return Err(Error::Interrupted);
            }
        }
        if !existing.is_empty() {
            // Once for all: a sync for each file takes far longer.
            rustix::fs::syncfs(directory.root()).map_err(|errno| failed("all files", errno))?;
        }
        if !io.cached {
            for file in &existing {
                files::cool(directory.root(), &self.names, file.file);
            }
        }
        Ok(())
    }

    /// Whether names that are made and removed are the processes' own affair.
    fn draws_names(&self) -> bool {
        matches!(self.workload.kind, WorkloadKind::OperationMix(_))
    }

    fn processes(
        &self,
        scenario: &Scenario,
        directory: &Directory,
        options: Options,
    ) -> Result<Vec<Plan>, Error> {
        let meeting = Arc::new(Meeting::new(self.processes));
        let again = || sequence(scenario, self.workload, self.processes);
        let shared = match self.draws_names() {
            true => Some(Arc::new(Mutex::new(again()?))),
            false => None,
        };
        let largest = largest_transfer(self.workload);
        let base = directory.absolute()?;
        let content = match options.calls {
            // Nothing is read that could be looked at.
            Backend::Null => None,
            _ => self.content(scenario),
        };
        (0..self.processes)
            .map(|rank| {
                let source = match &shared {
                    Some(application) => Source::Shared(Arc::clone(application)),
                    None => Source::Own(again()?),
                };
                let own = self
                    .draws_names()
                    .then(|| OwnNames::new(self.names.own(rank).to_string_lossy().into_owned()));
                Ok(Plan {
                    workload: self.number,
                    rank,
                    source,
                    root: Arc::clone(directory.root()),
                    backend: options.calls,
                    names: self.names.clone(),
                    base: base.clone(),
                    io: self.workload.io.clone(),
                    content,
                    largest,
                    own,
                    record: Record::new(
                        operation::ALL.len(),
                        in_nanoseconds(scenario.run.warm_up.0),
                        scenario.run.window.map(|it| in_nanoseconds(it.0)),
                    ),
                    meeting: Arc::clone(&meeting),
                    progress: Arc::new(Progress::new()),
                })
            })
            .collect()
    }
}

/// The processes begin together, and what they did is put together.
fn carried_out(
    scenario: &Scenario,
    processes: Vec<Plan>,
    prepared: Nanoseconds,
    watch: Watch<'_>,
) -> Result<Outcome, Error> {
    let count = processes.len() as u32;
    let progress: Vec<Arc<Progress>> = processes
        .iter()
        .map(|process| Arc::clone(&process.progress))
        .collect();
    let stop = &scenario.run.stop;
    let shared = Shared {
        clock: Clock::starting(Instant::now() + TOGETHER),
        ends: AtomicBool::new(false),
        stop_at: stop.time.map(|time| in_nanoseconds(time.0)),
        stop_after: stop.requests,
        done: AtomicU64::new(0),
        seed: scenario.run.seed,
    };
    let mut record = Record::new(
        operation::ALL.len(),
        0,
        scenario.run.window.map(|it| in_nanoseconds(it.0)),
    );
    let mut error = None;
    let interrupted = thread::scope(|scope| {
        let mut threads = Vec::with_capacity(processes.len());
        for process in processes {
            let shared = &shared;
            let name = format!("process {}.{}", process.workload, process.rank);
            let thread = thread::Builder::new().name(name);
            let begun = thread.spawn_scoped(scope, move || process.run(shared));
            match begun {
                Ok(thread) => threads.push(thread),
                Err(failed) => {
                    shared.ends.store(true, Ordering::Relaxed);
                    error = Some(Error::Thread(failed));
                    break;
                }
            }
        }
        let interrupted = watched(&threads, &shared, &progress, watch);
        for thread in threads {
            match thread.join() {
                Ok((done, ended)) => {
                    record.merge(&done);
                    error = error.take().or(ended.err());
                }
                Err(_) => error = Some(Error::Own("a process panicked".to_owned())),
            }
        }
        interrupted
    });
    let reason = match (&error, interrupted) {
        (Some(_), _) => "failed",
        (None, true) => "interrupted",
        (None, false) => match (shared.stop_at, shared.stop_after) {
            (_, Some(most)) if shared.done.load(Ordering::Relaxed) >= most => "requests",
            (Some(_), _) if shared.ends.load(Ordering::Relaxed) => "time",
            _ => "workload",
        },
    };
    Ok(Outcome {
        lasted: record.last_end(),
        record,
        prepared,
        reason,
        error,
        processes: count,
        load: None,
    })
}

/// Tells how far the run is until every process has ended; whether it was broken off.
fn watched<T>(
    threads: &[ScopedJoinHandle<'_, T>],
    shared: &Shared,
    progress: &[Arc<Progress>],
    watch: Watch<'_>,
) -> bool {
    let mut interrupted = false;
    let mut told = Instant::now();
    while !threads.iter().all(ScopedJoinHandle::is_finished) {
        thread::sleep(SHORT);
        if told.elapsed() < LOOK {
            continue;
        }
        told = Instant::now();
        let of = |number| {
            let all = progress.iter().map(|process| process.of(number));
            all.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
        };
        let live = Live {
            phase: Phase::Running,
            seconds: shared.clock.now() as f64 * 1e-9,
            operations: (0..operation::ALL.len()).map(of).collect(),
        };
        if watch(&live).is_break() {
            interrupted = true;
            shared.ends.store(true, Ordering::Relaxed);
        }
    }
    interrupted
}

/// What cannot be carried out on a real file system, or not yet.
fn suitable(workload: &Workload) -> Result<(), Error> {
    if workload.collective.two_phase().is_some() {
        return Err(unsuitable("collective", "two-phase"));
    }
    Ok(())
}

fn unsuitable(field: &str, value: &str) -> Error {
    Error::Unsuitable(format!(
        "workload.{field} = {value:?} can be simulated, and not be carried out on a real file \
         system"
    ))
}

/// Bytes of a workload's largest transfer.
fn largest_transfer(workload: &Workload) -> usize {
    let largest = match &workload.kind {
        WorkloadKind::Ior(ior) => ior.transfer.0,
        WorkloadKind::Mdtest(mdtest) => mdtest.bytes.0,
        WorkloadKind::OperationMix(mix) => {
            let sizes = mix.read_sizes.values().chain(mix.write_sizes.values());
            sizes.map(|size| size.0).max().unwrap_or(0)
        }
        WorkloadKind::Pipeline(pipeline) => {
            let buffers = pipeline.input.0.div_ceil(pipeline.request.0.max(1)).max(1);
            pipeline.request.0.max(pipeline.output.0.div_ceil(buffers))
        }
        WorkloadKind::TraceReplay(_) => 0,
    };
    // Some operations move whole units.
    let largest = largest.max(1).checked_next_multiple_of(DIRECT_UNIT);
    largest.map_or(usize::MAX, |it| usize::try_from(it).unwrap_or(usize::MAX))
}

fn in_nanoseconds(seconds: f64) -> Nanoseconds {
    // Saturates; less than a nanosecond is nothing a clock shows.
    (seconds * 1e9) as Nanoseconds
}

fn nanoseconds(duration: Duration) -> Nanoseconds {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod every_operation;
#[cfg(test)]
mod tests;
