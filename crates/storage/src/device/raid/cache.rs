//! Controller cache by stripe. Fully dirty stripes are found and written to the members as full
//! stripes.

use std::collections::{BTreeMap, BTreeSet};

use headrace_spec::ControllerCache;

use crate::cache_counts::CacheCounts;

/// Bytes within one stripe, as extents in order, apart from each other.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
struct Extents(Vec<(u64, u64)>);

impl Extents {
    fn bytes(&self) -> u64 {
        self.0.iter().map(|(low, high)| high - low).sum()
    }

    fn add(&mut self, mut low: u64, mut high: u64) {
        let from = self.0.partition_point(|it| it.1 < low);
        let to = self.0.partition_point(|it| it.0 <= high);
        if from < to {
            low = low.min(self.0[from].0);
            high = high.max(self.0[to - 1].1);
        }
        self.0.splice(from..to, [(low, high)]);
    }

    fn remove(&mut self, low: u64, high: u64) {
        let kept = self.0.iter().flat_map(|&(from, to)| {
            let (before, behind) = ((from, to.min(low)), (from.max(high), to));
            [before, behind].into_iter().filter(|it| it.0 < it.1)
        });
        self.0 = kept.collect();
    }

    fn holds(&self, low: u64, high: u64) -> bool {
        self.0.iter().any(|it| it.0 <= low && high <= it.1)
    }
}

#[derive(Clone, Default, Debug)]
struct Stripe {
    /// All that is in the cache, the part still to be written, and the part
    /// being written.
    held: Extents,
    dirty: Extents,
    leaving: Extents,
    used: u64,
}

/// A controller's cache. Addresses are the array's.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    capacity: u64,
    /// Bytes of a stripe's data.
    stripe: u64,
    destage_above: u64,
    stripes: BTreeMap<u64, Stripe>,
    held: u64,
    dirty: u64,
    leaving: u64,
    uses: u64,
    /// By last use: stripes of which nothing is dirty or leaving.
    clean: BTreeMap<u64, u64>,
    /// Stripes that are partly dirty.
    mixed: BTreeSet<u64>,
    unwritten: BTreeSet<u64>,
    full: BTreeSet<u64>,
    /// The stripe that was destaged last.
    at: u64,
    /// Writes that wait for room.
    pub waiting: u32,
    /// Nothing has been asked for some time.
    pub idle: bool,
    counts: CacheCounts,
}

impl Cache {
    pub(super) fn new(spec: &ControllerCache, stripe: u64) -> Cache {
        Cache {
            capacity: spec.size.0,
            stripe,
            destage_above: (spec.size.0 as f64 * spec.destage_above) as u64,
            stripes: BTreeMap::new(),
            held: 0,
            dirty: 0,
            leaving: 0,
            uses: 0,
            clean: BTreeMap::new(),
            mixed: BTreeSet::new(),
            unwritten: BTreeSet::new(),
            full: BTreeSet::new(),
            at: 0,
            waiting: 0,
            idle: false,
            counts: CacheCounts::default(),
        }
    }

    /// Hits and misses of reads, and evicted stripes, so far.
    pub(super) fn counts(&self) -> CacheCounts {
        self.counts
    }

    /// Bytes that the members do not have yet.
    pub(super) fn dirty_bytes(&self) -> u64 {
        self.dirty + self.leaving
    }

    pub(super) fn is_dirty(&self) -> bool {
        self.dirty > 0
    }

    /// Returns true if the cache could hold this much.
    pub(super) fn could_hold(&self, size: u64) -> bool {
        size <= self.capacity
    }

    /// Returns true if there is room now for a write of `size` bytes.
    pub(super) fn has_room(&self, size: u64) -> bool {
        self.dirty + self.leaving + size <= self.capacity
    }

    /// Returns true if something should go to the members. A write that waits for room gets it from
    /// writes in flight, if they are large: stripes can be gathered meanwhile.
    pub(super) fn destages(&self) -> bool {
        let waiting = self.waiting > 0 && self.leaving <= self.capacity / 2;
        self.dirty > 0 && (self.idle || waiting || self.dirty > self.destage_above)
    }

