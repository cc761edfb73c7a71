//! The answer: loss probabilities with their errors, and how they were computed.

use serde::{Deserialize, Serialize};

/// Answer to a [question](crate::question::Question).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// Estimates for each horizon of the question, in its order.
    pub horizons: Vec<HorizonAnswer>,
    /// Mean time to the first data loss in seconds. None: no loss was simulated. A simulation
    /// gives -horizon / ln(1 - loss probability) of the last horizon: the mean if the rate of
    /// losses stayed as it is on average.
    pub mttdl_seconds: Option<f64>,
    /// Ends of its 95 % interval. None: no loss was simulated, or every mission may have had one.
    pub mttdl_low_seconds: Option<f64>,
    /// See `mttdl_low_seconds`.
    pub mttdl_high_seconds: Option<f64>,
    /// Method used: `closed-form`, `markov`, `monte-carlo` or `splitting`.
    pub method: MethodUsed,
    /// Bytes that the system holds as data.
    pub usable_bytes: f64,
    /// Probability that the rebuild of a group without redundancy left meets a read error. It
    /// includes the bit error rate and latent errors in the long run. None: neither was given.
    pub read_error_probability: Option<f64>,
    /// Missions simulated; 0 without simulation.
    pub missions: u64,
    /// Disk-years of all missions.
    pub simulated_disk_years: f64,
    /// Part of the time at which data of any group is unavailable because of outages of domains
    /// and failed disks. None: no domains were given.
    pub unavailability: Option<Estimate>,
    /// Events of the simulated missions.
    pub counts: Option<Counts>,
    /// The assumptions and omissions of the model, a sentence each.
    pub assumptions: Vec<String>,
}

/// Estimates for one horizon.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HorizonAnswer {
    /// The horizon in seconds.
    pub horizon_seconds: f64,
    /// Probability that any data of the system is lost by then.
    pub loss_probability: f64,
    /// Standard error of the loss probability; 0 without simulation.
    pub standard_error: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end of its 95 % interval.
    pub high: f64,
    /// Part of the loss probability in which the first loss is due to a read error in a rebuild.
    /// None: too few missions had one; the upper end of the interval holds.
    pub read_error_loss_probability: Option<f64>,
    /// Lower end of its 95 % interval.
    pub read_error_low: f64,
    /// Upper end of its 95 % interval.
    pub read_error_high: f64,
    /// Normalised magnitude of data loss: expected bytes lost by then per usable byte (Greenan,
    /// Plank and Wylie 2010, "Mean time to meaningless"). Each group counts up to its first loss;
    /// biased missions of groups that depend on each other end at the first loss of any. None: too
    /// few missions had a loss by a cause that decides it; the upper end of the interval holds.
    pub nomdl: Option<f64>,
    /// Standard error of `nomdl`; 0 without simulation.
    pub nomdl_standard_error: f64,
    /// Lower end of its 95 % interval.
    pub nomdl_low: f64,
    /// Upper end of its 95 % interval.
    pub nomdl_high: f64,
    /// Missions with a loss by more failures than are tolerated. None: not simulated.
    pub failure_losses_seen: Option<Seen>,
    /// Missions with a loss by a read error. None: not simulated, or no read error loses data.
    pub read_error_losses_seen: Option<Seen>,
    /// Mean number of losses, each restored from a backup; only with `count_losses`.
    pub expected_losses: Option<Estimate>,
}

/// Missions in which an event was seen, with biasing or splitting if these were used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    /// Missions, or replicates of splitting, with the event.
    pub losses: u64,
    /// All of them.
    pub missions: u64,
}

/// An estimate with its standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Estimate {
    /// Value.
    pub value: f64,
    /// Standard error.
    pub standard_error: f64,
}

/// Methods that give an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MethodUsed {
    /// Formulas.
    ClosedForm,
    /// A Markov chain.
    Markov,
    /// Simulation, with dynamic failure biasing unless it was turned off.
    MonteCarlo,
    /// Simulation with multilevel splitting.
    Splitting,
}

/// Events of all simulated missions. With biasing they are far more frequent than in reality.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Failures of disks.
    pub failures: u64,
    /// Failures of a disk while another of its group had failed.
    pub failures_while_degraded: u64,
    /// Losses by more failures than the redundancy tolerates.
    pub failure_losses: u64,
    /// Losses by a read error in a rebuild without redundancy left.
    pub read_error_losses: u64,
    /// Failures that waited for a spare.
    pub waits_for_spare: u64,
    /// Planned replacements.
    pub planned_replacements: u64,
    /// Failures of domains.
    pub domain_failures: u64,
}
