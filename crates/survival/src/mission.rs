//! Missions of arrays and mirrors: disks fail, are repaired, and fail again until data is lost.
//!
//! Rare losses are made frequent by failure biasing (`biasing`).

mod biasing;
mod domains;
mod read_errors;

use crate::estimate::{Lost, Sums};
use crate::events::{Agenda, Event, Kind};
use crate::model::Model;
use crate::pilot::{Cause, Pilot};
use crate::question::{ReplacementManner, YEAR};
use crate::random::{Random, uniform};

#[derive(Clone, Copy, Debug)]
struct DiskState {
    /// Time at which its age is 0.
    born: f64,
    /// Factor on its hazard by its batch.
    batch: f64,
    /// Factor on its hazard by biasing.
    factor: f64,
    /// Cumulative hazard at which `factor` began, if it is not 1.
    mark: f64,
    /// Time at which it was last known to have no latent error.
    clean: f64,
    /// Time until which it has one.
    corrupt_until: f64,
    /// Time until which it is unavailable.
    out_until: f64,
    /// Time at which its rebuild ends, if it has failed; infinite if that is not known yet.
    repaired_at: f64,
    /// Number of the life.
    serial: u32,
    failed: bool,
    out: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct GroupState {
    failed: u32,
    /// Disks that are unavailable and not failed.
    out: u32,
    lost: bool,
    /// Number of the window of constant biasing.
    window: u32,
    /// Factor on the probability of a read error at the end of the next rebuild.
    read_factor: f64,
    /// Time until which serial rebuilds are in progress.
    busy_until: f64,
}

#[derive(Clone, Debug, Default)]
struct SparePool {
    stock: u32,
    waiting: std::collections::VecDeque<u32>,
}

/// Losses of a mission by one horizon, times their weights.
#[derive(Clone, Copy, Debug, Default)]
struct HorizonLosses {
    /// By failures and by read errors; the lost part is that of each group's first loss.
    lost: [Lost; 2],
    /// Number of losses.
    count: f64,
}

/// Runs missions of a model; the state is used again from mission to mission.
pub struct Missions<'a> {
    model: &'a Model,
    agenda: Agenda,
    disks: Vec<DiskState>,
    groups: Vec<GroupState>,
    pools: Vec<SparePool>,
    outages: Vec<Vec<u32>>,
    batch_factors: Vec<f64>,
    /// Logarithm of the weight of all that is past.
    log_weight: f64,
    /// Groups without data access, and since when.
    unavailable_groups: u32,
    unavailable_since: f64,
    unavailable_time: f64,
    over: bool,
    first_loss: Option<Cause>,
    /// Losses by each horizon.
    horizons: Vec<HorizonLosses>,
    sums: Sums,
    /// Windows of crude missions.
    pilot: Pilot,
}

