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
        /// Which.
        host: String,
        /// Message.
        message: String,
    },
    /// The caller broke off what is done before the run.
    #[error("interrupted")]
    Interrupted,
    /// No thread could be made for a process.
    #[error("no thread for a process: {0}; try fewer processes (see ulimit -u)")]
    Thread(std::io::Error),
    /// The engine's own fault.
    #[error("{0}; this is a fault of headrace")]
    Own(String),
}

/// Explains a failure and what to do about it.
fn meaning(errno: Errno) -> &'static str {
    match errno {
        Errno::NOSPC => "the file system is full: free space, or take a smaller file set",
        Errno::DQUOT => "the quota is used up: take a smaller file set",
        Errno::ROFS => "the file system can only be read: mount it for writing",
        Errno::ACCESS | Errno::PERM => "permission is missing: take a directory of your own",
        Errno::NOENT | Errno::STALE | Errno::NOTCONN | Errno::NODEV | Errno::SHUTDOWN => {
            "no earlier phase has made it, or the directory was unmounted or removed meanwhile"
        }
        Errno::IO => "the device or the server failed: see the kernel's log",
        Errno::MFILE | Errno::NFILE => "too many files are open: raise ulimit -n",
        Errno::INVAL | Errno::OPNOTSUPP | Errno::NOSYS => {
            "the file system does not do this operation: leave it out of the mix"
        }
        Errno::NXIO => "the file is shorter than what is to be read of it",
        Errno::NOLCK => "the file system's locks are used up, or its lock manager is not there",
        Errno::FBIG => {
            "the file is larger than the file system, or a limit of the process (ulimit -f), allows"
        }
        _ => "nothing was measured after it",
    }
}
