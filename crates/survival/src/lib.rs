//! Reliability of disk arrays, mirrors, erasure codes and declustered pools.
//!
//! [`answer()`] takes a [`Question`] and gives an [`Answer`] by formulas, by a Markov chain or by
//! simulation. [`answer_json`] does so for JSON documents.
//!
//! # Formulas
//!
//! The failure rate of a disk is λ = 1 / mean lifetime, and its repair rate μ = 1 / mean repair.
//! State j has j failed disks, and r_j is its repair rate: jμ in parallel, μ in series.
//!
//! - Read errors: reading b bits meets an error with probability `-expm1(b log1p(-BER))`. The
//!   direct form `1 - (1 - BER)^b` is 11 % wrong at 1e-16 in double precision.
//! - A rebuild without redundancy left reads n - m whole disks, and meets an error with probability
//!   h.
//! - Latent errors come at rate r. With a scrub period S a disk has one with probability `1 - (1 -
//!   exp(-rS)) / (rS)`.
//! - Chain: state j goes up at (n - j)λ and down at r_j (1 - h). It goes to loss at r_j h, where h
//!   is 0 unless j = m. The way up from state m is a loss.
//! - Mean time to data loss: the states are eliminated from below, without subtractions (Grassmann,
//!   Taksar and Heyman 1985). LU factorisation of such a chain can lose all digits.
//! - Loss probability by the chain: a uniformised series over a short step, then repeated squaring.
//!   All matrices are stochastic and are scaled back after each step. Probabilities of 1e-12 keep
//!   their digits.
//! - Closed form: exact for m = 0 and m = 1. From m = 2 on it is `1 - exp(-t / MTTDL)`.
//!
//! # Simulation
//!
//! A mission simulates all disks from the start to the longest horizon. Blocks of missions have
//! random streams of their own, so the answer to a seed does not depend on the number of threads.
//! Rounds of missions are added until the standard error of the loss probability at that horizon is
//! small enough. The figures of shorter horizons then get up to ten times as many missions to reach
//! the same error.
//!
//! **Figures of one cause.** The first missions see mostly one cause of loss: with read errors,
//! lost stripes. NOMDL is made of lost arrays. A cause whose error is still too large gets missions
//! of its own, biased towards it. Missions towards lost arrays do not bias read errors. Missions
//! towards read errors bias failures only until redundancy is gone. A figure that too few missions
//! show is left out, with its bound and the number of missions that showed it. Without any, the
//! bound is 1 - 0.05^(1/missions). With `count_losses`, without biasing and for declustered pools
//! there are no such missions; the intervals are then wider.
//!
//! **Rare losses.** While a group is degraded, the hazards of its survivors are multiplied by a
//! factor c. The weight of a mission is the likelihood ratio: `exp((c - 1) ΔH)` for the cumulative
//! hazard ΔH that a disk passes, and 1/c for each biased failure. It is exact for any lifetime law,
//! because only hazards are scaled. The end of the next rebuild is known when c is chosen. The
//! factor is set so that the survivors pass a cumulative hazard of 1.594 until then. That value
//! minimises the second moment of the weight, and bounds the weight. With fixed odds of 1 against
//! an exponential repair, the variance would be infinite. Up to 2,000 pilot missions without
//! biasing come first. If losses are frequent there, missions stay crude. Otherwise biasing is
//! weaker where groups are often degraded.
//!
//! **Counted losses.** With `count_losses` a group is restored from a backup as soon as no more
//! disks lack than it tolerates. Repairs in progress continue. One loss therefore counts once.
//!
//! **Latent errors.** A disk alternates between clean and corrupt, as in Elerath and Pecht (2007).
//! Clean times are exponential, so a disk is examined only when another one of its group fails.
//!
//! **Declustered pools.** Multilevel splitting on the most chunks that a stripe lacks reaches rare
//! losses; the module `pool` describes it. The standard error comes from at least 20 independent
//! replicates.

pub mod answer;
mod assumptions;
pub mod chain;
pub mod closed_form;
mod duration;
pub mod error;
mod estimate;
mod events;
mod hazard;
mod mission;
mod model;
mod pilot;
mod pool;
pub mod question;
mod random;
mod rates;
pub mod read_error;
mod shape;
mod simulate;
mod simulated;
mod validate;

