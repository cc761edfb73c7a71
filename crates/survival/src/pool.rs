//! Missions of declustered pools, and multilevel splitting.
//!
//! Stripes are placed at random, so that a pool is described by the number of stripes that lack
//! 1, 2, ... chunks. A failing disk hits each of them with the probability that one of its chunks
//! lies there. All disks rebuild together, the stripes that lack most first; that is a fluid,
//! whereas failures and the stripes they hit are drawn.
//!
//! The level of a pool is the most chunks that a stripe lacks. Splitting estimates the probability
//! of each level from states saved at the first entry of the one below (fixed effort: Kahn and
//! Harris 1951; Garvels 2000). States keep ages, not failure times, which are drawn anew.

use rand_distr::{Binomial, Distribution};

use crate::estimate::Sums;
use crate::events::{Agenda, Kind};
use crate::hazard::Hazard;
use crate::question::{Question, Redundancy, YEAR};
use crate::random::{Random, uniform};
use crate::read_error;
use crate::shape::Shape;

/// Missions of a level in one replicate.
const EFFORT: u64 = 250;

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
}

/// A pool at one time.
#[derive(Clone, Debug)]
struct State {
    now: f64,
    /// Time at which each disk's age is 0.
    born: Vec<f64>,
    /// Time at which a failed disk is replaced; negative: it works.
    back: Vec<f64>,
    alive: u32,
    /// Stripes that lack j + 1 chunks.
    lacking: Vec<f64>,
    /// Time until which rebuilds wait.
    hold: f64,
    /// Chunks a second.
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
        let end = question.horizons.iter().copied().fold(0.0, f64::max);
        let age = question.lifetime.burn_in + question.lifetime.initial_age;
        let chunks =
            shape.usable_bytes / shape.stripe_bytes * f64::from(width) / f64::from(shape.disks);
        let data = f64::from(width - shape.tolerates);
        let by_bits = read_error::unreadable(shape.stripe_bytes, question.disk.bit_error_rate);
        let by_latent = question.latent.as_ref().map_or(0.0, |latent| {
            data * read_error::latent_probability(latent, end) / chunks
        });
        Pool {
            hazard_bound: hazard.cumulative(age + end),
            hazard,
            width: f64::from(width),
            chunks,
            spare_disks,
            unreadable: (by_bits + by_latent).min(1.0),
            end,
            shape,
            question: question.clone(),
        }
    }

    /// Disk-years of one replicate at most.
    pub fn replicate_disk_years(&self, split: bool) -> f64 {
        let levels = if split {
            f64::from(self.shape.tolerates + 1)
        } else {
            1.0
        };
        levels * EFFORT as f64 * f64::from(self.shape.disks) * self.end / YEAR
    }

    /// Missions of one replicate.
    pub fn replicate_missions(&self, split: bool) -> u64 {
        if split {
            EFFORT * u64::from(self.shape.tolerates + 1)
        } else {
            EFFORT
        }
    }

    /// Runs one replicate; with splitting it counts as one observation.
    pub fn replicate(&self, split: bool, random: &mut Random) -> Sums {
        let mut sums = Sums::new(self.question.horizons.len());
        let mut run = Run {
            pool: self,
            agenda: Agenda::default(),
            sums: &mut sums,
        };
        if split {
            run.split(random);
        } else {
            for _ in 0..EFFORT {
                let mut state = run.fresh();
                let outcome = run.mission(&mut state, usize::MAX, random);
                run.record(outcome, 1.0);
            }
            sums.missions = EFFORT;
        }
        sums
    }
}

struct Run<'a> {
    pool: &'a Pool,
    agenda: Agenda,
    sums: &'a mut Sums,
}

