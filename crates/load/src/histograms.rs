//! Histograms as text, so that they can be kept and put together later.
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

/// A histogram of a run.
#[derive(Clone, Debug)]
pub struct Encoded {
    /// Of which operation.
    pub operation: &'static str,
    /// Which time: `service`, from the actual start, or `response`, from the intended one.
    pub time: &'static str,
    /// The histogram, as HdrHistogram's logs have it.
    pub histogram: String,
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
        for (time, histogram) in service.into_iter().chain(response) {
            all.push(Encoded {
                operation: operation.name(),
                time,
                histogram: encode(&histogram)?,
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

/// Several histograms as one, whoever wrote them.
///
/// # Errors
/// If there is none, or a text is no histogram.
pub fn merged(texts: &[String]) -> Result<Histogram<u64>, Error> {
    let mut all = texts.iter().map(|text| decode(text));
    let mut sum = all.next().ok_or_else(|| wrong("there is none"))??;
    for histogram in all {
        sum.add(histogram?).map_err(wrong)?;
    }
    Ok(sum)
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

    fn of(values: &[u64]) -> Histogram<u64> {
        let mut histogram = Histogram::new(3).expect("three digits are valid");
        for value in values {
            histogram.record(*value).expect("it grows");
        }
        histogram
    }

    proptest! {
        #[test]
        fn parts_put_together_are_the_whole(
            parts in prop::collection::vec(prop::collection::vec(0..1_u64 << 42, 0..50), 1..6)
        ) {
            let texts: Result<Vec<String>, Error> =
                parts.iter().map(|part| encode(&of(part))).collect();
            let sum = merged(&texts.expect("they can be written")).expect("they can be read");
            prop_assert_eq!(sum, of(&parts.concat()));
        }
    }

    #[test]
    fn what_is_none_is_told() {
        for text in ["", "!", "HISTFAAA", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"] {
            let error = merged(&[text.to_owned()]).expect_err("it is none");
            assert!(error.to_string().contains("HdrHistogram"), "{error}");
        }
        assert!(merged(&[]).is_err());
    }
}
