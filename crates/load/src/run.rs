//! A run: required files are made, processes begin together, and their results are merged.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use headrace_spec::Scenario;
use headrace_workload::{RoundCounts, TrainingReport};

use crate::Error;
use crate::calls::Backend;
use crate::clock::{Clock, Nanoseconds, in_nanoseconds};
use crate::coordination::Coordination;
use crate::directory::Directory;
use crate::operation;
use crate::outcome::{Load, Outcome, Phase};
use crate::part::Part;
use crate::process::{NOT_ENDED, Progress, Shared};
use crate::process_plan::Plan;
use crate::record::Record;
use crate::rendezvous::Rendezvous;
use crate::run_options::{LiveProgress, Options, Watch};
use crate::share::{Share, SyncPoint};
use crate::short_calls;
use crate::source::Common;
use crate::space_check::check_room_in;

/// Interval of progress reports.
const LOOK: Duration = Duration::from_millis(50);

/// Duration for which a look at the processes takes at the most, so that a short run is not made
/// longer.
const SHORT: Duration = Duration::from_millis(2);

/// Time until every process is ready; the clock starts then.
const TOGETHER: Duration = Duration::from_millis(10);

/// Carries a scenario's workloads out in a directory.
///
/// An operation that fails ends the run; measurements before it are in the outcome, and so is the
/// error.
///
/// # Errors
/// If it cannot begin.
pub fn run(
    scenario: &Scenario,
    directory: &Directory,
    options: Options,
    watch: Watch<'_>,
) -> Result<Outcome, Error> {
    let mut outcome = run_share(scenario, directory, options, &Share::alone(), watch)?;
    outcome.load = Load::of(scenario, &outcome)?;
    Ok(outcome)
}

/// As [`run`], one of several engines' share of it. [`crate::merge_outcomes`] merges their results,
/// and also knows the load.
///
/// # Errors
/// If it cannot begin.
pub fn run_share(
    scenario: &Scenario,
    directory: &Directory,
    options: Options,
    share: &Share,
    watch: Watch<'_>,
) -> Result<Outcome, Error> {
    share.suits(scenario)?;
    check_supported(scenario)?;
    let (scenario, short_calls) = &short_calls::batched(scenario);
    let parts = scenario.workload.iter().zip(short_calls).enumerate();
    let parts: Vec<Part<'_>> = parts
        .map(|(number, (workload, call))| Part::new(scenario, workload, number, share, *call))
        .collect::<Result<_, _>>()?;
    // Unsupported calls are refused before files are made.
    options.calls.calls(directory.root())?;
    let began = Instant::now();
    if options.calls != Backend::Null {
        let applications = parts.iter().map(Part::application);
        check_room_in(scenario, applications, directory, options.space)?;
        // No engine makes files while another checks the free space.
        all_here(share, watch)?;
        // One of them makes the directories. In a file system of several servers, a directory that
        // another engine is making may exist and not take a file yet.
        if share.takes(0) {
            for part in &parts {
                part.make_directories(directory, watch)?;
            }
        }
        all_here(share, watch)?;
        for part in &parts {
            part.make_files(scenario, directory, part.content(scenario), watch)?;
        }
        // Others may take long to make theirs.
        all_here(share, watch)?;
        for part in &parts {
            part.warm_files(scenario, directory, watch)?;
        }
    }
    let prepared = nanoseconds(began.elapsed());
    let in_turn = parts.iter().filter(|part| part.has_turns());
    let in_turn = in_turn.map(Part::processes_here).sum();
    // Numbered behind the workloads.
    let turns = Arc::new(Rendezvous::new(parts.len(), in_turn, share.clone()));
    let mut processes = Vec::new();
    for part in &parts {
        processes.extend(part.processes(scenario, directory, options, &turns)?);
    }
    // Counters of the system begin here.
    let begins = LiveProgress {
        phase: Phase::Running,
        seconds: 0.0,
        operations: vec![(0, 0); operation::ALL.len()],
        prepared: (0, 0),
    };
    let broken_off = watch(&begins).is_break();
    all_here(share, watch)?;
    let mut outcome = run_workload(scenario, processes, prepared, broken_off, watch)?;
    for one in parts.iter().flat_map(Part::left_out) {
        one.add(&mut outcome.left_out);
    }
    Ok(outcome)
}

