//! Locks that clients have: on bytes of files, and the permission to cache a file.
//!
//! Servers grant them (`server/`), clients obey them (`client/`), and page caches ask for what
//! they cover (`localfs/`).

mod lock_set;
mod oplocks;

pub(crate) use lock_set::Lock;
pub use lock_set::LockSet;
pub use oplocks::Oplocks;

/// The workload of calls by which a client gives up a lock.
pub const NOBODY: u16 = u16::MAX;
