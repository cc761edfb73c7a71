//! Mounting a mirror, and taking it down.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fuser::{BackgroundSession, Config, MountOption, Session};
use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::file_system::MirrorFileSystem;
use crate::kind::Counts;
use crate::tree::Tree;

/// Requests that are answered side by side.
const THREADS: usize = 4;

/// Name of the mirror in the list of mounted file systems.
const NAME: &str = "headrace-mirror";

/// Caching options of the kernel.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Duration for which the attributes of files hold: 0 lets every stat ask.
    pub attribute_timeout: Duration,
    /// Duration for which names of files hold: 0 lets every path be looked up.
    pub entry_timeout: Duration,
    /// Duration for which names and attributes of directories hold.
    pub directory_timeout: Duration,
    /// True if directories are listed with the attributes of their entries, where the kernel
    /// prefers it. It does so at a directory's beginning, and after a name in it was looked up.
    pub readdirplus: bool,
}

impl Default for Options {
    /// File attributes are not cached, so that counts follow from the operations and not from their
    /// times. Directories hold as long as with an NFS client of Linux at the least (nfs(5),
    /// acdirmin: 30 s).
    fn default() -> Options {
        Options {
            attribute_timeout: Duration::ZERO,
            entry_timeout: Duration::ZERO,
            directory_timeout: Duration::from_secs(30),
            readdirplus: true,
        }
    }
}

/// A directory that is mounted a second time. It is unmounted when it is dropped.
#[derive(Debug)]
pub struct Mirror {
    at: PathBuf,
    counts: Arc<Counts>,
    session: Option<BackgroundSession>,
}

impl Mirror {
    /// Mounts `directory` at `at` as well.
    ///
    /// # Errors
    /// If the directory cannot be opened, or nothing be mounted: it takes /dev/fuse, and either
    /// the rights of root or fusermount3.
    pub fn mount(directory: &Path, at: &Path, options: Options) -> io::Result<Mirror> {
        let at = at.canonicalize()?;
        let tree = Tree::open(directory)?;
        raise_limit();
        let counts = Arc::new(Counts::default());
        let file_system = MirrorFileSystem::new(tree, Arc::clone(&counts), options);
        let mut config = Config::default();
        config.mount_options = vec![
            MountOption::FSName(NAME.to_owned()),
            MountOption::NoDev,
            MountOption::NoSuid,
        ];
        config.n_threads = Some(THREADS);
        let session = Session::new(file_system, &at, &config)?.spawn()?;
        Ok(Mirror {
            at,
            counts,
            session: Some(session),
        })
    }

    /// Number of requests.
    #[must_use]
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Unmounts it. Where files are still open it goes from sight at once, and for good with the
    /// last of them.
    ///
    /// # Errors
    /// If it cannot be unmounted.
    pub fn unmount(&mut self) -> io::Result<()> {
        let Some(session) = self.session.take() else {
            return Ok(());
        };
        match unmount(&self.at, UnmountFlags::empty()) {
            Ok(()) => ended(session),
            // Only root may: fusermount3 has to.
            Err(Errno::PERM) => session.umount_and_join(),
            // It has been unmounted already.
            Err(Errno::INVAL) => Ok(()),
            Err(_) => Ok(unmount(&self.at, UnmountFlags::DETACH)?),
        }
    }
}

impl Drop for Mirror {
    fn drop(&mut self) {
        // A drop cannot return an error.
        let _ = self.unmount();
    }
}

/// Waits for the threads of a session that is unmounted.
fn ended(session: BackgroundSession) -> io::Result<()> {
    match session.guard.join() {
        Ok(ended) => ended,
        Err(_) => Err(io::Error::other("a thread of the mirror panicked")),
    }
}

/// Each file that the kernel knows is open here: as many as may be.
fn raise_limit() {
    let now = getrlimit(Resource::Nofile);
    let most = Rlimit {
        current: now.maximum,
        maximum: now.maximum,
    };
    // With fewer it does as well until they are used up.
    let _ = setrlimit(Resource::Nofile, most);
}
