//! The types of values a field can have, one file each.

pub(crate) mod amount;
mod bytes;
mod choice;
mod fallback;
mod file_path;
mod limit;
mod list;
mod listed;
mod number;
mod numbers;
mod per_group;
mod rate;
mod seconds;
mod text;
mod weighted;

pub use bytes::Bytes;
pub(crate) use choice::choice;
pub(crate) use fallback::{CountOr, Word, word};
pub(crate) use file_path::FilePath;
pub use limit::Limit;
pub(crate) use list::NonEmpty;
pub(crate) use listed::Listed;
pub(crate) use number::{
    AtLeastOne, Count, Fraction, Multiple, NonNegative, Ordinal, Portion, Positive, Seed, Share,
};
pub(crate) use numbers::Numbers;
pub(crate) use per_group::ByGroup;
pub use per_group::PerGroup;
pub use rate::Rate;
pub use seconds::Seconds;
pub use weighted::Weighted;
pub(crate) use weighted::{ByWeight, table_of_weights};
