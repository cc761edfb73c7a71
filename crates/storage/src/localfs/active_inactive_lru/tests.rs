use std::collections::{BTreeMap, VecDeque};

use proptest::prelude::*;

use super::*;

const PAGE: u64 = 4096;

/// The same, page by page: two queues of pages and their flags, as the
/// documentation says it.
#[derive(Default)]
struct Pages {
    inactive: VecDeque<(u32, u64)>,
    active: VecDeque<(u32, u64)>,
    flags: BTreeMap<(u32, u64), (bool, bool)>,
}

impl Pages {
    fn fill(&mut self, page: (u32, u64)) {
        if !self.flags.contains_key(&page) {
            self.inactive.push_back(page);
            self.flags.insert(page, (false, false));
        }
    }

    fn touch(&mut self, page: (u32, u64)) {
        let Some((referenced, _)) = self.flags.get_mut(&page) else {
            return;
        };
        let at = self.inactive.iter().position(|other| *other == page);
        match at {
            Some(at) if *referenced => {
                *referenced = false;
                self.inactive.remove(at);
                self.active.push_back(page);
            }
            _ => *referenced = true,
        }
    }

    fn forget_clean(&mut self, file: u32) {
        self.flags
            .retain(|page, (_, dirty)| page.0 != file || *dirty);
        for list in [&mut self.inactive, &mut self.active] {
            list.retain(|page| self.flags.contains_key(page));
        }
    }
}

fn range(file: u32, page: u64, pages: u64) -> Range {
    Range {
        file,
        start: page * PAGE,
        end: (page + pages) * PAGE,
    }
}

proptest! {
    /// The lists hold page for page what queues of single pages hold.
    #[test]
    fn agrees_with_queues_of_pages(
        steps in prop::collection::vec((0_u32..2, 0_u64..24, 0_u64..9, 0_u8..10), 1..60),
    ) {
        let mut cache = ActiveInactiveLru::new(1 << 30, PAGE, 0.5);
        let mut pages = Pages::default();
        for (file, page, count, what) in steps {
            let range = range(file, page, count);
            if what == 9 {
                cache.forget_clean(file);
                pages.forget_clean(file);
                continue;
            }
            let what = what % 3;
            match what {
                0 => cache.fill(range),
                1 => cache.touch(range),
                _ => cache.write(range),
            }
            for page in page..page + count {
                if what != 1 {
                    pages.fill((file, page));
                }
            }
            for page in page..page + count {
                if what != 0 {
                    pages.touch((file, page));
                }
                if what == 2 && let Some((_, dirty)) = pages.flags.get_mut(&(file, page)) {
                    *dirty = true;
                }
            }
            prop_assert_eq!(cache.bytes(), pages.flags.len() as u64 * PAGE);
            prop_assert_eq!(cache.active_bytes(), pages.active.len() as u64 * PAGE);
            let dirty = pages.flags.values().filter(|(_, dirty)| *dirty).count();
            prop_assert_eq!(cache.dirty_bytes(), dirty as u64 * PAGE);
        }
        for (&(file, page), &(_, dirty)) in &pages.flags {
            let (start, end) = (page * PAGE, (page + 1) * PAGE);
            prop_assert_eq!(cache.held_until(file, start, end), end);
            prop_assert_eq!(cache.is_dirty(file, start, end), dirty);
        }
        for (start, pages, block) in [(0, 32, 1), (1, 7, 1), (3, 20, 4), (5, 9, 2)] {
            let range = range(0, start, pages);
            let (block, mut clean) = (block * PAGE, 0);
            for at in (range.start..range.end).step_by(block as usize) {
                let end = (at + block).min(range.end);
                clean += if cache.is_dirty(0, at, end) { 0 } else { end - at };
            }
            prop_assert_eq!(cache.clean_bytes(range, block), clean);
        }
    }

    /// Never more than fits, and dirty data is returned once.
    #[test]
    fn holds_no_more_than_fits(
        steps in prop::collection::vec((0_u32..3, 0_u64..64, 0_u64..17, 0_u8..3), 1..80),
    ) {
        let mut cache = ActiveInactiveLru::new(32 * PAGE, PAGE, 0.5);
        for (file, page, count, what) in steps {
            let range = range(file, page, count);
            match what {
                0 => cache.fill(range),
                1 => cache.touch(range),
                _ => cache.write(range),
            }
            let before = cache.dirty_bytes();
            let left: u64 = cache.reclaim().iter().map(Range::len).sum();
            prop_assert!(cache.bytes() <= 32 * PAGE);
            prop_assert_eq!(cache.dirty_bytes() + left, before);
            prop_assert!(cache.active_bytes() <= cache.bytes());
        }
    }
}

