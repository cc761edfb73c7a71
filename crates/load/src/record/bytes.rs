//! Histograms as bytes: the format of HdrHistogram (V2), which other programs read as well.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer as Reader, Serializer as Writer, V2Serializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

pub fn serialize<S: Serializer>(histogram: &Histogram<u64>, to: S) -> Result<S::Ok, S::Error> {
    let mut bytes = Vec::new();
    let written = V2Serializer::new().serialize(histogram, &mut bytes);
    written.map_err(|error| ser::Error::custom(format!("a histogram: {error:?}")))?;
    bytes.serialize(to)
}

pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Histogram<u64>, D::Error> {
    let bytes = Vec::<u8>::deserialize(from)?;
    let read = Reader::new().deserialize(&mut bytes.as_slice());
    let mut histogram: Histogram<u64> =
        read.map_err(|error| de::Error::custom(format!("a histogram: {error:?}")))?;
    histogram.auto(true);
    Ok(histogram)
}