    /// Returns true if all of it is here; if so, it has been used.
    pub(super) fn read(&mut self, address: u64, size: u64) -> bool {
        let parts = || parts(self.stripe, address, size);
        let holds = |(stripe, low, high)| {
            let stripe = self.stripes.get(&stripe);
            stripe.is_some_and(|it| it.held.holds(low, high))
        };
        if size == 0 || !parts().all(holds) {
            self.counts.misses += 1;
            self.counts.miss_bytes += size;
            return false;
        }
        self.counts.hits += 1;
        self.counts.hit_bytes += size;
        for (stripe, _, _) in parts().collect::<Vec<_>>() {
            self.change(stripe, |_| ());
        }
        true
    }

    /// It has been read from the members, or written to them.
    pub(super) fn keep(&mut self, address: u64, size: u64) {
        if self.could_hold(size) {
            for (stripe, low, high) in parts(self.stripe, address, size) {
                self.change(stripe, |it| it.held.add(low, high));
            }
            self.make_room();
        }
    }

    /// It is in the cache, and has still to be written.
    pub(super) fn write(&mut self, address: u64, size: u64) {
        for (stripe, low, high) in parts(self.stripe, address, size) {
            self.change(stripe, |it| {
                it.held.add(low, high);
                it.dirty.add(low, high);
            });
        }
        self.make_room();
    }

    /// Returns the next write, address and size: full stripes first, then others in address order
    /// from the last.
    pub(super) fn destage(&mut self) -> Option<(u64, u64)> {
        let next = |of: &BTreeSet<u64>| of.range(self.at..).next().or(of.first()).copied();
        let number = next(&self.full).or_else(|| next(&self.unwritten))?;
        let (low, high) = *self.stripes.get(&number)?.dirty.0.first()?;
        self.at = number;
        self.change(number, |it| {
            it.dirty.remove(low, high);
            it.leaving.add(low, high);
        });
        Some((number * self.stripe + low, high - low))
    }

    /// It has been written.
    pub(super) fn written(&mut self, address: u64, size: u64) {
        for (stripe, low, high) in parts(self.stripe, address, size) {
            self.change(stripe, |it| it.leaving.remove(low, high));
        }
    }

    /// Changes a stripe, and the counts that follow from its content.
    fn change(&mut self, number: u64, change: impl FnOnce(&mut Stripe)) {
        let stripe = self.stripes.entry(number).or_default();
        self.clean.remove(&stripe.used);
        self.uses += 1;
        stripe.used = self.uses;
        let sums = |it: &Stripe| (it.held.bytes(), it.dirty.bytes(), it.leaving.bytes());
        let before = sums(stripe);
        change(stripe);
        let (held, dirty, leaving) = sums(stripe);
        self.held = self.held + held - before.0;
        self.dirty = self.dirty + dirty - before.1;
        self.leaving = self.leaving + leaving - before.2;
        let set = |of: &mut BTreeSet<u64>, is: bool| {
            if is {
                of.insert(number);
            } else {
                of.remove(&number);
            }
        };
        set(&mut self.unwritten, dirty > 0);
        set(&mut self.full, dirty == self.stripe);
        set(
            &mut self.mixed,
            dirty + leaving > 0 && held > dirty + leaving,
        );
        if dirty + leaving == 0 {
            self.clean.insert(self.uses, number);
        }
    }

    /// Evicts the least recently used clean data.
    fn make_room(&mut self) {
        while self.held > self.capacity {
            if let Some((_, number)) = self.clean.pop_first() {
                if let Some(stripe) = self.stripes.remove(&number) {
                    let held = stripe.held.bytes();
                    self.held -= held;
                    self.counts.evict(held, held.max(1), false);
                }
            } else if let Some(number) = self.mixed.first().copied() {
                self.change(number, |it| {
                    it.held = it.dirty.clone();
                    for &(low, high) in &it.leaving.0 {
                        it.held.add(low, high);
                    }
                });
                self.mixed.remove(&number);
            } else {
                return;
            }
        }
    }
}

