//! Failures of domains, and the time during which data is unavailable.

use rand_core::Rng;

use super::Missions;
use crate::events::Kind;
use crate::question::Layout;
use crate::random::{Random, exponential, uniform};

impl Missions<'_> {
    pub(super) fn next_domain_failure(&mut self, kind: usize, now: f64, random: &mut Random) {
        let rate = self.model.domain_rate(kind) * self.domain_factor(kind);
        let time = now + exponential(random) / rate;
        self.agenda.add(time, Kind::DomainFailure, kind as u32, 0);
    }

    fn domain_factor(&self, kind: usize) -> f64 {
        self.model.bias.as_ref().map_or(1.0, |it| it.domains[kind])
    }

    /// Weight of the biased times between failures of domains until `now`.
    pub(super) fn domain_weight(&self, now: f64) -> f64 {
        (0..self.model.question.domains.len())
            .map(|kind| (self.domain_factor(kind) - 1.0) * self.model.domain_rate(kind) * now)
            .sum()
    }

    pub(super) fn fail_domain(&mut self, kind: usize, now: f64, random: &mut Random) {
        let domain = &self.model.question.domains[kind];
        self.sums.counts.domain_failures += 1;
        self.log_weight -= libm::log(self.domain_factor(kind));
        self.next_domain_failure(kind, now, random);
        let all = self.disks.len();
        let count = self.model.domain_count(kind);
        let which = (((random.next_u64() >> 32) * count as u64) >> 32) as usize;
        let until = now + domain.outage.sample(random);
        let members: Vec<usize> = match domain.layout {
            Layout::Within => {
                let size = domain.disks as usize;
                (which * size..((which + 1) * size).min(all)).collect()
            }
            Layout::Across => (which..all).step_by(count).collect(),
        };
        let mut out = Vec::new();
        for disk in members {
            if self.disks[disk].failed {
                continue;
            }
            if domain.lost_share > 0.0 && uniform(random) < domain.lost_share {
                self.fail(disk, now, true, random);
                if self.over {
                    return;
                }
                continue;
            }
            let group = self.group_of(disk);
            let before = self.is_unavailable(group);
            let state = &mut self.disks[disk];
            state.out_until = state.out_until.max(until);
            if !state.out {
                state.out = true;
                self.groups[group].out += 1;
            }
            self.note_availability(group, before, now);
            out.push(disk as u32);
        }
        self.agenda
            .add(until, Kind::OutageEnd, self.outages.len() as u32, 0);
        self.outages.push(out);
    }

    pub(super) fn end_outage(&mut self, outage: usize, now: f64) {
        for disk in std::mem::take(&mut self.outages[outage]) {
            let disk = disk as usize;
            if self.disks[disk].out && self.disks[disk].out_until <= now {
                let group = self.group_of(disk);
                let before = self.is_unavailable(group);
                self.disks[disk].out = false;
                self.groups[group].out -= 1;
                self.note_availability(group, before, now);
            }
        }
    }

    /// Returns true if too many disks of a group are out, though none of its data is lost.
    pub(super) fn is_unavailable(&self, group: usize) -> bool {
        let state = &self.groups[group];
        let tolerated = self.model.shape.tolerates;
        state.failed <= tolerated && state.failed + state.out > tolerated
    }

    /// Counts the time during which any group is unavailable.
    pub(super) fn note_availability(&mut self, group: usize, before: bool, now: f64) {
        match (before, self.is_unavailable(group)) {
            (false, true) => {
                if self.unavailable_groups == 0 {
                    self.unavailable_since = now;
                }
                self.unavailable_groups += 1;
            }
            (true, false) => {
                self.unavailable_groups -= 1;
                if self.unavailable_groups == 0 {
                    self.unavailable_time += now - self.unavailable_since;
                }
            }
            _ => {}
        }
    }
}
