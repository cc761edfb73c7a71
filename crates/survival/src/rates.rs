//! A group as a Markov chain: the rates of failures, repairs and read errors.

use crate::chain::Chain;
use crate::hazard::Hazard;
use crate::question::{Concurrency, Question, Redundancy};
use crate::read_error;
use crate::shape::Shape;

/// The chain of one group, its laws replaced by exponential ones of equal mean.
#[derive(Clone, Debug)]
pub struct Group {
    /// The chain.
    pub chain: Chain,
    /// Probability that a rebuild without redundancy left meets a read error.
    pub read_error: f64,
    /// Bytes that a loss by failures loses.
    pub failure_bytes: f64,
}

/// Returns the chain of one group.
pub fn group(question: &Question) -> Group {
    let shape = Shape::of(question);
    match question.redundancy {
        Redundancy::Declustered { data, .. } => pool(question, &shape, data),
        Redundancy::Array { .. } | Redundancy::Mirrors { .. } => array(question, &shape),
    }
}

/// Mean lifetime of a disk in seconds.
fn mean_lifetime(question: &Question) -> f64 {
    Hazard::new(&question.lifetime.law).mean_from(question.lifetime.first_age())
}

/// The chain of an array or a mirror: state j has j failed disks.
fn array(question: &Question, shape: &Shape) -> Group {
    let (lifetime, repair) = (mean_lifetime(question), question.repair.mean());
    let (disks, tolerates) = (shape.disks, shape.tolerates);
    // A group without redundancy is never rebuilt.
    let read_error = if tolerates == 0 {
        0.0
    } else {
        read_error::in_rebuild(
            disks - tolerates,
            &question.disk,
            question.latent.as_ref(),
            question.longest_horizon(),
        )
    };
    let mut chain = Chain::default();
    for failed in 0..=tolerates {
        let rebuilds = match question.repair.concurrency {
            Concurrency::Parallel => f64::from(failed),
            Concurrency::Serial => f64::from(failed.min(1)),
        };
        let rate = rebuilds / repair;
        let is_lost = question.read_errors.lose(failed, tolerates);
        let lost = if is_lost { read_error } else { 0.0 };
        chain.up.push(f64::from(disks - failed) / lifetime);
        chain.down.push(rate * (1.0 - lost));
        chain.kill.push(rate * lost);
    }
    Group {
        chain,
        read_error,
        failure_bytes: shape.usable_bytes,
    }
}

/// The chain of a declustered pool: state j is the largest number of chunks that a stripe lacks.
///
/// The stripes that lack j chunks are those of a fresh pool with j failed disks. They are rebuilt
/// first, so that a state lasts as long as they take.
fn pool(question: &Question, shape: &Shape, data: u32) -> Group {
    let lifetime = mean_lifetime(question);
    let width = data + shape.tolerates;
    let all = f64::from(shape.disks);
    let stripes = shape.usable_bytes / shape.stripe_bytes;
    let chunks = stripes * f64::from(width) / all;
    let rebuild = question.repair.rebuild.mean();
    let waiting = question.repair.mean() - rebuild;
    let chunk_bytes = shape.stripe_bytes / f64::from(data);
    let lost_stripe = read_error::in_stripe(question, shape.stripe_bytes, data, chunks);
    let mut chain = Chain::default();
    let (mut critical, mut read_error, mut failure_bytes) = (stripes, 0.0, 0.0);
    for failed in 0..=shape.tolerates {
        let place = f64::from(failed);
        // Stripes that lack `failed` chunks; at least the one that made the state.
        let lacking = critical.max(1.0);
        // A failure strikes while the rebuild of the state below is half done on average.
        let left = if failed == 0 { 1.0 } else { 0.5 };
        let next = left * critical * (f64::from(width) - place) / (all - place);
        let hits = -libm::expm1(-lacking * (f64::from(width) - place) / (all - place));
        chain.up.push((all - place) / lifetime * hits);
        let rate = if failed == 0 {
            0.0
        } else {
            let passes = lacking * question.repair.concurrency.passes(failed);
            1.0 / (waiting + rebuild * (passes / chunks).min(1.0))
        };
        let lost = if failed == shape.tolerates && failed > 0 {
            read_error = -libm::expm1(-lacking * lost_stripe);
            failure_bytes = next.max(1.0) * shape.stripe_bytes;
            read_error
        } else {
            0.0
        };
        chain.down.push(rate * (1.0 - lost));
        chain.kill.push(rate * lost);
        critical = next;
    }
    if shape.tolerates == 0 {
        failure_bytes = (chunks * chunk_bytes).min(shape.usable_bytes);
    }
    Group {
        chain,
        read_error,
        failure_bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(redundancy: &str, concurrency: &str) -> Chain {
        let text = format!(
            r#"{{"redundancy": {redundancy},
            "lifetime": {{"law": {{"kind": "exponential", "mean": 1000}}}},
            "repair": {{"rebuild": {{"kind": "exponential", "mean": 10}},
            "concurrency": "{concurrency}"}}}}"#
        );
        group(&serde_json::from_str(&text).expect("a question")).chain
    }

    #[test]
    fn repairs_are_parallel_or_serial() {
        let array = r#"{"kind": "array", "disks": 8, "tolerates": 2}"#;
        assert_eq!(chain(array, "parallel").down, [0.0, 0.1, 0.2]);
        assert_eq!(chain(array, "serial").down, [0.0, 0.1, 0.1]);
        assert_eq!(chain(array, "serial").up, [0.008, 0.007, 0.006]);
    }

    #[test]
    fn stripes_that_lack_most_are_rebuilt_sooner() {
        let pool = r#"{"kind": "declustered", "disks": 100, "data": 8, "parity": 2}"#;
        let rates = chain(pool, "parallel").down;
        assert!(rates[2] > 5.0 * rates[1], "{rates:?}");
    }
}
