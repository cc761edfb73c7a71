//! A stage: jobs that begin together, and their results.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::Error;
use crate::clock::Clock;
use crate::jobs::Job;
use crate::jobs::process::{InFlight, ProcessPlan, Progress};
use crate::jobs::report::JobReport;
use crate::jobs::target::JobTarget;
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
    /// Reads, writes and syncs of each job.
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
        for file in files(job) {
            target.cool(file);
            if let Ok(opened) = target.open(file, false, false, false) {
                known.there_before(file, &opened, job.bytes);
            }
        }
    }
    let ends = AtomicBool::new(false);
    let clock = Clock::starting(Instant::now() + TOGETHER);
    let mut records: Vec<Record> = jobs
        .iter()
        .map(|_| Record::new(operation::ALL.len(), 0, None))
        .collect();
    let mut in_flight: Vec<Vec<InFlight>> = vec![Vec::new(); jobs.len()];
    let mut not_made = vec![0; jobs.len()];
    let mut error = None;
    let (known, ends) = (&known, &ends);
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
                    ends,
                    progress: Arc::clone(&progress),
                };
                let thread = thread::Builder::new().name(format!("job {number}.{rank}"));
                match thread.spawn_scoped(scope, move || plan.run()) {
                    Ok(thread) => threads.push((number, thread, progress)),
                    Err(failed) => {
                        ends.store(true, Ordering::Relaxed);
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
            if watch(&live(&clock, jobs.len(), progress)).is_break() {
                interrupted = true;
                ends.store(true, Ordering::Relaxed);
            }
        }
        for (number, thread, _) in threads {
            match thread.join() {
                Ok((done, ended)) => {
                    records[number].merge(&done.record);
                    in_flight[number].push(done.in_flight);
                    not_made[number] += done.not_made;
                    error = error.take().or(ended.err());
                }
                Err(_) => error = Some(Error::Own("a process panicked".to_owned())),
            }
        }
        interrupted
    });
    let jobs = jobs.iter().zip(records).zip(in_flight).zip(not_made);
    let jobs: Result<Vec<JobReport>, Error> = jobs
        .map(|(((job, record), in_flight), not_made)| {
            JobReport::of(job, &record, &in_flight, not_made)
        })
        .collect();
    Ok(StageOutcome {
        jobs: jobs?,
        interrupted,
        error,
    })
}

/// The numbers of a job's files.
fn files(job: &Job) -> impl Iterator<Item = u32> {
    let all = if job.shared { 1 } else { job.processes };
    (0..all).map(|process| job.file_of(process))
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
