//! Block allocation of files on the device.
//!
//! The device is divided into groups. A file's number selects the group of its first block, which
//! spreads files (Linux, fs/ext4/ialloc.c and mballoc.c). Further blocks continue at the end of the
//! file, or in the next group when one is full. A file that was there before the run gets its place
//! when it is first used, in pieces of 8 MiB in order. With `fragments` above 1 each group's part
//! of a file is cut into that number of pieces, with as much room between them.
//!
//! With `mapping = "indirect"` (ext2, ext3), a block of pointers for each 4 MiB is read before its
//! data and written with it. With `"extents"` (ext4, XFS) there are no such blocks. `delayed`
//! chooses blocks at write-back.
//!
//! Not modelled: reuse of freed space; reservations between writers; a file system that fills up.

use std::collections::{BTreeMap, BTreeSet};

use headrace_spec::{Allocation, FileSystem, Mapping};
use smallvec::{SmallVec, smallvec};

use super::extents::Range;
use super::journal::{BLOCK, Metadata};
use super::new_blocks::NewBlocks;
use super::range_map::RangeMap;

/// Contiguous bytes of a file on the device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    /// The first byte within the file.
    pub offset: u64,
    /// The first byte on the device.
    pub address: u64,
    /// Bytes.
    pub size: u64,
}

/// Some pieces; what a call asks for is mostly one.
pub type Pieces = SmallVec<[Piece; 1]>;

/// Bytes that had no place: the first, and that after the last.
pub type Gaps = SmallVec<[(u64, u64); 1]>;

/// Files that were there before are placed in pieces of this many bytes.
const UNKNOWN: u64 = 8 << 20;

/// Bytes at the start of each group for its bitmaps and inodes: 2 + 512 blocks. mke2fs has 8,192
/// inodes of 256 bytes a group by default.
const GROUP_METADATA: u64 = 514 * 4096;

/// Bytes of a file that its inode points to itself (ext2, ext3): 12 blocks.
const DIRECT: u64 = 12 * 4096;

/// Bytes that one indirect block points to (4 KiB of four-byte pointers).
const INDIRECT: u64 = 1024 * 4096;

/// The map from files to the device.
#[derive(Debug)]
pub struct BlockAllocator {
    group: u64,
    groups: u64,
    /// Contiguous bytes before a gap; as large as the group if unbroken.
    unbroken: u64,
    /// The next free byte of each group that is in use.
    free: BTreeMap<u64, u64>,
    /// Addresses of parts of files.
    pieces: RangeMap<u64>,
    /// True if blocks are found through indirect blocks.
    indirect: bool,
    /// Files lie on servers, and their addresses are offsets.
    elsewhere: bool,
    /// True if blocks are chosen when data goes out.
    delayed: bool,
    /// True if an fsync without a journal writes the inode, with pointers or without.
    sync_writes_inode: bool,
    /// Indirect blocks that are cached, by file and index.
    pointers: BTreeSet<(u32, u64)>,
    /// Blocks allocated and not yet written.
    new_blocks: NewBlocks,
}

impl BlockAllocator {
    /// An empty device of `capacity` bytes.
    pub fn new(file_system: &FileSystem, capacity: u64) -> BlockAllocator {
        let blocks = BlockAllocator::with(&file_system.allocation, capacity);
        BlockAllocator {
            sync_writes_inode: file_system.sync_writes_inode,
            ..blocks
        }
    }

    fn with(spec: &Allocation, capacity: u64) -> BlockAllocator {
        let group = spec.group.0;
        let room = group.saturating_sub(GROUP_METADATA).max(group / 2);
        let unbroken = (room / u64::from(spec.fragments)).max(4096);
        BlockAllocator {
            group,
            groups: (capacity / group).max(1),
            unbroken: match spec.fragments {
                1 => u64::MAX,
                // Half of each part is the room between pieces.
                _ => (unbroken / 2).next_multiple_of(4096),
            },
            indirect: spec.mapping == Mapping::Indirect,
            elsewhere: false,
            delayed: spec.delayed,
            ..BlockAllocator::elsewhere()
        }
    }

