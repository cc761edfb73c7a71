//! Reliability of disk arrays, mirrors, erasure codes and declustered pools.
//!
//! [`answer()`] takes a [`Question`] and gives an [`Answer`] by formulas, by a Markov chain or by
//! simulation. [`answer_json`] does so for JSON documents.

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
