//! Limits on a number.

use crate::values::word;

word! {
    /// Limit on a number.
    pub enum Limit {
        /// Any number.
        Unlimited = "unlimited",
        /// A number.
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
