//! Locks that clients have: on bytes of files, and the permission to cache a file.
//!
//! Servers grant them (`server/locks.rs`, `server/lock_table.rs`), clients obey them
//! (`client/locks.rs`, `client/oplocks.rs`), and page caches ask for the bytes that they cover
//! (`localfs/`).
//!
//! With `locks.kind = "extent"`, each target has a table of the locks on each object (Schwan, Ottawa
//! Linux Symposium 2003; Lustre, lustre/ldlm/ldlm_extent.c). An object is the target's part of a
//! file, or one of several there with `layout.overstripe_count`. Read locks are shared,
//! others are exclusive.
//!
//! 1. **Request.** A request whose client has no suitable lock asks the server: a message,
//!    `time_per_lock` at the server, and a message back. Several objects are asked for one after
//!    the other, by number.
//! 2. **Grant.** Without a conflict with held or waiting locks, the server grants the lock at once,
//!    as large as possible. The first lock covers the whole object. With more than 4 conflicting
//!    locks on an object, no lock grows towards the beginning. With more than `contended_locks`, a
//!    write lock grows at most by `contended_growth`.
//! 3. **Revocation.** Otherwise the server calls back the conflicting holders. A holder uses the
//!    lock for no further request, finishes current ones, writes dirty data, drops cached data, and
//!    releases the lock. The first waiting client then gets it.
//! 4. **Retention.** A lock is held until another client needs it. Read-ahead ends at the end of
//!    the lock.
//!
//! A private file thus costs one round trip for each target. A reader of data that another client
//! has just written waits until it is on the server. Extents of requests and locks are multiples of
//! `unit`, a page: two clients that write halves of a page take turns.
//!
//! The cost of locks on a shared file is mostly idle targets. A client that waits for a lock on one
//! target has no work for the others, and several clients visit the targets together. Two clients
//! without caches that write a contiguous part each may take the whole object from each other for
//! every request. A client with a cache requests its next lock while it flushes, and so retains its
//! part.
//!
//! Not modelled: replicated data under locks; group locks; failures of servers: locks are granted
//! as if they had not failed.

mod lock_set;
mod oplocks;

pub(crate) use lock_set::Lock;
pub use lock_set::LockSet;
pub use oplocks::Oplocks;

/// The workload of calls by which a client releases a lock.
pub const NOBODY: u16 = u16::MAX;
