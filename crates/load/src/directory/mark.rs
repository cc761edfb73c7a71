//! The mark of a directory that a benchmark made.

use std::os::fd::OwnedFd;
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

/// Prefix of the names of such directories.
pub const PREFIX: &str = "headrace-bench-";

/// Prefix of the names while a directory is created or removed. The directory then holds at most a
/// complete or partial mark.
pub const EMPTY: &str = "headrace-bench-empty-";

/// The name of the mark in it.
pub const MARK: &str = ".headrace-bench";

/// Bytes of a mark at the most.
const LONGEST: usize = 4096;

/// Content of a directory's mark.
#[derive(Serialize, Deserialize)]
pub struct Mark {
    made_by: String,
    version: String,
    host: String,
    process: u32,
    /// Nanoseconds since 1970, so that no two marks are alike.
    #[serde(default)]
    made: u128,
    /// Owner of the directory according to its file system.
    #[serde(default)]
    owner: Option<u32>,
}

const MAKER: &str = "headrace bench";

/// The text of a mark by this process, in a directory of this owner.
pub fn text(owner: u32) -> String {
    let host = rustix::system::uname();
    let mark = Mark {
        made_by: MAKER.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        host: host.nodename().to_string_lossy().into_owned(),
        process: std::process::id(),
        made: SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |passed| passed.as_nanos()),
        owner: Some(owner),
    };
    // Strings and a number become JSON whatever they are.
    serde_json::to_string(&mark).unwrap_or_default()
}

/// The text of the mark in a directory, as far as it is one.
pub fn read(directory: &OwnedFd) -> Result<Vec<u8>, Errno> {
    // A pipe of that name must not be waited for.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mark = rustix::fs::openat(directory, MARK, flags, Mode::empty())?;
    let mut text = vec![0; LONGEST];
    let read = rustix::io::read(&mark, &mut text)?;
    text.truncate(read);
    Ok(text)
}

/// Returns the directory's owner from the text of its mark. Marks of earlier versions name no
/// owner.
pub fn owner(text: &[u8]) -> Option<u32> {
    let mark: Result<Mark, _> = serde_json::from_slice(text);
    mark.ok().and_then(|mark| mark.owner)
}

/// Returns true if a text is a mark.
pub fn is_mark(text: &[u8]) -> bool {
    let mark: Result<Mark, _> = serde_json::from_slice(text);
    mark.is_ok_and(|mark| mark.made_by == MAKER)
}
