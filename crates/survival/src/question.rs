//! The question: a system of disks, their failures and repairs, and the horizons.
//!
//! A question is one JSON document. Times are in seconds, sizes in bytes, rates in bytes a second,
//! probabilities between 0 and 1. A "disk" is the unit that fails and is replaced; with replication
//! or an erasure code over nodes it is a node.

use serde::{Deserialize, Serialize};

/// Seconds of an hour.
pub const HOUR: f64 = 3600.0;
/// Seconds of a year of 365 days: ten years are 87,600 h, as in the literature.
pub const YEAR: f64 = 8760.0 * HOUR;

/// A question about the reliability of a system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// How the disks of a group keep data safe.
    pub redundancy: Redundancy,
    /// Groups that are alike; the loss of any is a loss of the system.
    #[serde(default = "one")]
    pub groups: u32,
    /// Capacity and read errors of a disk.
    #[serde(default)]
    pub disk: Disk,
    /// Law of a disk's time to failure.
    pub lifetime: Lifetime,
    /// How a failed disk is noticed, replaced and rebuilt.
    pub repair: Repair,
    /// Latent sector errors and scrubbing.
    #[serde(default)]
    pub latent: Option<Latent>,
    /// Effect of a read error that is met in a rebuild.
    #[serde(default)]
    pub read_errors: ReadErrors,
    /// Batches of disks with a common fault.
    #[serde(default)]
    pub batches: Option<Batches>,
    /// Shelves, nodes, racks or power feeds that fail with all their disks.
    #[serde(default)]
    pub domains: Vec<Domain>,
    /// Planned replacement of old disks.
    #[serde(default)]
    pub replacement: Option<Replacement>,
    /// Horizons in seconds, each above 0.
    #[serde(default = "default_horizons")]
    pub horizons: Vec<f64>,
    /// How the answer is computed.
    #[serde(default)]
    pub method: Method,
    /// Settings of the simulation.
    #[serde(default)]
    pub simulation: Simulation,
}

impl Question {
    /// Longest horizon in seconds: the length of a mission.
    pub fn longest_horizon(&self) -> f64 {
        self.horizons.iter().copied().fold(0.0, f64::max)
    }
}

/// How the disks of a group keep data safe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Redundancy {
    /// An array of `disks` that survives `tolerates` failures. RAID-0 survives 0, RAID-5 1, RAID-6
    /// 2, an (n, k) code n - k, and a mirror or n copies n - 1.
    Array {
        /// Disks, spares not counted.
        disks: u32,
        /// Failures at one time that lose nothing.
        tolerates: u32,
        /// Bytes of data that one stripe holds; what a read error loses by `loses = "stripe"`.
        #[serde(default = "default_stripe_bytes")]
        stripe_bytes: f64,
    },
    /// RAID-10: `disks` in mirrors of `copies` each, data striped over the mirrors.
    Mirrors {
        /// Disks, a multiple of `copies`.
        disks: u32,
        /// Disks of a mirror.
        #[serde(default = "two")]
        copies: u32,
        /// Bytes of data that one stripe of a mirror holds.
        #[serde(default = "default_stripe_bytes")]
        stripe_bytes: f64,
    },
    /// A declustered pool: stripes of `data` + `parity` chunks placed over all `disks`, spare space
    /// on each. All disks take part in a rebuild; stripes that lack most chunks come first.
    Declustered {
        /// Disks of the pool.
        disks: u32,
        /// Data chunks of a stripe.
        data: u32,
        /// Parity chunks of a stripe: failures that no stripe loses data by.
        parity: u32,
        /// Bytes of a chunk.
        #[serde(default = "default_chunk_bytes")]
        chunk_bytes: f64,
        /// Disks' worth of spare space, spread over the pool.
        #[serde(default)]
        spare_disks: u32,
    },
}

/// Capacity and read errors of a disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disk {
    /// Bytes; 1 TB is 1e12 bytes.
    #[serde(default = "default_capacity")]
    pub capacity_bytes: f64,
    /// Probability that a bit which is read cannot be read: 1e-14 of the data sheet's "1 in 10^14
    /// bits". 0: none.
    #[serde(default)]
    pub bit_error_rate: f64,
}

/// Law of a disk's time to failure, from the day it is new.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lifetime {
    /// The law.
    pub law: LifetimeLaw,
    /// Seconds of burn-in: every disk is that old when installed.
    #[serde(default)]
    pub burn_in: f64,
    /// Seconds that the first disks are old at the start, after their burn-in.
    #[serde(default)]
    pub initial_age: f64,
}

impl Lifetime {
    /// Age in seconds of the first disks at the start.
    pub fn first_age(&self) -> f64 {
        self.burn_in + self.initial_age
    }
}

