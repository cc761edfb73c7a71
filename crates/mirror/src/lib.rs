//! A directory mounted a second time, through FUSE: everything is passed on to the directory,
//! and every request of the kernel is counted on the way.
//!
//! Shows the requests that a program's file operations cause below the kernel's caches, as the
//! server of a network file system sees them. Independent of the other crates.
//!
//! Left out: locks of fcntl(2) are kept by the kernel for those who use the mirror, and not seen
//! in the directory, as those of flock(2) are; O_DIRECT passes the mirror's page cache but not
//! the directory's; what others write to a file in the directory is seen when it is opened anew;
//! what is mounted inside the directory is not shown; device nodes can be made but not used. Only
//! the user who mounted it may use it.

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
