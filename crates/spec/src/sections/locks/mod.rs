//! `[locks]`: what clients must hold before they read or write.

mod extent;
mod none;

pub use extent::ExtentLocks;
pub use none::NoLocks;

use crate::declare::kinds;

kinds! {
    /// Coherence of clients' data.
    pub enum Locks default "none", "nobody, as with PVFS" {
        NoLocks = "none",
        ExtentLocks = "extent",
    }
}

impl Locks {
    /// The locks, if there are any.
    #[must_use]
    pub fn extent(&self) -> Option<&ExtentLocks> {
        match self {
            Locks::NoLocks(_) => None,
            Locks::ExtentLocks(locks) => Some(locks),
        }
    }
}
