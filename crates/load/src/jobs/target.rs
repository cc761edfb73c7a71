//! Target of jobs: files in a benchmark's own directory, or a block device, which is only ever
//! opened for reading.

use std::ffi::CString;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Advice, AtFlags, CWD, FileType, Mode, OFlags, SeekFrom};
use rustix::io::Errno;

use crate::Error;
use crate::directory::Directory;
use crate::jobs::Job;
use crate::operation::Buffer;

/// Bytes of the write by which a file system shows whether it takes O_DIRECT.
const PROBED: usize = 4096;

const MODE: Mode = Mode::from_raw_mode(0o644);

/// How a file is opened.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OpenAs {
    /// No file: requests are not made.
    pub nothing: bool,
    pub writes: bool,
    pub reads: bool,
    pub direct: bool,
    pub stable: bool,
    pub stable_attributes: bool,
    pub creates: bool,
}

/// Target of jobs.
#[derive(Clone, Debug)]
pub enum JobTarget {
    /// Files in a benchmark's own directory.
    Directory(Arc<Directory>),
    /// A block device, to be read.
    Device {
        /// Its path.
        path: PathBuf,
        /// It, open for reading.
        opened: Arc<OwnedFd>,
        /// Its size.
        bytes: u64,
        /// Alignment of direct requests.
        sector: u32,
    },
}

impl JobTarget {
    /// A block device. It is opened for reading, and never for anything else.
    ///
    /// # Errors
    /// If it is none, or cannot be read.
    pub fn device(path: &Path) -> Result<JobTarget, Error> {
        let failed = |what| {
            move |errno: Errno| Error::Directory {
                path: path.to_path_buf(),
                what,
                source: errno.into(),
            }
        };
        // A pipe of that name must not be waited for.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(CWD, path, flags, Mode::empty())
            .map_err(failed("it cannot be opened for reading"))?;
        let found = rustix::fs::fstat(&opened).map_err(failed("it cannot be examined"))?;
        if FileType::from_raw_mode(found.st_mode) != FileType::BlockDevice {
            return Err(Error::Unsuitable(format!(
                "{}: expected a directory or a block device",
                path.display()
            )));
        }
        let bytes = rustix::fs::seek(&opened, SeekFrom::End(0))
            .map_err(failed("its size cannot be found"))?;
        let sector = rustix::fs::ioctl_blksszget(&opened)
            .map_err(failed("its sector size cannot be found"))?;
        if bytes == 0 {
            return Err(Error::Unsuitable(format!(
                "{}: the device has no capacity: expected one with a medium",
                path.display()
            )));
        }
        Ok(JobTarget::Device {
            path: path.to_path_buf(),
            opened: Arc::new(opened),
            bytes,
            sector,
        })
    }

    /// Returns true if direct transfers are taken: by writing a block, in a directory.
    #[must_use]
    pub fn takes_direct(&self) -> bool {
        let JobTarget::Directory(directory) = self else {
            let how = OpenAs {
                direct: true,
                ..OpenAs::default()
            };
            return self.open(0, how).is_ok();
        };
        let name = c"hr-probe0";
        let flags = OFlags::WRONLY
            | OFlags::CREATE
            | OFlags::EXCL
            | OFlags::NOFOLLOW
            | OFlags::DIRECT
            | OFlags::CLOEXEC;
        let written = rustix::fs::openat(&**directory.root(), name, flags, MODE).and_then(|file| {
            rustix::io::pwrite(&file, Buffer::new(PROBED, 0, false).bytes(PROBED), 0)
        });
        // It is there even where the open itself refused the flag.
        let _ = rustix::fs::unlinkat(&**directory.root(), name, AtFlags::empty());
        written == Ok(PROBED)
    }

