//! Buffers of the processes.

/// Alignment of buffers for direct transfers: the largest logical block of common devices.
const ALIGNMENT: usize = 4096;

/// A huge page of most machines (x86-64; aarch64 with pages of 4 KiB). Where one is larger, the
/// kernel gives none.
const HUGE_PAGE: usize = 2 << 20;

/// Memory that direct transfers can go to and from.
#[derive(Debug)]
pub struct Buffer {
    memory: Vec<u8>,
    first: usize,
    size: usize,
}

impl Buffer {
    /// Allocates incompressible bytes, in huge pages if requested and available.
    #[must_use]
    pub fn new(size: usize, seed: u64, huge_pages: bool) -> Buffer {
        let alignment = if huge_pages { HUGE_PAGE } else { ALIGNMENT };
        let length = size.next_multiple_of(alignment);
        let mut memory = vec![0; length + alignment];
        let first = memory.as_ptr().align_offset(alignment).min(alignment);
        if huge_pages {
            advise_huge_pages(&mut memory[first..first + length]);
        }
        let mut counter = 0;
        let mut random = headrace_net::Random::named(seed, "data", &mut counter);
        for bytes in memory[first..first + size].chunks_mut(8) {
            let drawn = random.bits().to_ne_bytes();
            bytes.copy_from_slice(&drawn[..bytes.len()]);
        }
        Buffer {
            memory,
            first,
            size,
        }
    }

    /// The first bytes of it.
    #[must_use]
    pub fn bytes(&self, size: usize) -> &[u8] {
        &self.memory[self.first..self.first + size.min(self.size)]
    }

    /// The first bytes of it, to be changed.
    pub fn bytes_mut(&mut self, size: usize) -> &mut [u8] {
        let first = self.first;
        &mut self.memory[first..first + size.min(self.size)]
    }
}

/// Asks for huge pages under memory that nothing was written to yet. Where there are none, the
/// memory is as good, in more pieces.
#[expect(unsafe_code, reason = "the kernel's call takes a pointer")]
fn advise_huge_pages(memory: &mut [u8]) {
    // SAFETY: the range is the slice's; the advice changes its page size, not its content. A kernel
    // without huge pages refuses.
    _ = unsafe {
        rustix::mm::madvise(
            memory.as_mut_ptr().cast(),
            memory.len(),
            rustix::mm::Advice::LinuxHugepage,
        )
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skipped::skipped;

    #[test]
    fn a_buffer_has_its_bytes_where_direct_transfers_want_them() {
        for (size, huge_pages) in [(1, false), (5000, false), (5000, true), (3 << 20, true)] {
            let mut buffer = Buffer::new(size, 7, huge_pages);
            let alignment = if huge_pages { HUGE_PAGE } else { ALIGNMENT };
            assert_eq!(buffer.bytes(usize::MAX).as_ptr().align_offset(alignment), 0);
            assert_eq!(buffer.bytes(usize::MAX).len(), size);
            assert_eq!(buffer.bytes_mut(1).len(), 1);
            let zeros = buffer.bytes(size).iter().filter(|it| **it == 0).count();
            assert!(zeros <= 8 + size / 100, "{zeros} of {size} are 0");
        }
    }

    #[test]
    fn what_is_in_a_buffer_is_the_same_in_huge_pages() {
        let [one, other] = [false, true].map(|huge| Buffer::new(5000, 7, huge));
        assert_eq!(one.bytes(5000), other.bytes(5000));
    }

    /// Returns the KiB of this process's memory that are in huge pages.
    #[cfg(target_os = "linux")]
    fn in_huge_pages() -> Option<u64> {
        let told = std::fs::read_to_string("/proc/self/smaps_rollup").ok()?;
        let line = told.lines().find(|it| it.starts_with("AnonHugePages"))?;
        line.split_whitespace().nth(1)?.parse().ok()
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn huge_pages_are_taken_where_the_kernel_gives_them() {
        let enabled = "/sys/kernel/mm/transparent_hugepage/enabled";
        let enabled = std::fs::read_to_string(enabled).unwrap_or_default();
        let (Some(before), false) = (in_huge_pages(), !enabled.contains('[')) else {
            return skipped("the kernel reports no huge pages");
        };
        if enabled.contains("[never]") {
            return skipped("the kernel gives no huge pages");
        }
        // Far more than other tests of this process give back meanwhile.
        let buffer = Buffer::new(64 << 20, 7, true);
        let after = in_huge_pages().expect("it was told before");
        assert!(after >= before + 4096, "{before} and {after} KiB");
        drop(buffer);
    }
}
