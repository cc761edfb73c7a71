//! The local file system: below processes, or below the daemon of a data server.
//!
//! [`machine`] is the whole of it: processor, page cache, read-ahead, write-back,
//! journal, placement, I/O queue and device. [`PageCache`] is the simple page cache
//! of servers without a machine: their files lie one after the other on the device,
//! as in PFSsim (Liu et al. 2011, §4.4).

mod above_servers;
mod balance;
mod buffer_heads;
mod call;
mod checkpoint_list;
mod checkpointing;
mod committing;
mod copying;
mod crashing;
mod extents;
mod flushing;
mod fresh_memory;
mod giving_up;
mod journal;
mod last_level;
mod logging;
mod machine;
mod naming;
mod new_blocks;
mod page_cache;
mod placement;
mod places;
mod read_ahead;
mod reading;
mod remote;
mod sizes;
mod syncing;
mod two_lists;
mod users;
mod volume;
mod writing;

pub use above_servers::{CachePorts, above_servers, cache};
pub use call::NOBODY;
pub use extents::Range;
pub use machine::{MachinePorts, machine};
pub use page_cache::PageCache;
pub use remote::{Closing, Remote};
pub use sizes::Sizes;
pub use two_lists::TwoLists;
pub use users::{Opened, StoredFile, Users};