impl Run<'_> {
    fn fresh(&self) -> State {
        let pool = self.pool;
        let age = pool.question.lifetime.burn_in + pool.question.lifetime.initial_age;
        State {
            now: 0.0,
            born: vec![-age; pool.shape.disks as usize],
            back: vec![-1.0; pool.shape.disks as usize],
            alive: pool.shape.disks,
            lacking: vec![0.0; pool.shape.tolerates as usize],
            hold: 0.0,
            rate: 1.0,
        }
    }

    /// Splits missions at each level.
    fn split(&mut self, random: &mut Random) {
        let mut probability = 1.0;
        let mut saved = vec![self.fresh()];
        let horizons = self.sums.horizons.len();
        let (mut loss, mut read, mut lost_bytes) = (
            vec![0.0; horizons],
            vec![0.0; horizons],
            vec![0.0; horizons],
        );
        for level in 1..=self.pool.shape.tolerates as usize + 1 {
            let mut reached = Vec::new();
            for trial in 0..EFFORT as usize {
                let mut state = saved[trial % saved.len()].clone();
                match self.mission(&mut state, level, random) {
                    Outcome::Survived => {}
                    Outcome::Reached => reached.push(state),
                    Outcome::Lost {
                        time,
                        bytes,
                        read_error,
                    } => {
                        let weight = probability / EFFORT as f64;
                        self.count(read_error);
                        for (at, horizon) in self.pool.question.horizons.iter().enumerate() {
                            if time <= *horizon {
                                loss[at] += weight;
                                read[at] += if read_error { weight } else { 0.0 };
                                lost_bytes[at] += weight * bytes;
                            }
                        }
                    }
                }
            }
            if reached.is_empty() {
                break;
            }
            probability *= reached.len() as f64 / EFFORT as f64;
            saved = reached;
        }
        for (at, sums) in self.sums.horizons.iter_mut().enumerate() {
            sums.loss.add(loss[at]);
            sums.read_error.add(read[at]);
            sums.bytes
                .add(lost_bytes[at] / self.pool.shape.usable_bytes);
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

    fn record(&mut self, outcome: Outcome, weight: f64) {
        let Outcome::Lost {
            time,
            bytes,
            read_error,
        } = outcome
        else {
            return;
        };
        self.count(read_error);
        let usable = self.pool.shape.usable_bytes;
        for (at, sums) in self.sums.horizons.iter_mut().enumerate() {
            if time <= self.pool.question.horizons[at] {
                sums.loss.add(weight);
                sums.read_error.add(if read_error { weight } else { 0.0 });
                sums.bytes.add(weight * bytes / usable);
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
                self.agenda
                    .add(state.back[disk], Kind::Repaired, disk as u32, 0);
            }
        }
        while let Some(event) = self.agenda.next() {
            if let Some(lost) = self.advance(state, event.time, random) {
                return lost;
            }
            let disk = event.item as usize;
            if event.kind == Kind::Repaired {
                state.back[disk] = -1.0;
                state.born[disk] = event.time - pool.question.lifetime.burn_in;
                state.alive += 1;
                self.plan_failure(state, disk, random);
                continue;
            }
            if let Some(lost) = self.fail(state, disk, random) {
                return lost;
            }
            if state.level() >= level {
                return Outcome::Reached;
            }
        }
        self.advance(state, pool.end, random)
            .unwrap_or(Outcome::Survived)
    }

    fn plan_failure(&mut self, state: &State, disk: usize, random: &mut Random) {
        let pool = self.pool;
        let fails =
            pool.hazard
                .sample(state.now - state.born[disk], 1.0, pool.hazard_bound, random);
        self.agenda
            .add(state.born[disk] + fails, Kind::Failure, disk as u32, 0);
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
            let hit = draw(state.lacking[lacks - 1], share, random);
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
        state.back[disk] = back;
        if pool.spare_disks == 0 {
            // No spare space: the rebuild waits for the new disk.
            state.hold = state.hold.max(back);
        }
        self.agenda.add(back, Kind::Repaired, disk as u32, 0);
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
        let spares_left = pool.shape.disks - state.alive <= pool.spare_disks.max(1);
        if begin >= time || !spares_left || state.level() == 0 {
            return None;
        }
        let mut work = (time - begin) * state.rate;
        let mut at = begin;
        for lacks in (1..=state.lacking.len()).rev() {
            let stripes = state.lacking[lacks - 1];
            if stripes <= 0.0 {
                continue;
            }
            let done = stripes.min(work / lacks as f64);
            let is_all = done >= stripes;
            state.lacking[lacks - 1] = if is_all { 0.0 } else { stripes - done };
            work -= done * lacks as f64;
            at += done * lacks as f64 / state.rate;
            if lacks == state.lacking.len() && pool.unreadable > 0.0 {
                let lost = draw(done, pool.unreadable, random);
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
