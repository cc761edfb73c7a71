//! Read-ahead: a window for each open file that grows while the file is read in order
//! (Linux 6.18, mm/readahead.c: page_cache_sync_ra, page_cache_async_ra,
//! get_init_ra_size, get_next_ra_size). Each process has an open file of its own; the
//! threads of a daemon share one.
//!
//! A miss at the start of a file, or just after the last byte read, opens a window. A miss
//! elsewhere looks for the traces of a sequential stream. If more than the request is cached just
//! before it, the window is as large as both together; else only the request is read. The window
//! marks one page. A reader that reaches the mark has the next window read, so that one is read
//! while the other is used. If several streams share the open file, its stored window may not be
//! the mark's. The next one then begins where the cached pages after the mark end, and grows from
//! their number. A file that is cached causes no misses and so no read-ahead.
//!
//! Not modelled: windows that end where large folios do; hints (posix_fadvise, madvise); the window
//! around a page that a mapping misses.

use super::call::Call;

/// A window to be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// Its first byte.
    pub start: u64,
    /// The byte after its last.
    pub end: u64,
    /// The page of it that is marked, if it was not cached.
    pub mark: Option<u64>,
}

/// Read-ahead state of an open file (struct file_ra_state).
#[derive(Clone, Copy, Default, Debug)]
pub struct Stream {
    /// The last window.
    start: u64,
    size: u64,
    /// Bytes at the end of the window that are read ahead of need.
    ahead: u64,
    /// The byte after the last one read.
    last: Option<u64>,
    /// The byte after the last call, read or written.
    position: u64,
}

/// The largest window and the unit of windows.
#[derive(Clone, Copy, Debug)]
pub struct ReadAhead {
    /// Bytes; 0 for none.
    pub largest: u64,
    /// Bytes.
    pub page: u64,
    /// The largest transfer that the device takes at once, in whole pages. A call for more than a
    /// window is read in pieces of this (mm/readahead.c, io_pages).
    pub transfer: u64,
}

impl ReadAhead {
    /// The largest window for a request of `wanted` bytes (ractl_max_pages).
    pub fn most(&self, wanted: u64) -> u64 {
        if wanted > self.largest {
            self.largest.max(wanted.min(self.transfer))
        } else {
            self.largest
        }
    }

    /// The bytes of whole pages from `at`, a page's first, to `end`: one at least.
    fn wanted(&self, at: u64, end: u64) -> u64 {
        let end = end.div_ceil(self.page).saturating_mul(self.page);
        end.saturating_sub(at).max(self.page)
    }
}

/// The first window for a request of `wanted` bytes (get_init_ra_size).
fn first(wanted: u64, largest: u64) -> u64 {
    if wanted > largest / 4 {
        return largest;
    }
    let size = wanted.next_power_of_two();
    if size <= largest / 32 {
        size * 4
    } else if size <= largest / 4 {
        size * 2
    } else {
        largest
    }
}

/// The window after one of `size` bytes (get_next_ra_size).
fn next(size: u64, largest: u64) -> u64 {
    if size < largest / 16 {
        size * 4
    } else if size <= largest / 2 {
        size * 2
    } else {
        largest
    }
}

impl Stream {
    /// Returns the range to read when `at` is not cached, for a call up to `end`. `history` returns
    /// the cached bytes just before a position, up to a maximum.
    pub fn miss(
        &mut self,
        rules: &ReadAhead,
        at: u64,
        end: u64,
        history: impl FnOnce(u64, u64) -> u64,
    ) -> Window {
        let page = rules.page;
        let at = at - at % page;
        if rules.largest == 0 {
            // Page by page: do_forced_ra with a count of 1.
            return Window {
                start: at,
                end: at + page,
                mark: None,
            };
        }
        let wanted = rules.wanted(at, end);
        let largest = rules.most(wanted);
        // The page that the last read ended in, or the one after it.
        let in_order = |last: u64| (at / page).wrapping_sub(last / page) <= 1;
        if at == 0 || wanted > largest || self.last.is_some_and(in_order) {
            self.size = first(wanted, largest);
            self.ahead = if self.size > wanted {
                self.size - wanted
            } else {
                let half = self.size / 2;
                half - half % page
            };
        } else {
            let history = history(at, largest);
            if history <= wanted {
                return Window {
                    start: at,
                    end: at + wanted,
                    mark: None,
                };
            }
            let from_the_start = history >= at;
            let history = if from_the_start { 2 * history } else { history };
            self.size = (history + wanted).min(largest);
            self.ahead = page;
        }
        self.start = at;
        self.window()
    }

    /// A reader comes to a marked page, for a call that goes up to `end`: what to read then. `hole`
    /// returns the first page after an uncached page, if that is within a number of bytes.
    pub fn comes_to(
        &mut self,
        rules: &ReadAhead,
        mark: u64,
        end: u64,
        hole: impl FnOnce(u64, u64) -> Option<u64>,
    ) -> Option<Window> {
        let wanted = rules.wanted(mark, end);
        let largest = rules.most(wanted);
        if self.size > 0 && mark == self.start + self.size - self.ahead {
            self.start += self.size;
            self.size = self.size.max(next(self.size, largest));
        } else {
            let start = hole(mark, largest)?;
            self.size = next(start - mark + wanted, largest);
            self.start = start;
        }
        self.ahead = self.size;
        Some(self.window())
    }

    /// Returns true if a call goes on where the last one ended, which is then this one.
    pub fn continued(&mut self, call: &Call) -> bool {
        std::mem::replace(&mut self.position, call.end) == call.at
    }

    /// Returns true if a read at this place goes on where the last one ended.
    pub fn goes_on(&self, at: u64) -> bool {
        self.last == Some(at)
    }

    /// Bytes up to `end` were read.
    pub fn read(&mut self, end: u64) {
        self.last = Some(end);
    }

    fn window(&self) -> Window {
        let end = self.start + self.size;
        Window {
            start: self.start,
            end,
            mark: (self.ahead > 0).then_some(end - self.ahead),
        }
    }
}

#[cfg(test)]
mod tests;
