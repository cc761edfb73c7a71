//! Counts cache hits of an operation mix, and separates bytes that the run itself cached.
//!
//! Before each read the kernel reports the number of cached pages of the range. The call is
//! cachestat(2), since Linux 6.5; any user may ask about files of their own. Pages that were there
//! before the run, or that a process has read or written since, are hits. Others can only have been
//! read ahead. A page that has left the cache meanwhile and was read ahead again counts as a hit.

mod cachestat;
mod warming;

use std::collections::HashMap;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

pub use warming::bring_in;
#[cfg(test)]
pub use warming::lacks;

/// Bytes that were read, by where they came from.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Reads {
    /// All of them, but for those of which the kernel tells nothing.
    pub asked: u64,
    /// In the page cache because they were there before the run, or were asked for or written
    /// since.
    pub hits: u64,
    /// In the page cache, or on the way to it, because they were read ahead.
    pub read_ahead: u64,
    /// Reads whose source the kernel does not report.
    pub unknown: u64,
}

impl Reads {
    /// Bytes that are in no page cache.
    #[must_use]
    pub fn missed(asked: u64) -> Reads {
        Reads {
            asked,
            ..Reads::default()
        }
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Reads) -> Reads {
        Reads {
            asked: self.asked + other.asked,
            hits: self.hits + other.hits,
            read_ahead: self.read_ahead + other.read_ahead,
            unknown: self.unknown + other.unknown,
        }
    }
}

/// Number of parts, each with its lock, over which files are spread. Few processes then
/// wait for each other.
const PARTS: usize = 64;

/// A bit for each page of a file.
type Pages = Vec<u64>;

/// The pages of a workload's files that its processes know of.
#[derive(Debug)]
pub struct KnownPages {
    parts: Vec<Mutex<HashMap<u32, Pages>>>,
    page: u64,
}

impl KnownPages {
    /// No pages yet.
    pub fn new() -> KnownPages {
        KnownPages {
            parts: (0..PARTS).map(|_| Mutex::default()).collect(),
            page: rustix::param::page_size() as u64,
        }
    }

    /// A file is there before the run: those of its pages that are in the page cache are known.
    pub fn there_before(&self, file: u32, opened: impl AsFd, size: u64) {
        self.note_cached(file, opened.as_fd(), 0, size.div_ceil(self.page));
    }

    /// Halves a range until all or nothing of it is cached.
    fn note_cached(&self, file: u32, opened: BorrowedFd<'_>, first: u64, end: u64) {
        if first >= end {
            return;
        }
        let (from, pages) = (first * self.page, end - first);
        match cachestat::cached_pages(opened, from, pages * self.page) {
            Ok(0) | Err(_) => {}
            Ok(cached) if cached >= pages => {
                self.with(file, |known| fill(known, first, end));
            }
            Ok(_) => {
                let middle = first + pages / 2;
                self.note_cached(file, opened, first, middle);
                self.note_cached(file, opened, middle, end);
            }
        }
    }

    /// A file leaves the page cache.
    pub fn forget(&self, file: u32) {
        self.with(file, |known| known.fill(0));
    }

    /// A part of a file is about to be written.
    pub fn note(&self, file: u32, offset: u64, size: u64) {
        let (first, end) = self.range(offset, size);
        self.with(file, |known| fill(known, first, end));
    }

    /// A part of a file is about to be read.
    pub fn look(&self, file: u32, opened: BorrowedFd<'_>, offset: u64, size: u64) -> Reads {
        let (first, end) = self.range(offset, size);
        let pages = end - first;
        let cached = cachestat::cached_pages(opened, first * self.page, pages * self.page);
        let known = self.with(file, |known| {
            let before = count(known, first, end);
            fill(known, first, end);
            before
        });
        match cached {
            Ok(cached) => shares(size, pages, cached, known),
            Err(_) => Reads {
                unknown: size,
                ..Reads::default()
            },
        }
    }

    fn range(&self, offset: u64, size: u64) -> (u64, u64) {
        (offset / self.page, (offset + size).div_ceil(self.page))
    }

    fn with<T>(&self, file: u32, act: impl FnOnce(&mut Pages) -> T) -> T {
        let part = self.parts[file as usize % PARTS].lock();
        let mut files = part.unwrap_or_else(PoisonError::into_inner);
        act(files.entry(file).or_default())
    }
}

/// The bytes of a read of `pages` pages, of which `cached` are cached and `known` are known.
/// Known pages count as cached ones. The difference matters only for partly known reads.
fn shares(size: u64, pages: u64, cached: u64, known: u64) -> Reads {
    let cached = cached.min(pages);
    let of = |part: u64| (u128::from(size) * u128::from(part) / u128::from(pages.max(1))) as u64;
    let hits = known.min(cached);
    Reads {
        asked: size,
        hits: of(hits),
        read_ahead: of(cached) - of(hits),
        unknown: 0,
    }
}

/// The word that a page's bit is in, and a mask of the bits of the range in that word.
fn words(first: u64, end: u64) -> impl Iterator<Item = (usize, u64)> {
    (first / 64..end.div_ceil(64)).map(move |word| {
        let from = first.saturating_sub(word * 64).min(63);
        let to = (end - word * 64).min(64);
        let below = |bits: u64| match bits {
            64.. => u64::MAX,
            _ => (1 << bits) - 1,
        };
        (word as usize, below(to) & !below(from))
    })
}

fn fill(known: &mut Pages, first: u64, end: u64) {
    let wanted = end.div_ceil(64) as usize;
    if known.len() < wanted {
        known.resize(wanted, 0);
    }
    for (word, mask) in words(first, end) {
        known[word] |= mask;
    }
}

fn count(known: &Pages, first: u64, end: u64) -> u64 {
    words(first, end)
        .map(|(word, mask)| known.get(word).map_or(0, |bits| bits & mask).count_ones())
        .map(u64::from)
        .sum()
}

#[cfg(test)]
mod tests;
