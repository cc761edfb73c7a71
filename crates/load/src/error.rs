//! Errors.

use std::path::PathBuf;

use rustix::io::Errno;

/// Why a benchmark cannot begin, or broke off.
#[derive(thiserror::Error, Debug)]
pub enum Error {
    /// The scenario cannot run on a real file system.
    #[error("{0}")]
    Unsuitable(String),
    /// The directory is not what a benchmark can run in.
    #[error("{}: {what}: {source}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Action that failed.
        what: &'static str,
        /// Why it failed.
        source: std::io::Error,
    },
    /// A trace that a workload replays cannot be read.
    #[error(transparent)]
    Trace(#[from] headrace_workload::TraceError),
    /// An operation failed.
    #[error("{operation} of {path}: {}; {}", std::io::Error::from(*errno), meaning(*errno))]
    Operation {
        /// Its name.
        operation: &'static str,
        /// The file, below the benchmark's own directory.
        path: String,
        /// Why.
        errno: Errno,
    },
    /// A read gave other bytes than were written, or fewer.
    #[error("{operation} of {path}: {found}")]
    Wrong {
        /// The operation's name.
        operation: &'static str,
        /// The file.
        path: String,
        /// Actual and expected value.
        found: String,
    },
    /// An error on one of several hosts.
    #[error("{host}: {message}")]
    Elsewhere {
        /// The name of the host.
        host: String,
        /// Message.
        message: String,
    },
    /// The caller stopped the preparation of the run.
    #[error("interrupted")]
    Interrupted,
    /// No thread could be made for a process.
    #[error(
        "cannot start a thread for a process: {0}; use fewer processes or raise the limit \
         (ulimit -u)"
    )]
    Thread(std::io::Error),
    /// The engine's own fault.
    #[error("internal error: {0}; please report it")]
    Own(String),
}

/// Explains a failure and what to do about it.
fn meaning(errno: Errno) -> &'static str {
    match errno {
        Errno::NOSPC => "the file system is full: free space, or use a smaller file set",
        Errno::DQUOT => "the quota is exhausted: use a smaller file set",
        Errno::ROFS => "the file system is read-only: mount it for writing",
        Errno::ACCESS | Errno::PERM => "permission denied: use a directory that you own",
        Errno::NOENT | Errno::STALE | Errno::NOTCONN | Errno::NODEV | Errno::SHUTDOWN => {
            "no earlier phase created it, or the directory was unmounted or removed during the \
             run"
        }
        Errno::IO => "the device or the server failed: see the kernel's log",
        Errno::MFILE | Errno::NFILE => "too many files are open: raise ulimit -n",
        Errno::INVAL | Errno::OPNOTSUPP | Errno::NOSYS => {
            "the file system does not support this operation: remove it from the mix"
        }
        Errno::NXIO => "the file ends before the range to be read",
        Errno::NOLCK => "the file system has no free locks, or its lock manager is not running",
        Errno::FBIG => "the file exceeds a limit of the file system or of the process (ulimit -f)",
        _ => "the run stopped here",
    }
}
