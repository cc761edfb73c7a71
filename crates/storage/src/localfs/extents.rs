//! Extents of cached pages, findable by place and kept in order of their last
//! use, in one list or two, and for dirty ones of when they became dirty.

use std::cell::Cell;
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
    /// Used once since it came into its list.
    pub referenced: bool,
    /// The list of use that it is in.
    pub list: Order,
    links: [Links; 3],
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

/// One of the orders, oldest first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    /// By last use; of the two lists, that of inactive pages.
    Use = 0,
    /// By when they became dirty; clean ones are not in it.
    Dirty = 1,
    /// By last use, the active pages.
    Active = 2,
}

#[derive(Clone, Copy, Debug)]
struct Ends {
    first: Id,
    last: Id,
}

/// What is known of some bytes of a file: one extent holds all of them, or none
/// does ([`NONE`]). A call asks for the same bytes many times over, and a search
/// among all extents costs more than the rest of a step.
#[derive(Clone, Copy, Debug)]
struct Known {
    range: Range,
    by: Id,
}

const NOTHING_KNOWN: Known = Known {
    range: Range {
        file: 0,
        start: 0,
        end: 0,
    },
    by: NONE,
};

impl Known {
    fn covers(&self, range: Range) -> bool {
        self.range.file == range.file
            && self.range.start <= range.start
            && range.end <= self.range.end
            && !range.is_empty()
    }

    fn overlaps(&self, range: Range) -> bool {
        self.range.file == range.file
            && self.range.start < range.end
            && range.start < self.range.end
    }
}

/// Where extents begin: of each file a map of its own, whose keys are half as long as
/// those of one map of all files, so that a search touches less memory.
#[derive(Default, Debug)]
struct Places(BTreeMap<u32, BTreeMap<u64, Id>>);

impl Places {
    fn insert(&mut self, (file, start): (u32, u64), id: Id) {
        self.0.entry(file).or_default().insert(start, id);
    }

    fn remove(&mut self, (file, start): (u32, u64)) {
        if let Some(places) = self.0.get_mut(&file) {
            places.remove(&start);
            if places.is_empty() {
                self.0.remove(&file);
            }
        }
    }

    fn get(&self, file: u32, start: u64) -> Option<Id> {
        self.0.get(&file)?.get(&start).copied()
    }

    /// Those of a file that begin before a byte, the last one first.
    fn before(&self, file: u32, end: u64) -> impl Iterator<Item = Id> {
        let places = self.0.get(&file);
        places
            .into_iter()
            .flat_map(move |places| places.range(..end).rev())
            .map(|(_, &id)| id)
    }

    /// The first of a file that begins at a byte or after it.
    fn from(&self, file: u32, start: u64) -> Option<Id> {
        let mut places = self.0.get(&file)?.range(start..);
        places.next().map(|(_, &id)| id)
    }
}

/// All extents of one cache. They never overlap.
#[derive(Debug)]
pub(super) struct Extents {
    slab: Vec<Extent>,
    free: Vec<Id>,
    places: Places,
    dirty_places: Places,
    known: Cell<Known>,
    ends: [Ends; 3],
    pub bytes: u64,
    pub dirty_bytes: u64,
    pub active_bytes: u64,
}

