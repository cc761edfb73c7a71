//! Storage of one node's tokens: a slab with first-in-first-out queues threaded through it. A token
//! is written once when it enters and never moves while it waits, is served, and is ready. Slots
//! are reused, so memory is allocated only at a new maximum of tokens.

use crate::time::Time;
use crate::token::Token;

const NONE: u32 = u32::MAX;

/// The number of a token within its node; free again once the token has left.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Slot(pub u32);

/// A first-in-first-out line of tokens, threaded through its node's slab.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    head: u32,
    tail: u32,
    len: u32,
}

impl Default for Line {
    fn default() -> Line {
        Line {
            head: NONE,
            tail: NONE,
            len: 0,
        }
    }
}

impl Line {
    /// Number of tokens that stand in it.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Returns true if the line is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The first in line.
    pub fn first(&self) -> Option<Slot> {
        (self.head != NONE).then_some(Slot(self.head))
    }
}

#[derive(Debug)]
struct Entry<T> {
    token: T,
    /// The next in line, or the next free entry.
    next: u32,
    /// The copy of the node that the token is in, or on its way to.
    copy: u32,
    /// Time of arrival; [`Time::NEVER`] while the token is on its way.
    entered: Time,
}

#[derive(Debug)]
pub(crate) struct Slab<T> {
    entries: Vec<Entry<T>>,
    /// Links backwards, only for bags, whose tokens leave from anywhere.
    previous: Option<Vec<u32>>,
    free: u32,
}

impl<T: Token> Slab<T> {
    pub fn new(bag: bool) -> Slab<T> {
        Slab {
            entries: Vec::new(),
            previous: bag.then(Vec::new),
            free: NONE,
        }
    }

    #[inline]
    pub fn is_bag(&self) -> bool {
        self.previous.is_some()
    }

    /// Bytes held, and the most tokens ever held at once.
    pub fn footprint(&self) -> (usize, usize) {
        let links = self.previous.as_ref().map_or(0, Vec::capacity);
        (
            self.entries.capacity() * size_of::<Entry<T>>() + links * 4,
            self.entries.len(),
        )
    }

    #[inline(always)]
    pub fn insert(&mut self, token: T, copy: u32) -> Slot {
        let slot = self.free;
        if let Some(entry) = self.entries.get_mut(slot as usize) {
            self.free = entry.next;
            entry.token = token;
            entry.copy = copy;
            entry.entered = Time::NEVER;
            return Slot(slot);
        }
        let slot = self.entries.len() as u32;
        self.entries.push(Entry {
            token,
            next: NONE,
            copy,
            entered: Time::NEVER,
        });
        if let Some(previous) = &mut self.previous {
            previous.push(NONE);
        }
        Slot(slot)
    }

    /// Frees a slot; gives its token.
    #[inline]
    pub fn remove(&mut self, slot: Slot) -> T {
        let entry = &mut self.entries[slot.0 as usize];
        entry.next = self.free;
        self.free = slot.0;
        entry.token
    }

    /// A token arrives.
    #[inline]
    pub fn enter(&mut self, slot: Slot, now: Time) {
        self.entries[slot.0 as usize].entered = now;
    }

    /// Returns the time of a token's arrival.
    #[inline]
    pub fn entered(&self, slot: Slot) -> Time {
        self.entries[slot.0 as usize].entered
    }

    /// All tokens with their copies, those on their way included. It looks at every entry.
    pub fn all(&self) -> impl Iterator<Item = (Slot, u32, &T)> {
        let mut is_free = vec![false; self.entries.len()];
        let mut at = self.free;
        while let Some(entry) = self.entries.get(at as usize) {
            is_free[at as usize] = true;
            at = entry.next;
        }
        let entries = self.entries.iter().zip(0_u32..);
        let taken = entries.filter(move |(_, slot)| !is_free[*slot as usize]);
        taken.map(|(entry, slot)| (Slot(slot), entry.copy, &entry.token))
    }

    #[inline]
    pub fn get(&self, slot: Slot) -> &T {
        &self.entries[slot.0 as usize].token
    }

    #[inline]
    pub fn get_mut(&mut self, slot: Slot) -> &mut T {
        &mut self.entries[slot.0 as usize].token
    }

    #[inline]
    pub fn push(&mut self, line: &mut Line, slot: Slot) {
        self.entries[slot.0 as usize].next = NONE;
        if let Some(previous) = &mut self.previous {
            previous[slot.0 as usize] = line.tail;
        }
        if line.tail == NONE {
            line.head = slot.0;
        } else {
            self.entries[line.tail as usize].next = slot.0;
        }
        line.tail = slot.0;
        line.len += 1;
    }

    #[inline]
    pub fn pop(&mut self, line: &mut Line) -> Option<Slot> {
        let slot = line.first()?;
        line.head = self.entries[slot.0 as usize].next;
        line.len -= 1;
        if line.head == NONE {
            line.tail = NONE;
        } else if let Some(previous) = &mut self.previous {
            previous[line.head as usize] = NONE;
        }
        Some(slot)
    }

    /// Takes a token out of a bag's line, at any place.
    pub fn unlink(&mut self, line: &mut Line, slot: Slot) {
        let next = self.entries[slot.0 as usize].next;
        let Some(previous) = &mut self.previous else {
            debug_assert_eq!(line.head, slot.0, "only bags give tokens out of order");
            self.pop(line);
            return;
        };
        let before = previous[slot.0 as usize];
        if next == NONE {
            line.tail = before;
        } else {
            previous[next as usize] = before;
        }
        if before == NONE {
            line.head = next;
        } else {
            self.entries[before as usize].next = next;
        }
        line.len -= 1;
    }

    /// The tokens of a line, first to last.
    pub fn walk(&self, line: &Line) -> impl Iterator<Item = Slot> + '_ {
        let mut at = line.head;
        std::iter::from_fn(move || {
            let slot = (at != NONE).then_some(Slot(at))?;
            at = self.entries[slot.0 as usize].next;
            Some(slot)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against the obvious twin: a vector.
        #[test]
        fn a_bag_is_a_list_with_holes(steps in prop::collection::vec((0_u8..3, any::<usize>()), 0..200)) {
            let mut slab = Slab::new(true);
            let mut line = Line::default();
            let mut twin: Vec<(Slot, u64)> = Vec::new();
            for (number, (step, choice)) in steps.into_iter().enumerate() {
                match step {
                    0 => {
                        let slot = slab.insert(number as u64, 3);
                        slab.push(&mut line, slot);
                        twin.push((slot, number as u64));
                    }
                    1 => {
                        let popped = slab.pop(&mut line).map(|slot| (slot, slab.remove(slot)));
                        let expected = (!twin.is_empty()).then(|| twin.remove(0));
                        prop_assert_eq!(popped, expected);
                    }
                    _ if !twin.is_empty() => {
                        let (slot, token) = twin.remove(choice % twin.len());
                        slab.unlink(&mut line, slot);
                        prop_assert_eq!(slab.remove(slot), token);
                    }
                    _ => {}
                }
                prop_assert_eq!(slab.walk(&line).collect::<Vec<_>>(), twin.iter().map(|t| t.0).collect::<Vec<_>>());
                prop_assert_eq!(line.len() as usize, twin.len());
                let mut all: Vec<(Slot, u64)> = slab.all().map(|(slot, _, token)| (slot, *token)).collect();
                let mut expected = twin.clone();
                all.sort_unstable();
                expected.sort_unstable();
                prop_assert_eq!(all, expected);
            }
        }
    }
}
