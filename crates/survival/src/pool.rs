//! Missions of declustered pools, and multilevel splitting.
//!
//! Stripes are placed at random, so that a pool is described by the number of stripes that lack
//! 1, 2, ... chunks. A failing disk hits each of them with the probability that one of its chunks
//! lies there. All disks rebuild together, the stripes that lack most first; that is a fluid,
//! whereas failures and the stripes they hit are drawn.
//!
//! With parallel repair one pass rebuilds all chunks that a stripe lacks, and takes as long as for
//! one. OpenZFS has one rebuild of a dRAID, which traverses its space once for all missing disks
//! (`module/zfs/vdev_rebuild.c`). With serial repair each chunk takes a pass of its own.
//!
//! The level of a pool is the most chunks that a stripe lacks. Splitting estimates the probability
//! of each level from states saved at the first entry of the one below. The effort is fixed (Kahn
//! and Harris 1951; Garvels 2000). States hold ages, not failure times, which are redrawn.
//!
//! Within a level failures are biased as in missions of arrays, until the stripes that lack most
//! are rebuilt. A failure that would rarely hit one of these hits in half of the cases. States are
//! drawn for the next level in proportion to their weights.

use rand_distr::{Binomial, Distribution};

use crate::estimate::{Lost, Sums};
use crate::events::{Agenda, Kind};
use crate::hazard::Hazard;
use crate::pilot::{Cause, Pilot};
use crate::question::{Question, Redundancy, YEAR};
use crate::random::{Random, uniform};
use crate::read_error;
use crate::shape::Shape;

/// Missions of a level in one replicate.
const EFFORT: u64 = 250;
/// Crude missions that decide on biasing.
const PILOT: u64 = 100;
/// Share of missions with a loss from which on they stay crude.
const FREQUENT: f64 = 0.05;
/// Disks up to which hazards that change with age are summed in each window at the first level.
const SUMMED_DISKS: u32 = 200;
/// Probability that a failure hits a stripe that lacks most, where biasing makes it so.
const HIT_AIM: f64 = 0.5;

/// A pool made ready for missions.
#[derive(Clone, Debug)]
pub struct Pool {
    question: Question,
    shape: Shape,
    hazard: Hazard,
    /// Chunks of a stripe.
    width: f64,
    /// Chunks of a disk.
    chunks: f64,
    spare_disks: u32,
    /// Probability that the rebuild of a stripe without redundancy left meets a read error.
    unreadable: f64,
    end: f64,
    hazard_bound: f64,
    /// Cumulative hazard of all disks to aim at in a window, by level; none: crude.
    aims: Option<Vec<f64>>,
}

/// A pool at one time.
#[derive(Clone, Debug)]
struct State {
    now: f64,
    /// Time at which each disk's age is 0.
    born: Vec<f64>,
    /// Time of the next step of a failed disk; negative: it works.
    back: Vec<f64>,
    /// True if the replacement of a failed disk has arrived.
    arrived: Vec<bool>,
    alive: u32,
    /// Failed disks without a new one in their place.
    absent: u32,
    /// Stripes that lack j + 1 chunks.
    lacking: Vec<f64>,
    /// Time until which rebuilds wait.
    hold: f64,
    /// Rebuild passes of a stripe a second.
    rate: f64,
}

impl State {
    fn level(&self) -> usize {
        self.lacking
            .iter()
            .rposition(|count| *count > 0.0)
            .map_or(0, |at| at + 1)
    }
}

/// How a mission ended.
#[derive(Clone, Copy, Debug)]
enum Outcome {
    Survived,
    Reached,
    Lost {
        time: f64,
        bytes: f64,
        read_error: bool,
    },
}

