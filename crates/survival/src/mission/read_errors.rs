//! Read errors in rebuilds, by the bit error rate and by latent errors.

use super::Missions;
use crate::pilot::Cause;
use crate::question::{Latent, Scrub};
use crate::random::{Random, exponential, uniform};

impl Missions<'_> {
    /// Draws whether a rebuild meets a read error, which biasing makes frequent.
    pub(super) fn meets_read_error(
        &mut self,
        group: usize,
        unreadable: f64,
        random: &mut Random,
    ) -> bool {
        let factor = self.groups[group].read_factor;
        let drawn = if factor > 1.0 {
            -libm::expm1(-factor * unreadable)
        } else {
            unreadable
        };
        let meets = uniform(random) < drawn;
        if factor > 1.0 {
            self.log_weight += libm::log(if meets {
                unreadable / drawn
            } else {
                (1.0 - unreadable) / (1.0 - drawn)
            });
        }
        meets
    }

    /// Returns true if a working disk of a group has a latent error. Biasing multiplies the rate at
    /// which they came since the disks were last known to be clean.
    pub(super) fn finds_latent_error(
        &mut self,
        latent: &Latent,
        group: usize,
        now: f64,
        random: &mut Random,
    ) -> bool {
        let mut factor = 1.0;
        if let Some(bias) = &self.model.bias
            && bias.toward != Some(Cause::Failures)
        {
            let expected: f64 = self
                .disks_of(group)
                .filter(|disk| !self.disks[*disk].failed)
                .map(|disk| (now - self.visible_from(latent, disk, now)) / latent.mean)
                .sum();
            factor = (bias.window(self.groups[group].failed) / expected).max(1.0);
            if !factor.is_finite() {
                factor = 1.0;
            }
        }
        let mut found = false;
        for disk in self.disks_of(group) {
            if !self.disks[disk].failed {
                found |= self.has_latent_error(latent, disk, now, factor, random);
            }
        }
        found
    }

    /// Time from which on a latent error of a disk can still be seen.
    fn visible_from(&self, latent: &Latent, disk: usize, now: f64) -> f64 {
        let state = &self.disks[disk];
        let from = state.clean.max(state.corrupt_until);
        match latent.scrub {
            Scrub::Period { seconds } => from.max((now / seconds).floor() * seconds),
            Scrub::Weibull(_) => from.max(now - self.model.look_back),
            Scrub::None => from,
        }
        .min(now)
    }

    /// Looks at a disk. Clean times are exponential, so a disk that an inspection finds clean is as
    /// new there. Between inspections only errors that can still be seen are simulated.
    fn has_latent_error(
        &mut self,
        latent: &Latent,
        disk: usize,
        now: f64,
        factor: f64,
        random: &mut Random,
    ) -> bool {
        if self.disks[disk].corrupt_until > now {
            return true;
        }
        let mut from = self.visible_from(latent, disk, now);
        let corrupt_until = loop {
            let error = from + latent.mean / factor * exponential(random);
            if factor != 1.0 {
                // Likelihood of the clean time, and of the error at its end.
                let clean = error.min(now) - from;
                self.log_weight += (factor - 1.0) * clean / latent.mean;
                if error < now {
                    self.log_weight -= libm::log(factor);
                }
            }
            if error >= now {
                break None;
            }
            match latent.scrub {
                Scrub::None => break Some(f64::INFINITY),
                Scrub::Period { seconds } => break Some(((now / seconds).floor() + 1.0) * seconds),
                Scrub::Weibull(time) => {
                    from = error + time.sample(random);
                    if from > now {
                        break Some(from);
                    }
                }
            }
        };
        let state = &mut self.disks[disk];
        match corrupt_until {
            Some(until) => state.corrupt_until = until,
            None => state.clean = now,
        }
        corrupt_until.is_some()
    }
}
