//! The processor time of calls: their costs, and the contents of the processor's caches.
//!
//! A call's time is the sum of `system_call`, the costs of the file system for the pages that it
//! touches, and its copies. A call that does not continue at the previous one's end takes
//! `discontiguous_call`. This cost counts for the fraction of such calls whose first byte is not in
//! the caches. With data=journal, a page that the running transaction already has takes
//! `write_page_in_transaction`, since it joins only once (jbd2_write_access_granted in
//! fs/jbd2/transaction.c). A folio is as large as the call that creates it, down to a power of two,
//! up to `memory.largest_folio` (Linux 6.18, `fgf_set_order`). An fsync takes `transfer` each time
//! that it waits: for data, for an inode that it writes itself, for the device's flush.

use headrace_net::Span;

use super::copy_time::CopyTime;
use super::extents::Range;
use super::last_level_cache::LastLevelCache;
use super::volume::Costs;
use crate::time_conversion::part_of;

/// The processor times of a file system's calls.
pub(super) struct CpuCost {
    pub costs: Costs,
    copy: CopyTime,
    /// The folio whose list of buffer heads a write followed last, with its file.
    last_list: Option<(u32, u64)>,
    /// Bytes of the cache that the processor's last level has, where that makes a difference.
    pub last_level: Option<LastLevelCache>,
}

impl CpuCost {
    /// Processor times of a file system of which nothing has been used.
    pub fn new(costs: Costs, copy: CopyTime, last_level: Option<LastLevelCache>) -> CpuCost {
        CpuCost {
            costs,
            copy,
            last_list: None,
            last_level,
        }
    }

    /// Time to copy bytes out of the page cache, for a call of `size` bytes.
    pub fn copy_out(&mut self, file: u32, start: u64, end: u64, size: u64) -> Span {
        let time = self.copy.of(end - start, size);
        self.copied(file, start, end, time)
    }

    /// Time to copy bytes into it.
    pub fn copy_in(&mut self, file: u32, start: u64, end: u64, size: u64) -> Span {
        let time = self.copy.of_write(end - start, size);
        self.copied(file, start, end, time)
    }

    /// Returns the cost of copying bytes relative to a copy without processor caches.
    fn copied(&mut self, file: u32, start: u64, end: u64, time: Span) -> Span {
        match &mut self.last_level {
            Some(level) => level.copy(Range { file, start, end }, time),
            None => time,
        }
    }

    /// Time to traverse the list of a folio's buffer heads: of the part that the processor's caches
    /// lack. The next write finds all of it. `first` is the number of the folio's first page.
    pub fn follow_list(&mut self, file: u32, folio: u64, first: u64, heads: u64) -> Span {
        let list = (file, folio);
        let again = self.last_list.replace(list) == Some(list);
        let level = self.last_level.as_mut();
        let found = level.map_or(0.0, |it| it.follow(file, first, heads));
        if again {
            return Span::ZERO;
        }
        part_of(self.costs.buffer_head, 1.0 - found) * heads
    }

    /// Pages have come into the cache, or are gone: the processor has none of them.
    pub fn in_other_memory(&mut self, range: Range) {
        if let Some(level) = &mut self.last_level {
            level.forget(range);
        }
    }
}
