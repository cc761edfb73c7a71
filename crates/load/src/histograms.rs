//! Histograms as text, to be saved and merged later.
//!
//! The format is that of HdrHistogram's logs: its version 2, deflated, in base64. Values
//! are nanoseconds.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

use crate::Error;
use crate::operation;
use crate::outcome::Outcome;
use crate::record::{Exact, Times};

/// A histogram of a run.
#[derive(Clone, Debug)]
pub struct Encoded {
    /// Operation.
    pub operation: &'static str,
    /// Kind of time: `service`, from the actual start, or `response`, from the intended one.
    pub time: &'static str,
    /// The histogram, as HdrHistogram's logs have it.
    pub histogram: String,
    /// Exact statistics.
    pub exact: Option<Exact>,
}

/// The histograms of each operation; response times only where operations have a start
/// that was intended.
///
/// # Errors
/// If one cannot be written, which would be the engine's own fault.
pub fn encoded(outcome: &Outcome, has_times: bool) -> Result<Vec<Encoded>, Error> {
    let mut all = Vec::new();
    for (number, operation) in operation::ALL.iter().enumerate() {
        let cell = outcome.record.cells[number].as_ref();
        let service = cell.map(|cell| ("service", cell.service.clone()));
        let response = outcome.record.response(number).filter(|_| has_times);
        let response = response.map(|it| ("response", it));
        for (time, times) in service.into_iter().chain(response) {
            all.push(Encoded {
                operation: operation.name(),
                time,
                histogram: encode(&times.histogram)?,
                exact: times.exact,
            });
        }
    }
    Ok(all)
}

/// A histogram as text.
///
/// # Errors
/// If it cannot be written, which would be the engine's own fault.
pub fn encode(histogram: &Histogram<u64>) -> Result<String, Error> {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(histogram, &mut bytes)
        .map_err(|error| Error::Own(format!("a histogram cannot be written: {error}")))?;
    Ok(STANDARD.encode(bytes))
}

/// Merges several histograms. Exact values that one of them lacks are taken from its buckets.
///
/// # Errors
/// If there is none, a text is no histogram, or its exact values are inconsistent.
pub fn merged(parts: &[(String, Option<Exact>)]) -> Result<Times, Error> {
    let mut all = parts.iter().map(|(text, exact)| times(text, *exact));
    let mut sum = all.next().ok_or_else(|| wrong("there is none"))??;
    for times in all {
        let times = times?;
        sum.histogram.add(&times.histogram).map_err(wrong)?;
        sum.exact = match (sum.exact, times.exact) {
            (Some(one), Some(other)) => Some(one.and(other)),
            (one, other) => one.or(other),
        };
    }
    Ok(sum)
}

fn times(text: &str, exact: Option<Exact>) -> Result<Times, Error> {
    let mut times = Times::of(decode(text)?);
    if let (Some(exact), Some(near)) = (exact, times.exact) {
        // Buckets of three digits are a thousandth wide; other programs may have two.
        let fits = |exact: u64, near: u64| near.abs_diff(exact) <= near / 50 + 1;
        let each = times.count();
        if !fits(exact.least, near.least)
            || !fits(exact.most, near.most)
            || exact.sum / each < exact.least
            || exact.sum / each > exact.most
        {
            return Err(wrong(format!(
                "{} ns in all, from {} to {} ns, is not what is in it",
                exact.sum, exact.least, exact.most
            )));
        }
        times.exact = Some(exact);
    }
    Ok(times)
}

fn decode(text: &str) -> Result<Histogram<u64>, Error> {
    let bytes = STANDARD.decode(text.trim()).map_err(wrong)?;
    let mut histogram: Histogram<u64> = Deserializer::new()
        .deserialize(&mut bytes.as_slice())
        .map_err(wrong)?;
    // Another one may hold longer times.
    histogram.auto(true);
    Ok(histogram)
}

fn wrong(why: impl std::fmt::Display) -> Error {
    Error::Unsuitable(format!(
        "expected histograms as HdrHistogram's logs have them: {why}"
    ))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(values: &[u64]) -> Times {
        let mut times = Times::default();
        values.iter().for_each(|value| times.record(*value));
        times
    }

    #[test]
    fn what_is_exact_stays_so_and_what_is_not_is_as_the_buckets_have_it() {
        let (one, other) = (of(&[10_041_015_003]), of(&[10_000_000_007]));
        let text = |of: &Times| encode(&of.histogram).expect("it can be written");
        let both = |first, second| merged(&[(text(&one), first), (text(&other), second)]);
        let exact = both(one.exact, other.exact).expect("they fit");
        assert_eq!(exact.mean(), Some(10_020_507_505.0));
        assert_eq!(exact.quantile(1.0), Some(10_041_015_003));
        // As it is in results of earlier versions.
        let near = both(None, other.exact).expect("they fit");
        assert!((near.mean().expect("two") / 10_020_507_505.0 - 1.0).abs() < 1e-3);
        // Exact values of another histogram.
        let error = both(other.exact.map(|it| Exact { sum: 1, ..it }), None);
        assert!(
            error
                .expect_err("too short")
                .to_string()
                .contains("is not what")
        );
    }

    proptest! {
        #[test]
        fn parts_put_together_are_the_whole(
            parts in prop::collection::vec(prop::collection::vec(0..1_u64 << 42, 0..50), 1..6)
        ) {
            let texts: Result<Vec<(String, Option<Exact>)>, Error> = parts
                .iter()
                .map(|part| Ok((encode(&of(part).histogram)?, of(part).exact)))
                .collect();
            let sum = merged(&texts.expect("they can be written")).expect("they can be read");
            prop_assert_eq!(sum, of(&parts.concat()));
        }
    }

    #[test]
    fn what_is_none_is_told() {
        for text in ["", "!", "HISTFAAA", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"] {
            let error = merged(&[(text.to_owned(), None)]).expect_err("it is none");
            assert!(error.to_string().contains("HdrHistogram"), "{error}");
        }
        assert!(merged(&[]).is_err());
    }
}
