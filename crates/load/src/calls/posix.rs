//! The calls as they are.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::rc::Rc;
use std::sync::Arc;

use rustix::fs::{Access, AtFlags, Mode, OFlags, RawDir, SeekFrom, XattrFlags};
use rustix::io::Errno;
use rustix::thread::UnshareFlags;

use super::{Calls, Handle, Mapping, Range, Result, Stream};

/// Buffer size of glibc's readdir(3) (sysdeps/unix/sysv/linux/opendir.c).
const LISTED: usize = 32_768;

/// Mode of created directories, as with `umask 022`.
pub(super) const DIRECTORY_MODE: Mode = Mode::from_raw_mode(0o755);

/// System calls, made one by one and waited for.
#[derive(Debug)]
pub struct Posix {
    root: Arc<OwnedFd>,
    names: Vec<MaybeUninit<u8>>,
    value: Vec<u8>,
    /// True if the thread's current directory is its own.
    apart: bool,
}

impl Posix {
    /// Calls with paths below a directory.
    pub fn new(root: Arc<OwnedFd>) -> Posix {
        Posix {
            root,
            names: vec![MaybeUninit::uninit(); LISTED],
            value: vec![0; 4096],
            apart: false,
        }
    }
}

impl Calls for Posix {
    fn open(&mut self, path: &CStr, flags: OFlags, mode: Mode) -> Result<Handle> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(&self.root, path, flags, mode).map(Rc::new)
    }

    fn close(&mut self, file: Handle) -> Result<()> {
        drop(file);
        Ok(())
    }

    fn read(&mut self, file: &Handle, buffer: &mut [u8], offset: u64) -> Result<usize> {
        rustix::io::pread(file, buffer, offset)
    }

    fn write(&mut self, file: &Handle, buffer: &[u8], offset: u64) -> Result<usize> {
        rustix::io::pwrite(file, buffer, offset)
    }

    fn sync(&mut self, file: &Handle) -> Result<()> {
        rustix::fs::fsync(file)
    }

    fn sync_all(&mut self, file: &Handle) -> Result<()> {
        rustix::fs::syncfs(file)
    }

    fn sync_data(&mut self, file: &Handle) -> Result<()> {
        rustix::fs::fdatasync(file)
    }

    fn truncate(&mut self, file: &Handle, length: u64) -> Result<()> {
        rustix::fs::ftruncate(file, length)
    }

    fn length(&mut self, file: &Handle) -> Result<u64> {
        let stat = rustix::fs::fstat(file)?;
        u64::try_from(stat.st_size).map_err(|_| Errno::IO)
    }

    fn stream(&mut self, file: &Handle, buffer: usize) -> Result<Stream> {
        Stream::new(rustix::io::fcntl_dupfd_cloexec(file, 0)?, buffer)
    }

    fn map(&mut self, file: &Handle, offset: u64, size: usize) -> Result<Mapping> {
        Mapping::new(file, offset, size)
    }

    fn stat(&mut self, path: &CStr) -> Result<()> {
        rustix::fs::statat(&self.root, path, AtFlags::empty()).map(drop)
    }

    fn stat_open(&mut self, file: &Handle) -> Result<()> {
        rustix::fs::fstat(file).map(drop)
    }

    fn state(&mut self, path: &CStr) -> Result<()> {
        rustix::fs::statvfs(path).map(drop)
    }

    fn state_open(&mut self, file: &Handle) -> Result<()> {
        rustix::fs::fstatvfs(file).map(drop)
    }

    fn access(&mut self, path: &CStr) -> Result<()> {
        rustix::fs::accessat(&self.root, path, Access::READ_OK, AtFlags::empty())
    }

    fn attribute(&mut self, file: &Handle, name: &CStr) -> Result<()> {
        rustix::fs::fgetxattr(file, name, &mut self.value[..]).map(drop)
    }

    fn set_attribute(&mut self, file: &Handle, name: &CStr, value: &[u8]) -> Result<()> {
        rustix::fs::fsetxattr(file, name, value, XattrFlags::empty())
    }

    fn change_mode(&mut self, path: &CStr, mode: Mode) -> Result<()> {
        rustix::fs::chmodat(&self.root, path, mode, AtFlags::empty())
    }

    fn enter_directory(&mut self, path: &CStr) -> Result<()> {
        rustix::process::chdir(path)
    }

    fn leave_directory(&mut self) -> Result<()> {
        if !self.apart {
            own_directory()?;
            self.apart = true;
        }
        rustix::process::fchdir(&self.root)
    }

    fn make_directory(&mut self, path: &CStr) -> Result<()> {
        rustix::fs::mkdirat(&self.root, path, DIRECTORY_MODE)
    }

    fn remove_directory(&mut self, path: &CStr) -> Result<()> {
        rustix::fs::unlinkat(&self.root, path, AtFlags::REMOVEDIR)
    }

    fn list(&mut self, directory: &Handle) -> Result<usize> {
        let mut names = RawDir::new(directory, &mut self.names);
        let mut count = 0;
        // The buffer is filled by one call, and the next is not made before it is empty.
        while count == 0 || !names.is_buffer_empty() {
            let Some(name) = names.next() else {
                break;
            };
            name?;
            count += 1;
        }
        Ok(count)
    }

    fn rewind(&mut self, directory: &Handle) -> Result<()> {
        rustix::fs::seek(directory, SeekFrom::Start(0)).map(drop)
    }

    fn symbolic_link(&mut self, to: &CStr, path: &CStr) -> Result<()> {
        rustix::fs::symlinkat(to, &self.root, path)
    }

    fn read_link(&mut self, path: &CStr) -> Result<()> {
        rustix::fs::readlinkat_raw(&self.root, path, &mut self.value[..]).map(drop)
    }

    fn link(&mut self, path: &CStr, new: &CStr) -> Result<()> {
        rustix::fs::linkat(&self.root, path, &self.root, new, AtFlags::empty())
    }

    fn unlink(&mut self, path: &CStr) -> Result<()> {
        rustix::fs::unlinkat(&self.root, path, AtFlags::empty())
    }

    fn rename(&mut self, path: &CStr, new: &CStr) -> Result<()> {
        rustix::fs::renameat(&self.root, path, &self.root, new)
    }

    fn lock(&mut self, file: &Handle, range: Range) -> Result<()> {
        set_lock(file, libc::F_OFD_SETLKW, libc::F_WRLCK, range)
    }

    fn unlock(&mut self, file: &Handle, range: Range) -> Result<()> {
        set_lock(file, libc::F_OFD_SETLK, libc::F_UNLCK, range)
    }
}

