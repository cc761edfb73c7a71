//! Validation of questions.

use crate::error::Error;
use crate::question::{Duration, LifetimeLaw, Question, Redundancy, Scrub, WeibullLaw};
use crate::shape::Shape;

/// Most disks of a simulated system.
const MOST_DISKS: u64 = 2_000_000;

/// Most disks of a declustered pool; hundreds of its states are saved at a time.
const MOST_POOL_DISKS: u32 = 20_000;
/// Most failures tolerated: the chain's matrix has the square of it.
const MOST_TOLERATED: u32 = 64;

/// Refuses questions that have no answer, with the field and the expected value.
pub fn validate(question: &Question) -> Result<(), Error> {
    redundancy(question)?;
    positive("disk.capacity_bytes", question.disk.capacity_bytes)?;
    let rate = question.disk.bit_error_rate;
    if !(0.0..1.0).contains(&rate) {
        return Err(Error::at(
            "disk.bit_error_rate",
            format!("{rate} is no probability of a bit error; expected one such as 1e-15"),
        ));
    }
    lifetime(question)?;
    let repair = &question.repair;
    duration("repair.detection", &repair.detection)?;
    duration("repair.replacement", &repair.replacement)?;
    duration("repair.rebuild", &repair.rebuild)?;
    if let Some(spares) = &repair.spares {
        duration("repair.spares.restocking", &spares.restocking)?;
    }
    if repair.mean() <= 0.0 {
        return Err(Error::at(
            "repair.rebuild",
            "the whole repair takes 0 s; expected a time above 0",
        ));
    }
    if let Some(latent) = &question.latent {
        positive("latent.mean", latent.mean)?;
        match latent.scrub {
            Scrub::None => {}
            Scrub::Period { seconds } => positive("latent.scrub.seconds", seconds)?,
            Scrub::Weibull(law) => weibull("latent.scrub", &law)?,
        }
    }
    systems(question)?;
    if question.horizons.is_empty() {
        return Err(Error::at("horizons", "expected at least one horizon"));
    }
    for horizon in &question.horizons {
        positive("horizons", *horizon)?;
    }
    let simulation = &question.simulation;
    if simulation.missions == Some(0) {
        return Err(Error::at("simulation.missions", "expected 1 or more"));
    }
    positive("simulation.relative_error", simulation.relative_error)?;
    positive("simulation.disk_years", simulation.disk_years)
}

fn redundancy(question: &Question) -> Result<(), Error> {
    if question.groups == 0 {
        return Err(Error::at("groups", "expected 1 or more"));
    }
    match question.redundancy {
        Redundancy::Array {
            disks,
            tolerates,
            stripe_bytes,
        } => {
            positive("redundancy.stripe_bytes", stripe_bytes)?;
            if disks == 0 || tolerates >= disks {
                return Err(Error::at(
                    "redundancy",
                    format!(
                        "{disks} disks cannot survive {tolerates} failures; expected more disks \
                         than failures"
                    ),
                ));
            }
        }
        Redundancy::Mirrors {
            disks,
            copies,
            stripe_bytes,
        } => {
            positive("redundancy.stripe_bytes", stripe_bytes)?;
            if copies == 0 || disks == 0 || !disks.is_multiple_of(copies) {
                return Err(Error::at(
                    "redundancy",
                    format!(
                        "{disks} disks make no mirrors of {copies}; expected a multiple of {}",
                        copies.max(1)
                    ),
                ));
            }
            if question.groups.checked_mul(disks / copies).is_none() {
                return Err(Error::at("groups", "too many mirrors"));
            }
        }
        Redundancy::Declustered {
            disks,
            data,
            parity,
            chunk_bytes,
            spare_disks,
        } => {
            positive("redundancy.chunk_bytes", chunk_bytes)?;
            let width = u64::from(data) + u64::from(parity);
            if data == 0 || width + u64::from(spare_disks) > u64::from(disks) {
                return Err(Error::at(
                    "redundancy",
                    format!(
                        "{disks} disks cannot hold stripes of {data} + {parity} chunks and \
                         {spare_disks} spare; expected at least {} disks",
                        width + u64::from(spare_disks)
                    ),
                ));
            }
            if question.repair.spares.is_some() {
                return Err(Error::at(
                    "repair.spares",
                    "a declustered pool has spare space, no hot spares; expected \
                     redundancy.spare_disks",
                ));
            }
        }
    }
    let shape = Shape::of(question);
    if shape.tolerates > MOST_TOLERATED {
        return Err(Error::at(
            "redundancy",
            format!(
                "{} failures tolerated are more than {MOST_TOLERATED}; expected fewer",
                shape.tolerates
            ),
        ));
    }
    let is_pool = matches!(question.redundancy, Redundancy::Declustered { .. });
    if is_pool && shape.disks > MOST_POOL_DISKS {
        return Err(Error::at(
            "redundancy.disks",
            format!(
                "{} disks are more than {MOST_POOL_DISKS} of one pool; expected several groups",
                shape.disks
            ),
        ));
    }
    let disks = shape.all_disks();
    if disks > MOST_DISKS {
        return Err(Error::at(
            "groups",
            format!("{disks} disks are more than {MOST_DISKS}; expected fewer"),
        ));
    }
    Ok(())
}