impl Pool {
    /// Makes a question about a declustered pool ready.
    pub fn new(question: &Question) -> Pool {
        let shape = Shape::of(question);
        let (width, spare_disks) = match question.redundancy {
            Redundancy::Declustered {
                data,
                parity,
                spare_disks,
                ..
            } => (data + parity, spare_disks),
            _ => (shape.disks, 0),
        };
        let hazard = Hazard::new(&question.lifetime.law);
        let end = question.longest_horizon();
        let chunks =
            shape.usable_bytes / shape.stripe_bytes * f64::from(width) / f64::from(shape.disks);
        let data = width - shape.tolerates;
        let unreadable = read_error::in_stripe(question, shape.stripe_bytes, data, chunks);
        Pool {
            hazard_bound: hazard.cumulative(question.lifetime.first_age() + end),
            hazard,
            width: f64::from(width),
            chunks,
            spare_disks,
            aims: None,
            unreadable: unreadable.min(1.0),
            end,
            shape,
            question: question.clone(),
        }
    }

    /// Splits and biases missions if losses are rare among some crude ones.
    pub fn bias(&mut self, random: &mut Random) {
        let mut sums = Sums::new(self.question.horizons.len());
        let mut run = Run::new(self, &mut sums);
        while run.pilot.goes_on(PILOT, run.sums.counts.failures) {
            let mut state = run.fresh();
            let outcome = run.mission(&mut state, usize::MAX, random);
            run.pilot.end_mission(match outcome {
                Outcome::Lost { read_error, .. } => Some(Cause::of(read_error)),
                _ => None,
            });
        }
        let pilot = run.pilot;
        if pilot.loss_share(None) >= FREQUENT {
            return;
        }
        let mut aims = pilot.aims();
        let is_summed = self.hazard.is_constant() || self.shape.disks <= SUMMED_DISKS;
        if !is_summed && let Some(first) = aims.get_mut(1) {
            *first = 0.0;
        }
        self.aims = Some(aims);
    }

    /// True if a read error can lose data.
    pub fn can_lose_by_read_error(&self) -> bool {
        self.unreadable > 0.0 && self.shape.tolerates > 0
    }

    /// Rebuild passes for the chunks that a stripe lacks.
    fn passes_of_stripe(&self, lacks: usize) -> f64 {
        self.question.repair.concurrency.passes(lacks as u32)
    }

    /// True if missions are split.
    pub fn is_split(&self) -> bool {
        self.aims.is_some()
    }

    /// Disk-years of one replicate at most.
    pub fn replicate_disk_years(&self) -> f64 {
        let levels = if self.is_split() {
            f64::from(self.shape.tolerates + 1)
        } else {
            1.0
        };
        levels * EFFORT as f64 * f64::from(self.shape.disks) * self.end / YEAR
    }

    /// Missions of one replicate.
    pub fn replicate_missions(&self) -> u64 {
        if self.is_split() {
            EFFORT * u64::from(self.shape.tolerates + 1)
        } else {
            EFFORT
        }
    }

    /// Runs one replicate; with splitting it counts as one observation.
    pub fn replicate(&self, random: &mut Random) -> Sums {
        let mut sums = Sums::new(self.question.horizons.len());
        let mut run = Run::new(self, &mut sums);
        if self.is_split() {
            run.split(random);
        } else {
            for _ in 0..EFFORT {
                let mut state = run.fresh();
                let outcome = run.mission(&mut state, usize::MAX, random);
                run.record(outcome);
            }
            sums.missions = EFFORT;
        }
        sums
    }
}

/// A time of constant biasing.
#[derive(Clone, Copy, Debug)]
struct Window {
    begin: f64,
    until: f64,
    factor: f64,
}

struct Run<'a> {
    pool: &'a Pool,
    agenda: Agenda,
    /// Number of the life of each disk.
    lives: Vec<u32>,
    /// Failures after which the pool was at each level.
    pilot: Pilot,
    window: Option<Window>,
    window_serial: u32,
    log_weight: f64,
    sums: &'a mut Sums,
}