/// Laws of a time to failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LifetimeLaw {
    /// Constant hazard 1 / mean.
    Exponential {
        /// Mean time to failure in seconds.
        mean: f64,
    },
    /// Weibull: below shape 1 infant mortality, above it wear-out.
    Weibull(WeibullLaw),
    /// Bathtub: the sum of the hazards of up to three Weibull laws.
    Bathtub {
        /// Infant mortality, shape below 1.
        infant: WeibullLaw,
        /// Mean of the constant hazard in seconds; none: no such part.
        #[serde(default)]
        constant_mean: Option<f64>,
        /// Wear-out, shape above 1.
        wear_out: WeibullLaw,
    },
    /// A hazard that is constant in each interval of age.
    HazardTable {
        /// Ages in seconds at which intervals begin, rising, the first 0.
        ages: Vec<f64>,
        /// Hazards in failures a second; the last one holds for ever.
        hazards: Vec<f64>,
    },
}

/// A Weibull law: cumulative hazard ((t - location) / scale)^shape.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeibullLaw {
    /// Shape.
    pub shape: f64,
    /// Scale in seconds (characteristic life).
    pub scale: f64,
    /// Least number of seconds.
    #[serde(default)]
    pub location: f64,
}

/// Law of a length of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Duration {
    /// Always the same.
    Constant {
        /// Seconds.
        seconds: f64,
    },
    /// Exponential.
    Exponential {
        /// Mean in seconds.
        mean: f64,
    },
    /// Weibull.
    Weibull(WeibullLaw),
    /// Bytes moved at a rate; always the same.
    Transfer {
        /// Bytes.
        bytes: f64,
        /// Bytes a second.
        bytes_per_second: f64,
    },
}

/// How a failed disk is noticed, replaced and rebuilt: one after the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repair {
    /// Time until the failure is noticed.
    #[serde(default = "no_time")]
    pub detection: Duration,
    /// Time until a new disk is in place where no hot spare is ready.
    #[serde(default = "no_time")]
    pub replacement: Duration,
    /// Time of the rebuild. In a declustered pool: of one disk's data by all disks of the pool.
    pub rebuild: Duration,
    /// The number of failed disks of a group that are rebuilt at the same time.
    #[serde(default)]
    pub concurrency: Concurrency,
    /// Hot spares; none: each failed disk waits for `replacement`.
    #[serde(default)]
    pub spares: Option<Spares>,
}

/// Order of the rebuilds of one group. Mean times to data loss differ by a factor of up to
/// (failures tolerated)!.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Concurrency {
    /// All failed disks of a group are rebuilt at the same time, each at full rate. In a
    /// declustered pool one pass rebuilds all chunks that a stripe lacks.
    #[default]
    Parallel,
    /// One after the other; in a declustered pool each chunk that a stripe lacks.
    Serial,
}

impl Concurrency {
    /// Rebuild passes for `lacks` chunks of a stripe of a declustered pool.
    pub fn passes(self, lacks: u32) -> f64 {
        match self {
            Concurrency::Parallel => 1.0,
            Concurrency::Serial => f64::from(lacks),
        }
    }
}

/// Hot spares.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spares {
    /// Spares of one pool of spares.
    pub count: u32,
    /// Groups that share a pool of spares, in order. 1 is a dedicated spare, the number of arrays
    /// of a shelf a spare per shelf, and 0 means all groups (global).
    #[serde(default)]
    pub groups: u32,
    /// Time from taking a spare to the arrival of the disk that takes its place.
    pub restocking: Duration,
}

/// Latent sector errors: they lie unseen until the sector is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Latent {
    /// Mean time between latent errors of a healthy disk in seconds; they come at a constant rate.
    pub mean: f64,
    /// Scrubbing.
    #[serde(default)]
    pub scrub: Scrub,
}

/// Scrubbing: when a latent error is found and repaired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Scrub {
    /// Never: a latent error stays until its disk is replaced.
    #[default]
    None,
    /// All disks are scrubbed at multiples of a period.
    Period {
        /// Seconds from one scrub to the next.
        seconds: f64,
    },
    /// Time from the error to its repair follows a Weibull law (Elerath and Pecht 2007).
    Weibull(WeibullLaw),
}

/// Effect of a read error, latent or by the bit error rate, that is met in a rebuild.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadErrors {
    /// The data lost by a read error without redundancy left.
    #[serde(default)]
    pub loses: ReadErrorLoss,
    /// The effect of a read error while redundancy is left.
    #[serde(default)]
    pub with_redundancy: ReadErrorWithRedundancy,
}

impl ReadErrors {
    /// Returns true if a read error loses data in a group with `failed` failed disks that tolerates
    /// `tolerated`.
    pub fn lose(&self, failed: u32, tolerated: u32) -> bool {
        (1..=tolerated).contains(&failed)
            && (failed == tolerated || self.with_redundancy == ReadErrorWithRedundancy::Loss)
    }
}

/// The data lost by a read error without redundancy left. Either is a loss of data and counts in
/// the loss probability; they differ in the bytes lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadErrorLoss {
    /// One stripe; the rebuild goes on (Linux MD with a bad-block list, ZFS, most controllers).
    #[default]
    Stripe,
    /// The whole array: the rebuild is given up (old controllers).
    Array,
}

