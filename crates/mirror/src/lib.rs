//! A directory mounted a second time, through FUSE. Every request of the kernel is counted and
//! passed on to the directory.
//!
//! Shows the requests that a program's file operations cause below the kernel's caches, as the
//! server of a network file system sees them. Independent of the other crates.
//!
//! Limitations: the kernel stores fcntl(2) locks in the mirror, invisible in the directory; those
//! of flock(2) are visible. O_DIRECT bypasses the mirror's page cache but not the directory's.
//! Writes of others to the directory become visible at the next open. File systems mounted inside
//! the directory are not shown. Device nodes can be created but not used. Only the user who mounted
//! it may use it.

mod attributes;
mod directory;
mod file_system;
mod handles;
mod kind;
mod mirror;
mod nodes;
mod tree;

pub use kind::{Counts, Kind};
pub use mirror::{Mirror, Options};

#[cfg(test)]
mod tests;
