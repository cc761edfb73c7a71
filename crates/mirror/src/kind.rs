//! Kinds of requests, and how many there were of each.

use std::array;
use std::sync::atomic::{AtomicU64, Ordering};

/// Declares the kinds with the names that Linux gives them (include/uapi/linux/fuse.h, in small
/// letters and without `FUSE_`).
macro_rules! kinds {
    ($($kind:ident $name:literal,)+) => {
        /// Kind of kernel request.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Kind {
            $(#[doc = concat!("`", $name, "`")] $kind,)+
        }

        impl Kind {
            /// Every kind, in the order of its number.
            pub const ALL: &[Kind] = &[$(Kind::$kind,)+];

            /// Its name.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Kind::$kind => $name,)+
                }
            }
        }
    };
}

kinds! {
    Lookup "lookup",
    Getattr "getattr",
    Setattr "setattr",
    Readlink "readlink",
    Symlink "symlink",
    Mknod "mknod",
    Mkdir "mkdir",
    Unlink "unlink",
    Rmdir "rmdir",
    Rename "rename",
    Link "link",
    Open "open",
    Read "read",
    Write "write",
    Statfs "statfs",
    Release "release",
    Fsync "fsync",
    Setxattr "setxattr",
    Getxattr "getxattr",
    Listxattr "listxattr",
    Removexattr "removexattr",
    Flush "flush",
    Opendir "opendir",
    Readdir "readdir",
    Readdirplus "readdirplus",
    Releasedir "releasedir",
    Fsyncdir "fsyncdir",
    Setlk "setlk",
    Access "access",
    Create "create",
    Fallocate "fallocate",
    Lseek "lseek",
    CopyFileRange "copy_file_range",
}

/// Number of requests of each kind.
#[derive(Debug)]
pub struct Counts([AtomicU64; Kind::ALL.len()]);

impl Default for Counts {
    fn default() -> Counts {
        Counts(array::from_fn(|_| AtomicU64::new(0)))
    }
}

impl Counts {
    /// One more.
    pub(crate) fn add(&self, kind: Kind) {
        self.0[kind as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Requests of a kind so far.
    #[must_use]
    pub fn of(&self, kind: Kind) -> u64 {
        self.0[kind as usize].load(Ordering::Relaxed)
    }
}
