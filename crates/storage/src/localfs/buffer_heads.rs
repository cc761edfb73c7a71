//! Lists of buffer heads: what a write follows to find the blocks of a folio.
//!
//! Each write goes through its folio's list from the first block, whatever part it writes (Linux
//! 6.18, fs/ext4/inode.c: ext4_block_write_begin; fs/buffer.c: block_commit_write). Of a folio of 1
//! MiB the list is 26 KiB in pieces that lie anywhere: the traversal is fast while the processor's
//! caches hold it, otherwise each head waits for memory. Random rewrites of 16 KiB took 5 us a call
//! in a cached file of 64 MiB and 30 us in one of 512 MiB, on ext4; made of folios of 64 KiB, 5 us
//! in both.
//!
//! Copies drive the lists out as other lists do: in a cached file of 32 MiB random rewrites of
//! 16 KiB took 6.0 us, and 9.1 where every other call was a read of 16 KiB, which alone cost as
//! much as ever.
//!
//! Here is which lists the first two levels have; `last_level_cache` has the rest. On a processor with
//! 48 KiB of the first, 1 MiB of the second and 32 MiB of the last, random rewrites of 4 KiB took
//! 1.2 us in a file of a MiB, whose only list the first has, and 1.4 in one of three. In files of
//! 64 to 192 MiB they took 1.9 (by another program) where up to 0.5 MB of lists and pages had been
//! used since the folio's list, 2.5 after 0.5 to 1 MB, 3.2 after 1 to 1.5, 3.6 to 4 from 2 to 8 MB.
//!
//! Not modelled: that caches do not forget strictly in the order of use; that what is used
//! again meanwhile takes no more room in the first two levels than once; that each core has its
//! own.

use std::collections::BTreeMap;

use headrace_spec::Copying;

/// Bytes of a buffer head on machines of 64 bits (Linux 6.18, include/linux/buffer_head.h).
pub(super) const HEAD: u64 = 104;

/// Cache level that holds a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Found {
    /// In the first level of the processor's caches.
    First,
    /// In the second.
    Second,
    /// In none of them.
    Beyond,
}

/// The lists that the first two levels of the processor's caches have: those followed before few
/// bytes were used.
#[derive(Debug)]
pub(super) struct BufferHeads {
    /// After how many bytes a list has left each.
    reach: [u64; 2],
    /// Bytes used so far: lists, and pages that were copied.
    used: u64,
    /// Counter value at the last traversal of each list, by file and folio.
    lists: BTreeMap<(u32, u64), u64>,
    /// The lists by that.
    by_use: BTreeMap<u64, (u32, u64)>,
}

impl BufferHeads {
    /// Nothing is known yet. A list has left a level after as many bytes as that has.
    pub fn new(copying: &Copying) -> BufferHeads {
        let (first, second) = (copying.l1.0, copying.l2.0);
        BufferHeads {
            reach: [first, second.max(first)],
            used: 0,
            lists: BTreeMap::new(),
            by_use: BTreeMap::new(),
        }
    }

    /// Accounts for copied pages. Each call reuses the process's own memory.
    pub fn copy(&mut self, bytes: u64) {
        self.used += bytes;
    }

    /// Walks the list of a folio of `blocks` blocks; returns where the list was.
    pub fn follow(&mut self, file: u32, folio: u64, blocks: u64) -> Found {
        let before = self.lists.get(&(file, folio)).copied();
        let passed = before.map_or(u64::MAX, |at| self.used - at);
        let bytes = blocks.max(1) * HEAD;
        self.used += bytes;
        if let Some(at) = before {
            self.by_use.remove(&at);
        }
        self.lists.insert((file, folio), self.used);
        self.by_use.insert(self.used, (file, folio));
        while let Some((&at, &oldest)) = self.by_use.first_key_value()
            && self.used - at > self.reach[1]
        {
            self.by_use.remove(&at);
            self.lists.remove(&oldest);
        }
        // What the list itself takes must fit, too.
        match passed.saturating_add(bytes) {
            used if used <= self.reach[0] => Found::First,
            used if used <= self.reach[1] => Found::Second,
            _ => Found::Beyond,
        }
    }
}

#[cfg(test)]
mod tests {
    use headrace_spec::Bytes;

    use super::super::copy_time::NO_TIME;
    use super::Found::{Beyond, First, Second};
    use super::*;

    const LIST: u64 = 256 * HEAD;

    fn heads(first: u64, second: u64) -> BufferHeads {
        BufferHeads::new(&Copying {
            l1: Bytes(first),
            l2: Bytes(second),
            ..NO_TIME
        })
    }

    #[test]
    fn a_list_is_as_far_as_what_was_used_since() {
        let mut heads = heads(LIST, 3 * LIST);
        let mut follow = |file, folio| heads.follow(file, folio, 256);
        assert_eq!(follow(1, 0), Beyond, "for the first time");
        assert_eq!(follow(1, 0), First);
        assert_eq!(follow(2, 0), Beyond, "of another file");
        assert_eq!(follow(1, 0), Second, "one list between");
        assert_eq!(follow(1, 7), Beyond);
        assert_eq!(follow(2, 0), Second, "two between");
        for folio in 8..11 {
            assert_eq!(follow(1, folio), Beyond);
        }
        assert_eq!(follow(2, 0), Beyond, "three between");
    }

    #[test]
    fn copies_drive_lists_out_as_lists_do() {
        let mut heads = heads(LIST, 2 * LIST);
        for (bytes, found) in [
            (0, Beyond),
            (0, First),
            (1, Second),
            (LIST, Second),
            (LIST + 1, Beyond),
        ] {
            heads.copy(bytes);
            assert_eq!(heads.follow(1, 0, 256), found, "{bytes}");
        }
        assert_eq!((heads.lists.len(), heads.by_use.len()), (1, 1));
    }

    #[test]
    fn a_list_larger_than_the_levels_is_never_there_and_what_has_left_is_forgotten() {
        let mut heads = heads(0, 255 * HEAD);
        for folio in 0..1000 {
            assert_eq!(heads.follow(1, folio % 2, 256), Beyond);
            assert!(heads.lists.len() <= 2 && heads.by_use.len() <= 2);
        }
        let mut heads = self::heads(0, 512 * HEAD);
        for folio in 0..1000 {
            heads.follow(1, folio, 256);
            assert!(heads.lists.len() <= 3, "{}", heads.lists.len());
            assert_eq!(heads.lists.len(), heads.by_use.len());
        }
    }
}