    /// A file by its number, or the device.
    pub(crate) fn open(&self, number: u32, how: OpenAs) -> Result<OwnedFd, Errno> {
        let mut flags = OFlags::CLOEXEC;
        let mut set = |flag, is_set: bool| {
            if is_set {
                flags |= flag;
            }
        };
        set(OFlags::DIRECT, how.direct);
        if how.nothing {
            return rustix::fs::openat(CWD, "/dev/null", OFlags::CLOEXEC, Mode::empty());
        }
        match self {
            JobTarget::Directory(directory) => {
                // As fio does; a file that is only written is opened for writing alone.
                set(OFlags::RDWR, how.writes && how.reads);
                set(OFlags::WRONLY, how.writes && !how.reads);
                set(OFlags::DSYNC, how.stable);
                set(OFlags::SYNC, how.stable_attributes);
                set(OFlags::CREATE, how.creates);
                let flags = flags | OFlags::NOFOLLOW;
                rustix::fs::openat(&**directory.root(), &*name(number), flags, MODE)
            }
            // The requested flags do not matter: a job cannot write to a device.
            JobTarget::Device { path, .. } => {
                rustix::fs::openat(CWD, path, flags | OFlags::RDONLY, Mode::empty())
            }
        }
    }

    /// Creates a file.
    pub(crate) fn create(&self, number: u32) -> Result<(), Errno> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let root = self.root()?;
        rustix::fs::openat(root, &*name(number), flags, MODE).map(drop)
    }

    /// Removes a file.
    pub(crate) fn unlink(&self, number: u32) -> Result<(), Errno> {
        rustix::fs::unlinkat(self.root()?, &*name(number), AtFlags::empty())
    }

    /// Looks up a file or directory.
    pub(crate) fn stat(&self, number: u32) -> Result<(), Errno> {
        rustix::fs::statat(self.root()?, &*name(number), AtFlags::empty()).map(drop)
    }

    /// Makes a directory of a file's name.
    pub(crate) fn mkdir(&self, number: u32) -> Result<(), Errno> {
        rustix::fs::mkdirat(self.root()?, &*name(number), Mode::from_raw_mode(0o755))
    }

    /// Removes it.
    pub(crate) fn rmdir(&self, number: u32) -> Result<(), Errno> {
        rustix::fs::unlinkat(self.root()?, &*name(number), AtFlags::REMOVEDIR)
    }

    fn root(&self) -> Result<&OwnedFd, Errno> {
        match self {
            JobTarget::Directory(directory) => Ok(directory.root()),
            JobTarget::Device { .. } => Err(Errno::NOTDIR),
        }
    }

    /// Has a file leave the page cache, as far as the file system takes the advice.
    pub(crate) fn cool(&self, number: u32) {
        if let Ok(file) = self.open(number, OpenAs::default()) {
            let _ = rustix::fs::fadvise(file.as_fd(), 0, None, Advice::DontNeed);
        }
    }

    /// Refuses a job that cannot run on this target.
    ///
    /// # Errors
    /// The error states the expected value.
    pub(crate) fn check(&self, job: &Job) -> Result<(), Error> {
        job.check()?;
        let JobTarget::Device {
            path,
            bytes,
            sector,
            ..
        } = self
        else {
            return Ok(());
        };
        let wrong = |what: String| {
            let path = path.display();
            Err(Error::Unsuitable(format!(
                "job {:?}: {path}: {what}",
                job.name
            )))
        };
        if job.writes() || job.work.is_of_names() {
            return wrong(
                "a block device is only read, and this job writes: take a job that reads, or a \
                 directory"
                    .to_owned(),
            );
        }
        let behind = job.offset_step * u64::from(job.processes - 1);
        if job.bytes + job.offset + behind > *bytes {
            return wrong(format!(
                "the device has {bytes} bytes, fewer than the {} of the job: take a smaller size",
                job.bytes + job.offset + behind
            ));
        }
        if job.direct && !job.block.is_multiple_of(*sector) {
            return wrong(format!(
                "direct requests are multiples of the sector, {sector} bytes, which the block of \
                 {} is not: take another block",
                job.block
            ));
        }
        Ok(())
    }

    /// Returns the name of a file or the device for error messages.
    pub(crate) fn called(&self, number: u32) -> String {
        match self {
            JobTarget::Directory(directory) => {
                let name = name(number);
                directory
                    .path()
                    .join(&*name.to_string_lossy())
                    .display()
                    .to_string()
            }
            JobTarget::Device { path, .. } => path.display().to_string(),
        }
    }
}

/// A file's name in the benchmark's directory.
pub(crate) fn name(number: u32) -> CString {
    CString::new(format!("hr-f{number}")).unwrap_or_default()
}
