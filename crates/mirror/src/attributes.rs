//! Attributes as stat(2) gives them and as FUSE wants them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fuser::{FileAttr, FileType, INodeNo, TimeOrNow};
use rustix::fs::{Stat, Timespec, UTIME_NOW, UTIME_OMIT};

/// The attributes of a node.
pub fn attributes(node: INodeNo, stat: &Stat) -> FileAttr {
    let mode = stat.st_mode;
    FileAttr {
        ino: node,
        size: u64::try_from(stat.st_size).unwrap_or(0),
        blocks: u64::try_from(stat.st_blocks).unwrap_or(0),
        atime: time(stat.st_atime, stat.st_atime_nsec),
        mtime: time(stat.st_mtime, stat.st_mtime_nsec),
        ctime: time(stat.st_ctime, stat.st_ctime_nsec),
        crtime: UNIX_EPOCH,
        kind: kind(rustix::fs::FileType::from_raw_mode(mode)),
        perm: (mode & 0o7777) as u16,
        nlink: u32::try_from(stat.st_nlink).unwrap_or(u32::MAX),
        uid: stat.st_uid,
        gid: stat.st_gid,
        rdev: u32::try_from(stat.st_rdev).unwrap_or(0),
        blksize: u32::try_from(stat.st_blksize).unwrap_or(4096),
        flags: 0,
    }
}

/// Converts a file type; a plain file if the file system reports none.
pub fn kind(kind: rustix::fs::FileType) -> FileType {
    match kind {
        rustix::fs::FileType::Directory => FileType::Directory,
        rustix::fs::FileType::Symlink => FileType::Symlink,
        rustix::fs::FileType::Fifo => FileType::NamedPipe,
        rustix::fs::FileType::Socket => FileType::Socket,
        rustix::fs::FileType::CharacterDevice => FileType::CharDevice,
        rustix::fs::FileType::BlockDevice => FileType::BlockDevice,
        rustix::fs::FileType::RegularFile | rustix::fs::FileType::Unknown => FileType::RegularFile,
    }
}

fn time(seconds: i64, nanoseconds: u64) -> SystemTime {
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let part = Duration::from_nanos(nanoseconds);
    let at = match seconds < 0 {
        true => UNIX_EPOCH.checked_sub(whole),
        false => UNIX_EPOCH.checked_add(whole),
    };
    at.and_then(|at| at.checked_add(part)).unwrap_or(UNIX_EPOCH)
}

/// A time that is to be set, as utimensat(2) takes it; without one, it stays.
pub fn time_to_set(time: Option<TimeOrNow>) -> Timespec {
    let mark = |tv_nsec| Timespec { tv_sec: 0, tv_nsec };
    match time {
        None => mark(UTIME_OMIT),
        Some(TimeOrNow::Now) => mark(UTIME_NOW),
        Some(TimeOrNow::SpecificTime(at)) => timespec(at),
    }
}

fn timespec(at: SystemTime) -> Timespec {
    let seconds = |span: Duration| i64::try_from(span.as_secs()).unwrap_or(i64::MAX);
    match at.duration_since(UNIX_EPOCH) {
        Ok(after) => Timespec {
            tv_sec: seconds(after),
            tv_nsec: i64::from(after.subsec_nanos()),
        },
        // Nanoseconds count forwards from the whole second before.
        Err(before) => {
            let span = before.duration();
            let part = i64::from(span.subsec_nanos());
            Timespec {
                tv_sec: -seconds(span) - i64::from(part > 0),
                tv_nsec: (1_000_000_000 - part) % 1_000_000_000,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_before_1970_stay_the_same_there_and_back() {
        for (seconds, nanoseconds) in [(0, 0), (1, 5), (-1, 0), (-1, 250), (-7, 999_999_999)] {
            let back = timespec(time(seconds, nanoseconds));
            assert_eq!((back.tv_sec, back.tv_nsec as u64), (seconds, nanoseconds));
        }
    }
}
