//! A stage: jobs that begin together, and their results.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::Error;
use crate::clock::Clock;
use crate::jobs::Job;
use crate::jobs::job::Work;
use crate::jobs::pace::Flows;
use crate::jobs::process::{ProcessOutcome, ProcessPlan, Progress};
use crate::jobs::report::JobReport;
use crate::jobs::steady::Rates;
use crate::jobs::target::{JobTarget, OpenAs};
use crate::operation;
use crate::page_cache::KnownPages;
use crate::record::Record;

/// Interval of progress reports.
const LOOK: Duration = Duration::from_millis(50);

/// Duration for which a look at the processes takes at the most.
const SHORT: Duration = Duration::from_millis(2);

/// Time until every process is ready; the clock starts then.
const TOGETHER: Duration = Duration::from_millis(10);

/// Progress of one kind of request: completed requests, bytes moved, and the sum of latencies in
/// seconds.
pub type Counts = (u64, u64, f64);

/// Progress of a stage.
#[derive(Clone, Debug)]
pub struct JobsLive {
    /// Seconds since the processes began.
    pub seconds: f64,
    /// Reads, writes and other requests of each job.
    pub jobs: Vec<[Counts; 3]>,
}

/// Result of a stage's jobs.
#[derive(Debug)]
pub struct StageOutcome {
    /// By the job's number.
    pub jobs: Vec<JobReport>,
    /// True if the run was interrupted.
    pub interrupted: bool,
    /// Error that ended the run, if any. Measurements made before it are included.
    pub error: Option<Error>,
}

/// Runs jobs concurrently until all have ended. Their files must be there, and leave the page cache
/// first, as far as the file system takes that advice.
///
/// # Errors
/// If it cannot begin.
pub fn run_stage(
    target: &JobTarget,
    jobs: &[Job],
    watch: &mut dyn FnMut(&JobsLive) -> ControlFlow<()>,
) -> Result<StageOutcome, Error> {
    let known = KnownPages::new();
    for job in jobs {
        target.check(job)?;
        if job.work != Work::Transfer || job.creates {
            continue;
        }
        for file in job.all_files() {
            if job.cold {
                target.cool(file);
            }
            if let Ok(opened) = target.open(file, OpenAs::default()) {
                known.there_before(file, &opened, job.offset + job.bytes);
            }
        }
    }
    let ends: Vec<AtomicBool> = jobs.iter().map(|_| AtomicBool::new(false)).collect();
    let running: Vec<AtomicU64> = jobs
        .iter()
        .map(|job| AtomicU64::new(u64::from(job.processes)))
        .collect();
    let awaited = awaited(jobs)?;
    let flows = Flows::default();
    for job in jobs.iter().filter(|job| job.begins_at_once()) {
        if let Some(flow) = job.pace.flow {
            // Before any of them asks, however late the threads of the others run.
            (0..job.processes).for_each(|_| flows.enter(flow));
        }
    }
    let clock = Clock::starting(Instant::now() + TOGETHER);
    let mut records: Vec<Record> = jobs
        .iter()
        .map(|_| Record::new(operation::ALL.len(), 0, None))
        .collect();
    let mut outcomes: Vec<Vec<ProcessOutcome>> = jobs.iter().map(|_| Vec::new()).collect();
    let mut steady: Vec<_> = jobs
        .iter()
        .map(|it| it.steady_state.map(Rates::new))
        .collect();
    let mut error = None;
    let (known, ends, running, flows) = (&known, &ends[..], &running[..], &flows);
    let interrupted = thread::scope(|scope| {
        let mut threads = Vec::new();
        'all: for (number, job) in jobs.iter().enumerate() {
            for rank in 0..job.processes {
                let progress = Arc::new(Progress::default());
                let plan = ProcessPlan {
                    job,
                    number,
                    rank,
                    target,
                    known,
                    clock,
                    ends: &ends[number],
                    awaited: awaited[number].map(|it| &running[it]),
                    flows,
                    progress: Arc::clone(&progress),
                };
                let all = move || {
                    let (outcome, ended) = plan.run();
                    let is_last = running[number].fetch_sub(1, Ordering::AcqRel) == 1;
                    // The stage is over for all if a request fails.
                    if ended.is_err() || is_last && job.ends_all {
                        end(ends);
                    }
                    (outcome, ended)
                };
                let thread = thread::Builder::new().name(format!("job {number}.{rank}"));
                match thread.spawn_scoped(scope, all) {
                    Ok(thread) => threads.push((number, thread, progress)),
                    Err(failed) => {
                        end(ends);
                        error = Some(Error::Thread(failed));
                        break 'all;
                    }
                }
            }
        }
        let (mut interrupted, mut told) = (false, Instant::now());
        while !threads.iter().all(|(_, thread, _)| thread.is_finished()) {
            thread::sleep(SHORT);
            if told.elapsed() < LOOK {
                continue;
            }
            told = Instant::now();
            let progress = threads
                .iter()
                .map(|(number, _, progress)| (*number, &**progress));
            let live = live(&clock, jobs.len(), progress);
            for (number, rates) in steady.iter_mut().enumerate() {
                let is_steady = rates
                    .as_mut()
                    .is_some_and(|it| it.look(live.seconds, &live.jobs[number]));
                if is_steady {
                    ends[number].store(true, Ordering::Relaxed);
                }
            }
            if watch(&live).is_break() {
                interrupted = true;
                end(ends);
            }
        }
        for (number, thread, _) in threads {
            match thread.join() {
                Ok((done, ended)) => {
                    records[number].merge(&done.record);
                    outcomes[number].push(done);
                    error = error.take().or(ended.err());
                }
                Err(_) => error = Some(Error::Own("a process panicked".to_owned())),
            }
        }
        interrupted
    });
    let jobs = jobs.iter().zip(records).zip(outcomes).zip(steady);
    let jobs: Result<Vec<JobReport>, Error> = jobs
        .map(|(((job, record), outcomes), steady)| {
            let steady_after = steady.and_then(|it| it.since());
            JobReport::of(job, &record, outcomes, steady_after)
        })
        .collect();
    Ok(StageOutcome {
        jobs: jobs?,
        interrupted,
        error,
    })
}

/// Ends all jobs.
fn end(ends: &[AtomicBool]) {
    for one in ends {
        one.store(true, Ordering::Relaxed);
    }
}

/// The number of the job that each awaits.
fn awaited(jobs: &[Job]) -> Result<Vec<Option<usize>>, Error> {
    let of = |(number, job): (usize, &Job)| {
        let Some(name) = &job.after else {
            return Ok(None);
        };
        let before = jobs[..number].iter().position(|it| it.name == *name);
        before.map(Some).ok_or_else(|| {
            let text = format!(
                "job {:?} waits for {name:?}: no such job before it",
                job.name
            );
            Error::Unsuitable(text)
        })
    };
    jobs.iter().enumerate().map(of).collect()
}

fn live<'a>(
    clock: &Clock,
    jobs: usize,
    progress: impl Iterator<Item = (usize, &'a Progress)>,
) -> JobsLive {
    let mut sums = vec![[(0, 0, 0.0); 3]; jobs];
    for (job, of_process) in progress {
        for (sum, counters) in sums[job].iter_mut().zip(&of_process.kinds) {
            let [count, bytes, latency] = counters;
            sum.0 += count.load(Ordering::Relaxed);
            sum.1 += bytes.load(Ordering::Relaxed);
            sum.2 += latency.load(Ordering::Relaxed) as f64 * 1e-9;
        }
    }
    JobsLive {
        seconds: clock.now() as f64 * 1e-9,
        jobs: sums,
    }
}
