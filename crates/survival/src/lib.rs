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
mod validate;

use std::ops::ControlFlow;

use answer::{Estimate, HorizonAnswer, MethodUsed};
use estimate::Sums;
use model::Model;
use pool::Pool;
use question::{Method, Redundancy, YEAR};
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
            Redundancy::Declustered { .. } => simulate_pool(question, progress),
            Redundancy::Array { .. } | Redundancy::Mirrors { .. } => {
                simulate_arrays(question, progress)
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
            read_error_loss_probability: all * share,
            nomdl: bytes / shape.usable_bytes,
            nomdl_standard_error: 0.0,
            expected_losses: None,
        }
    });
    Answer {
        horizons: horizons.collect(),
        mttdl_seconds: Some(group.chain.mean_time() / f64::from(shape.groups)),
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

fn simulate_arrays(
    question: &Question,
    progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Result<Answer, Error> {
    let mut model = Model::new(question);
    if question.simulation.biasing && !question.simulation.count_losses {
        simulate::bias(&mut model);
    }
    let sums = simulate::arrays(&model, progress)?;
    let mut unavailability = None;
    if !question.domains.is_empty() {
        unavailability = Some(if model.bias.is_none() {
            sums.unavailable.estimate(sums.missions)
        } else {
            // Biased missions end at their first loss: outages need missions of their own.
            let mut crude = Model::new(question);
            let disk_years = crude.disks() as f64 * crude.end / YEAR;
            let missions = (2e7 / disk_years).clamp(200.0, 20_000.0) as u64;
            crude.question.simulation.missions = Some(missions);
            let sums = simulate::arrays(&crude, progress)?;
            sums.unavailable.estimate(sums.missions)
        });
    }
    let groups = model.shape.groups / model.simulated_groups;
    let mut answer = from_sums(
        question,
        &sums,
        groups,
        MethodUsed::MonteCarlo,
        model.bias.is_none(),
    );
    answer.unavailability = unavailability;
    Ok(answer)
}

fn simulate_pool(
    question: &Question,
    progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Result<Answer, Error> {
    let refused = [
        ("domains", !question.domains.is_empty()),
        ("batches", question.batches.is_some()),
        ("replacement", question.replacement.is_some()),
        ("simulation.count_losses", question.simulation.count_losses),
    ];
    if let Some((place, _)) = refused.iter().find(|(_, given)| *given) {
        return Err(Error::at(
            place,
            "not modelled for declustered pools; leave it out or ask about an array",
        ));
    }
    let mut pool = Pool::new(question);
    if question.simulation.biasing {
        simulate::bias_pool(&mut pool, &question.simulation);
    }
    let split = pool.is_split();
    let sums = simulate::pool(&pool, &question.simulation, progress)?;
    let (method, trials) = if split {
        (
            MethodUsed::Splitting,
            sums.missions * pool.replicate_missions(),
        )
    } else {
        (MethodUsed::MonteCarlo, sums.missions)
    };
    let mut answer = from_sums(question, &sums, question.groups, method, !split);
    answer.missions = trials;
    Ok(answer)
}

/// The answer of `groups` systems like the one simulated.
fn from_sums(
    question: &Question,
    sums: &Sums,
    groups: u32,
    method: MethodUsed,
    is_crude: bool,
) -> Answer {
    let shape = Shape::of(question);
    let horizons: Vec<HorizonAnswer> = question
        .horizons
        .iter()
        .zip(&sums.horizons)
        .map(|(horizon, at)| {
            let one = at.loss.estimate(sums.missions);
            let value = one.value.min(1.0);
            let slope = estimate::any_of_slope(groups, value);
            let (low, high) = if is_crude || value == 0.0 {
                estimate::counted_interval(value, sums.missions)
            } else {
                estimate::normal_interval(one)
            };
            let all = estimate::any_of(groups, value);
            let share = if value > 0.0 {
                (at.read_error.estimate(sums.missions).value / one.value).min(1.0)
            } else {
                0.0
            };
            let bytes = at.bytes.estimate(sums.missions);
            let losses = at.losses.estimate(sums.missions);
            HorizonAnswer {
                horizon_seconds: *horizon,
                loss_probability: all,
                standard_error: slope * one.standard_error,
                low: estimate::any_of(groups, low),
                high: estimate::any_of(groups, high),
                read_error_loss_probability: all * share,
                nomdl: bytes.value,
                nomdl_standard_error: bytes.standard_error,
                expected_losses: question.simulation.count_losses.then(|| Estimate {
                    value: losses.value * f64::from(groups),
                    standard_error: losses.standard_error * f64::from(groups),
                }),
            }
        })
        .collect();
    let last = horizons
        .iter()
        .max_by(|a, b| a.horizon_seconds.total_cmp(&b.horizon_seconds));
    let mttdl_seconds = last
        .filter(|last| last.loss_probability > 0.0 && last.loss_probability < 1.0)
        .map(|last| -last.horizon_seconds / libm::log1p(-last.loss_probability));
    Answer {
        mttdl_seconds,
        horizons,
        method,
        usable_bytes: shape.usable_bytes * f64::from(shape.groups),
        read_error_probability: read_errors_given(question)
            .then(|| rates::group(question).read_error),
        missions: sums.missions,
        simulated_disk_years: sums.disk_years,
        unavailability: None,
        counts: Some(sums.counts),
        assumptions: assumptions::of(question, method),
    }
}
