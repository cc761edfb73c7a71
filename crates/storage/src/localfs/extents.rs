//! Extents of cached pages, findable by place and kept in two orders: by last
//! use, and for dirty ones by when they became dirty.

use std::collections::BTreeMap;

/// Contiguous bytes of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// The file.
    pub file: u32,
    /// The first byte.
    pub start: u64,
    /// The byte after the last.
    pub end: u64,
}

impl Range {
    /// How many bytes.
    pub fn len(&self) -> u64 {
        self.end - self.start
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.end == self.start
    }
}

pub(super) type Id = u32;
const NONE: Id = Id::MAX;

#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub range: Range,
    pub dirty: bool,
    links: [Links; 2],
}

#[derive(Clone, Copy, Debug)]
struct Links {
    before: Id,
    after: Id,
}

const UNLINKED: Links = Links {
    before: NONE,
    after: NONE,
};

/// One of the two orders, oldest first.
#[derive(Clone, Copy)]
pub(super) enum Order {
    /// By last use.
    Use = 0,
    /// By when they became dirty; clean ones are not in it.
    Dirty = 1,
}

#[derive(Clone, Copy, Debug)]
struct Ends {
    first: Id,
    last: Id,
}

/// All extents of one cache. They never overlap.
#[derive(Debug)]
pub(super) struct Extents {
    slab: Vec<Extent>,
    free: Vec<Id>,
    places: BTreeMap<(u32, u64), Id>,
    ends: [Ends; 2],
    pub bytes: u64,
    pub dirty_bytes: u64,
}

impl Default for Extents {
    fn default() -> Extents {
        Extents {
            slab: Vec::new(),
            free: Vec::new(),
            places: BTreeMap::new(),
            ends: [Ends {
                first: NONE,
                last: NONE,
            }; 2],
            bytes: 0,
            dirty_bytes: 0,
        }
    }
}

impl Extents {
    pub fn get(&self, id: Id) -> &Extent {
        &self.slab[id as usize]
    }

    pub fn oldest(&self, order: Order) -> Option<Id> {
        let first = self.ends[order as usize].first;
        (first != NONE).then_some(first)
    }

    pub fn newest(&self, order: Order) -> Option<Id> {
        let last = self.ends[order as usize].last;
        (last != NONE).then_some(last)
    }

    /// The extents that overlap a range, in order of place.
    pub fn overlapping(&self, range: Range) -> Vec<Id> {
        let before = self.places.range(..(range.file, range.start)).next_back();
        let first = before.map(|(_, &id)| id).filter(|&id| {
            let other = self.get(id).range;
            other.file == range.file && other.end > range.start
        });
        let rest = self
            .places
            .range((range.file, range.start)..(range.file, range.end));
        first.into_iter().chain(rest.map(|(_, &id)| id)).collect()
    }

    /// The extent that starts just here.
    pub fn starting_at(&self, file: u32, start: u64) -> Option<Id> {
        self.places.get(&(file, start)).copied()
    }

    /// Adds an extent as the newest in both orders that concern it.
    pub fn add(&mut self, range: Range, dirty: bool) -> Id {
        let id = self.place(range, dirty);
        self.link_after(Order::Use, self.ends[Order::Use as usize].last, id);
        if dirty {
            self.link_after(Order::Dirty, self.ends[Order::Dirty as usize].last, id);
        }
        id
    }

    /// Lengthens an extent at its end.
    pub fn extend(&mut self, id: Id, by: u64) {
        let extent = &mut self.slab[id as usize];
        extent.range.end += by;
        self.bytes += by;
        self.dirty_bytes += if extent.dirty { by } else { 0 };
    }

    pub fn remove(&mut self, id: Id) -> Extent {
        let extent = *self.get(id);
        self.unlink(Order::Use, id);
        if extent.dirty {
            self.unlink(Order::Dirty, id);
            self.dirty_bytes -= extent.range.len();
        }
        self.bytes -= extent.range.len();
        self.places.remove(&(extent.range.file, extent.range.start));
        self.free.push(id);
        extent
    }

    /// Makes an extent the most recently used.
    pub fn use_last(&mut self, id: Id) {
        self.unlink(Order::Use, id);
        self.link_after(Order::Use, self.ends[Order::Use as usize].last, id);
    }

    pub fn clean(&mut self, id: Id) {
        if self.get(id).dirty {
            self.unlink(Order::Dirty, id);
            self.dirty_bytes -= self.get(id).range.len();
            self.slab[id as usize].dirty = false;
        }
    }

    /// Cuts an extent in two at `at`, inside it; the first part keeps the id.
    /// The second part, whose bytes were used later, follows it in both orders.
    pub fn split(&mut self, id: Id, at: u64) -> Id {
        let Extent { range, dirty, .. } = *self.get(id);
        let second = Range { start: at, ..range };
        self.slab[id as usize].range.end = at;
        self.bytes -= second.len();
        self.dirty_bytes -= if dirty { second.len() } else { 0 };
        let other = self.place(second, dirty);
        self.link_after(Order::Use, id, other);
        if dirty {
            self.link_after(Order::Dirty, id, other);
        }
        other
    }

    fn place(&mut self, range: Range, dirty: bool) -> Id {
        let extent = Extent {
            range,
            dirty,
            links: [UNLINKED; 2],
        };
        let id = match self.free.pop() {
            Some(id) => {
                self.slab[id as usize] = extent;
                id
            }
            None => {
                self.slab.push(extent);
                self.slab.len() as Id - 1
            }
        };
        self.places.insert((range.file, range.start), id);
        self.bytes += range.len();
        self.dirty_bytes += if dirty { range.len() } else { 0 };
        id
    }

    fn link_after(&mut self, order: Order, before: Id, id: Id) {
        let index = order as usize;
        let after = match before {
            NONE => self.ends[index].first,
            before => self.slab[before as usize].links[index].after,
        };
        self.slab[id as usize].links[index] = Links { before, after };
        self.join(index, before, id);
        self.join(index, id, after);
    }

    fn unlink(&mut self, order: Order, id: Id) {
        let index = order as usize;
        let Links { before, after } = self.slab[id as usize].links[index];
        self.join(index, before, after);
    }

    /// Makes two neighbours in an order; either may be its end.
    fn join(&mut self, index: usize, before: Id, after: Id) {
        match before {
            NONE => self.ends[index].first = after,
            before => self.slab[before as usize].links[index].after = after,
        }
        match after {
            NONE => self.ends[index].last = before,
            after => self.slab[after as usize].links[index].before = before,
        }
    }
}