    /// The files lie on servers, which give them their places.
    pub fn elsewhere() -> BlockAllocator {
        BlockAllocator {
            group: u64::MAX,
            groups: 1,
            unbroken: u64::MAX,
            free: BTreeMap::new(),
            pieces: RangeMap::default(),
            indirect: false,
            elsewhere: true,
            delayed: false,
            sync_writes_inode: false,
            pointers: BTreeSet::new(),
            new_blocks: NewBlocks::default(),
        }
    }

    /// Returns true if blocks are chosen when data goes out, not when it is written.
    pub fn is_delayed(&self) -> bool {
        self.delayed
    }

    /// Returns true if an fsync without a journal writes the file's inode and its pointer blocks
    /// (ext2 and ext3), or the inode alone.
    pub fn syncs_own_blocks(&self) -> bool {
        self.indirect || self.sync_writes_inode
    }

    /// Reads an indirect block into the cache; returns true if it was not there.
    pub fn find_pointers(&mut self, file: u32, index: u64) -> bool {
        self.pointers.insert((file, index))
    }

    /// All indirect blocks of a file of `size` bytes are cached.
    pub fn find_all_pointers(&mut self, file: u32, size: u64) {
        let last = self.indirect_block_of(size - 1);
        let all = last.into_iter().flat_map(|last| 0..=last);
        self.pointers.extend(all.map(|index| (file, index)));
    }

    /// No indirect block is cached any more.
    pub fn forget_pointers(&mut self) {
        self.pointers.clear();
    }

    /// Chooses blocks for a range; gives the blocks of metadata that this changes.
    pub fn allocate(&mut self, range: Range) -> SmallVec<[Metadata; 5]> {
        let Range { file, start, end } = range;
        // Some of it may have blocks already, which are not new.
        let gaps = self.place(file, start, end);
        self.new_blocks.add_all(file, gaps);
        let of = |at: u64| self.group_at(file, at);
        let mut changed = SmallVec::new();
        for group in BTreeSet::from([of(start), of(end - 1)]) {
            changed.extend([Metadata::Bitmap(group), Metadata::Descriptor(group)]);
        }
        if let Some(index) = self.indirect_block_of(end - 1) {
            self.pointers.insert((file, index));
            changed.push(Metadata::Indirect(file, index));
        }
        changed
    }

    /// A range is written; says how many of its bytes had new blocks.
    pub fn take_new(&mut self, range: Range) -> u64 {
        self.new_blocks.take(range)
    }

    /// Returns the address of a metadata block: at the head of its group.
    pub fn address_of(&mut self, block: Metadata) -> u64 {
        let (group, within) = match block {
            Metadata::Bitmap(group) => (group, 0),
            Metadata::Inodes(group) => (group, 1),
            Metadata::Descriptor(block) => (0, 2 + block),
            Metadata::Inode(block) => (
                self.group_of(block.wrapping_mul(16)),
                4 + u64::from(block % 500),
            ),
            Metadata::Directory(file) => (self.group_of(file), 3),
            Metadata::Indirect(file, index) => {
                let offset = self.first_of_indirect_block(index);
                if !self.is_placed(file, offset, offset + 1) {
                    // The block goes before data of which none is written yet: it is new still.
                    let gaps = self.place_about(file, offset, offset + 1);
                    self.new_blocks.add_all(file, gaps);
                }
                return self.before(file, offset);
            }
        };
        self.metadata_of(group) + within * BLOCK
    }

    /// Address of the block before a byte of a file: where the indirect block that points to the
    /// byte lies.
    pub fn before(&mut self, file: u32, offset: u64) -> u64 {
        let found = self.find(file, offset, offset + 1);
        let address = found.first().map_or(0, |piece| piece.address);
        address.saturating_sub(BLOCK)
    }

    /// The indirect block that points to a byte of a file, if one does.
    pub fn indirect_block_of(&self, offset: u64) -> Option<u64> {
        (self.indirect && offset >= DIRECT).then(|| (offset - DIRECT) / INDIRECT)
    }