/// Lets this thread's current directory be its own from now on. It needs no privilege, but
/// a sandbox may not let it.
#[expect(
    unsafe_code,
    reason = "only a thread that shares no current directory can change its own"
)]
fn own_directory() -> Result<()> {
    // SAFETY: the thread stops sharing only the current directory, the root and the umask. No part
    // of this process relies on their being shared.
    let apart = unsafe { rustix::thread::unshare_unsafe(UnshareFlags::FS) };
    apart.map_err(|errno| match errno {
        // Not the file system's permission, and nothing that another directory would mend.
        Errno::PERM => Errno::NOSYS,
        errno => errno,
    })
}

/// A lock of an open file, which rustix has not: those that it has are the whole process's.
#[expect(unsafe_code, reason = "the C library's fcntl takes a pointer")]
fn set_lock(file: &Handle, command: i32, kind: i32, range: Range) -> Result<()> {
    let place = |bytes: u64| libc::off_t::try_from(bytes).map_err(|_| Errno::INVAL);
    // SAFETY: a struct of integers, of which all may be 0; l_pid must be.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = kind as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    lock.l_start = place(range.start)?;
    lock.l_len = place(range.length)?;
    loop {
        // SAFETY: the descriptor is open, and the kernel only reads the struct.
        let set = unsafe { libc::fcntl(file.as_raw_fd(), command, &raw const lock) };
        if set == 0 {
            return Ok(());
        }
        let error = std::io::Error::last_os_error();
        match Errno::from_io_error(&error).unwrap_or(Errno::IO) {
            Errno::INTR => {}
            errno => return Err(errno),
        }
    }
}
