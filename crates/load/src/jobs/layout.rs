//! Files that jobs work on, made before they begin.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use rustix::fs::{FallocateFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::Error;
use crate::jobs::target::{JobTarget, name};
use crate::operation::Buffer;

/// Bytes of a write.
const PIECE: u64 = 4 << 20;

/// Bytes written between two syncs of a buffered file: a slow disk writes them back in half a
/// second.
const DIRTY: u64 = 32 << 20;

/// Alignment of direct writes.
const ALIGNED: u64 = 4096;

/// State of a file before the jobs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Filled {
    /// It has data.
    Written,
    /// It has space.
    Allocated,
    /// It has its size only.
    Sparse,
    /// It is a directory.
    Directory,
}

impl Filled {
    /// By its word.
    #[must_use]
    pub fn with_word(word: &str) -> Option<Filled> {
        Some(match word {
            "written" => Filled::Written,
            "allocated" => Filled::Allocated,
            "sparse" => Filled::Sparse,
            "directory" => Filled::Directory,
            _ => return None,
        })
    }
}

/// Creates a file with its initial content.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Its number.
    pub number: u32,
    /// Bytes, at the most.
    pub bytes: u64,
    /// Bytes that it has in any case.
    pub least: u64,
    /// After how many seconds it is as large as it has become.
    pub seconds: Option<f64>,
    /// State of the file before the jobs.
    pub filled: Filled,
    /// True if writes bypass the page cache.
    pub direct: bool,
}

/// Makes a file in the benchmark's directory, on stable storage; gives its size. `watch` is
/// called with the bytes written so far.
///
/// # Errors
/// If it cannot be made, or is broken off.
pub fn lay_out(
    target: &JobTarget,
    layout: Layout,
    watch: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<u64, Error> {
    let JobTarget::Directory(directory) = target else {
        return Err(Error::Own("a file is to be made on a device".to_owned()));
    };
    let failed = |errno| Error::Operation {
        operation: "write",
        path: target.called(layout.number),
        errno,
    };
    if layout.filled == Filled::Directory {
        return target.mkdir(layout.number).map(|()| 0).map_err(failed);
    }
    let root = &**directory.root();
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let direct = layout.direct && layout.bytes.is_multiple_of(ALIGNED);
    let flags = if direct {
        flags | OFlags::DIRECT
    } else {
        flags
    };
    let file = rustix::fs::openat(
        root,
        &*name(layout.number),
        flags,
        Mode::from_raw_mode(0o644),
    )
    .map_err(failed)?;
    if layout.filled == Filled::Sparse {
        rustix::fs::ftruncate(&file, layout.bytes).map_err(failed)?;
        return Ok(layout.bytes);
    }
    if layout.filled == Filled::Allocated {
        match rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, layout.bytes) {
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
                rustix::fs::ftruncate(&file, layout.bytes).map_err(failed)?;
            }
            allocated => allocated.map_err(failed)?,
        }
        rustix::fs::fsync(&file).map_err(failed)?;
        return Ok(layout.bytes);
    }
    let began = Instant::now();
    let limit = layout.seconds.map(Duration::from_secs_f64);
    let mut buffer = Buffer::new(PIECE as usize, u64::from(layout.number), false);
    let (mut done, mut dirty) = (0, 0);
    while done < layout.bytes {
        if limit.is_some_and(|limit| began.elapsed() >= limit) && done >= layout.least {
            break;
        }
        if watch(done).is_break() {
            return Err(Error::Interrupted);
        }
        let size = PIECE.min(layout.bytes - done);
        stamp(buffer.bytes_mut(size as usize), done);
        let mut piece = 0;
        while piece < size {
            let rest = &buffer.bytes(size as usize)[piece as usize..];
            match rustix::io::pwrite(&file, rest, done + piece) {
                Ok(0) => return Err(failed(Errno::NOSPC)),
                Ok(written) => piece += written as u64,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(failed(errno)),
            }
        }
        done += size;
        dirty += size;
        if dirty >= DIRTY && !direct {
            rustix::fs::fdatasync(&file).map_err(failed)?;
            dirty = 0;
        }
    }
    rustix::fs::fsync(&file).map_err(failed)?;
    Ok(done)
}

/// Has no two blocks be alike: a device or a file system that stores equal blocks once would
/// not store them.
pub fn stamp(block: &mut [u8], number: u64) {
    for (place, part) in block.chunks_mut(ALIGNED as usize).enumerate() {
        let text = (number ^ (place as u64) << 48).to_ne_bytes();
        let length = part.len().min(text.len());
        part[..length].copy_from_slice(&text[..length]);
    }
}