use std::ops::ControlFlow;

use answer::{HorizonAnswer, MethodUsed};
use question::{Method, Redundancy};
use shape::Shape;

pub use answer::Answer;
pub use error::Error;
pub use question::Question;

/// Answers a question that is a JSON document with a JSON document.
///
/// # Errors
///
/// If the document is not of the form of a [`Question`], and those of [`answer()`].
pub fn answer_json(
    question: &str,
    progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Result<String, Error> {
    let question: Question =
        serde_json::from_str(question).map_err(|error| Error::Form(error.to_string()))?;
    let answer = answer(&question, progress)?;
    serde_json::to_string(&answer).map_err(|error| Error::Own(error.to_string()))
}

/// Answers a question. `progress` is called some times a second with the part that is done.
///
/// # Errors
///
/// If no system has the values of the question, or `progress` stops the simulation.
pub fn answer(
    question: &Question,
    progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Result<Answer, Error> {
    validate::validate(question)?;
    let method = method(question);
    match method {
        MethodUsed::ClosedForm | MethodUsed::Markov => Ok(by_rates(question, method)),
        MethodUsed::MonteCarlo | MethodUsed::Splitting => match question.redundancy {
            Redundancy::Declustered { .. } => simulated::pool(question, progress),
            Redundancy::Array { .. } | Redundancy::Mirrors { .. } => {
                simulated::arrays(question, progress)
            }
        },
    }
}

fn method(question: &Question) -> MethodUsed {
    match question.method {
        Method::ClosedForm => MethodUsed::ClosedForm,
        Method::Markov => MethodUsed::Markov,
        Method::MonteCarlo => MethodUsed::MonteCarlo,
        Method::Auto => {
            let simple = hazard::Hazard::new(&question.lifetime.law).is_constant()
                && question.repair.is_exponential()
                && question.latent.is_none()
                && question.batches.is_none()
                && question.domains.is_empty()
                && !question.simulation.count_losses
                && !matches!(question.redundancy, Redundancy::Declustered { .. });
            if simple {
                MethodUsed::Markov
            } else {
                MethodUsed::MonteCarlo
            }
        }
    }
}

/// Answers by a chain or by formulas.
fn by_rates(question: &Question, method: MethodUsed) -> Answer {
    let shape = Shape::of(question);
    let group = rates::group(question);
    let read_error_bytes = shape.read_error_bytes(question.read_errors.loses);
    let horizons = question.horizons.iter().map(|horizon| {
        let losses = match method {
            MethodUsed::ClosedForm => closed_form::losses(&group.chain, *horizon),
            _ => group.chain.losses(*horizon),
        };
        let one = losses.total();
        let all = estimate::any_of(shape.groups, one);
        let share = if one > 0.0 {
            losses.read_error / one
        } else {
            0.0
        };
        let bytes = losses.failures * group.failure_bytes + losses.read_error * read_error_bytes;
        HorizonAnswer {
            horizon_seconds: *horizon,
            loss_probability: all,
            standard_error: 0.0,
            low: all,
            high: all,
            read_error_loss_probability: Some(all * share),
            read_error_low: all * share,
            read_error_high: all * share,
            nomdl: Some(bytes / shape.usable_bytes),
            nomdl_standard_error: 0.0,
            nomdl_low: bytes / shape.usable_bytes,
            nomdl_high: bytes / shape.usable_bytes,
            failure_losses_seen: None,
            read_error_losses_seen: None,
            expected_losses: None,
        }
    });
    let mttdl = Some(group.chain.mean_time() / f64::from(shape.groups));
    Answer {
        horizons: horizons.collect(),
        mttdl_seconds: mttdl,
        mttdl_low_seconds: mttdl,
        mttdl_high_seconds: mttdl,
        method,
        usable_bytes: shape.usable_bytes * f64::from(shape.groups),
        read_error_probability: read_errors_given(question).then_some(group.read_error),
        missions: 0,
        simulated_disk_years: 0.0,
        unavailability: None,
        counts: None,
        assumptions: assumptions::of(question, method),
    }
}

fn read_errors_given(question: &Question) -> bool {
    question.disk.bit_error_rate > 0.0 || question.latent.is_some()
}
