//! Files that are to be in the page cache when a run begins.
//!
//! They are cached since their creation, but not permanently. Kernels that return memory evict
//! apparently unused pages regardless of free memory (DAMON's `pageout`: Linux 6.18,
//! Documentation/mm/damon/design.rst). A file of 384 MiB lost 3 MiB in the 22 s of its creation.
//! Eight processes then took 116 ms to read it from a disk of 60 MB/s, and 27 to 39 ms the second
//! time.

use std::os::fd::AsFd;

use super::cachestat::cached_pages;

/// Bytes of a file that are checked and re-read at once.
const PART: u64 = 1 << 20;

/// Reads what of a file is not in the page cache. Where the kernel does not tell (cachestat(2),
/// since Linux 6.5), or it cannot be read, the file stays as it is: colder than wanted.
pub fn bring_in(opened: impl AsFd, size: u64) {
    let mut buffer = Vec::new();
    for offset in (0..size).step_by(PART as usize) {
        let size = PART.min(size - offset);
        if lacks(&opened, offset, size) {
            buffer.resize(size as usize, 0);
            let _ = rustix::io::pread(&opened, &mut buffer, offset);
        }
    }
}

/// Returns true if a part of a file is not all in the page cache, as far as the kernel tells.
pub fn lacks(opened: impl AsFd, offset: u64, size: u64) -> bool {
    let pages = size.div_ceil(rustix::param::page_size() as u64);
    cached_pages(opened.as_fd(), offset, size).is_ok_and(|cached| cached < pages)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use rustix::fs::Advice;

    use super::*;

    /// On a real file system: a part within the file has left the page cache.
    #[test]
    fn what_has_left_the_page_cache_comes_back() {
        // It ends within a page.
        const SIZE: u64 = 5 * PART - 100;
        let mut file = tempfile::tempfile().expect("a temporary file");
        file.write_all(&[1; SIZE as usize])
            .expect("it can be written");
        file.sync_all().expect("it can be synced");
        let middle = std::num::NonZeroU64::new(2 * PART);
        rustix::fs::fadvise(&file, PART + PART / 2, middle, Advice::DontNeed)
            .expect("it is only advice");
        if !lacks(&file, 0, SIZE) {
            eprintln!(
                "skipped: this file system keeps what it has in memory, or the kernel has no \
                 cachestat(2), which Linux 6.5 has"
            );
            return;
        }
        bring_in(&file, SIZE);
        let cached = cached_pages(file.as_fd(), 0, SIZE).expect("it told before");
        assert_eq!(cached, SIZE.div_ceil(rustix::param::page_size() as u64));
    }
}