fn lifetime(question: &Question) -> Result<(), Error> {
    match &question.lifetime.law {
        LifetimeLaw::Exponential { mean } => positive("lifetime.law.mean", *mean)?,
        LifetimeLaw::Weibull(law) => weibull("lifetime.law", law)?,
        LifetimeLaw::Bathtub {
            infant,
            constant_mean,
            wear_out,
        } => {
            weibull("lifetime.law.infant", infant)?;
            weibull("lifetime.law.wear_out", wear_out)?;
            if let Some(mean) = constant_mean {
                positive("lifetime.law.constant_mean", *mean)?;
            }
        }
        LifetimeLaw::HazardTable { ages, hazards } => {
            let rises = ages.windows(2).all(|pair| pair[0] < pair[1]);
            let finite = ages.iter().all(|age| age.is_finite());
            if ages.len() != hazards.len() || ages.first() != Some(&0.0) || !rises || !finite {
                return Err(Error::at(
                    "lifetime.law.ages",
                    "expected rising ages from 0 on, one for each hazard",
                ));
            }
            let fine = hazards.iter().all(|it| *it >= 0.0 && it.is_finite());
            if !fine || hazards.last() == Some(&0.0) {
                return Err(Error::at(
                    "lifetime.law.hazards",
                    "expected failures a second, 0 or more, the last above 0",
                ));
            }
        }
    }
    not_negative("lifetime.burn_in", question.lifetime.burn_in)?;
    not_negative("lifetime.initial_age", question.lifetime.initial_age)
}

fn systems(question: &Question) -> Result<(), Error> {
    if let Some(batches) = &question.batches {
        probability("batches.bad_share", batches.bad_share)?;
        positive("batches.bad_factor", batches.bad_factor)?;
        if batches.disks == 0 {
            return Err(Error::at("batches.disks", "expected 1 or more"));
        }
    }
    for (at, domain) in question.domains.iter().enumerate() {
        let place = |field: &str| format!("domains[{at}].{field}");
        positive(&place("mean"), domain.mean)?;
        probability(&place("lost_share"), domain.lost_share)?;
        duration(&place("outage"), &domain.outage)?;
        if domain.disks == 0 {
            return Err(Error::at(&place("disks"), "expected 1 or more"));
        }
    }
    if let Some(replacement) = &question.replacement {
        positive("replacement.age", replacement.age)?;
    }
    Ok(())
}

fn positive(place: &str, value: f64) -> Result<(), Error> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(Error::at(place, format!("{value}: expected more than 0")))
}

fn not_negative(place: &str, value: f64) -> Result<(), Error> {
    if value >= 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(Error::at(place, format!("{value}: expected 0 or more")))
}

fn probability(place: &str, value: f64) -> Result<(), Error> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    Err(Error::at(
        place,
        format!("{value}: expected a probability from 0 to 1"),
    ))
}

fn weibull(place: &str, law: &WeibullLaw) -> Result<(), Error> {
    let shape = law.shape;
    if !(0.05..=100.0).contains(&shape) {
        return Err(Error::at(
            &format!("{place}.shape"),
            format!("{shape}: expected a shape from 0.05 to 100"),
        ));
    }
    positive(&format!("{place}.scale"), law.scale)?;
    not_negative(&format!("{place}.location"), law.location)
}

fn duration(place: &str, duration: &Duration) -> Result<(), Error> {
    match *duration {
        Duration::Constant { seconds } => not_negative(&format!("{place}.seconds"), seconds),
        Duration::Exponential { mean } => positive(&format!("{place}.mean"), mean),
        Duration::Weibull(law) => weibull(place, &law),
        Duration::Transfer {
            bytes,
            bytes_per_second,
        } => {
            positive(&format!("{place}.bytes"), bytes)?;
            positive(&format!("{place}.bytes_per_second"), bytes_per_second)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(change: impl Fn(&mut Question)) -> String {
        let text = r#"{"redundancy": {"kind": "array", "disks": 8, "tolerates": 2},
            "lifetime": {"law": {"kind": "exponential", "mean": 1}},
            "repair": {"rebuild": {"kind": "constant", "seconds": 1}}}"#;
        let mut question: Question = serde_json::from_str(text).expect("a question");
        assert_eq!(validate(&question), Ok(()));
        change(&mut question);
        validate(&question).expect_err("a refusal").to_string()
    }

    #[test]
    fn refusals_name_the_field() {
        let infinite = refused(|it| it.disk.capacity_bytes = f64::INFINITY);
        assert_eq!(infinite, "disk.capacity_bytes: inf: expected more than 0");
        assert!(refused(|it| it.groups = 0).starts_with("groups: "));
        assert!(refused(|it| it.lifetime.burn_in = -1.0).starts_with("lifetime.burn_in: -1"));
        assert!(refused(|it| it.simulation.missions = Some(0)).starts_with("simulation.missions"));
        let many = refused(|it| {
            it.redundancy = Redundancy::Array {
                disks: 1000,
                tolerates: 500,
                stripe_bytes: 1.0,
            };
        });
        assert!(many.starts_with("redundancy: 500 failures"), "{many}");
    }
}