/// The effect of a read error while redundancy is left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadErrorWithRedundancy {
    /// The sector is computed from the redundancy that is left.
    #[default]
    Corrected,
    /// It counts as a loss all the same: what some calculators do for RAID-6, pessimistic.
    Loss,
}

/// Batches of disks: some batches have a fault that all their disks share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Batches {
    /// Disks of a batch, consecutive: group by group.
    pub disks: u32,
    /// Probability that a batch is bad.
    pub bad_share: f64,
    /// Factor on the hazard of each disk of a bad batch. The lifetime law is that of good ones.
    pub bad_factor: f64,
}

/// Domains of common failure: shelves, nodes, racks, power feeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Domain {
    /// Its name in the answer: "shelf", "node", "rack", "power".
    pub name: String,
    /// Disks of one domain.
    pub disks: u32,
    /// How groups lie over the domains.
    #[serde(default)]
    pub layout: Layout,
    /// Mean time between failures of one domain in seconds; they come at a constant rate.
    pub mean: f64,
    /// Probability that a disk of the failed domain is lost; the others are only unavailable.
    #[serde(default)]
    pub lost_share: f64,
    /// Time until its disks are available again.
    pub outage: Duration,
}

/// How groups lie over domains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// Disks fill one domain after the other, group by group: a group lies within a domain if it
    /// is no larger.
    #[default]
    Within,
    /// The disks of a group are dealt to the domains in turn.
    Across,
}

/// Planned replacement of old disks, without degrading their group: data is copied first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replacement {
    /// Age in seconds, burn-in not counted, at which disks are replaced.
    pub age: f64,
    /// How they are replaced.
    #[serde(default)]
    pub manner: ReplacementManner,
}

/// How old disks are replaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplacementManner {
    /// Each disk when it reaches the age.
    #[default]
    ByAge,
    /// All disks at once at multiples of the age, also those that were replaced meanwhile.
    AllAtOnce,
    /// A twelfth of the disks, chosen at random, in each month of the last year before the age,
    /// then again by the age. Sources: Xin et al. 2003, Hindman 2011 section 3.5.
    Staggered,
}

/// How the answer is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// `markov` if all laws are exponential and nothing else needs simulation, else `monte-carlo`.
    #[default]
    Auto,
    /// Formulas; laws are replaced by exponential ones of equal mean.
    ClosedForm,
    /// A Markov chain; laws are replaced by exponential ones of equal mean.
    Markov,
    /// Simulation of missions.
    MonteCarlo,
}

/// Settings of the simulation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Simulation {
    /// Seed: equal questions with equal seeds have equal answers, whatever the threads.
    #[serde(default)]
    pub seed: u64,
    /// Missions; none: as many as `relative_error` needs, within `disk_years`.
    #[serde(default)]
    pub missions: Option<u64>,
    /// Wanted standard error of the loss probability at the longest horizon, as a part of it. The
    /// other figures follow as far as ten times its missions take them.
    #[serde(default = "default_relative_error")]
    pub relative_error: f64,
    /// Most disk-years that are simulated if `missions` is not given.
    #[serde(default = "default_disk_years")]
    pub disk_years: f64,
    /// Rare events: dynamic failure biasing (arrays) and splitting (declustered pools). Off:
    /// crude simulation.
    #[serde(default = "default_true")]
    pub biasing: bool,
    /// Count every loss of a mission; biasing is then off. A group is restored from a backup as soon
    /// as no more disks lack than it tolerates. Repairs in progress go on.
    #[serde(default)]
    pub count_losses: bool,
    /// Threads; 0: one for each processor.
    #[serde(default)]
    pub threads: u32,
}

impl Default for Simulation {
    fn default() -> Simulation {
        Simulation {
            seed: 0,
            missions: None,
            relative_error: default_relative_error(),
            disk_years: default_disk_years(),
            biasing: true,
            count_losses: false,
            threads: 0,
        }
    }
}

impl Default for Disk {
    fn default() -> Disk {
        Disk {
            capacity_bytes: default_capacity(),
            bit_error_rate: 0.0,
        }
    }
}

fn one() -> u32 {
    1
}

fn two() -> u32 {
    2
}

/// 1 MiB of data: two chunks of 512 KiB, Linux MD's default.
fn default_stripe_bytes() -> f64 {
    1_048_576.0
}

fn default_chunk_bytes() -> f64 {
    1_048_576.0
}

fn default_capacity() -> f64 {
    1e12
}

fn no_time() -> Duration {
    Duration::Constant { seconds: 0.0 }
}

fn default_horizons() -> Vec<f64> {
    vec![YEAR, 5.0 * YEAR, 10.0 * YEAR]
}

fn default_relative_error() -> f64 {
    0.01
}

fn default_disk_years() -> f64 {
    1e9
}

fn default_true() -> bool {
    true
}