    /// The first byte that an indirect block points to.
    fn first_of_indirect_block(&self, index: u64) -> u64 {
        DIRECT + index * INDIRECT
    }

    /// The group that a file begins in.
    pub fn group_of(&self, file: u32) -> u64 {
        u64::from(file) % self.groups
    }

    /// The group that a byte of a file lies in.
    fn group_at(&self, file: u32, offset: u64) -> u64 {
        match self.piece_at(file, offset) {
            Some(piece) => (piece.address + offset - piece.offset) / self.group,
            None => self.group_of(file),
        }
    }

    /// The address of a group's metadata.
    fn metadata_of(&self, group: u64) -> u64 {
        (group % self.groups) * self.group
    }

    /// Returns true if every byte of a range has its place.
    pub fn is_placed(&self, file: u32, start: u64, end: u64) -> bool {
        let mut at = if self.elsewhere { end } else { start };
        while at < end {
            match self.piece_at(file, at) {
                Some(piece) => at = piece.offset + piece.size,
                None => return false,
            }
        }
        true
    }

    /// Returns the bytes of a range that are allocated.
    pub fn placed(&self, file: u32, start: u64, end: u64) -> u64 {
        if self.elsewhere {
            return end - start;
        }
        let before = self.piece_at(file, start).map(|piece| piece.offset);
        let first = Range {
            file,
            start: before.unwrap_or(start),
            end,
        };
        let pieces = self.pieces.beginning_in(first);
        let within = pieces.map(|(piece, _)| piece.end.min(end) - piece.start.max(start));
        within.sum()
    }

    fn piece_at(&self, file: u32, at: u64) -> Option<Piece> {
        let (range, &address) = self.pieces.at(file, at)?;
        Some(Piece {
            offset: range.start,
            address,
            size: range.len(),
        })
    }

    /// Gives the bytes of a range that have none a place; returns which these were.
    pub fn place(&mut self, file: u32, start: u64, end: u64) -> Gaps {
        let mut gaps = Gaps::new();
        let mut at = if self.elsewhere { end } else { start };
        while at < end {
            if let Some(piece) = self.piece_at(file, at) {
                at = piece.offset + piece.size;
                continue;
            }
            let rest = Range {
                file,
                start: at,
                end,
            };
            let next = self.pieces.beginning_in(rest).next();
            let until = next.map_or(end, |(piece, _)| piece.start);
            gaps.push((at, until));
            while at < until {
                at += self.place_some(file, at, until - at);
            }
        }
        gaps
    }

    /// The same of whole pieces of a file of which nothing is known yet.
    fn place_about(&mut self, file: u32, start: u64, end: u64) -> Gaps {
        let first = start - start % UNKNOWN;
        self.place(file, first, end.next_multiple_of(UNKNOWN))
    }

    /// Places the first bytes of a gap; returns how many.
    fn place_some(&mut self, file: u32, offset: u64, size: u64) -> u64 {
        let before = self.pieces.last_before(file, offset);
        let before = before
            .filter(|(piece, _)| piece.end == offset)
            .map(|(piece, &address)| (piece, address, piece.len()));
        let wanted = match before {
            Some((_, address, size)) => (address + size - 1) / self.group,
            None => self.group_of(file) + offset / self.group,
        };
        for step in 0..=self.groups {
            let group = (wanted + step) % self.groups;
            let begin = group * self.group + GROUP_METADATA.min(self.group / 2);
            let mut free = *self.free.get(&group).unwrap_or(&begin);
            let end = (group + 1) * self.group;
            if free >= end && step == self.groups {
                // The device is full: addresses are used twice.
                free = begin;
            }
            if free >= end {
                continue;
            }
            let joins = before.is_some_and(|(_, address, size)| address + size == free);
            let room = (end - free).min(match (joins, before) {
                (true, Some((_, _, size))) => self.unbroken.saturating_sub(size),
                _ => self.unbroken,
            });
            if room == 0 {
                // The piece is as long as pieces get: leave a gap as long.
                self.free.insert(group, (free + self.unbroken).min(end));
                return 0;
            }
            let size = size.min(room);
            self.free.insert(group, free + size);
            match before {
                Some((piece, address, _)) if joins => {
                    let end = piece.end + size;
                    self.pieces.put(Range { end, ..piece }, address);
                }
                _ => {
                    let (start, end) = (offset, offset + size);
                    self.pieces.put(Range { file, start, end }, free);
                }
            }
            return size;
        }
        size
    }

