//! Index from file offsets to extents.

use std::collections::BTreeMap;

use super::extents::{Id, Range};

/// Bits of an offset within its stretch: 16 MiB. So the stretches of 64 GiB are few enough for the
/// processor's caches. A stretch in pieces of 8 KiB takes 16 KiB of contiguous memory.
const STRETCH: u32 = 24;

/// Starts of extents by file and stretch, in order. A search costs the memory it touches, and one
/// tree of all extents would be spread over several times as much.
#[derive(Default, Debug)]
pub(super) struct ExtentIndex(BTreeMap<(u32, u64), Vec<Start>>);

/// Start within the stretch, number and end of an extent. With the end at hand, a search for
/// uncached bytes reads no extent.
#[derive(Clone, Copy, Debug)]
struct Start {
    within: u32,
    id: Id,
    end: u64,
}

/// A place's stretch, and where in it the place is.
fn split(start: u64) -> (u64, u32) {
    (start >> STRETCH, (start & ((1 << STRETCH) - 1)) as u32)
}

impl ExtentIndex {
    pub fn insert(&mut self, range: Range, id: Id) {
        let (stretch, within) = split(range.start);
        let end = range.end;
        let starts = self.0.entry((range.file, stretch)).or_default();
        let at = starts.partition_point(|it| it.within < within);
        starts.insert(at, Start { within, id, end });
    }

    /// An extent ends elsewhere now.
    pub fn set_end(&mut self, range: Range) {
        let (stretch, within) = split(range.start);
        if let Some(starts) = self.0.get_mut(&(range.file, stretch))
            && let Ok(at) = starts.binary_search_by_key(&within, |it| it.within)
        {
            starts[at].end = range.end;
        }
    }

    pub fn remove(&mut self, (file, start): (u32, u64)) {
        let (stretch, within) = split(start);
        let Some(starts) = self.0.get_mut(&(file, stretch)) else {
            return;
        };
        if let Ok(at) = starts.binary_search_by_key(&within, |it| it.within) {
            starts.remove(at);
        }
        if starts.is_empty() {
            self.0.remove(&(file, stretch));
        }
    }

    pub fn get(&self, file: u32, start: u64) -> Option<Id> {
        let (stretch, within) = split(start);
        let starts = self.0.get(&(file, stretch))?;
        let at = starts.binary_search_by_key(&within, |it| it.within);
        Some(starts[at.ok()?].id)
    }

    /// Iterates over a file's entries that begin before a byte, last first, with their ends.
    pub fn before(&self, file: u32, end: u64) -> impl Iterator<Item = (Id, u64)> {
        let (stretch, within) = split(end);
        let stretches = self.0.range((file, 0)..=(file, stretch)).rev();
        stretches
            .flat_map(move |(&(_, it), starts)| {
                let before = match it == stretch {
                    true => starts.partition_point(|it| it.within < within),
                    false => starts.len(),
                };
                starts[..before].iter().rev()
            })
            .map(|it| (it.id, it.end))
    }

    /// The first of a file that begins at a byte or after it.
    pub fn from(&self, file: u32, start: u64) -> Option<Id> {
        let (stretch, within) = split(start);
        let stretches = self.0.range((file, stretch)..=(file, u64::MAX));
        let mut after = stretches.filter_map(|(&(_, it), starts)| {
            let at = match it == stretch {
                true => starts.partition_point(|it| it.within < within),
                false => 0,
            };
            starts.get(at)
        });
        after.next().map(|it| it.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Half a stretch, so that places lie at borders, in neighbours and far apart.
    const STEP: u64 = 1 << (STRETCH - 1);

    fn range(file: u32, at: u64) -> Range {
        Range {
            file,
            start: at * STEP,
            end: at * STEP + 4096,
        }
    }

    proptest! {
        /// As one map of all places has it.
        #[test]
        fn finds_what_one_map_finds(
            steps in prop::collection::vec((0_u32..3, 0_u64..12, any::<bool>()), 1..60),
            asked in prop::collection::vec((0_u32..3, 0_u64..13, 0_u64..3), 1..20),
        ) {
            let mut places = ExtentIndex::default();
            let mut all: BTreeMap<(u32, u64), (Id, u64)> = BTreeMap::new();
            for (id, (file, at, there)) in (0..).zip(steps) {
                let range = range(file, at);
                let key = (file, range.start);
                if !there && all.remove(&key).is_some() {
                    places.remove(key);
                } else if let Some(it) = all.get_mut(&key) {
                    it.1 += 4096;
                    places.set_end(Range { end: it.1, ..range });
                } else if there {
                    places.insert(range, id);
                    all.insert(key, (id, range.end));
                }
            }
            for (file, at, beside) in asked {
                let at = (at * STEP + beside).saturating_sub(1);
                let before: Vec<_> = all.range((file, 0)..(file, at)).rev().map(|it| *it.1).collect();
                prop_assert_eq!(places.before(file, at).collect::<Vec<_>>(), before);
                let from = all.range((file, at)..=(file, u64::MAX)).next();
                prop_assert_eq!(places.from(file, at), from.map(|it| it.1.0));
                prop_assert_eq!(places.get(file, at), all.get(&(file, at)).map(|it| it.0));
            }
        }
    }
}
