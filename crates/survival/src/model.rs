//! A question made ready for missions of arrays and mirrors.

use crate::hazard::Hazard;
use crate::pilot::{Cause, Pilot};
use crate::question::{Concurrency, Question, Scrub};
use crate::read_error;
use crate::shape::Shape;

/// Failures of a mission that the biasing of healthy groups aims at.
const FAILURES_AIMED: f64 = 1.0;
/// Odds of a failure before a repair whose time is not known yet. One half minimises the second
/// moment for exponential repairs; at 1 and above it is infinite.
pub const UNKNOWN_ODDS: f64 = 0.5;

/// A system made ready for missions.
#[derive(Clone, Debug)]
pub struct Model {
    /// The question.
    pub question: Question,
    /// Sizes of groups, `groups` of the whole system.
    pub shape: Shape,
    /// Groups that are simulated: 1 if they are independent.
    pub simulated_groups: u32,
    /// Hazard of a disk.
    pub hazard: Hazard,
    /// Age of the first disks.
    pub first_age: f64,
    /// Age of later ones.
    pub new_age: f64,
    /// Cumulative hazard that no disk exceeds within the mission.
    pub hazard_bound: f64,
    /// The last horizon.
    pub end: f64,
    /// Mean repair.
    pub repair_mean: f64,
    /// Probability of a read error, by the bit error rate, at the end of a rebuild.
    rebuild_read_error: f64,
    /// Seconds before a look at latent errors at which the disk may be taken as clean.
    pub look_back: f64,
    /// Biasing; none: crude.
    pub bias: Option<Bias>,
}

/// Biasing of failures.
#[derive(Clone, Debug)]
pub struct Bias {
    /// The kind of first loss that is made frequent; none: both.
    pub toward: Option<Cause>,
    /// Factor on all hazards at all times.
    pub healthy: f64,
    /// Factor on the failures of each kind of domain.
    pub domains: Vec<f64>,
    /// Cumulative hazard of the survivors of a group until its next repair, for each number of
    /// failed disks.
    pub windows: Vec<f64>,
}

impl Bias {
    /// Cumulative hazard to aim at with `failed` failed disks; 0 if data is lost.
    pub fn window(&self, failed: u32) -> f64 {
        self.windows.get(failed as usize).copied().unwrap_or(0.0)
    }
}

impl Model {
    /// Makes a question ready for crude missions.
    pub fn new(question: &Question) -> Model {
        let shape = Shape::of(question);
        let hazard = Hazard::new(&question.lifetime.law);
        let first_age = question.lifetime.first_age();
        let end = question.longest_horizon();
        let simulated_groups = if independent(question, &shape) {
            1
        } else {
            shape.groups
        };
        let read = shape.disks - shape.tolerates;
        Model {
            shape,
            simulated_groups,
            first_age,
            new_age: question.lifetime.burn_in,
            hazard_bound: hazard.cumulative(first_age + end),
            hazard,
            end,
            repair_mean: question.repair.mean(),
            rebuild_read_error: read_error::in_rebuild(read, &question.disk, None, end),
            look_back: look_back(question),
            bias: None,
            question: question.clone(),
        }
    }

    /// Biases missions towards one kind of first loss or both, after pilot missions without biasing.
    pub fn bias(&mut self, pilot: &Pilot, toward: Option<Cause>) {
        let hazard = &self.hazard;
        let each = hazard.cumulative(self.first_age + self.end) - hazard.cumulative(self.first_age);
        let failures = each * self.disks() as f64;
        let domains = (0..self.question.domains.len()).map(|kind| {
            // An outage without lost disks delays no rebuild and loses no data.
            if self.question.domains[kind].lost_share > 0.0 {
                (FAILURES_AIMED / (self.domain_rate(kind) * self.end)).clamp(1.0, 1e12)
            } else {
                1.0
            }
        });
        self.bias = Some(Bias {
            toward,
            healthy: (FAILURES_AIMED / failures).clamp(1.0, 1e12),
            domains: domains.collect(),
            windows: pilot.aims(),
        });
    }

    /// Domains of a kind.
    pub fn domain_count(&self, kind: usize) -> usize {
        self.disks()
            .div_ceil(self.question.domains[kind].disks as usize)
    }

    /// Rate at which the domains of a kind fail together, in 1/s.
    pub fn domain_rate(&self, kind: usize) -> f64 {
        self.domain_count(kind) as f64 / self.question.domains[kind].mean
    }

    /// True if a first loss can be by this cause.
    pub fn can_lose_by(&self, cause: Cause) -> bool {
        let question = &self.question;
        match cause {
            Cause::Failures => true,
            Cause::ReadError => {
                self.shape.tolerates > 0
                    && (question.disk.bit_error_rate > 0.0 || question.latent.is_some())
            }
        }
    }

    /// Disks that are simulated.
    pub fn disks(&self) -> usize {
        self.shape.disks as usize * self.simulated_groups as usize
    }

    /// True if rebuilds of a group wait for each other.
    pub fn is_serial(&self) -> bool {
        self.question.repair.concurrency == Concurrency::Serial
    }

    /// True if a read error loses data in a group with `failed` failed disks.
    pub fn read_error_loses(&self, failed: u32) -> bool {
        self.question.read_errors.lose(failed, self.shape.tolerates)
    }

    /// Probability that the end of a rebuild of a group with `failed` failed disks loses data by the
    /// bit error rate.
    pub fn unreadable(&self, failed: u32) -> f64 {
        if self.read_error_loses(failed) {
            self.rebuild_read_error
        } else {
            0.0
        }
    }
}

/// True if groups fail independently, so that one stands for all.
fn independent(question: &Question, shape: &Shape) -> bool {
    let own_spares = match &question.repair.spares {
        None => true,
        Some(spares) => spares.groups == 1 || shape.groups == 1,
    };
    let own_batches = match &question.batches {
        None => true,
        Some(batches) => shape.disks.is_multiple_of(batches.disks),
    };
    own_spares && own_batches && question.domains.is_empty()
}

/// How long before a look the state of a disk no longer matters, to 1e-8 of the probability.
///
/// A disk alternates between clean and corrupt. Corrupt times have a mean far below the clean ones,
/// so that each longest corrupt time shrinks the trace of the state by their ratio.
fn look_back(question: &Question) -> f64 {
    let Some(latent) = &question.latent else {
        return 0.0;
    };
    match latent.scrub {
        Scrub::Weibull(law) => {
            // Exceeded once in 1e16.
            let longest = law.location + law.scale * libm::pow(37.0, 1.0 / law.shape);
            let ratio = longest / latent.mean;
            if ratio > 0.5 {
                return f64::INFINITY;
            }
            longest * (1.0 + (1e-8_f64.ln() / ratio.ln()).ceil())
        }
        Scrub::None | Scrub::Period { .. } => f64::INFINITY,
    }
}
