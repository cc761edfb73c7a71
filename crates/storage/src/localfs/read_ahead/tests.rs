use std::collections::BTreeSet;

use super::*;

const KIB: u64 = 1 << 10;
const PAGE: u64 = 4 * KIB;

const RULES: ReadAhead = ReadAhead {
    largest: 128 * KIB,
    page: PAGE,
    transfer: 1280 * KIB,
};

/// A page cache of single pages that forgets nothing, and an open file on it.
#[derive(Default)]
struct OpenFile {
    stream: Stream,
    cached: BTreeSet<u64>,
    marks: BTreeSet<u64>,
    /// Windows so far: start and size in KiB.
    windows: Vec<(u64, u64)>,
}

impl OpenFile {
    fn open(&mut self, window: Window) {
        self.windows
            .push((window.start / KIB, (window.end - window.start) / KIB));
        self.marks
            .extend(window.mark.filter(|mark| !self.cached.contains(mark)));
        let pages = (window.start..window.end).step_by(PAGE as usize);
        self.cached.extend(pages);
    }

    /// Reads some KiB at a place, page by page.
    fn read(&mut self, rules: &ReadAhead, at: u64, size: u64) {
        let end = (at + size) * KIB;
        for page in (at * KIB..end).step_by(PAGE as usize) {
            if !self.cached.contains(&page) {
                let cached = &self.cached;
                let history = |at: u64, most: u64| {
                    let before = (1..=most / PAGE).map(|n| at.checked_sub(n * PAGE));
                    let held = before.take_while(|it| it.is_some_and(|it| cached.contains(&it)));
                    held.count() as u64 * PAGE
                };
                let window = self.stream.miss(rules, page, end, history);
                self.open(window);
            }
            if self.marks.remove(&page) {
                let cached = &self.cached;
                let hole = |mark: u64, most: u64| {
                    let after = (1..=most / PAGE).map(|n| mark + n * PAGE);
                    after.into_iter().find(|it| !cached.contains(it))
                };
                if let Some(window) = self.stream.comes_to(rules, page, end, hole) {
                    self.open(window);
                }
            }
        }
        self.stream.read(end);
    }
}

/// The windows of one stream read in order by calls of `call` KiB.
fn windows(rules: &ReadAhead, call: u64, calls: u64) -> Vec<(u64, u64)> {
    let mut file = OpenFile::default();
    for n in 0..calls {
        file.read(rules, n * call, call);
    }
    file.windows
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
    // A call beyond the largest window has one of its own size, and so have the next.
    assert_eq!(windows(&RULES, 512, 2)[..2], [(0, 512), (512, 512)]);
}

#[test]
fn a_miss_elsewhere_reads_no_more_than_asked() {
    let mut file = OpenFile::default();
    for place in [1 << 20, 1 << 10, 1 << 22, 1 << 18] {
        file.read(&RULES, place, 8);
    }
    let asked = [1 << 20, 1 << 10, 1 << 22, 1 << 18].map(|place| (place, 8));
    assert_eq!(file.windows, asked);
}

#[test]
fn without_read_ahead_pages_come_one_by_one() {
    let rules = ReadAhead {
        largest: 0,
        ..RULES
    };
    assert_eq!(windows(&rules, 8, 2), [(0, 4), (4, 4), (8, 4), (12, 4)]);
}

/// Two streams of 4 KiB calls in one open file, at 0 and at 1 GiB, worked out by hand after
/// mm/readahead.c. The second does not begin at a start of a file. It is recognised when two pages
/// of it are cached and a third is requested. A mark reached with the other stream's window has the
/// next one begin after the cached pages behind it. The window is as large as next(those and the
/// marked page + the request).
#[test]
fn two_streams_in_one_open_file_are_found_in_the_page_cache() {
    const FAR: u64 = 1 << 20;
    let mut file = OpenFile::default();
    for n in 0..12 {
        file.read(&RULES, 4 * n, 4);
        file.read(&RULES, FAR + 4 * n, 4);
    }
    let of = |far: bool| -> Vec<(u64, u64)> {
        let windows = file.windows.iter().filter(|it| (it.0 >= FAR) == far);
        windows.map(|&(start, size)| (start % FAR, size)).collect()
    };
    // 16 from the start of the file, the mark at 4: still the open file's own, ·2.
    // The mark at 16: 32 are held from there, next(32 + 4) = 72. The mark at 48: not
    // before the thirteenth call.
    assert_eq!(of(false), [(0, 16), (16, 32), (48, 72)]);
    // Two single pages; 2 before + 1 asked = 12 KiB with the last page marked, at 16.
    // The first stream has just met its own mark: 4 held + 4 asked = 8, not below
    // 128/16, so 16. Then it meets none until the end: ·2 each time.
    assert_eq!(
        of(true),
        [(0, 4), (4, 4), (8, 12), (20, 16), (36, 32), (68, 64)]
    );
}

/// Any number of streams come to the largest window each.
#[test]
fn many_streams_in_one_open_file_come_to_the_largest_window() {
    for streams in [2, 3, 8, 40] {
        let mut file = OpenFile::default();
        for n in 0..200 {
            for stream in 0..streams {
                file.read(&RULES, (stream << 20) + 16 * n, 16);
            }
        }
        for stream in 0..streams {
            let own = |it: &&(u64, u64)| it.0 >> 20 == stream;
            let sizes: Vec<u64> = file.windows.iter().filter(own).map(|it| it.1).collect();
            assert_eq!(sizes.last(), Some(&128), "{streams}: {sizes:?}");
            // Every byte was read in order, and once.
            let read: u64 = sizes.iter().sum();
            assert!(read <= 16 * 200 + 2 * 128, "{streams}: {read}");
        }
    }
}