impl<'a> Missions<'a> {
    /// Makes room for missions of a model.
    pub fn new(model: &'a Model) -> Missions<'a> {
        let horizons = model.question.horizons.len();
        let empty = DiskState {
            born: 0.0,
            batch: 1.0,
            factor: 1.0,
            mark: 0.0,
            clean: 0.0,
            corrupt_until: 0.0,
            out_until: 0.0,
            repaired_at: f64::INFINITY,
            serial: 0,
            failed: false,
            out: false,
        };
        let pools = match &model.question.repair.spares {
            None => 0,
            Some(spares) if spares.groups == 0 => 1,
            Some(spares) => model.simulated_groups.div_ceil(spares.groups),
        };
        Missions {
            model,
            agenda: Agenda::default(),
            disks: vec![empty; model.disks()],
            groups: vec![GroupState::default(); model.simulated_groups as usize],
            pools: vec![SparePool::default(); pools as usize],
            outages: Vec::new(),
            batch_factors: Vec::new(),
            log_weight: 0.0,
            unavailable_groups: 0,
            unavailable_since: 0.0,
            unavailable_time: 0.0,
            over: false,
            first_loss: None,
            horizons: vec![HorizonLosses::default(); horizons],
            sums: Sums::new(horizons),
            pilot: Pilot::new(model.shape.tolerates),
        }
    }

    /// Runs at most `most` crude missions.
    pub fn pilot(mut self, most: u64, random: &mut Random) -> Pilot {
        while self.pilot.goes_on(most, self.sums.counts.failures) {
            self.mission(random);
            self.pilot.end_mission(self.first_loss);
        }
        self.pilot
    }

    fn count_window(&mut self, group: usize) {
        self.pilot.count(self.groups[group].failed as usize);
    }

    /// Runs missions and returns their sums.
    pub fn run(&mut self, missions: u64, random: &mut Random) -> Sums {
        self.sums = Sums::new(self.horizons.len());
        for _ in 0..missions {
            self.mission(random);
        }
        self.sums.missions = missions;
        std::mem::take(&mut self.sums)
    }

    fn mission(&mut self, random: &mut Random) {
        self.begin(random);
        let mut end = self.model.end;
        while let Some(event) = self.agenda.next() {
            self.handle(event, random);
            if self.over {
                end = event.time;
                break;
            }
        }
        self.sums.disk_years += self.disks.len() as f64 * end / YEAR;
        if self.unavailable_groups > 0 {
            self.unavailable_time += self.model.end - self.unavailable_since;
        }
        if self.unavailable_time > 0.0 {
            self.sums
                .unavailable
                .add(self.unavailable_time / self.model.end);
        }
        if self.first_loss.is_some() {
            for (sums, at) in self.sums.horizons.iter_mut().zip(&self.horizons) {
                sums.add(&at.lost);
                sums.losses.add(at.count);
            }
        }
    }

    fn begin(&mut self, random: &mut Random) {
        let model = self.model;
        self.agenda.reset(model.end);
        self.groups.fill(GroupState::default());
        self.outages.clear();
        self.log_weight = 0.0;
        self.unavailable_groups = 0;
        self.unavailable_time = 0.0;
        self.over = false;
        if self.first_loss.take().is_some() {
            self.horizons.fill(HorizonLosses::default());
        }
        if let Some(spares) = &model.question.repair.spares {
            for pool in &mut self.pools {
                pool.stock = spares.count;
                pool.waiting.clear();
            }
        }
        if let Some(batches) = &model.question.batches {
            let count = self.disks.len().div_ceil(batches.disks as usize);
            self.batch_factors.clear();
            for _ in 0..count {
                let bad = uniform(random) < batches.bad_share;
                self.batch_factors
                    .push(if bad { batches.bad_factor } else { 1.0 });
            }
        }
        for disk in 0..self.disks.len() {
            self.disks[disk].out = false;
            self.disks[disk].out_until = 0.0;
            self.begin_life(disk, 0.0, true, random);
        }
        if let Some(policy) = &model.question.replacement
            && policy.manner == ReplacementManner::AllAtOnce
        {
            let age = model.question.lifetime.initial_age;
            let first = policy.age * ((age / policy.age).floor() + 1.0) - age;
            self.agenda.add(first, Kind::AllPlanned, 0, 0);
        }
        for kind in 0..model.question.domains.len() {
            self.next_domain_failure(kind, 0.0, random);
        }
    }

    /// Puts a new disk in place, or one of the first.
    fn begin_life(&mut self, disk: usize, now: f64, first: bool, random: &mut Random) {
        let model = self.model;
        let age = if first {
            model.first_age
        } else {
            model.new_age
        };
        let batch = match &model.question.batches {
            None => 1.0,
            Some(batches) if first => self.batch_factors[disk / batches.disks as usize],
            Some(batches) if uniform(random) < batches.bad_share => batches.bad_factor,
            Some(_) => 1.0,
        };
        let factor = model.bias.as_ref().map_or(1.0, |bias| bias.healthy);
        let state = &mut self.disks[disk];
        state.born = now - age;
        state.batch = batch;
        state.factor = factor;
        state.mark = if factor == 1.0 || age == 0.0 {
            0.0
        } else {
            model.hazard.cumulative(age)
        };
        state.clean = now;
        state.corrupt_until = f64::NEG_INFINITY;
        state.failed = false;
        state.serial = state.serial.wrapping_add(1);
        let serial = state.serial;
        let fails = model
            .hazard
            .sample(age, batch * factor, model.hazard_bound, random);
        self.agenda
            .add(now - age + fails, Kind::Failure, disk as u32, serial);
        if let Some(policy) = &model.question.replacement {
            let left = policy.age - (age - model.new_age);
            let when = match policy.manner {
                ReplacementManner::AllAtOnce => return,
                ReplacementManner::ByAge => left,
                ReplacementManner::Staggered if first => {
                    let month = (12.0 * uniform(random)).floor();
                    left - month * YEAR / 12.0
                }
                ReplacementManner::Staggered => left,
            };
            self.agenda
                .add(now + when.max(0.0), Kind::Planned, disk as u32, serial);
        }
    }

    fn handle(&mut self, event: Event, random: &mut Random) {
        let (now, item) = (event.time, event.item as usize);
        match event.kind {
            Kind::Failure => {
                if self.disks[item].serial == event.serial && !self.disks[item].failed {
                    self.fail(item, now, false, random);
                }
            }
            Kind::BiasedFailure => {
                let group = self.group_of(item);
                if self.groups[group].window == event.serial {
                    self.fail(item, now, false, random);
                }
            }
            Kind::Noticed => self.notice(item, now, random),
            Kind::SpareArrival => {
                match self.pools[item].waiting.pop_front() {
                    Some(disk) => {
                        let disk = disk as usize;
                        self.rebuild(disk, now, random);
                        self.begin_window(self.group_of(disk), now, random);
                    }
                    None => self.pools[item].stock += 1,
                };
            }
            Kind::Repaired => self.repaired(item, now, random),
            Kind::Planned => {
                if self.disks[item].serial == event.serial && !self.disks[item].failed {
                    self.replace(item, now, random);
                }
            }
            Kind::AllPlanned => {
                for disk in 0..self.disks.len() {
                    if !self.disks[disk].failed {
                        self.replace(disk, now, random);
                    }
                }
                if let Some(policy) = &self.model.question.replacement {
                    self.agenda.add(now + policy.age, Kind::AllPlanned, 0, 0);
                }
            }
            Kind::DomainFailure => self.fail_domain(item, now, random),
            Kind::OutageEnd => self.end_outage(item, now),
        }
    }

    fn group_of(&self, disk: usize) -> usize {
        disk / self.model.shape.disks as usize
    }

    fn disks_of(&self, group: usize) -> std::ops::Range<usize> {
        let size = self.model.shape.disks as usize;
        group * size..(group + 1) * size
    }

    /// A disk fails, by itself or with its domain.
    fn fail(&mut self, disk: usize, now: f64, by_domain: bool, random: &mut Random) {
        let group = self.group_of(disk);
        self.end_segment(disk, now);
        if !by_domain && self.disks[disk].factor != 1.0 {
            self.log_weight -= libm::log(self.disks[disk].factor);
        }
        let state = &mut self.disks[disk];
        state.failed = true;
        state.repaired_at = f64::INFINITY;
        state.factor = 1.0;
        let was_out = std::mem::take(&mut state.out);
        let before = self.is_unavailable(group);
        if was_out {
            self.groups[group].out -= 1;
        }
        self.groups[group].failed += 1;
        self.note_availability(group, before, now);
        let failed = self.groups[group].failed;
        self.sums.counts.failures += 1;
        if failed > 1 {
            self.sums.counts.failures_while_degraded += 1;
        }
        if failed > self.model.shape.tolerates {
            // Lost data cannot be lost again before enough disks are back.
            if failed == self.model.shape.tolerates + 1 {
                self.lose(group, Cause::Failures, now);
            }
        } else if let Some(latent) = &self.model.question.latent
            && self.model.read_error_loses(failed)
            && self.finds_latent_error(latent, group, now, random)
        {
            self.lose(group, Cause::ReadError, now);
        }
        if self.over {
            return;
        }
        self.begin_repair(disk, now, random);
        self.begin_window(group, now, random);
    }

    fn begin_repair(&mut self, disk: usize, now: f64, random: &mut Random) {
        let repair = &self.model.question.repair;
        let noticed = now + repair.detection.sample(random);
        if repair.spares.is_some() {
            self.agenda.add(noticed, Kind::Noticed, disk as u32, 0);
        } else {
            let ready = noticed + repair.replacement.sample(random);
            self.rebuild(disk, ready, random);
        }
    }

    /// A failed disk is noticed where there are spares: one is taken and another ordered.
    fn notice(&mut self, disk: usize, now: f64, random: &mut Random) {
        let Some(spares) = &self.model.question.repair.spares else {
            return;
        };
        let group = self.group_of(disk);
        let pool = match spares.groups {
            0 => 0,
            groups => group / groups as usize,
        };
        let arrival = now + spares.restocking.sample(random);
        self.agenda.add(arrival, Kind::SpareArrival, pool as u32, 0);
        if self.pools[pool].stock > 0 {
            self.pools[pool].stock -= 1;
            self.rebuild(disk, now, random);
            self.begin_window(group, now, random);
        } else {
            self.sums.counts.waits_for_spare += 1;
            self.pools[pool].waiting.push_back(disk as u32);
        }
    }

    /// Rebuilds a disk whose place is filled at `ready`.
    fn rebuild(&mut self, disk: usize, ready: f64, random: &mut Random) {
        let length = self.model.question.repair.rebuild.sample(random);
        let mut end = ready + length;
        if self.model.is_serial() {
            let group = self.group_of(disk);
            let busy = &mut self.groups[group].busy_until;
            end = busy.max(ready) + length;
            *busy = end;
        }
        self.disks[disk].repaired_at = end;
        self.agenda.add(end, Kind::Repaired, disk as u32, 0);
    }

    fn repaired(&mut self, disk: usize, now: f64, random: &mut Random) {
        let group = self.group_of(disk);
        let failed = self.groups[group].failed;
        let unreadable = self.model.unreadable(failed);
        if unreadable > 0.0 && self.meets_read_error(group, unreadable, random) {
            self.lose(group, Cause::ReadError, now);
            if self.over {
                return;
            }
        }
        let before = self.is_unavailable(group);
        self.groups[group].failed -= 1;
        self.note_availability(group, before, now);
        self.begin_life(disk, now, false, random);
        self.begin_window(group, now, random);
    }

    /// Replaces a disk that works.
    fn replace(&mut self, disk: usize, now: f64, random: &mut Random) {
        self.sums.counts.planned_replacements += 1;
        self.end_segment(disk, now);
        self.begin_life(disk, now, false, random);
        let group = self.group_of(disk);
        if self.groups[group].failed > 0 {
            self.begin_window(group, now, random);
        }
    }

    /// Records a loss.
    fn lose(&mut self, group: usize, cause: Cause, now: f64) {
        let shape = &self.model.shape;
        let bytes = match cause {
            Cause::Failures => {
                self.sums.counts.failure_losses += 1;
                shape.usable_bytes
            }
            Cause::ReadError => {
                self.sums.counts.read_error_losses += 1;
                shape.read_error_bytes(self.model.question.read_errors.loses)
            }
        };
        let part = bytes / (shape.usable_bytes * f64::from(self.model.simulated_groups));
        let counts = self.model.question.simulation.count_losses;
        let is_first = self.first_loss.is_none();
        let of_group = !self.groups[group].lost;
        self.first_loss.get_or_insert(cause);
        self.groups[group].lost = true;
        let weight = if self.model.bias.is_some() {
            let open: f64 = (0..self.disks.len())
                .filter(|disk| !self.disks[*disk].failed)
                .map(|disk| self.open_weight(disk, now))
                .sum();
            libm::exp(self.log_weight + open + self.domain_weight(now))
        } else {
            1.0
        };
        for (horizon, at) in self.model.question.horizons.iter().zip(&mut self.horizons) {
            if now > *horizon {
                continue;
            }
            let lost = &mut at.lost[cause as usize];
            if is_first {
                lost.first = weight;
            }
            if of_group {
                lost.part += weight * part;
            }
            at.count += weight;
        }
        // Biased missions end with the loss that they are biased towards.
        let ends = match &self.model.bias {
            Some(bias) => bias.toward.is_none_or(|toward| toward == cause),
            None => false,
        };
        self.over = !counts && (ends || self.model.simulated_groups == 1);
    }
}
