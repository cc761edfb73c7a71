//! `kind = "none"`: no locks.

use crate::declare::section;

section! {
    /// None: a client's cached data stays valid when others write.
    pub struct NoLocks {}
}