    /// Returns the device addresses of a range. Files that existed before the run are allocated on
    /// first use.
    pub fn find(&mut self, file: u32, start: u64, end: u64) -> Pieces {
        if self.elsewhere {
            let piece = Piece {
                offset: start,
                address: start,
                size: end - start,
            };
            return smallvec![piece];
        }
        let mut found = Pieces::new();
        let mut at = start;
        while at < end {
            let piece = self.piece_at(file, at).or_else(|| {
                self.place_about(file, start, end);
                self.piece_at(file, at)
            });
            let Some(piece) = piece else {
                break;
            };
            let skip = at - piece.offset;
            let size = (piece.size - skip).min(end - at);
            found.push(Piece {
                offset: at,
                address: piece.address + skip,
                size,
            });
            at += size;
        }
        found
    }

    /// Forgets a file that was removed.
    pub fn remove(&mut self, file: u32) {
        self.pointers.retain(|&(other, _)| other != file);
        self.new_blocks.remove(file);
        self.pieces.remove_file(file);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headrace_spec::Bytes;
    use proptest::prelude::*;

    fn placement(fragments: u32) -> BlockAllocator {
        let spec = Allocation {
            mapping: Mapping::Extents,
            delayed: false,
            group: Bytes(128 << 20),
            fragments,
        };
        BlockAllocator::with(&spec, 8 << 30)
    }

    #[test]
    fn a_file_written_in_order_is_contiguous_up_to_its_group() {
        let mut placement = placement(1);
        for n in 0..64 {
            placement.place(3, n << 16, (n + 1) << 16);
        }
        let found = placement.find(3, 0, 64 << 16);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].address, 3 * (128 << 20) + GROUP_METADATA);
    }

    #[test]
    fn two_writers_in_one_group_alternate() {
        let mut placement = placement(1);
        for n in 0..4 {
            placement.place(0, n << 16, (n + 1) << 16);
            placement.place(64, n << 16, (n + 1) << 16);
        }
        assert_eq!(placement.find(0, 0, 4 << 16).len(), 4);
    }

    #[test]
    fn fragments_are_as_many_as_asked() {
        let mut placement = placement(8);
        placement.place(0, 0, 60 << 20);
        let pieces = placement.find(0, 0, 60 << 20);
        assert!((7..=9).contains(&pieces.len()), "{}", pieces.len());
    }

    proptest! {
        /// No two bytes in one place, and every byte has one.
        #[test]
        fn places_never_overlap(
            steps in prop::collection::vec((0_u32..5, 0_u64..4000, 1_u64..600), 1..60),
            fragments in 1_u32..9,
        ) {
            let mut placement = placement(fragments);
            let mut taken: Vec<(u64, u64)> = Vec::new();
            for &(file, page, pages) in &steps {
                let (start, end) = (page * 4096, (page + pages) * 4096);
                placement.place(file, start, end);
                prop_assert!(placement.is_placed(file, start, end));
                let about = page.saturating_sub(300)..page + pages + 300;
                let placed = about.clone().filter(|at| placement.is_placed(file, at * 4096, (at + 1) * 4096));
                let (first, last) = (about.start * 4096, about.end * 4096);
                prop_assert_eq!(placement.placed(file, first, last), placed.count() as u64 * 4096);
                let found = placement.find(file, start, end);
                prop_assert_eq!(found.iter().map(|piece| piece.size).sum::<u64>(), end - start);
            }
            for (piece, &address) in placement.pieces.iter() {
                taken.push((address, address + piece.len()));
            }
            taken.sort_unstable();
            for pair in taken.windows(2) {
                prop_assert!(pair[0].1 <= pair[1].0, "{pair:?}");
            }
        }
    }
}
