//! The types of values a field can have, one file each.

pub(crate) mod amount;
mod by_concurrency;
mod bytes;
mod choice;
mod date;
mod fallback;
mod file_path;
mod limit;
mod list;
mod listed;
mod name;
mod number;
mod numbers;
mod per_group;
mod percent;
mod physical;
mod plausible_rate;
mod rate;
mod scale;
mod seconds;
mod service_times;
mod size_by_rank;
mod text;
mod weighted;

/// Gives an error of a value that is no field its expected form.
fn read_as<T>(parsed: Result<T, String>, expected: &str) -> Result<T, String> {
    parsed.map_err(|why| match why.as_str() {
        "" => format!("expected {expected}"),
        why => format!("expected {expected}: {why}"),
    })
}

pub use by_concurrency::RatesByConcurrency;
pub(crate) use by_concurrency::{ByConcurrency, table_of_rates};
pub use bytes::Bytes;
pub(crate) use choice::choice;
pub(crate) use date::Date;
pub(crate) use fallback::{CountOr, Word, word};
pub(crate) use file_path::FilePath;
pub use limit::Limit;
pub(crate) use list::{AnyNumber, NonEmpty};
pub(crate) use listed::Listed;
pub(crate) use name::Name;
pub(crate) use number::{
    AtLeastOne, BitErrorRate, Count, Fraction, Money, NonNegative, Ordinal, Portion, Positive,
    RackUnits, Ratio, Seed, Share, Years,
};
pub(crate) use numbers::Numbers;
pub(crate) use per_group::ByGroup;
pub use per_group::PerGroup;
pub(crate) use percent::{Chance, Growth, Part};
pub(crate) use physical::MoreThanZero;
pub use physical::{Amperes, Kilograms, Span, VoltAmperes, Volts, Watts};
pub(crate) use plausible_rate::PlausibleRate;
pub use rate::Rate;
pub use seconds::Seconds;
pub use service_times::ServiceTimes;
pub(crate) use service_times::TimesOrFile;
pub use size_by_rank::SizeByRank;
pub use weighted::Weighted;
pub(crate) use weighted::{ByWeight, table_of_weights};
