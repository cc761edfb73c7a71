//! Extents of cached pages, found by place and ordered by their last use, in
//! one list or two. Dirty ones are also ordered by the time when they became
//! dirty.

use std::cell::Cell;

use smallvec::{SmallVec, smallvec};

use super::extent_index::ExtentIndex;
use crate::replacement::CachedPage;

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
    /// Returns the length in bytes.
    pub fn len(&self) -> u64 {
        self.end - self.start
    }

    /// Returns true if it has none.
    pub fn is_empty(&self) -> bool {
        self.end == self.start
    }

    /// The pages of a range of whole pages.
    pub(super) fn pages(self, page: u64) -> impl Iterator<Item = CachedPage> {
        let Range { file, start, end } = self;
        (start / page..end.div_ceil(page)).map(move |number| CachedPage { file, number })
    }

    /// The bytes of a page of `size` bytes.
    pub(super) fn of_page(page: CachedPage, size: u64) -> Range {
        let start = page.number * size;
        Range {
            file: page.file,
            start,
            end: start.saturating_add(size),
        }
    }

    /// Appends it to some ranges, to the last one if it goes on there.
    pub(super) fn append_to(self, ranges: &mut Vec<Range>) {
        match ranges.last_mut() {
            Some(last) if last.file == self.file && last.end == self.start => last.end = self.end,
            _ => ranges.push(self),
        }
    }
}

pub(super) type Id = u32;

/// Some extents; a call mostly meets one or two.
pub(super) type Ids = SmallVec<[Id; 4]>;

const NONE: Id = Id::MAX;

#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub range: Range,
    pub dirty: bool,
    /// Used once since it came into its list.
    pub referenced: bool,
    /// The list of use that it is in.
    pub list: Order,
    /// Its neighbours in that list.
    links: Links,
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

/// Memo of the last lookup: one extent holds the whole range, or none does ([`NONE`]). A call looks
/// up the same bytes many times, and a search among all extents costs more than the rest of a step.
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

/// All extents of one cache. They never overlap.
#[derive(Debug)]
pub(super) struct Extents {
    slab: Vec<Extent>,
    /// The neighbours of dirty extents among the dirty ones. They have a list of their
    /// own because most extents are clean, and memory that is not touched costs nothing.
    dirty_links: Vec<Links>,
    free: Vec<Id>,
    places: ExtentIndex,
    dirty_places: ExtentIndex,
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
            dirty_links: Vec::new(),
            free: Vec::new(),
            places: ExtentIndex::default(),
            dirty_places: ExtentIndex::default(),
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

    /// The extents that overlap a range, in order of place. None overlaps an empty range,
    /// not even one inside an extent: a cut there would leave an empty extent.
    pub fn overlapping(&self, range: Range) -> Ids {
        if range.is_empty() {
            return Ids::new();
        }
        let known = self.known.get();
        if known.covers(range) {
            return match known.by {
                NONE => Ids::new(),
                id => smallvec![id],
            };
        }
        // From the end, which takes one search: the extent that the range begins in
        // begins before it.
        let mut found = Ids::new();
        let mut free = 0;
        for (id, end) in self.places.before(range.file, range.end) {
            if end <= range.start {
                free = end;
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

    /// An extent is removed.
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
        let Extent {
            range, dirty, list, ..
        } = *self.get(id);
        self.set_end(id, range.end + by);
        self.bytes += by;
        self.dirty_bytes += if dirty { by } else { 0 };
        self.active_bytes += if list == Order::Active { by } else { 0 };
    }

    /// Moves an extent's end.
    fn set_end(&mut self, id: Id, end: u64) {
        let extent = &mut self.slab[id as usize];
        extent.range.end = end;
        self.places.set_end(extent.range);
        if extent.dirty {
            self.dirty_places.set_end(extent.range);
        }
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
    pub fn mark_dirty(&mut self, id: Id) {
        let Extent { range, dirty, .. } = *self.get(id);
        if !dirty {
            self.slab[id as usize].dirty = true;
            self.dirty_bytes += range.len();
            self.dirty_places.insert(range, id);
            let last = self.ends[Order::Dirty as usize].last;
            self.link_after(Order::Dirty, last, id);
        }
    }

    /// The first dirty extent of a file that ends after `from`.
    pub fn next_dirty(&self, file: u32, from: u64) -> Option<Id> {
        let before = self.dirty_places.before(file, from).next();
        let before = before.filter(|&(_, end)| end > from).map(|(id, _)| id);
        before.or_else(|| self.dirty_places.from(file, from))
    }

    /// The extent before this one in its list of use, if it is alike and ends
    /// where this one begins: the two become one. Gives the id that is left.
    pub fn join_before(&mut self, id: Id) -> Id {
        let extent = *self.get(id);
        let before = extent.links.before;
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
        self.set_end(id, at);
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
            links: UNLINKED,
        };
        let id = match self.free.pop() {
            Some(id) => {
                self.slab[id as usize] = extent;
                id
            }
            None => {
                self.slab.push(extent);
                self.dirty_links.push(UNLINKED);
                self.slab.len() as Id - 1
            }
        };
        self.places.insert(range, id);
        self.learn(id);
        self.bytes += range.len();
        if dirty {
            self.dirty_bytes += range.len();
            self.dirty_places.insert(range, id);
        }
        if list == Order::Active {
            self.active_bytes += range.len();
        }
        id
    }

    fn links(&mut self, order: Order, id: Id) -> &mut Links {
        match order {
            Order::Dirty => &mut self.dirty_links[id as usize],
            Order::Use | Order::Active => &mut self.slab[id as usize].links,
        }
    }

    fn link_after(&mut self, order: Order, before: Id, id: Id) {
        let after = match before {
            NONE => self.ends[order as usize].first,
            before => self.links(order, before).after,
        };
        *self.links(order, id) = Links { before, after };
        self.join(order, before, id);
        self.join(order, id, after);
    }

    fn unlink(&mut self, order: Order, id: Id) {
        let Links { before, after } = *self.links(order, id);
        self.join(order, before, after);
    }

    /// Makes two neighbours in an order; either may be its end.
    fn join(&mut self, order: Order, before: Id, after: Id) {
        match before {
            NONE => self.ends[order as usize].first = after,
            before => self.links(order, before).after = after,
        }
        match after {
            NONE => self.ends[order as usize].last = before,
            after => self.links(order, after).before = before,
        }
    }
}
