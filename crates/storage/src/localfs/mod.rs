//! The local file system below a data server.
//!
//! Modelled so far: the page cache with write-back. A server's files lie one
//! after the other on the device, as in PFSsim (Liu et al. 2011, §4.4), so
//! block addresses play no part yet.

mod balance;
mod call;
mod committing;
mod copying;
mod extents;
mod flushing;
mod journal;
mod machine;
mod naming;
mod page_cache;
mod placement;
mod read_ahead;
mod reading;
mod syncing;
mod two_lists;
mod volume;
mod writing;

pub use extents::Range;
pub use machine::{MachinePorts, machine};
pub use page_cache::PageCache;