/// Refuses what only a simulation does.
fn check_supported(scenario: &Scenario) -> Result<(), Error> {
    match scenario.run.stop.precision {
        Some(precision) => Err(Error::Unsuitable(format!(
            "run.stop.precision = {precision}: supported in a simulation only; use run.stop.time or \
             run.stop.requests, and --repetitions for confidence intervals"
        ))),
        None => Ok(()),
    }
}

/// Waits for the other engines.
fn all_here(share: &Share, watch: Watch<'_>) -> Result<(), Error> {
    let mut over = false;
    share.meet(SyncPoint::All, 0, &mut || {
        over = watch(&LiveProgress::PREPARING).is_break();
        over
    });
    if over {
        Err(Error::Interrupted)
    } else {
        Ok(())
    }
}

/// Starts the processes together, and merges their results.
fn run_workload(
    scenario: &Scenario,
    processes: Vec<Plan>,
    prepared: Nanoseconds,
    broken_off: bool,
    watch: Watch<'_>,
) -> Result<Outcome, Error> {
    // A rank does one thing at a time where workloads come in turn.
    let ranks: BTreeSet<u32> = processes
        .iter()
        .filter(|it| it.turns.is_some())
        .map(|it| it.rank)
        .collect();
    let beside = processes.iter().filter(|it| it.turns.is_none()).count();
    let count = (beside + ranks.len()) as u32;
    let progress: Vec<Arc<Progress>> = processes
        .iter()
        .map(|process| Arc::clone(&process.progress))
        .collect();
    let mut common: BTreeMap<usize, Arc<Common>> = BTreeMap::new();
    for process in &processes {
        if let Some(one) = process.source.common() {
            common.insert(process.workload, one);
        }
    }
    let stop = &scenario.run.stop;
    let started = monotonic() + nanoseconds(TOGETHER);
    let shared = Shared {
        clock: Clock::starting(Instant::now() + TOGETHER),
        ends: AtomicBool::new(broken_off),
        ended_at: AtomicU64::new(if broken_off { 0 } else { NOT_ENDED }),
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
                    shared.end(shared.clock.now());
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
        interrupted || broken_off
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
        started,
        lasted: match record.last_end() {
            // Nothing was done after the warm-up.
            0 => shared.clock.now(),
            last => last,
        },
        record,
        prepared,
        reason,
        error,
        processes: count,
        rounds: rounds(&common),
        trainings: trainings(&common),
        coordination: coordination(&common),
        left_out: Vec::new(),
        load: None,
    })
}

/// Counts of operations that several processes of a workload began at the same moment.
fn rounds(common: &BTreeMap<usize, Arc<Common>>) -> Option<RoundCounts> {
    let all = common.values().filter_map(|it| it.rounds());
    all.reduce(|sum, one| RoundCounts {
        whole: sum.whole + one.whole,
        broken_off: sum.broken_off + one.broken_off,
    })
}

/// Figures of the workloads that are trainings.
fn trainings(common: &BTreeMap<usize, Arc<Common>>) -> Vec<TrainingReport> {
    let all = common.iter().filter_map(|(&workload, it)| {
        let figures = it.training()?;
        Some(TrainingReport { workload, figures })
    });
    all.collect()
}

/// Sums the coordination overhead of all workloads.
fn coordination(common: &BTreeMap<usize, Arc<Common>>) -> Option<Coordination> {
    let all = common.values().filter_map(|it| it.coordination());
    all.reduce(|mut sum, one| {
        sum.merge(&one);
        sum
    })
}

/// Tells how far the run is until every process has ended; whether it was stopped.
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
        let live = LiveProgress {
            phase: Phase::Running,
            seconds: shared.clock.now() as f64 * 1e-9,
            operations: (0..operation::ALL.len()).map(of).collect(),
            prepared: (0, 0),
        };
        if watch(&live).is_break() {
            interrupted = true;
            shared.end(shared.clock.now());
        }
    }
    interrupted
}

/// The time of the host's monotonic clock, which programs of one host share.
fn monotonic() -> Nanoseconds {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    let rest = u64::try_from(now.tv_nsec).unwrap_or(0);
    seconds * 1_000_000_000 + rest
}

fn nanoseconds(duration: Duration) -> Nanoseconds {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod every_operation;
#[cfg(test)]
mod file_sets;
#[cfg(test)]
mod shared_names;
#[cfg(test)]
mod sharing;
#[cfg(test)]
mod stalls;
#[cfg(test)]
pub(crate) mod tests;
#[cfg(test)]
mod trees;
