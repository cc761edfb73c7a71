//! Read-ahead: a window per process and file that doubles while the file is read in
//! order (Linux 6.18, mm/readahead.c: page_cache_sync_ra, page_cache_async_ra,
//! get_init_ra_size, get_next_ra_size).
//!
//! A miss at the start of a file, or just after the last byte read, opens a
//! window; a miss elsewhere reads what was asked and no more. Each window has a
//! mark; when the reader comes to it, the next window is asked for, so that one
//! is read while the other is used. A file that is cached causes no misses and so
//! no read-ahead.
//!
//! Not modelled: the search of the page cache for the history of streams that
//! share one open file. Each process reads a file through an open file of its own,
//! but the threads of a daemon share one.

/// A window to be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// Its first byte.
    pub start: u64,
    /// The byte after its last.
    pub end: u64,
}

/// What is remembered of one process's reads of one file.
#[derive(Clone, Copy, Default, Debug)]
pub struct Stream {
    start: u64,
    size: u64,
    /// Bytes at the end of the window that are read ahead of need.
    ahead: u64,
    /// The byte after the last one read.
    last: u64,
    read_before: bool,
}

/// The largest window and the unit of windows.
#[derive(Clone, Copy, Debug)]
pub struct ReadAhead {
    /// Bytes; 0 for none.
    pub largest: u64,
    /// Bytes.
    pub page: u64,
    /// The largest transfer that the device takes at once: a call for more than
    /// a window is read in pieces of this (mm/readahead.c, io_pages).
    pub transfer: u64,
}

impl ReadAhead {
    /// The first window for a request of so many bytes.
    fn first(&self, wanted: u64) -> u64 {
        let size = wanted.next_power_of_two();
        if size <= self.largest / 32 {
            size * 4
        } else if size <= self.largest / 4 {
            size * 2
        } else {
            self.largest
        }
    }

    /// The window after one of so many bytes.
    fn next(&self, size: u64) -> u64 {
        if size < self.largest / 16 {
            size * 4
        } else if size <= self.largest / 2 {
            size * 2
        } else {
            self.largest
        }
    }
}

impl Stream {
    /// What to read when `at` is not cached, for a call that goes up to `end`.
    pub fn miss(&mut self, rules: &ReadAhead, at: u64, end: u64) -> Window {
        let at = at - at % rules.page;
        let wanted = (end.div_ceil(rules.page) * rules.page).saturating_sub(at);
        let largest = if wanted > rules.largest {
            rules.largest.max(wanted.min(rules.transfer))
        } else {
            rules.largest
        };
        let near = at == 0 || self.read_before && at.abs_diff(self.last) <= rules.page;
        if rules.largest == 0 || !(near || wanted > largest) {
            self.size = 0;
            let end = at + wanted.min(rules.transfer).max(rules.page);
            return Window { start: at, end };
        }
        let rules = ReadAhead { largest, ..*rules };
        self.start = at;
        self.size = rules.first(wanted);
        self.ahead = if self.size > wanted {
            self.size - wanted
        } else {
            self.size
        };
        Window {
            start: at,
            end: at + self.size,
        }
    }

    /// Bytes up to `end` are read now; the next window, if its mark was passed.
    pub fn used(&mut self, rules: &ReadAhead, at: u64, end: u64) -> Option<Window> {
        self.last = end;
        self.read_before = true;
        if self.size == 0 {
            return None;
        }
        let mark = self.start + self.size - self.ahead;
        if !(at <= mark && mark < end) {
            return None;
        }
        self.start += self.size;
        self.size = rules.next(self.size);
        self.ahead = self.size;
        Some(Window {
            start: self.start,
            end: self.start + self.size,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: ReadAhead = ReadAhead {
        largest: 128 << 10,
        page: 4096,
        transfer: 1280 << 10,
    };

    /// The windows, in KiB, of a file read in order by calls of `call` KiB.
    fn windows(rules: &ReadAhead, call: u64, calls: u64) -> Vec<(u64, u64)> {
        let mut stream = Stream::default();
        let mut cached = 0;
        let mut seen = Vec::new();
        let kib = |window: Window| (window.start >> 10, (window.end - window.start) >> 10);
        for n in 0..calls {
            let (at, end) = ((n * call) << 10, ((n + 1) * call) << 10);
            if end > cached {
                let window = stream.miss(rules, cached.max(at), end);
                cached = window.end;
                seen.push(kib(window));
            }
            if let Some(window) = stream.used(rules, at, end) {
                cached = window.end;
                seen.push(kib(window));
            }
        }
        seen
    }

    #[test]
    fn windows_grow_while_a_file_is_read_in_order() {
        // get_init_ra_size and get_next_ra_size by hand for 4 KiB calls and a
        // window of 128 KiB: 4·4, then ·2 up to the largest.
        assert_eq!(
            windows(&RULES, 4, 40)[..5],
            [(0, 16), (16, 32), (48, 64), (112, 128), (240, 128)]
        );
        // 64 KiB calls get the largest at once.
        assert_eq!(windows(&RULES, 64, 4)[..2], [(0, 128), (128, 128)]);
    }

    #[test]
    fn a_miss_elsewhere_reads_no_more_than_asked() {
        let mut stream = Stream::default();
        stream.used(&RULES, 0, 8192);
        let window = stream.miss(&RULES, 1 << 30, (1 << 30) + 8192);
        assert_eq!(window.end - window.start, 8192);
        assert_eq!(stream.used(&RULES, 1 << 30, (1 << 30) + 8192), None);
    }

    #[test]
    fn without_read_ahead_only_what_is_asked_is_read() {
        let rules = ReadAhead {
            largest: 0,
            ..RULES
        };
        assert_eq!(windows(&rules, 4, 3), [(0, 4), (4, 4), (8, 4)]);
    }
}
