use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};

use super::*;
use crate::skipped::skipped;

const PAGE: u64 = 4096;

#[test]
fn bits_of_a_range_are_set_and_counted() {
    let mut pages = Pages::new();
    assert_eq!(count(&pages, 0, 1000), 0);
    fill(&mut pages, 60, 130);
    assert_eq!(count(&pages, 0, 1000), 70);
    assert_eq!(count(&pages, 60, 61), 1);
    assert_eq!(count(&pages, 0, 60), 0);
    assert_eq!(count(&pages, 64, 128), 64);
    assert_eq!(count(&pages, 129, 140), 1);
    fill(&mut pages, 100, 200);
    assert_eq!(count(&pages, 0, 1000), 140);
    fill(&mut pages, 5, 5);
    assert_eq!(count(&pages, 0, 1000), 140);
}

#[test]
fn what_is_cached_and_known_is_a_hit_and_what_is_only_cached_was_read_ahead() {
    let of = |cached, known| {
        let reads = shares(4 * PAGE, 4, cached, known);
        [reads.asked, reads.hits, reads.read_ahead].map(|it| it / PAGE)
    };
    assert_eq!(of(0, 0), [4, 0, 0]);
    assert_eq!(of(0, 4), [4, 0, 0], "it has left the cache");
    assert_eq!(of(4, 4), [4, 4, 0]);
    assert_eq!(of(4, 0), [4, 0, 4]);
    assert_eq!(of(3, 1), [4, 1, 2]);
    // A part of a page is the page.
    assert_eq!(shares(100, 1, 1, 1).hits, 100);
}

/// On a real file system: written data is cached; other files of the same length are not.
#[test]
fn the_kernel_says_what_is_cached() {
    let known = KnownPages::new();
    if known.page != PAGE {
        skipped(format!("pages of {} bytes", known.page));
        return;
    }
    let mut file = tempfile::tempfile().expect("a temporary file");
    if cachestat::cached_pages(file.as_fd(), 0, PAGE) == Err(rustix::io::Errno::NOSYS) {
        skipped("this kernel has no cachestat(2), which Linux 6.5 has");
        return;
    }
    file.write_all(&[1; 3 * PAGE as usize])
        .expect("it can be written");
    // Three pages of seven are there.
    file.set_len(7 * PAGE).expect("it can be longer");
    known.there_before(0, &file, 7 * PAGE);
    let look = |file: &File, number| known.look(number, file.as_fd(), PAGE, 4 * PAGE);
    let reads = look(&file, 0);
    assert_eq!([reads.asked, reads.hits], [4 * PAGE, 2 * PAGE]);
    assert_eq!(reads.read_ahead, 0);
    // Without knowledge of a file's pages they count as read ahead.
    assert_eq!(look(&file, 1).read_ahead, 2 * PAGE);
    file.seek(SeekFrom::Start(0)).expect("it can be sought");
    file.read_exact(&mut [0; 5 * PAGE as usize])
        .expect("it can be read");
    assert_eq!(look(&file, 0).hits, 4 * PAGE);
}
