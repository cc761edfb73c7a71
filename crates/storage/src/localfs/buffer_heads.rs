//! Lists of buffer heads: what a write follows to find the blocks of a folio.
//!
//! Each write goes through its folio's list from the first block, whatever part it writes
//! (Linux 6.18, fs/ext4/inode.c: ext4_block_write_begin; fs/buffer.c: block_commit_write). Of
//! a folio of 1 MiB the list is 26 KiB in pieces that lie anywhere: while the processor's
//! caches have it that is quick, otherwise each head waits for memory. Random rewrites of
//! 16 KiB took 5 us a call in a cached file of 64 MiB and 30 us in one of 512 MiB, on ext4;
//! made of folios of 64 KiB, 5 us in both.
//!
//! Copies drive the lists out as other lists do: in a cached file of 32 MiB random rewrites of
//! 16 KiB took 6.0 us, and 9.1 where every other call was a read of 16 KiB, which alone cost as
//! much as ever.
//!
//! Not modelled: that caches do not forget strictly in the order of use, and that what is used
//! again meanwhile takes no more room than once.

use std::collections::BTreeMap;

use headrace_spec::{Bytes, Copying};

/// Bytes of a buffer head on machines of 64 bits (Linux 6.18, include/linux/buffer_head.h).
const HEAD: u64 = 104;

/// Where a list is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Found {
    /// In the second level of the processor's caches, or nearer.
    Near,
    /// In the last level.
    LastLevel,
    Memory,
}

/// The lists that the processor's caches have: those followed before few bytes were used.
#[derive(Debug)]
pub(super) struct BufferHeads {
    /// After how many bytes a list has left the second level, and the last.
    reach: [u64; 2],
    /// Bytes used so far: lists, and pages that were copied.
    used: u64,
    /// How many were when each list was followed last, by file and folio.
    lists: BTreeMap<(u32, u64), u64>,
    /// The lists by that.
    by_use: BTreeMap<u64, (u32, u64)>,
}

impl BufferHeads {
    /// Nothing is known yet. The reach is twice what a block that is copied has of a cache
    /// (Nguyen 2011, section 4.5): its pages and the process's own memory are as large. Of the last
    /// level, which others use too, it may be another.
    pub fn new(copying: &Copying, last: Option<Bytes>) -> BufferHeads {
        let reach = |cache: u64, share: f64| (2.0 * cache as f64 * share) as u64;
        let near = reach(copying.l2.0, copying.l2_share);
        let third = reach(copying.l3.0, copying.l3_share);
        BufferHeads {
            reach: [near, near.max(last.map_or(third, |it| it.0))],
            used: 0,
            lists: BTreeMap::new(),
            by_use: BTreeMap::new(),
        }
    }

    /// So many bytes of pages are copied. The process's own memory is used again by each call.
    pub fn copy(&mut self, bytes: u64) {
        self.used += bytes;
    }

    /// Follows the list of a folio of so many blocks.
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
            used if used <= self.reach[0] => Found::Near,
            used if used <= self.reach[1] => Found::LastLevel,
            _ => Found::Memory,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::copying::NO_TIME;
    use super::*;

    /// Levels that so many bytes pass through before a list has left them.
    fn heads(near: u64, far: u64) -> BufferHeads {
        BufferHeads::new(
            &Copying {
                l2: Bytes(near),
                l2_share: 0.5,
                l3: Bytes(far),
                l3_share: 0.5,
                ..NO_TIME
            },
            None,
        )
    }

    #[test]
    fn a_list_is_as_far_as_what_was_used_since() {
        let list = 256 * HEAD;
        let mut heads = heads(2 * list, 4 * list);
        let mut follow = |file, folio| heads.follow(file, folio, 256);
        assert_eq!(follow(1, 0), Found::Memory);
        assert_eq!(follow(1, 0), Found::Near);
        assert_eq!(follow(2, 0), Found::Memory, "of another file");
        assert_eq!(follow(1, 0), Found::Near, "one list between");
        assert_eq!(follow(1, 7), Found::Memory);
        assert_eq!(follow(2, 0), Found::LastLevel, "two between");
        for folio in 8..11 {
            assert_eq!(follow(1, folio), Found::Memory);
        }
        assert_eq!(follow(2, 0), Found::LastLevel, "three between");
        for folio in 11..15 {
            assert_eq!(follow(1, folio), Found::Memory);
        }
        assert_eq!(follow(2, 0), Found::Memory, "four between");
    }

    #[test]
    fn copies_drive_lists_out_as_lists_do() {
        let list = 256 * HEAD;
        let mut heads = heads(2 * list, 4 * list);
        for (bytes, found) in [
            (0, Found::Memory),
            (list, Found::Near),
            (list + 1, Found::LastLevel),
            (3 * list, Found::LastLevel),
            (3 * list + 1, Found::Memory),
        ] {
            heads.copy(bytes);
            assert_eq!(heads.follow(1, 0, 256), found, "{bytes}");
        }
        assert_eq!((heads.lists.len(), heads.by_use.len()), (1, 1));
    }

    #[test]
    fn a_list_larger_than_the_caches_is_never_there_and_what_has_left_them_is_forgotten() {
        let mut heads = heads(0, 255 * HEAD);
        for folio in 0..1000 {
            assert_eq!(heads.follow(1, folio % 2, 256), Found::Memory);
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