impl Default for Extents {
    fn default() -> Extents {
        Extents {
            slab: Vec::new(),
            free: Vec::new(),
            places: Places::default(),
            dirty_places: Places::default(),
            known: Cell::new(NOTHING_KNOWN),
            ends: [Ends {
                first: NONE,
                last: NONE,
            }; 3],
            bytes: 0,
            dirty_bytes: 0,
            active_bytes: 0,
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
        let known = self.known.get();
        if known.covers(range) {
            return match known.by {
                NONE => Vec::new(),
                id => vec![id],
            };
        }
        // From the end, which takes one search: the extent that the range begins in
        // begins before it.
        let mut found = Vec::new();
        let mut free = 0;
        for id in self.places.before(range.file, range.end) {
            let other = self.get(id).range;
            if other.end <= range.start {
                free = other.end;
                break;
            }
            found.push(id);
        }
        found.reverse();
        self.known.set(match found.first() {
            None => Known {
                range: Range {
                    start: free,
                    ..range
                },
                by: NONE,
            },
            Some(&id) => Known {
                range: self.get(id).range,
                by: id,
            },
        });
        found
    }

    /// An extent is there now, or has another place.
    fn learn(&mut self, id: Id) {
        let known = self.known.get_mut();
        let range = self.slab[id as usize].range;
        if known.by == id || known.overlaps(range) {
            *known = Known { range, by: id };
        }
    }

    /// An extent is no more.
    fn unlearn(&mut self, id: Id) {
        let known = self.known.get_mut();
        if known.by == id {
            // Nothing else holds its bytes.
            known.by = NONE;
        }
    }

    /// The extent that starts just here.
    pub fn starting_at(&self, file: u32, start: u64) -> Option<Id> {
        self.places.get(file, start)
    }

    /// Adds an extent as the newest in both orders that concern it.
    pub fn add(&mut self, range: Range, dirty: bool) -> Id {
        let id = self.place(range, dirty, Order::Use);
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
        self.active_bytes += if extent.list == Order::Active { by } else { 0 };
        self.learn(id);
    }

    pub fn remove(&mut self, id: Id) -> Extent {
        let extent = *self.get(id);
        self.unlink(extent.list, id);
        if extent.list == Order::Active {
            self.active_bytes -= extent.range.len();
        }
        let key = (extent.range.file, extent.range.start);
        if extent.dirty {
            self.dirty_places.remove(key);
            self.unlink(Order::Dirty, id);
            self.dirty_bytes -= extent.range.len();
        }
        self.bytes -= extent.range.len();
        self.places.remove(key);
        self.unlearn(id);
        self.free.push(id);
        extent
    }

    /// Makes an extent the most recently used.
    pub fn use_last(&mut self, id: Id) {
        let list = self.get(id).list;
        self.unlink(list, id);
        self.link_after(list, self.ends[list as usize].last, id);
    }

    /// Makes an extent the most recently used of a list of use.
    pub fn move_to(&mut self, id: Id, list: Order) {
        let Extent {
            range, list: old, ..
        } = *self.get(id);
        self.unlink(old, id);
        if old == Order::Active {
            self.active_bytes -= range.len();
        }
        if list == Order::Active {
            self.active_bytes += range.len();
        }
        self.slab[id as usize].list = list;
        self.link_after(list, self.ends[list as usize].last, id);
    }

    pub fn set_referenced(&mut self, id: Id, referenced: bool) {
        self.slab[id as usize].referenced = referenced;
    }

    /// Makes a clean extent the one that became dirty last.
    pub fn soil(&mut self, id: Id) {
        let Extent { range, dirty, .. } = *self.get(id);
        if !dirty {
            self.slab[id as usize].dirty = true;
            self.dirty_bytes += range.len();
            self.dirty_places.insert((range.file, range.start), id);
            let last = self.ends[Order::Dirty as usize].last;
            self.link_after(Order::Dirty, last, id);
        }
    }

    /// The first dirty extent of a file that ends after `from`.
    pub fn next_dirty(&self, file: u32, from: u64) -> Option<Id> {
        let before = self.dirty_places.before(file, from).next();
        let before = before.filter(|&id| self.get(id).range.end > from);
        before.or_else(|| self.dirty_places.from(file, from))
    }

    /// The extent before this one in its list of use, if it is alike and ends
    /// where this one begins: the two become one. Gives the id that is left.
    pub fn join_before(&mut self, id: Id) -> Id {
        let extent = *self.get(id);
        let before = extent.links[extent.list as usize].before;
        if before == NONE {
            return id;
        }
        let other = *self.get(before);
        let alike = other.range.file == extent.range.file
            && other.range.end == extent.range.start
            && other.dirty == extent.dirty
            && other.referenced == extent.referenced;
        if !alike {
            return id;
        }
        self.remove(id);
        self.extend(before, extent.range.len());
        before
    }

    pub fn clean(&mut self, id: Id) {
        if self.get(id).dirty {
            self.unlink(Order::Dirty, id);
            let range = self.get(id).range;
            self.dirty_places.remove((range.file, range.start));
            self.dirty_bytes -= range.len();
            self.slab[id as usize].dirty = false;
        }
    }

    /// Cuts an extent in two at `at`, inside it; the first part keeps the id.
    /// The second part, whose bytes were used later, follows it in both orders.
    pub fn split(&mut self, id: Id, at: u64) -> Id {
        let Extent {
            range,
            dirty,
            list,
            referenced,
            ..
        } = *self.get(id);
        let second = Range { start: at, ..range };
        self.slab[id as usize].range.end = at;
        self.learn(id);
        self.bytes -= second.len();
        self.dirty_bytes -= if dirty { second.len() } else { 0 };
        self.active_bytes -= if list == Order::Active {
            second.len()
        } else {
            0
        };
        let other = self.place(second, dirty, list);
        self.slab[other as usize].referenced = referenced;
        self.link_after(list, id, other);
        if dirty {
            self.link_after(Order::Dirty, id, other);
        }
        other
    }

    fn place(&mut self, range: Range, dirty: bool, list: Order) -> Id {
        let extent = Extent {
            range,
            dirty,
            referenced: false,
            list,
            links: [UNLINKED; 3],
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
        self.learn(id);
        self.bytes += range.len();
        if dirty {
            self.dirty_bytes += range.len();
            self.dirty_places.insert((range.file, range.start), id);
        }
        if list == Order::Active {
            self.active_bytes += range.len();
        }
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
