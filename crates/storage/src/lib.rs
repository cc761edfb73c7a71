//! Headrace's storage models: pages and stations of the kernel, one file per
//! component, put together into whole systems from a scenario.
//!
//! A request's way, as Liu et al. 2011 (PFSsim, §3.1 and §4.1) describe it:
//!
//! ```text
//! process ─▶ client ─▶ layout (metadata server, cached) ─▶ one job a server
//!   ▲                                                        │
//!   │                                    network ─▶ scheduler ─▶ daemon
//!   │                                                        │
//!   └─ all jobs back ◀─ network ◀───────── page cache ◀─▶ device
//! ```

pub mod app;
mod cache_counts;
pub mod client;
pub mod device;
mod duplex;
pub mod erasure_code;
pub mod failure;
mod host_pages;
pub mod iosched;
pub mod layout;
pub mod localfs;
pub mod locks;
pub mod measure;
pub mod messages;
pub mod metadata;
pub mod network;
pub mod processors;
pub mod qos;
pub mod replacement;
pub mod server;
mod splitmix;
pub mod system;
mod time_conversion;
mod tokens;

pub use cache_counts::CacheCounts;
pub use duplex::Duplex;
pub use system::{Error, Observer, Options, Outcome, ServerSeries, simulate, structure};
pub use tokens::{
    Content, Direction, Extent, Job, Message, ObjectId, Process, ReleasedLock, Request, Role,
    Transfer,
};
