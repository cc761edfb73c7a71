//! Disk buffer: read-ahead segments and dirty extents.

use std::collections::BTreeMap;

use super::geometry::Place;

/// Sectors of one sequential stream that were read.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Segment {
    pub start: u64,
    pub end: u64,
    /// The sector after the last that the host has asked for.
    asked: u64,
    used: u64,
}

/// The segments of the buffer; the least recently used makes room.
#[derive(Clone, Debug)]
pub(super) struct Segments {
    all: Vec<Segment>,
    uses: u64,
    /// Sectors that a segment has room for.
    pub room: u64,
}

impl Segments {
    pub(super) fn new(number: u32, room: u64) -> Segments {
        let number = if room == 0 { 0 } else { number as usize };
        Segments {
            all: vec![Segment::default(); number],
            uses: 0,
            room,
        }
    }

    /// The segment that holds a sector, or that it would be next in.
    pub(super) fn find(&mut self, sector: u64) -> Option<usize> {
        let holds = |it: &Segment| it.start < it.end && it.start <= sector && sector < it.end;
        let index = self.all.iter().position(holds)?;
        self.touch(index);
        Some(index)
    }

    pub(super) fn get(&self, index: usize) -> Segment {
        self.all[index]
    }

    /// The host requests the sectors of a segment up to `end`. Returns true if some of them were
    /// not requested before: they were read ahead.
    pub(super) fn ask(&mut self, index: usize, end: u64) -> bool {
        let segment = &mut self.all[index];
        let ahead = end > segment.asked;
        segment.asked = segment.asked.max(end);
        ahead
    }

    /// Gives a stream that was read from `start` to `end` a segment: its own if
    /// one ends there, else the one not used for longest.
    pub(super) fn keep(&mut self, start: u64, end: u64) -> Option<usize> {
        let own = self
            .all
            .iter()
            .position(|it| it.start < it.end && it.end == start);
        let oldest = || (0..self.all.len()).min_by_key(|&index| self.all[index].used);
        let index = own.or_else(oldest)?;
        let start = if own.is_some() {
            self.all[index].start
        } else {
            start
        };
        self.all[index].start = start;
        self.all[index].asked = end;
        self.extend(index, end);
        self.touch(index);
        Some(index)
    }

    /// The segment holds the data read up to `end`, as far as it has room.
    pub(super) fn extend(&mut self, index: usize, end: u64) {
        let segment = &mut self.all[index];
        segment.end = end;
        segment.start = segment.start.max(end.saturating_sub(self.room));
    }

    /// Drops overwritten data.
    pub(super) fn forget(&mut self, start: u64, end: u64) {
        for segment in &mut self.all {
            if segment.start < end && start < segment.end {
                segment.end = segment.start;
            }
        }
    }

    fn touch(&mut self, index: usize) {
        self.uses += 1;
        self.all[index].used = self.uses;
    }
}

/// An extent, by its first sector.
#[derive(Clone, Copy, Debug)]
struct Extent {
    end: u64,
    /// Cached start position: most are checked many times before they are written.
    place: Option<Place>,
}

impl Extent {
    fn to(end: u64) -> Extent {
        Extent { end, place: None }
    }
}

/// Sectors that were written into the buffer only, as extents.
#[derive(Clone, Default, Debug)]
pub(super) struct Dirty {
    extents: BTreeMap<u64, Extent>,
    sectors: u64,
}

impl Dirty {
    pub(super) fn sectors(&self) -> u64 {
        self.sectors
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sectors == 0
    }

    /// Returns true if all of the sectors are here.
    pub(super) fn holds(&self, start: u64, end: u64) -> bool {
        let before = self.extents.range(..=start).next_back();
        before.is_some_and(|(_, it)| end <= it.end)
    }

    /// Adds sectors, joined with their neighbours.
    pub(super) fn add(&mut self, mut start: u64, mut end: u64) {
        while let Some((&from, &Extent { end: until, .. })) = self.extents.range(..=end).next_back()
            && until >= start
        {
            self.extents.remove(&from);
            self.sectors -= until - from;
            start = start.min(from);
            end = end.max(until);
        }
        self.extents.insert(start, Extent::to(end));
        self.sectors += end - start;
    }

    /// Takes out up to `most` sectors of the extent that begins at `start`; gives
    /// their end.
    pub(super) fn take(&mut self, start: u64, most: u64) -> u64 {
        let Some(Extent { end: until, .. }) = self.extents.remove(&start) else {
            return start;
        };
        let end = until.min(start + most.max(1));
        if end < until {
            self.extents.insert(end, Extent::to(until));
        }
        self.sectors -= end - start;
        end
    }

    /// Takes sectors out of the extents.
    pub(super) fn remove(&mut self, start: u64, end: u64) {
        while let Some((&from, &Extent { end: until, .. })) = self.extents.range(..end).next_back()
            && until > start
        {
            self.extents.remove(&from);
            self.sectors -= until - from;
            if from < start {
                self.extents.insert(from, Extent::to(start));
                self.sectors += start - from;
            }
            if until > end {
                self.extents.insert(end, Extent::to(until));
                self.sectors += until - end;
            }
        }
    }

    /// Returns the extent with the least access time among the nearest ones on each side of a
    /// sector: time, first sector and position.
    pub(super) fn nearest<T: Ord>(
        &mut self,
        sector: u64,
        each: usize,
        place: impl Fn(u64) -> Place,
        time: impl Fn(&Place) -> T,
    ) -> Option<(T, u64, Place)> {
        let mut best: Option<(T, u64, Place)> = None;
        let mut look = |(&first, extent): (&u64, &mut Extent)| {
            let place = *extent.place.get_or_insert_with(|| place(first));
            let time = time(&place);
            if best.as_ref().is_none_or(|(other, ..)| time < *other) {
                best = Some((time, first, place));
            }
        };
        let ahead = self.extents.range_mut(sector..).take(each);
        ahead.for_each(&mut look);
        let behind = self.extents.range_mut(..sector).rev().take(each);
        behind.for_each(&mut look);
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Against the obvious twin: a set of sectors.
        #[test]
        fn dirty_extents_are_a_set(steps in prop::collection::vec((0_u8..3, 0_u64..60, 1_u64..20), 0..60)) {
            let (mut dirty, mut twin) = (Dirty::default(), BTreeSet::new());
            for (step, start, number) in steps {
                match step {
                    0 => { dirty.add(start, start + number); twin.extend(start..start + number); }
                    1 => {
                        dirty.remove(start, start + number);
                        twin.retain(|it| !(start..start + number).contains(it));
                    }
                    _ => { let place = |position| Place { cylinder: 0, head: 0, position };
                        let near = dirty.nearest(start, 1, place, |it| it.position);
                        if let Some((_, first, it)) = near {
                        prop_assert_eq!(it.position, first);
                        let end = dirty.take(first, number);
                        twin.retain(|it| !(first..end).contains(it)); }
                    }
                }
                prop_assert_eq!(dirty.sectors() as usize, twin.len());
                for at in 0..80 {
                    prop_assert_eq!(dirty.holds(at, at + 1), twin.contains(&at));
                }
            }
        }
    }
}
