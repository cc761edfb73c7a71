//! Memory for the page cache that nobody has used yet.
//!
//! What the cache has ever held at once was used, and is used again before other memory is. A
//! device may take longer to read into what was not: under a hypervisor that takes free memory
//! back (Linux 6.18, mm/page_reporting.c) that is not there until somebody touches it.
//!
//! Not modelled: memory that is free again for some seconds, and then taken back once more.

/// How much of the memory was used.
#[derive(Clone, Copy, Debug)]
pub struct FreshMemory {
    /// Bytes that there are for the cache: for more, pages of it are taken.
    room: u64,
    /// Bytes under way from the device.
    arriving: u64,
    /// The most bytes that were cached or under way at once, as far as reads have seen it.
    most: u64,
}

impl FreshMemory {
    /// None of so many bytes was used.
    pub fn new(room: u64) -> FreshMemory {
        FreshMemory {
            room,
            arriving: 0,
            most: 0,
        }
    }

    /// So many bytes are asked of the device, while the cache holds so many and has held `most`
    /// at some time. Gives how many pages of 4 KiB of them go into memory that was not used yet.
    pub fn take(&mut self, size: u64, held: u64, most: u64) -> u32 {
        let used = self.most.max(most);
        self.arriving += size;
        self.most = used.max((held + self.arriving).min(self.room));
        (self.most - used).min(size).div_ceil(4096) as u32
    }

    /// So many bytes that were asked for are there.
    pub fn filled(&mut self, size: u64) {
        self.arriving = self.arriving.saturating_sub(size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: u64 = 4096;

    #[test]
    fn memory_is_fresh_once() {
        let mut memory = FreshMemory::new(16 * PAGE);
        assert_eq!(memory.take(8 * PAGE, 0, 0), 8);
        // The cache has had 10 pages, 8 of which may be those that are under way.
        assert_eq!(memory.take(4 * PAGE, 0, 10 * PAGE), 2);
        memory.filled(8 * PAGE);
        memory.filled(4 * PAGE);
        // 12 were used, and the cache holds 9 of them.
        assert_eq!(memory.take(3 * PAGE, 9 * PAGE, 12 * PAGE), 0);
        assert_eq!(memory.take(3 * PAGE, 9 * PAGE, 12 * PAGE), 3);
        memory.filled(6 * PAGE);
        // Files are gone: what they had is used again.
        assert_eq!(memory.take(15 * PAGE, 0, 15 * PAGE), 0);
        // A part of a page needs a page.
        assert_eq!(memory.take(1, 0, 15 * PAGE), 1);
        // There is no more.
        assert_eq!(memory.take(8 * PAGE, 0, 16 * PAGE), 0);
    }
}
