//! Against the slow and obvious twin: a list of single pages.

use headrace_spec::{Bytes, Memory, Replacement};
use proptest::prelude::*;

use super::*;

const PAGE: u64 = 4096;

fn memory(pages: u64, dirty: u64) -> Memory {
    Memory {
        cache: Bytes(pages * PAGE),
        page: Bytes(PAGE),
        dirty_limit: Bytes(dirty * PAGE),
        replacement: Replacement::Lru,
        python: None,
        folder: None,
        rate: None,
    }
}

/// Pages by last use, oldest first; and whether each is dirty.
#[derive(Default)]
struct Twin {
    pages: Vec<((u32, u64), bool)>,
}

impl Twin {
    fn find(&self, page: (u32, u64)) -> Option<usize> {
        self.pages.iter().position(|(held, _)| *held == page)
    }

    fn read(&mut self, file: u32, first: u64, count: u64) -> Vec<u64> {
        let mut gaps = Vec::new();
        for number in first..first + count {
            match self.find((file, number)) {
                Some(index) => {
                    let page = self.pages.remove(index);
                    self.pages.push(page);
                }
                None => gaps.push(number),
            }
        }
        gaps
    }

    fn put(&mut self, file: u32, number: u64, dirty: bool) {
        if let Some(index) = self.find((file, number)) {
            self.pages.remove(index);
        }
        self.pages.push(((file, number), dirty));
    }

    fn evict(&mut self, capacity: usize) -> u64 {
        let excess = self.pages.len().saturating_sub(capacity);
        self.pages
            .drain(..excess)
            .filter(|(_, dirty)| *dirty)
            .count() as u64
    }
}

fn bytes(ranges: &[Range]) -> u64 {
    ranges.iter().map(Range::len).sum()
}

#[derive(Clone, Debug)]
enum Step {
    Read(u32, u64, u64),
    Write(u32, u64, u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let place = (0_u32..3, 0_u64..40, 0_u64..12);
    let step = (any::<bool>(), place).prop_map(|(read, (file, first, count))| match read {
        true => Step::Read(file, first, count),
        false => Step::Write(file, first, count),
    });
    prop::collection::vec(step, 1..120)
}

proptest! {
    /// Hits, misses and evictions are those of single pages in a list, while
    /// nothing is written back before it must leave.
    #[test]
    fn holds_what_single_pages_would(capacity in 1_u64..64, steps in steps()) {
        let mut cache = PageCache::new(&memory(capacity, 1 << 30));
        let mut twin = Twin::default();
        for step in steps {
            match step {
                Step::Read(file, first, count) => {
                    let gaps = cache.read(file, first * PAGE, count * PAGE);
                    let expected = twin.read(file, first, count);
                    let got: Vec<u64> = gaps.iter().flat_map(|gap| gap.start / PAGE..gap.end / PAGE).collect();
                    prop_assert_eq!(&got, &expected);
                    for gap in gaps {
                        let left = bytes(&cache.fill(gap));
                        for number in gap.start / PAGE..gap.end / PAGE {
                            twin.put(file, number, false);
                        }
                        prop_assert_eq!(left, twin.evict(capacity as usize) * PAGE);
                    }
                }
                Step::Write(file, first, count) => {
                    let written = bytes(&cache.write(file, first * PAGE, count * PAGE));
                    for number in first..first + count {
                        twin.put(file, number, true);
                    }
                    prop_assert_eq!(written, twin.evict(capacity as usize) * PAGE);
                }
            }
            prop_assert_eq!(cache.bytes(), twin.pages.len() as u64 * PAGE);
            let dirty = twin.pages.iter().filter(|(_, dirty)| *dirty).count() as u64;
            prop_assert_eq!(cache.dirty_bytes(), dirty * PAGE);
        }
    }

    /// Extents in order of use hold what the policy of single pages holds.
    #[test]
    fn extents_are_pages_by_last_use(capacity in 1_u64..64, steps in steps()) {
        let mut extents = PageCache::new(&memory(capacity, 1 << 30));
        let mut pages = PageCache::new(&memory(capacity, 1 << 30));
        pages.set_policy(|pages| replacement::policy(Replacement::Lru, pages));
        for step in steps {
            let (file, first, count) = match step {
                Step::Read(file, first, count) => (file, first, count),
                Step::Write(file, first, _) => {
                    let written = extents.write(file, first * PAGE, PAGE);
                    prop_assert_eq!(bytes(&written), bytes(&pages.write(file, first * PAGE, PAGE)));
                    continue;
                }
            };
            let gaps = extents.read(file, first * PAGE, count * PAGE);
            prop_assert_eq!(&gaps, &pages.read(file, first * PAGE, count * PAGE));
            for gap in gaps {
                prop_assert_eq!(bytes(&extents.fill(gap)), bytes(&pages.fill(gap)));
            }
            prop_assert_eq!(extents.counts(), pages.counts());
            prop_assert_eq!(extents.dirty_bytes(), pages.dirty_bytes());
        }
    }

    /// After any requests, the cache never exceeds its size or its dirty limit.
    /// Every written byte is either dirty, was overwritten, or went to the
    /// device once.
    #[test]
    fn loses_no_byte(
        capacity in 1_u64..64, limit in 0_u64..64, steps in steps(),
        replacement in prop::sample::select(Replacement::ALL),
    ) {
        let limit = limit.min(capacity);
        let memory = Memory { replacement, ..memory(capacity, limit) };
        let mut cache = PageCache::new(&memory);
        let mut dirty: std::collections::BTreeSet<(u32, u64)> = Default::default();
        let clean = |dirty: &mut std::collections::BTreeSet<(u32, u64)>, ranges: Vec<Range>| {
            for range in ranges {
                for number in range.start / PAGE..range.end / PAGE {
                    prop_assert!(dirty.remove(&(range.file, number)), "page {number} written twice");
                }
            }
            Ok(())
        };
        for step in steps {
            match step {
                Step::Read(file, first, count) => {
                    for gap in cache.read(file, first * PAGE, count * PAGE) {
                        for number in gap.start / PAGE..gap.end / PAGE {
                            prop_assert!(!dirty.contains(&(file, number)), "dirty page {number} read from the device");
                        }
                        clean(&mut dirty, cache.fill(gap))?;
                    }
                }
                Step::Write(file, first, count) => {
                    dirty.extend((first..first + count).map(|number| (file, number)));
                    clean(&mut dirty, cache.write(file, first * PAGE, count * PAGE))?;
                }
            }
            prop_assert!(cache.bytes() <= capacity * PAGE);
            prop_assert!(cache.dirty_bytes() <= limit * PAGE);
            prop_assert_eq!(cache.dirty_bytes(), dirty.len() as u64 * PAGE);
        }
    }
}

#[test]
fn partial_pages_count_whole() {
    let mut cache = PageCache::new(&memory(10, 10));
    assert_eq!(
        cache.read(1, 100, 50),
        [Range {
            file: 1,
            start: 0,
            end: PAGE
        }]
    );
    cache.write(1, 100, 5000);
    assert_eq!(cache.dirty_bytes(), 2 * PAGE);
    assert!(cache.read(1, 0, 2 * PAGE).is_empty());
}
