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
use crate::random::{Random, stream};

/// Disk missions of a block: enough to hide the cost of beginning one, few enough to stop soon.
const BLOCK: u64 = 65_536;
/// Blocks of the first round.
const FIRST_ROUND: u64 = 20;
/// Disk missions of a pilot run.
const PILOT: u64 = 200_000;
/// Share of missions with a loss from which on they stay crude.
const FREQUENT: f64 = 0.02;
/// Time between two calls of the progress callback.
const TICK: Duration = Duration::from_millis(20);

/// Called with the part that is done; breaks the simulation off.
pub type Progress<'a> = &'a mut dyn FnMut(f64) -> ControlFlow<()>;

/// Biases the missions of a model if losses are rare among some crude ones.
pub fn bias(model: &mut Model) {
    let missions = (PILOT / model.disks() as u64).clamp(50, 2000);
    let mut random = stream(model.question.simulation.seed, u64::MAX);
    let pilot = Missions::new(model).pilot(missions, &mut random);
    if pilot.loss_share() < FREQUENT {
        model.bias(&pilot);
    }
}

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
        &model.question.horizons,
        most.div_ceil(size),
        progress,
        |block, random| {
            let missions = size.min(most - block * size);
            Missions::new(model).run(missions, random)
        },
    )
}

/// Splits and biases the missions of a pool if losses are rare among some crude ones.
pub fn bias_pool(pool: &mut Pool, simulation: &Simulation) {
    pool.bias(&mut stream(simulation.seed, u64::MAX));
}

/// Simulates a declustered pool; with splitting a replicate is one observation.
pub fn pool(pool: &Pool, simulation: &Simulation, progress: Progress<'_>) -> Result<Sums, Error> {
    let most = match simulation.missions {
        Some(missions) => missions.div_ceil(pool.replicate_missions()),
        None => (simulation.disk_years / pool.replicate_disk_years()) as u64,
    };
    let horizons = pool.horizons();
    rounds(simulation, horizons, most.max(20), progress, |_, random| {
        pool.replicate(random)
    })
}

/// Runs blocks until the relative error of the longest horizon is reached or `most` blocks are
/// done.
fn rounds(
    simulation: &Simulation,
    horizons: &[f64],
    most: u64,
    progress: Progress<'_>,
    run: impl Fn(u64, &mut Random) -> Sums + Sync,
) -> Result<Sums, Error> {
    let fixed = simulation.missions.is_some();
    let mut sums: Option<Sums> = None;
    let mut done = 0;
    let mut next = if fixed { most } else { most.min(FIRST_ROUND) };
    // Blocks that will be needed in all, for the part that is done.
    let mut expected = if fixed {
        most as f64
    } else {
        (10.0 * next as f64).min(most as f64)
    };
    let mut shown = 0.0;
    while next > done {
        let mut show = |finished: u64| {
            shown = (finished as f64 / expected).min(1.0).max(shown);
            progress(shown)
        };
        let made = blocks(simulation, done..next, &mut show, &run)?;
        for block in made {
            match &mut sums {
                None => sums = Some(block),
                Some(sums) => sums.merge(&block),
            }
        }
        done = next;
        let Some(so_far) = sums.as_ref().filter(|_| !fixed) else {
            break;
        };
        // Losses of the longest horizon include those of all others.
        let Some(longest) = horizons
            .iter()
            .zip(&so_far.horizons)
            .max_by(|a, b| a.0.total_cmp(b.0))
        else {
            break;
        };
        let estimate = longest.1.loss.estimate(so_far.missions);
        let error = estimate.standard_error / estimate.value / simulation.relative_error;
        if error <= 1.0 {
            break;
        }
        // Not a number if no mission had a loss.
        let factor = if error.is_finite() {
            error * error * 1.05
        } else {
            f64::INFINITY
        };
        expected = (done as f64 * factor).min(most as f64);
        next = most.min((done as f64 * factor.clamp(1.1, 4.0)).ceil() as u64);
    }
    Ok(sums.unwrap_or_default())
}

/// Runs a range of blocks on threads; their sums are in the order of the blocks.
fn blocks(
    simulation: &Simulation,
    range: std::ops::Range<u64>,
    show: &mut dyn FnMut(u64) -> ControlFlow<()>,
    run: &(impl Fn(u64, &mut Random) -> Sums + Sync),
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
            if show(range.start + finished.load(Ordering::Relaxed)).is_break() {
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
