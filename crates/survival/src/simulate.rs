//! Blocks of missions over threads, in rounds until the estimate is good enough.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crate::error::Error;
use crate::estimate::Sums;
use crate::mission::Missions;
use crate::model::Model;
use crate::pool::Pool;
use crate::question::{Simulation, YEAR};
use crate::random::stream;

/// Disk missions of a block: enough to hide the cost of beginning one, few enough to stop soon.
const BLOCK: u64 = 65_536;
/// Time between two calls of the progress callback.
const TICK: Duration = Duration::from_millis(20);

/// Called with the part that is done; breaks the simulation off.
pub type Progress<'a> = &'a mut dyn FnMut(f64) -> ControlFlow<()>;

/// Simulates missions of arrays and mirrors.
pub fn arrays(model: &Model, progress: Progress<'_>) -> Result<Sums, Error> {
    let simulation = &model.question.simulation;
    let disks = model.disks() as u64;
    let size = (BLOCK / disks).clamp(16, 8192);
    let most = match simulation.missions {
        Some(missions) => missions,
        None => {
            let disk_years = disks as f64 * model.end / YEAR;
            ((simulation.disk_years / disk_years) as u64).max(size)
        }
    };
    rounds(
        simulation,
        most.div_ceil(size),
        progress,
        |block, random| {
            let missions = size.min(most - block * size);
            Missions::new(model).run(missions, random)
        },
    )
}

/// Simulates a declustered pool; with splitting a replicate is one observation.
pub fn pool(pool: &Pool, simulation: &Simulation, progress: Progress<'_>) -> Result<Sums, Error> {
    let split = simulation.biasing;
    let most = match simulation.missions {
        Some(missions) => missions.div_ceil(pool.replicate_missions(split)),
        None => (simulation.disk_years / pool.replicate_disk_years(split)) as u64,
    };
    rounds(simulation, most.max(20), progress, |_, random| {
        pool.replicate(split, random)
    })
}

/// Runs blocks until the relative error is reached or `most` blocks are done.
fn rounds(
    simulation: &Simulation,
    most: u64,
    progress: Progress<'_>,
    run: impl Fn(u64, &mut crate::random::Random) -> Sums + Sync,
) -> Result<Sums, Error> {
    let fixed = simulation.missions.is_some();
    let mut sums: Option<Sums> = None;
    let mut done = 0;
    let mut next = if fixed { most } else { most.min(20) };
    while next > done {
        let expected = if fixed { most } else { next };
        let made = blocks(simulation, done..next, expected, progress, &run)?;
        for block in made {
            match &mut sums {
                None => sums = Some(block),
                Some(sums) => sums.merge(&block),
            }
        }
        done = next;
        if fixed || done >= most {
            break;
        }
        let Some(last) = sums.as_ref().and_then(|sums| sums.horizons.last()) else {
            break;
        };
        let missions = sums.as_ref().map_or(1, |sums| sums.missions);
        let estimate = last.loss.estimate(missions);
        let factor = if estimate.value > 0.0 {
            let error = estimate.standard_error / estimate.value / simulation.relative_error;
            if error <= 1.0 {
                break;
            }
            (error * error * 1.05).clamp(1.1, 4.0)
        } else {
            4.0
        };
        next = most.min((done as f64 * factor).ceil() as u64);
    }
    Ok(sums.unwrap_or_default())
}

/// Runs a range of blocks on threads; their sums are in the order of the blocks.
fn blocks(
    simulation: &Simulation,
    range: std::ops::Range<u64>,
    expected: u64,
    progress: Progress<'_>,
    run: &(impl Fn(u64, &mut crate::random::Random) -> Sums + Sync),
) -> Result<Vec<Sums>, Error> {
    let threads = match simulation.threads {
        0 => thread::available_parallelism().map_or(1, |count| count.get() as u64),
        threads => u64::from(threads),
    };
    let count = range.end - range.start;
    let (next, finished) = (AtomicU64::new(range.start), AtomicU64::new(0));
    let stop = AtomicBool::new(false);
    let made = Mutex::new(vec![None; count as usize]);
    let work = || {
        while !stop.load(Ordering::Relaxed) {
            let block = next.fetch_add(1, Ordering::Relaxed);
            if block >= range.end {
                return;
            }
            let sums = run(block, &mut stream(simulation.seed, block));
            if let Ok(mut made) = made.lock() {
                made[(block - range.start) as usize] = Some(sums);
            }
            finished.fetch_add(1, Ordering::Relaxed);
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.min(count)).map(|_| scope.spawn(work)).collect();
        while workers.iter().any(|worker| !worker.is_finished()) {
            let part = (range.start + finished.load(Ordering::Relaxed)) as f64 / expected as f64;
            if progress(part.min(1.0)).is_break() {
                stop.store(true, Ordering::Relaxed);
            }
            // The end of the last worker is not waited for in whole ticks.
            for _ in 0..20 {
                if workers.iter().all(|worker| worker.is_finished()) {
                    break;
                }
                thread::sleep(TICK / 20);
            }
        }
        for worker in workers {
            if let Err(panic) = worker.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
    if stop.load(Ordering::Relaxed) {
        return Err(Error::Interrupted);
    }
    let made = made.into_inner().unwrap_or_default();
    Ok(made.into_iter().flatten().collect())
}
