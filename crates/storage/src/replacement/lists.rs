//! Lists of pages, oldest first, with the list that each page is in.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::CachedPage;

/// N lists of pages. A page is in one of them at most.
#[derive(Clone, Debug)]
pub(super) struct Lists<const N: usize> {
    slots: HashMap<CachedPage, u32, BuildHasherDefault<Mixer>>,
    nodes: Vec<Entry>,
    free: Vec<u32>,
    ends: [Ends; N],
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    page: CachedPage,
    list: usize,
    /// A flag of the policy's.
    used: bool,
    before: u32,
    after: u32,
}

#[derive(Clone, Copy, Debug)]
struct Ends {
    first: u32,
    last: u32,
    len: usize,
}

const NONE: u32 = u32::MAX;

impl<const N: usize> Lists<N> {
    pub fn new() -> Lists<N> {
        Lists {
            slots: HashMap::default(),
            nodes: Vec::new(),
            free: Vec::new(),
            ends: [Ends {
                first: NONE,
                last: NONE,
                len: 0,
            }; N],
        }
    }

    /// Pages in a list.
    pub fn len(&self, list: usize) -> usize {
        self.ends[list].len
    }

    /// The list that a page is in.
    pub fn list_of(&self, page: CachedPage) -> Option<usize> {
        let slot = self.slots.get(&page)?;
        Some(self.nodes[*slot as usize].list)
    }

    /// Makes a page the newest of a list, wherever it was; its flag is not set.
    pub fn push(&mut self, list: usize, page: CachedPage) {
        self.remove(page);
        let entry = Entry {
            page,
            list,
            used: false,
            before: self.ends[list].last,
            after: NONE,
        };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.nodes[slot as usize] = entry;
                slot
            }
            None => {
                self.nodes.push(entry);
                self.nodes.len() as u32 - 1
            }
        };
        self.slots.insert(page, slot);
        match entry.before {
            NONE => self.ends[list].first = slot,
            before => self.nodes[before as usize].after = slot,
        }
        self.ends[list].last = slot;
        self.ends[list].len += 1;
    }

    /// Takes the oldest page of a list, with its flag.
    pub fn pop(&mut self, list: usize) -> Option<(CachedPage, bool)> {
        let first = self.ends[list].first;
        let entry = *self.nodes.get(first as usize)?;
        self.remove(entry.page);
        Some((entry.page, entry.used))
    }

    /// Sets a page's flag.
    pub fn set_used(&mut self, page: CachedPage) {
        if let Some(&slot) = self.slots.get(&page) {
            self.nodes[slot as usize].used = true;
        }
    }

    /// Takes a page out of its list, if it is in one.
    pub fn remove(&mut self, page: CachedPage) {
        let Some(slot) = self.slots.remove(&page) else {
            return;
        };
        let Entry {
            list,
            before,
            after,
            ..
        } = self.nodes[slot as usize];
        let ends = &mut self.ends[list];
        ends.len -= 1;
        if before == NONE {
            ends.first = after;
        }
        if after == NONE {
            ends.last = before;
        }
        if before != NONE {
            self.nodes[before as usize].after = after;
        }
        if after != NONE {
            self.nodes[after as usize].before = before;
        }
        self.free.push(slot);
    }
}

/// Hashes pages: the finaliser of splitmix64 (Steele et al. 2014). Page numbers are not chosen in
/// order to collide.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        let mut mixed = (self.0 ^ value).wrapping_add(0x9E37_79B9_7F4A_7C15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        self.0 = mixed ^ (mixed >> 31);
    }
}