impl<'a> Run<'a> {
    fn new(pool: &'a Pool, sums: &'a mut Sums) -> Run<'a> {
        Run {
            pool,
            agenda: Agenda::default(),
            lives: vec![0; pool.shape.disks as usize],
            pilot: Pilot::new(pool.shape.tolerates),
            window: None,
            window_serial: 0,
            log_weight: 0.0,
            sums,
        }
    }

    fn fresh(&self) -> State {
        let pool = self.pool;
        let age = pool.question.lifetime.first_age();
        State {
            now: 0.0,
            born: vec![-age; pool.shape.disks as usize],
            back: vec![-1.0; pool.shape.disks as usize],
            arrived: vec![false; pool.shape.disks as usize],
            alive: pool.shape.disks,
            absent: 0,
            lacking: vec![0.0; pool.shape.tolerates as usize],
            hold: 0.0,
            rate: 1.0,
        }
    }

    /// Splits missions at each level.
    fn split(&mut self, random: &mut Random) {
        let mut probability = 1.0;
        let mut saved = vec![(1.0, self.fresh())];
        let horizons = self.sums.horizons.len();
        let usable = self.pool.shape.usable_bytes;
        let mut lost = vec![[Lost::default(); 2]; horizons];
        for level in 1..=self.pool.shape.tolerates as usize + 1 {
            let mut reached = Vec::new();
            for begin in resampled(&saved, random) {
                let mut state = saved[begin].1.clone();
                let outcome = self.mission(&mut state, level, random);
                let weight = probability / EFFORT as f64 * libm::exp(self.log_weight);
                match outcome {
                    Outcome::Survived => {}
                    Outcome::Reached => reached.push((weight, state)),
                    Outcome::Lost {
                        time,
                        bytes,
                        read_error,
                    } => {
                        self.count(read_error);
                        for (at, horizon) in self.pool.question.horizons.iter().enumerate() {
                            if time <= *horizon {
                                lost[at][usize::from(read_error)].add(weight, bytes / usable);
                            }
                        }
                    }
                }
            }
            if reached.is_empty() {
                break;
            }
            probability = reached.iter().map(|(weight, _)| weight).sum();
            saved = reached;
        }
        for (at, sums) in self.sums.horizons.iter_mut().enumerate() {
            sums.add(&lost[at]);
        }
        self.sums.missions = 1;
    }

    fn count(&mut self, read_error: bool) {
        if read_error {
            self.sums.counts.read_error_losses += 1;
        } else {
            self.sums.counts.failure_losses += 1;
        }
    }

    fn record(&mut self, outcome: Outcome) {
        let Outcome::Lost {
            time,
            bytes,
            read_error,
        } = outcome
        else {
            return;
        };
        self.count(read_error);
        let mut lost = [Lost::default(); 2];
        lost[usize::from(read_error)].add(1.0, bytes / self.pool.shape.usable_bytes);
        for (at, sums) in self.sums.horizons.iter_mut().enumerate() {
            if time <= self.pool.question.horizons[at] {
                sums.add(&lost);
            }
        }
    }

    /// Runs a mission from a state until it reaches a level, loses data or ends.
    fn mission(&mut self, state: &mut State, level: usize, random: &mut Random) -> Outcome {
        let begin = state.now;
        let outcome = self.play(state, level, random);
        self.sums.disk_years += state.born.len() as f64 * (state.now - begin) / YEAR;
        outcome
    }

    fn play(&mut self, state: &mut State, level: usize, random: &mut Random) -> Outcome {
        let pool = self.pool;
        self.agenda.reset(pool.end);
        for disk in 0..state.born.len() {
            if state.back[disk] < 0.0 {
                self.plan_failure(state, disk, random);
            } else {
                let kind = if state.arrived[disk] {
                    Kind::Repaired
                } else {
                    Kind::SpareArrival
                };
                self.agenda.add(state.back[disk], kind, disk as u32, 0);
            }
        }
        self.log_weight = 0.0;
        self.window = None;
        self.open_window(state, random);
        while let Some(event) = self.agenda.next() {
            let disk = event.item as usize;
            let is_stale = match event.kind {
                Kind::Failure => event.serial != self.lives[disk],
                Kind::BiasedFailure => event.serial != self.window_serial,
                _ => false,
            };
            if is_stale {
                continue;
            }
            let factor = self.close_window(state, event.time);
            if matches!(event.kind, Kind::Failure | Kind::BiasedFailure) {
                // Before the rebuild until then: the losses in it were drawn with this failure.
                self.log_weight -= libm::log(factor);
            }
            if let Some(lost) = self.advance(state, event.time, random) {
                return lost;
            }
            match event.kind {
                Kind::Failure | Kind::BiasedFailure => {
                    if let Some(lost) = self.fail(state, disk, random) {
                        return lost;
                    }
                    self.pilot.count(state.level());
                    if state.level() >= level {
                        return Outcome::Reached;
                    }
                }
                Kind::SpareArrival => {
                    state.absent -= 1;
                    state.arrived[disk] = true;
                    self.join(state, disk, random);
                }
                _ => self.join(state, disk, random),
            }
            self.open_window(state, random);
        }
        self.close_window(state, pool.end);
        self.advance(state, pool.end, random)
            .unwrap_or(Outcome::Survived)
    }

    /// Cumulative hazard that all disks pass together.
    fn passes(&self, state: &State, from: f64, to: f64) -> f64 {
        let hazard = &self.pool.hazard;
        if hazard.is_constant() {
            return f64::from(state.alive) * hazard.cumulative(to - from);
        }
        let works = state.born.iter().zip(&state.back).filter(|it| *it.1 < 0.0);
        works
            .map(|(born, _)| hazard.cumulative(to - born) - hazard.cumulative(from - born))
            .sum()
    }

    /// Begins to bias failures until the stripes that lack most are rebuilt.
    fn open_window(&mut self, state: &State, random: &mut Random) {
        let pool = self.pool;
        let level = state.level();
        let Some(aims) = &pool.aims else { return };
        let aim = aims[level];
        if aim == 0.0 {
            return;
        }
        let begin = state.now;
        let until = if state.absent > pool.spare_disks {
            begin + pool.question.repair.mean()
        } else {
            let passes = state.lacking[level - 1] * pool.passes_of_stripe(level);
            state.hold.max(begin) + passes / state.rate
        };
        let until = until.min(pool.end);
        let factor = aim / self.passes(state, begin, until);
        if !factor.is_finite() || factor <= 1.0 {
            return;
        }
        let mut first = (f64::INFINITY, 0);
        let mut consider = |disk: usize, time: f64| {
            if time < first.0 {
                first = (time, disk);
            }
        };
        let mut alive = (0..state.born.len()).filter(|disk| state.back[*disk] < 0.0);
        if pool.hazard.is_constant() {
            let which = (uniform(random) * f64::from(state.alive)) as usize;
            let added = (factor - 1.0) * f64::from(state.alive);
            let time = pool.hazard.sample(0.0, added, f64::INFINITY, random);
            if let Some(disk) = alive.nth(which) {
                consider(disk, begin + time);
            }
        } else {
            for disk in alive {
                let born = state.born[disk];
                let age = begin - born;
                let time = pool
                    .hazard
                    .sample(age, factor - 1.0, pool.hazard_bound, random);
                consider(disk, born + time);
            }
        }
        if first.0 < until {
            self.agenda.add(
                first.0,
                Kind::BiasedFailure,
                first.1 as u32,
                self.window_serial,
            );
        }
        self.window = Some(Window {
            begin,
            until,
            factor,
        });
    }

    /// Ends biasing; returns the factor on hazards at `time`.
    fn close_window(&mut self, state: &State, time: f64) -> f64 {
        self.window_serial = self.window_serial.wrapping_add(1);
        let Some(window) = self.window.take() else {
            return 1.0;
        };
        let end = time.min(window.until);
        self.log_weight += (window.factor - 1.0) * self.passes(state, window.begin, end);
        if time < window.until {
            window.factor
        } else {
            1.0
        }
    }

    /// Draws how many of the stripes that lack most are hit. If any hit is rarer than `aim`, it is
    /// made that frequent.
    fn hits(&mut self, stripes: f64, share: f64, aim: f64, random: &mut Random) -> f64 {
        let whole = stripes.ceil();
        if self.pool.aims.is_none() || share >= 1.0 || whole < 1.0 {
            return draw(stripes, share, random);
        }
        // A last stripe that is half rebuilt counts in half of the cases.
        let whole = if uniform(random) < stripes - stripes.floor() {
            whole
        } else {
            stripes.floor()
        };
        let log_missed = libm::log1p(-share);
        let hit = -libm::expm1(whole * log_missed);
        if hit >= aim || hit <= 0.0 {
            return draw(whole, share, random);
        }
        if uniform(random) >= aim {
            self.log_weight += libm::log((1.0 - hit) / (1.0 - aim));
            return 0.0;
        }
        self.log_weight += libm::log(hit / aim);
        // The first hit, then the others behind it.
        let first = (libm::log1p(-hit * uniform(random)) / log_missed).floor();
        1.0 + draw((whole - 1.0 - first).max(0.0), share, random)
    }

    /// A new disk takes its share of the data when no stripe lacks a chunk any more.
    fn join(&mut self, state: &mut State, disk: usize, random: &mut Random) {
        let now = state.now;
        if state.level() > 0 {
            let passes: f64 = (1..)
                .zip(&state.lacking)
                .map(|(lacks, stripes)| self.pool.passes_of_stripe(lacks) * stripes)
                .sum();
            let mut left = (state.hold - now).max(0.0) + passes / state.rate;
            if state.absent > self.pool.spare_disks {
                // The rebuild itself waits for a disk.
                let arrival = (0..state.back.len())
                    .filter(|disk| state.back[*disk] >= 0.0 && !state.arrived[*disk])
                    .map(|disk| state.back[disk])
                    .fold(f64::INFINITY, f64::min);
                left += arrival - now;
            }
            // Later than the end of the rebuild, so that the next look finds it done.
            state.back[disk] = now + left * (1.0 + 1e-9) + 1e-3;
            self.agenda
                .add(state.back[disk], Kind::Repaired, disk as u32, 0);
            return;
        }
        state.back[disk] = -1.0;
        state.born[disk] = now - self.pool.question.lifetime.burn_in;
        state.alive += 1;
        self.plan_failure(state, disk, random);
    }

    fn plan_failure(&mut self, state: &State, disk: usize, random: &mut Random) {
        let pool = self.pool;
        self.lives[disk] = self.lives[disk].wrapping_add(1);
        let fails =
            pool.hazard
                .sample(state.now - state.born[disk], 1.0, pool.hazard_bound, random);
        self.agenda.add(
            state.born[disk] + fails,
            Kind::Failure,
            disk as u32,
            self.lives[disk],
        );
    }

    fn fail(&mut self, state: &mut State, disk: usize, random: &mut Random) -> Option<Outcome> {
        let pool = self.pool;
        let repair = &pool.question.repair;
        let now = state.now;
        self.sums.counts.failures += 1;
        if state.level() > 0 {
            self.sums.counts.failures_while_degraded += 1;
        }
        let tolerated = pool.shape.tolerates as usize;
        let alive = f64::from(state.alive);
        // Stripes without redundancy left that have a chunk on the disk are lost.
        if tolerated == 0 {
            return Some(self.lost(pool.chunks, now, false));
        }
        let mut lost = 0.0;
        for lacks in (1..=tolerated).rev() {
            let share = ((pool.width - lacks as f64) / alive).min(1.0);
            let stripes = state.lacking[lacks - 1];
            let hit = if lacks == state.level() {
                self.hits(stripes, share, HIT_AIM, random)
            } else {
                draw(stripes, share, random)
            };
            state.lacking[lacks - 1] = (state.lacking[lacks - 1] - hit).max(0.0);
            if lacks == tolerated {
                lost = hit;
            } else {
                state.lacking[lacks] += hit;
            }
        }
        if lost > 0.0 {
            return Some(self.lost(lost, now, false));
        }
        let lacking: f64 = state.lacking[1..].iter().sum();
        state.lacking[0] += (pool.chunks - lacking).max(0.0);
        state.alive -= 1;
        let noticed = now + repair.detection.sample(random);
        state.hold = state.hold.max(noticed);
        state.rate = pool.chunks / repair.rebuild.sample(random).max(1e-9);
        let back = noticed + repair.replacement.sample(random);
        self.lives[disk] = self.lives[disk].wrapping_add(1);
        state.back[disk] = back;
        state.arrived[disk] = false;
        state.absent += 1;
        self.agenda.add(back, Kind::SpareArrival, disk as u32, 0);
        None
    }

    fn lost(&self, stripes: f64, time: f64, read_error: bool) -> Outcome {
        let bytes = stripes * self.pool.shape.stripe_bytes;
        Outcome::Lost {
            time,
            bytes: bytes.min(self.pool.shape.usable_bytes),
            read_error,
        }
    }

    /// Rebuilds until `time`, the stripes that lack most first.
    fn advance(&mut self, state: &mut State, time: f64, random: &mut Random) -> Option<Outcome> {
        let pool = self.pool;
        let begin = state.hold.max(state.now);
        state.now = time;
        if begin >= time || state.absent > pool.spare_disks || state.level() == 0 {
            return None;
        }
        let mut work = (time - begin) * state.rate;
        let mut at = begin;
        for lacks in (1..=state.lacking.len()).rev() {
            let stripes = state.lacking[lacks - 1];
            if stripes <= 0.0 {
                continue;
            }
            let passes = pool.passes_of_stripe(lacks);
            let done = stripes.min(work / passes);
            let is_all = done >= stripes;
            state.lacking[lacks - 1] = if is_all { 0.0 } else { stripes - done };
            work -= done * passes;
            at += done * passes / state.rate;
            if lacks == state.lacking.len() && pool.unreadable > 0.0 {
                // Windows at the level of the loss may be many: each gets its part.
                let aim = pool.aims.as_ref().map_or(0.0, |aims| aims[lacks]);
                let aim = -libm::expm1(-aim);
                let lost = self.hits(done, pool.unreadable, aim, random);
                if lost > 0.0 {
                    return Some(self.lost(lost, at, true));
                }
            }
            if !is_all {
                break;
            }
        }
        None
    }
}

/// Draws how many of `count` stripes are hit; a fraction of a stripe is one with that probability.
fn draw(count: f64, share: f64, random: &mut Random) -> f64 {
    if count <= 0.0 {
        return 0.0;
    }
    if share >= 1.0 {
        return count;
    }
    let whole = count.floor();
    let count = whole
        + if uniform(random) < count - whole {
            1.0
        } else {
            0.0
        };
    Binomial::new(count as u64, share).map_or(0.0, |law| law.sample(random) as f64)
}

/// Draws where the missions of a level begin, in proportion to weights (systematic resampling).
fn resampled(saved: &[(f64, State)], random: &mut Random) -> Vec<usize> {
    let total: f64 = saved.iter().map(|(weight, _)| weight).sum();
    let step = total / EFFORT as f64;
    let mut reached = step * uniform(random);
    let (mut at, mut sum) = (0, saved[0].0);
    let mut drawn = Vec::with_capacity(EFFORT as usize);
    for _ in 0..EFFORT {
        while sum < reached && at + 1 < saved.len() {
            at += 1;
            sum += saved[at].0;
        }
        drawn.push(at);
        reached += step;
    }
    drawn
}
