//! `kind = "none"`: no locks.

use crate::declare::section;

section! {
    /// None: what a client has cached stays valid whoever writes.
    pub struct NoLocks {}
}