/// The parts of a transfer, each within a stripe: its number, from where to
/// where.
fn parts(stripe: u64, address: u64, size: u64) -> impl Iterator<Item = (u64, u64, u64)> {
    let end = address + size;
    let stripes = address / stripe..end.div_ceil(stripe);
    let parts = stripes.map(move |number| {
        let begins = number * stripe;
        let low = address.max(begins) - begins;
        (number, low, end.min(begins + stripe) - begins)
    });
    parts.filter(|(_, low, high)| low < high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use headrace_spec::{Bytes, Rate, Seconds};
    use proptest::prelude::*;

    const STRIPE: u64 = 16;
    const ROOM: u64 = 60;

    fn cache() -> Cache {
        let spec = ControllerCache {
            size: Bytes(ROOM),
            write_back: true,
            battery: true,
            rate: Rate(1.0),
            destage_above: 0.5,
            idle_time: Seconds(1.0),
            destages: 1,
        };
        Cache::new(&spec, STRIPE)
    }

    #[test]
    fn whole_stripes_go_first_and_then_addresses_rise() {
        let mut it = cache();
        for (address, size) in [(40, 3), (3, 2), (16, 16), (7, 4)] {
            it.write(address, size);
        }
        assert!(!it.destages(), "25 of 60 is not above half");
        it.write(50, 10);
        assert!(it.destages());
        let order: Vec<_> = std::iter::from_fn(|| it.destage()).collect();
        assert_eq!(order, [(16, 16), (40, 3), (50, 10), (3, 2), (7, 4)]);
    }

    #[test]
    fn what_was_used_last_stays() {
        let mut it = cache();
        for stripe in 0..3 {
            it.keep(stripe * STRIPE, STRIPE);
        }
        assert!(it.read(0, 4));
        it.write(100, 10);
        it.write(120, 10);
        assert!(it.read(0, 16) && !it.read(16, 1));
        assert!(it.read(100, 10) && !it.read(99, 2));
    }

    proptest! {
        /// Compared with sets of bytes: dirty bytes leave once for each write,
        /// only written bytes are held, and never more than the capacity.
        #[test]
        fn nothing_is_lost(
            steps in prop::collection::vec((0_u8..5, 0_u64..200, 1_u64..50), 0..100),
        ) {
            let (mut it, mut dirty, mut seen) = (cache(), BTreeSet::new(), BTreeSet::new());
            let mut out = Vec::new();
            let destage = |it: &mut Cache, dirty: &mut BTreeSet<u64>, out: &mut Vec<(u64, u64)>| {
                let next = it.destage();
                if let Some((address, size)) = next {
                    for byte in address..address + size {
                        prop_assert!(dirty.remove(&byte), "{byte} was not dirty");
                    }
                    out.push((address, size));
                }
                prop_assert!(next.is_some() || dirty.is_empty());
                Ok(())
            };
            for (step, address, size) in steps {
                match step {
                    0..2 if it.has_room(size) => {
                        it.write(address, size);
                        dirty.extend(address..address + size);
                        seen.extend(address..address + size);
                        prop_assert!(it.read(address, size));
                    }
                    2 => { it.keep(address, size); seen.extend(address..address + size); }
                    3 => destage(&mut it, &mut dirty, &mut out)?,
                    _ => if let Some((address, size)) = out.pop() { it.written(address, size); }
                }
                if it.read(address, size) {
                    prop_assert!((address..address + size).all(|byte| seen.contains(&byte)));
                }
                prop_assert!(dirty.iter().all(|&byte| it.read(byte, 1)));
                prop_assert!(it.held <= ROOM, "{} held", it.held);
                prop_assert_eq!(it.dirty as usize, dirty.len());
            }
            while !dirty.is_empty() { destage(&mut it, &mut dirty, &mut out)?; }
        }
    }
}
