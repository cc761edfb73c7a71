//! The local file system: below processes, or below the daemon of a data server.
//!
//! [`machine`] is the whole of it: processor, page cache, read-ahead, write-back, journal,
//! placement, I/O queue and device. [`PageCache`] is the simple page cache of servers without a
//! machine. Their files lie one after the other on the device, as in PFSsim (Liu et al. 2011,
//! §4.4).
//!
//! | part | files |
//! | --- | --- |
//! | calls | `calls.rs`, `volume.rs`, `read_calls.rs`, `write_calls.rs`, `sync_calls.rs` |
//! | processor | `cpu_cost.rs`, `copy_time.rs`, `last_level_cache.rs` |
//! | page cache, read-ahead | `active_inactive_lru.rs`, `read_ahead.rs` |
//! | write-back | `flusher.rs`, `balance.rs` |
//! | journal | `journal.rs`, `journal_commit.rs`, `journal_checkpoint.rs` |
//! | placement | `block_allocator.rs` |
//! | above servers | `client_page_cache.rs`, `server_dirty_data.rs`, `lock_revocation.rs` |
//!
//! A run begins with an empty journal. The state of each part is a store of the net, and callers
//! wait in the page of the part that they wait for.
//!
//! Not modelled: new places for overwritten records of ZFS (copy on write), its intent log,
//! checksums, compression, RAID-Z and the ghost lists of its ARC; memory mapped by several
//! processes; swap.

mod active_inactive_lru;
mod balance;
mod block_allocator;
mod cached_pages;
mod call;
mod callers;
mod calls;
mod checkpoint_list;
mod client_page_cache;
mod copy_time;
mod cpu_cost;
mod crash;
mod extent_index;
mod extents;
mod flusher;
mod flusher_page;
mod fresh_memory;
mod journal;
mod journal_checkpoint;
mod journal_commit;
mod journal_page;
mod last_level_cache;
mod lock_revocation;
mod machine;
mod name_calls;
mod new_blocks;
mod page_cache;
mod page_cache_page;
mod pages_under_commit;
mod parts;
mod range_map;
mod read_ahead;
mod read_calls;
mod server_dirty_data;
mod sizes;
mod sync_calls;
mod volume;
mod volume_stores;
mod waiting;
mod write_calls;

pub use active_inactive_lru::ActiveInactiveLru;
pub use cached_pages::CachedPages;
pub use callers::{Callers, OpenFlags, StoredFile};
pub use client_page_cache::{CachePorts, cache, client_page_cache};
pub use extents::Range;
pub use machine::{MachinePorts, machine};
pub use page_cache::PageCache;
pub use server_dirty_data::{Closing, Remote};
pub use sizes::Sizes;
pub use volume_stores::{CacheLocks, SharedStores};
