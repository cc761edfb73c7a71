//! Dynamic failure biasing with proportional hazards.
//!
//! While a group is degraded, the hazards of its survivors are multiplied by c. The mission's
//! weight is the likelihood ratio. It is exp((c - 1) dH) for the cumulative hazard dH that each
//! biased disk passes, and 1/c for each biased failure. It holds for any lifetime law, because only
//! hazards are scaled (Heidelberger 1995; Nicola, Shahabuddin and Nakayama 2001).
//!
//! The failures of the law and those of the additional hazard (c - 1) h are drawn separately, so
//! that no scheduled event is drawn again.

use super::Missions;
use crate::events::Kind;
use crate::model::UNKNOWN_ODDS;
use crate::pilot::Cause;
use crate::random::Random;

impl Missions<'_> {
    /// Adds the weight of a disk since its factor began.
    #[inline]
    pub(super) fn end_segment(&mut self, disk: usize, now: f64) {
        self.log_weight += self.open_weight(disk, now);
    }

    #[inline]
    pub(super) fn open_weight(&self, disk: usize, now: f64) -> f64 {
        let state = &self.disks[disk];
        if state.factor == 1.0 {
            return 0.0;
        }
        let passed = self.model.hazard.cumulative(now - state.born) - state.mark;
        (state.factor - 1.0) * state.batch * passed
    }

    /// Sets the factors of a group whose failed disks or their repairs have changed. The survivors
    /// then pass the required cumulative hazard until the next repair.
    pub(super) fn begin_window(&mut self, group: usize, now: f64, random: &mut Random) {
        let Some(bias) = &self.model.bias else {
            self.count_window(group);
            return;
        };
        let state = &mut self.groups[group];
        state.window = state.window.wrapping_add(1);
        state.read_factor = 1.0;
        let (window, failed) = (state.window, state.failed);
        let range = self.disks_of(group);
        let degraded = failed > 0 && failed <= self.model.shape.tolerates;
        let hazard = &self.model.hazard;
        let mut wanted = bias.window(failed);
        let mut until = f64::INFINITY;
        if degraded {
            for disk in range.clone() {
                if self.disks[disk].failed {
                    until = until.min(self.disks[disk].repaired_at);
                }
            }
            if until == f64::INFINITY {
                until = now + self.model.repair_mean;
                wanted *= UNKNOWN_ODDS;
            }
            until = until.min(self.model.end);
        }
        let mut passes = 0.0;
        for disk in range.clone() {
            if self.disks[disk].failed {
                continue;
            }
            self.end_segment(disk, now);
            let state = &mut self.disks[disk];
            state.factor = bias.healthy;
            if degraded || bias.healthy != 1.0 {
                state.mark = hazard.cumulative(now - state.born);
            }
            if degraded {
                passes += state.batch * (hazard.cumulative(until - state.born) - state.mark);
            }
        }
        // A read error at the end of the rebuild counts as a hazard of its own. Missions towards
        // one kind of loss bias it alone where it is decided.
        let is_by_read_error =
            bias.toward == Some(Cause::ReadError) && self.model.read_error_loses(failed);
        let factor = match bias.toward {
            Some(Cause::Failures) => wanted / passes,
            Some(Cause::ReadError) if is_by_read_error => wanted / self.model.unreadable(failed),
            _ => wanted / (passes + self.model.unreadable(failed)),
        };
        if !degraded || !factor.is_finite() || factor <= bias.healthy {
            return;
        }
        if bias.toward != Some(Cause::Failures) {
            self.groups[group].read_factor = factor;
        }
        if is_by_read_error {
            return;
        }
        let mut first = (f64::INFINITY, 0);
        for disk in range {
            let state = &mut self.disks[disk];
            if state.failed {
                continue;
            }
            state.factor = factor;
            let age = now - state.born;
            let added = (factor - bias.healthy) * state.batch;
            let bound = self.model.hazard_bound;
            let fails = state.born + hazard.sample_from(age, state.mark, added, bound, random);
            if fails < first.0 {
                first = (fails, disk);
            }
        }
        self.agenda.add(
            first.0.max(now),
            Kind::BiasedFailure,
            first.1 as u32,
            window,
        );
    }
}