#[test]
fn pages_used_twice_outlive_a_long_file_read_once() {
    let mut cache = ActiveInactiveLru::new(100 * PAGE, PAGE, 0.5);
    cache.fill(range(0, 0, 20));
    cache.touch(range(0, 0, 20));
    cache.touch(range(0, 0, 20));
    for n in 0..1000 {
        cache.fill(range(1, n, 1));
        cache.touch(range(1, n, 1));
        cache.reclaim();
    }
    assert_eq!(cache.held_until(0, 0, 20 * PAGE), 20 * PAGE);
}

#[test]
fn a_file_larger_than_memory_read_in_a_loop_is_never_there() {
    let mut cache = ActiveInactiveLru::new(100 * PAGE, PAGE, 0.5);
    let mut hits = 0;
    for _ in 0..3 {
        for n in 0..150 {
            if cache.held_until(0, n * PAGE, (n + 1) * PAGE) > n * PAGE {
                hits += 1;
            }
            cache.fill(range(0, n, 1));
            cache.touch(range(0, n, 1));
            cache.reclaim();
        }
    }
    assert_eq!(hits, 0);
}

#[test]
fn dirty_pages_are_given_in_order_and_once() {
    let mut cache = ActiveInactiveLru::new(1 << 30, PAGE, 0.5);
    cache.write(range(0, 10, 10));
    cache.write(range(0, 0, 5));
    assert_eq!(cache.clean_next(0, 0, 1 << 20), Some(range(0, 0, 5)));
    assert_eq!(cache.clean_next(0, 0, 4 * PAGE), Some(range(0, 10, 4)));
    assert_eq!(cache.clean_next(0, 0, 1 << 20), Some(range(0, 14, 6)));
    assert_eq!(cache.clean_next(0, 0, 1 << 20), None);
}

proptest! {
    /// With every policy: never more than fits, and each dirty page is held, or was returned once.
    #[test]
    fn a_policy_loses_no_dirty_page(
        kind in prop::sample::select(Replacement::ALL),
        steps in prop::collection::vec((0_u32..3, 0_u64..64, 0_u64..50, 0_u8..5), 1..80),
    ) {
        let mut cache = ActiveInactiveLru::new(32 * PAGE, PAGE, 0.5).with_policy(Some(kind));
        let mut dirty = std::collections::BTreeSet::new();
        for (file, page, count, what) in steps {
            let range = range(file, page, count);
            match what {
                0 => cache.fill(range),
                1 => cache.touch(range),
                2 => cache.forget_clean(file),
                3 => cache.forget_range(range),
                _ => {
                    cache.write(range);
                    dirty.extend((page..page + count).map(|page| (file, page)));
                }
            }
            for left in cache.reclaim() {
                for page in left.start / PAGE..left.end / PAGE {
                    prop_assert!(dirty.remove(&(left.file, page)), "{page} was returned twice");
                }
            }
            prop_assert!(cache.bytes() <= 32 * PAGE);
            prop_assert_eq!(cache.dirty_bytes(), dirty.len() as u64 * PAGE);
        }
        for (file, page) in dirty {
            prop_assert!(cache.is_dirty(file, page * PAGE, (page + 1) * PAGE));
        }
    }
}
