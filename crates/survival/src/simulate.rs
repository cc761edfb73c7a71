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
use crate::pilot::{Cause, Pilot};
use crate::pool::Pool;
use crate::question::{Simulation, YEAR};
use crate::random::stream;

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

/// Missions that the secondary figures may take, as a multiple of those of the first.
const SECONDARY_MISSIONS: u64 = 10;
/// Blocks of one purpose: those of another have random streams of their own.
const PURPOSE: u64 = 1 << 56;

/// Figures of missions by their relative standard errors, as multiples of the wanted one. A figure
/// without a loss is infinitely wrong.
pub struct Goal<'a> {
    /// Error that decides first.
    pub primary: &'a dyn Fn(&Sums) -> f64,
    /// Largest error of all printed figures.
    pub secondary: &'a dyn Fn(&Sums) -> f64,
}

/// Runs crude pilot missions of a model.
pub fn pilot(model: &Model) -> Pilot {
    let missions = (PILOT / model.disks() as u64).clamp(50, 2000);
    let mut random = stream(model.question.simulation.seed, u64::MAX);
    Missions::new(model).pilot(missions, &mut random)
}

/// True if losses by a cause, or by any, are so frequent that missions stay crude.
pub fn is_frequent(pilot: &Pilot, cause: Option<Cause>) -> bool {
    pilot.loss_share(cause) >= FREQUENT
}

/// Simulates missions of arrays and mirrors.
pub fn arrays(model: &Model, goal: &Goal<'_>, progress: Progress<'_>) -> Result<Sums, Error> {
    let simulation = &model.question.simulation;
    let toward = model.bias.as_ref().and_then(|bias| bias.toward);
    let purpose = toward.map_or(0, |cause| (1 + cause as u64) * PURPOSE);
    let disks = model.disks() as u64;
    let size = (BLOCK / disks).clamp(16, 8192);
    let most = match simulation.missions {
        Some(missions) => missions,
        None => {
            let disk_years = disks as f64 * model.end / YEAR;
            ((simulation.disk_years / disk_years) as u64).max(size)
        }
    };
    rounds(simulation, goal, most.div_ceil(size), progress, |block| {
        let missions = size.min(most - block * size);
        let random = &mut stream(simulation.seed, purpose + block);
        Missions::new(model).run(missions, random)
    })
}

/// Splits and biases the missions of a pool if losses are rare among some crude ones.
pub fn bias_pool(pool: &mut Pool, simulation: &Simulation) {
    pool.bias(&mut stream(simulation.seed, u64::MAX));
}

/// Simulates a declustered pool; with splitting a replicate is one observation.
pub fn pool(
    pool: &Pool,
    simulation: &Simulation,
    goal: &Goal<'_>,
    progress: Progress<'_>,
) -> Result<Sums, Error> {
    let most = match simulation.missions {
        Some(missions) => missions.div_ceil(pool.replicate_missions()),
        None => (simulation.disk_years / pool.replicate_disk_years()) as u64,
    };
    rounds(simulation, goal, most.max(20), progress, |block| {
        pool.replicate(&mut stream(simulation.seed, block))
    })
}

/// Runs blocks until the goal is reached or `most` blocks are done.
fn rounds(
    simulation: &Simulation,
    goal: &Goal<'_>,
    mut most: u64,
    progress: Progress<'_>,
    run: impl Fn(u64) -> Sums + Sync,
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
    let mut is_primary_reached = false;
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
        let mut error = (goal.primary)(so_far);
        if error <= 1.0 {
            if !is_primary_reached {
                is_primary_reached = true;
                most = most.min(done.saturating_mul(SECONDARY_MISSIONS));
            }
            error = (goal.secondary)(so_far);
            if error <= 1.0 {
                break;
            }
        }
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
    run: &(impl Fn(u64) -> Sums + Sync),
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
            let sums = run(block);
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
