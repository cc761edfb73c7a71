//! Files that are made where data goes through the journal (`data=journal`).
//!
//! A commit sends each 4 KiB block to the journal separately, as metadata. A cgroup limit charges
//! metadata but never delays it (Linux 6.18, fs/jbd2/commit.c; block/blk-throttle.c:
//! bio_issue_as_root_blkg). The later write to the final place waits until these operations are
//! paid for, unless the limit has expired them. It does so after some slices of 100 ms without
//! waiting requests. So files are made in pieces: each is committed, left alone, then written to
//! its place. At 600 operations a second 64 MiB take 4 s and not 28.
//!
//! Earlier work in the journal decides when the journal is full, and a call then waits for seconds.
//! The engine empties the journal before a measurement if the kernel permits it: a simulation
//! begins with an empty one too.

use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::ioctl::{Opcode, Setter, opcode};

use crate::calls::Result;

/// Bytes between two commits: with more, a journal of 64 MiB would fill, and all writers would wait
/// until it is empty.
const PIECE: u64 = 16 << 20;

/// Duration for which a piece is left alone: what the limit counts of its bytes, at 40 MB/s, and
/// two slices. At a lower rate it is remembered, and the piece only takes longer.
const ALONE: Duration = Duration::from_millis(600);

/// Bytes for which that is not worth it.
const LITTLE: u64 = 1 << 20;

/// Data that was made and is not at its place yet.
#[derive(Debug)]
pub struct DataJournal<'a> {
    directory: &'a OwnedFd,
    /// True if the file system writes data through its journal.
    journaled: bool,
    bytes: u64,
}

impl<'a> DataJournal<'a> {
    /// For files below a directory.
    pub fn new(directory: &'a OwnedFd) -> DataJournal<'a> {
        DataJournal {
            directory,
            journaled: is_journaled(directory),
            bytes: 0,
        }
    }

    /// Counts written bytes; a complete piece is checkpointed.
    ///
    /// # Errors
    /// If the file system cannot.
    pub fn made(&mut self, bytes: u64) -> Result<()> {
        self.bytes += bytes;
        if self.journaled && self.bytes >= PIECE {
            self.place()?;
        }
        Ok(())
    }

    /// Empties the journal, if this process may (`CAP_SYS_ADMIN`; ext4 since Linux 5.15).
    pub fn empty(&self) {
        if self.journaled && checkpoint(self.directory, DRY_RUN).is_ok() {
            // The file system forgets recent writes of others through this descriptor.
            std::thread::sleep(ALONE);
            // A journal that is not empty costs a measurement its accuracy, and no more.
            let _ = checkpoint(self.directory, 0);
        }
    }

    /// Brings new files, and all else in the file system, to their places.
    ///
    /// # Errors
    /// If the file system cannot.
    pub fn place(&mut self) -> Result<()> {
        if self.journaled && self.bytes > LITTLE {
            commit(self.directory)?;
            std::thread::sleep(ALONE);
        }
        self.bytes = 0;
        rustix::fs::syncfs(self.directory)
    }
}

fn is_journaled(directory: &OwnedFd) -> bool {
    let Ok(status) = rustix::fs::fstat(directory) else {
        return false;
    };
    let (major, minor) = (
        rustix::fs::major(status.st_dev),
        rustix::fs::minor(status.st_dev),
    );
    std::fs::read_to_string("/proc/self/mountinfo")
        .is_ok_and(|mounts| has(&mounts, &format!("{major}:{minor}")))
}

/// By the lines of mountinfo (proc(5)): the third word is the device, the options of the file
/// system are the last.
fn has(mounts: &str, device: &str) -> bool {
    mounts.lines().any(|line| {
        line.split(' ').nth(2) == Some(device)
            && line
                .rsplit(' ')
                .next()
                .is_some_and(|options| options.split(',').any(|it| it == "data=journal"))
    })
}

/// An fsync of a new name, which has no data of its own to write, commits what all files have
/// in the running transaction.
fn commit(directory: &OwnedFd) -> Result<()> {
    // Others may do so in the same directory.
    let name = format!("hr-commit-{}", std::process::id());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(directory, &name, flags, Mode::RUSR | Mode::WUSR)?;
    let synced = rustix::fs::fsync(&file);
    rustix::fs::unlinkat(directory, &name, AtFlags::empty())?;
    synced
}

/// `EXT4_IOC_CHECKPOINT` (Linux, Documentation/admin-guide/ext4.rst): commits what runs, brings all
/// to its place, and has the journal hold nothing.
#[expect(unsafe_code, reason = "the kernel's call takes a pointer")]
fn checkpoint(directory: &OwnedFd, flags: u32) -> Result<()> {
    const CHECKPOINT: Opcode = opcode::write::<u32>(b'f', 43);
    // SAFETY: it takes a pointer to one u32, which is read before it returns.
    unsafe { rustix::ioctl::ioctl(directory, Setter::<CHECKPOINT, u32>::new(flags)) }
}

/// The flag of `EXT4_IOC_CHECKPOINT` that says whether it would be done.
const DRY_RUN: u32 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
28 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
60 28 7:103 / /mnt/a rw,relatime - ext3 /dev/loop103 rw,nodioread_nolock,data=journal
61 28 7:10 / /mnt/data=journal rw,relatime - ext3 /dev/loop10 rw,data=writeback";

    #[test]
    fn the_mount_of_the_device_tells_it() {
        assert!(has(MOUNTS, "7:103"));
        for device in ["254:0", "7:10", "7:1", "8:0"] {
            assert!(!has(MOUNTS, device), "{device}");
        }
    }

    #[test]
    fn pieces_go_to_their_place_and_leave_nothing_else() {
        let below = tempfile::tempdir().expect("there is room");
        let directory = OwnedFd::from(std::fs::File::open(below.path()).expect("it is there"));
        let mut pieces = DataJournal {
            directory: &directory,
            journaled: true,
            bytes: 0,
        };
        pieces.made(PIECE - 1).expect("nothing is written yet");
        assert_eq!(pieces.bytes, PIECE - 1);
        pieces.made(1).expect("it can be written");
        assert_eq!(pieces.bytes, 0);
        let names = std::fs::read_dir(below.path()).expect("it is there");
        assert_eq!(names.count(), 0);
    }
}
