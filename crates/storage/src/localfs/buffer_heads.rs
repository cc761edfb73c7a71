//! Lists of buffer heads: what a write follows to find the blocks of a folio.
//!
//! Each write goes through its folio's list from the first block, whatever part it writes
//! (Linux 6.18, fs/ext4/inode.c: ext4_block_write_begin; fs/buffer.c: block_commit_write). Of
//! a folio of 1 MiB the list is 26 KiB in pieces that lie anywhere: while the processor's
//! caches have it that is quick, otherwise each head waits for memory. Random rewrites of
//! 16 KiB took 5 us a call in a cached file of 64 MiB and 30 us in one of 512 MiB, on ext4;
//! made of folios of 64 KiB, 5 us in both.
//!
//! Not modelled: that data which is copied takes its part of the caches, and that caches do
//! not forget strictly in the order of use.

use std::collections::BTreeMap;

use headrace_spec::Copying;

/// Bytes of a buffer head on machines of 64 bits (Linux 6.18, include/linux/buffer_head.h).
const HEAD: u64 = 104;

/// The lists that the processor's caches have: those followed last.
#[derive(Debug)]
pub(super) struct BufferHeads {
    /// Bytes of lists that fit; none if folios are pages.
    room: u64,
    used: u64,
    /// Each list's last use and its bytes, by file and folio.
    lists: BTreeMap<(u32, u64), (u64, u64)>,
    /// The lists by their last use.
    by_use: BTreeMap<u64, (u32, u64)>,
    uses: u64,
}

impl BufferHeads {
    /// Nothing is known yet. The room is what a copy has of the last level of the caches, since
    /// that is what was measured of it (Nguyen 2011, section 4.5).
    pub fn new(copying: &Copying) -> BufferHeads {
        let share = |cache: u64, share: f64| (cache as f64 * share) as u64;
        let near = share(copying.l2.0, copying.l2_share);
        let room = near.max(share(copying.l3.0, copying.l3_share));
        BufferHeads {
            room,
            used: 0,
            lists: BTreeMap::new(),
            by_use: BTreeMap::new(),
            uses: 0,
        }
    }

    /// Follows the list of a folio of so many blocks; whether the caches had it.
    pub fn follow(&mut self, file: u32, folio: u64, blocks: u64) -> bool {
        self.uses += 1;
        let bytes = blocks * HEAD;
        let before = self.lists.insert((file, folio), (self.uses, bytes));
        self.by_use.insert(self.uses, (file, folio));
        match before {
            Some((used, _)) => _ = self.by_use.remove(&used),
            None => self.used += bytes,
        }
        while self.used > self.room
            && let Some((_, oldest)) = self.by_use.pop_first()
            && let Some((_, bytes)) = self.lists.remove(&oldest)
        {
            self.used -= bytes;
        }
        before.is_some()
    }
}

#[cfg(test)]
mod tests {
    use headrace_spec::{Bytes, Seconds};

    use super::*;

    fn heads(room: u64) -> BufferHeads {
        BufferHeads::new(&Copying {
            l2: Bytes(room),
            l2_share: 1.0,
            l3: Bytes(0),
            l3_share: 1.0,
            page_in_l2: Seconds(0.0),
            page_in_l3: Seconds(0.0),
            page_in_memory: Seconds(0.0),
            read_call: Seconds(0.0),
            write_share: 1.0,
            contention: 1.0,
        })
    }

    #[test]
    fn a_list_that_was_followed_lately_is_there() {
        let mut heads = heads(2 * 256 * HEAD);
        assert!(!heads.follow(1, 0, 256));
        assert!(heads.follow(1, 0, 256));
        assert!(!heads.follow(2, 0, 256), "of another file");
        assert!(heads.follow(1, 0, 256));
        assert!(!heads.follow(1, 7, 256), "one too many: file 2's is gone");
        assert!(heads.follow(1, 0, 256));
        assert!(!heads.follow(2, 0, 256));
    }

    #[test]
    fn a_list_larger_than_the_caches_is_never_there() {
        let mut heads = heads(255 * HEAD);
        assert!(!heads.follow(1, 0, 256));
        assert!(!heads.follow(1, 0, 256));
        assert_eq!(
            (heads.used, heads.lists.len(), heads.by_use.len()),
            (0, 0, 0)
        );
    }
}
