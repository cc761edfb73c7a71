//! Memory for the page cache that was never used before.
//!
//! Memory that the cache has used before is reused first. Reads into unused memory may take a
//! device longer. Under a hypervisor that takes free memory back, such memory is not there until it
//! is touched (Linux 6.18, mm/page_reporting.c).
//!
//! Not modelled: memory that is free again for some seconds, and then taken back once more; a
//! crash, which frees all of it; the processor's part, which `file_system.read_page` has for all
//! pages.

use super::active_inactive_lru::ActiveInactiveLru;

/// Amount of memory that was used before.
#[derive(Clone, Copy, Debug, Default)]
pub struct FreshMemory {
    /// Bytes that are being read from the device.
    arriving: u64,
    /// The most bytes that were cached or in progress at once, as far as reads have seen it.
    most: u64,
}

impl FreshMemory {
    /// Reserves memory for bytes read from the device. Returns the number of 4 KiB pages that use
    /// memory for the first time.
    pub fn take(&mut self, size: u64, cache: &ActiveInactiveLru) -> u32 {
        let used = self.most.max(cache.most_bytes());
        self.arriving += size;
        // For more than the cache has room, pages of it are taken.
        self.most = used.max((cache.bytes() + self.arriving).min(cache.capacity()));
        (self.most.div_ceil(4096) - used.div_ceil(4096)) as u32
    }

    /// Accounts for requested bytes that have arrived.
    pub fn filled(&mut self, size: u64) {
        debug_assert!(size <= self.arriving, "more came than was asked for");
        self.arriving = self.arriving.saturating_sub(size);
    }
}

#[cfg(test)]
mod tests {
    use super::super::extents::Range;
    use super::*;

    const PAGE: u64 = 4096;

    #[test]
    fn memory_is_fresh_once() {
        let (mut memory, mut cache) = (
            FreshMemory::default(),
            ActiveInactiveLru::new(16 * PAGE, PAGE, 0.5),
        );
        let file = |file: u32, pages: u64| Range {
            file,
            start: 0,
            end: pages * PAGE,
        };
        assert_eq!(memory.take(8 * PAGE, &cache), 8);
        memory.filled(8 * PAGE);
        cache.fill(file(0, 8));
        assert_eq!(memory.take(4 * PAGE, &cache), 4);
        memory.filled(4 * PAGE);
        // Requested and evicted memory was used.
        assert_eq!(memory.take(4 * PAGE, &cache), 0);
        memory.filled(4 * PAGE);
        cache.fill(file(1, 5));
        // A writer has used 13.
        assert_eq!(memory.take(2 * PAGE, &cache), 2);
        memory.filled(2 * PAGE);
        cache.forget(0);
        assert_eq!(memory.take(10 * PAGE, &cache), 0);
        // There is room for 16.
        assert_eq!(memory.take(10 * PAGE, &cache), 1);
        assert_eq!(memory.take(10 * PAGE, &cache), 0);
    }
}
