//! How many of something there may be at a time.

use crate::values::word;

word! {
    /// How many there may be at a time.
    pub enum Limit {
        /// Any number.
        Unlimited = "unlimited",
        /// So many.
        Count(u32),
    }
}

impl Limit {
    /// The number, if there is a limit.
    #[must_use]
    pub fn limit(self) -> Option<u32> {
        match self {
            Limit::Unlimited => None,
            Limit::Count(count) => Some(count),
        }
    }
}
