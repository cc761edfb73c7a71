//! Known answers: sequences by hand, published properties, closed forms.

use std::collections::{BTreeMap, BTreeSet};

use headrace_net::Random;
use headrace_spec::Replacement;
use proptest::prelude::*;

use super::*;

fn page(number: u64) -> CachedPage {
    CachedPage { file: 0, number }
}

/// A cache of pages and its counts.
struct Cache {
    policy: Box<dyn ReplacementPolicy>,
    held: BTreeSet<u64>,
    hits: u64,
    /// Pages that left, in order.
    left: Vec<u64>,
}

impl Cache {
    fn new(policy: impl ReplacementPolicy + 'static) -> Cache {
        Cache {
            policy: Box::new(policy),
            held: BTreeSet::new(),
            hits: 0,
            left: Vec::new(),
        }
    }

    fn of_kind(kind: Replacement, pages: u64) -> Cache {
        Cache {
            policy: policy(kind, pages),
            ..Cache::new(Lru::new(1))
        }
    }

    /// True if it was a hit.
    fn request(&mut self, number: u64) -> bool {
        if self.held.contains(&number) {
            self.policy.access(page(number));
            self.hits += 1;
            return true;
        }
        if let Some(leaves) = self.policy.insert(page(number)) {
            assert!(self.held.remove(&leaves.number), "{leaves:?} was not there");
            self.left.push(leaves.number);
        }
        self.held.insert(number);
        false
    }

    fn requests(&mut self, numbers: &[u64]) -> Vec<u64> {
        let before = self.left.len();
        for &number in numbers {
            self.request(number);
        }
        self.left[before..].to_vec()
    }
}

const KINDS: [Replacement; 5] = [
    Replacement::Lru,
    Replacement::Fifo,
    Replacement::Clock,
    Replacement::TwoQueue,
    Replacement::Arc,
];

/// By hand, with three pages.
#[test]
fn pages_leave_in_the_order_of_the_policy() {
    let requests = [1, 2, 3, 1, 4, 5, 1, 2];
    // 1 is used again: 2, then 3 leave; 1 is used; then 4.
    assert_eq!(Cache::new(Lru::new(3)).requests(&requests), [2, 3, 4]);
    // 1, 2, 3; then 1 comes for 3's successor 4.
    assert_eq!(Cache::new(Fifo::new(3)).requests(&requests), [1, 2, 3, 4]);
    // The hand spares 1, takes 2; takes 3; 1 is used; spares nothing but 1: takes 4.
    assert_eq!(Cache::new(Clock::new(3)).requests(&requests), [2, 3, 4]);
}

/// The hand clears all flags once round, and takes the page that it started from.
#[test]
fn the_hand_of_a_clock_goes_round() {
    let mut cache = Cache::new(Clock::new(4));
    cache.requests(&[1, 2, 3, 4, 1, 2, 3, 4]);
    assert_eq!(cache.requests(&[5]), [1]);
    // All flags are clear now, and the hand is at 2.
    assert_eq!(cache.requests(&[3, 6, 7]), [2, 4]);
}

/// 2Q with eight pages: A1in has two, A1out remembers four.
#[test]
fn two_queues_promote_pages_that_come_back() {
    let mut cache = Cache::new(TwoQueue::new(8));
    // While there is room, A1in grows.
    assert!(cache.requests(&[1, 2, 3, 4, 5, 6, 7, 8]).is_empty());
    // A use in A1in changes nothing (correlated references).
    cache.request(1);
    assert_eq!(cache.requests(&[9, 10]), [1, 2]);
    // 1 is remembered: it comes back into Am, for 3.
    assert_eq!(cache.requests(&[1]), [3]);
    // A scan passes through A1in and leaves Am as it is.
    let scan: Vec<u64> = (100..140).collect();
    let left = cache.requests(&scan);
    assert!(!left.contains(&1));
    assert!(cache.request(1));
    // 3 was forgotten meanwhile: it comes in as a new page.
    cache.request(3);
    cache.requests(&[200, 201, 202, 203, 204, 205, 206, 207]);
    assert!(!cache.held.contains(&3));
}

/// ARC with four pages, step by step (figure 4 of the paper): |T1|, |T2|, |B1|, |B2| and p.
#[test]
fn arc_adapts_as_the_paper_says() {
    let mut arc = Arc::new(4);
    let mut held = BTreeSet::new();
    let mut request = |number: u64| {
        if held.contains(&number) {
            arc.access(page(number));
        } else {
            if let Some(leaves) = arc.insert(page(number)) {
                held.remove(&leaves.number);
            }
            held.insert(number);
        }
        (arc.sizes(), arc.target())
    };
    for number in 1..=4 {
        request(number);
    }
    // 1 and 2 are used again: T2.
    request(1);
    assert_eq!(request(2), ([2, 2, 0, 0], 0.0));
    // New: |L1| = 2, the cache is full: T1 gives 3 to B1.
    assert_eq!(request(5), ([2, 2, 1, 0], 0.0));
    assert_eq!(request(6), ([2, 2, 2, 0], 0.0));
    // 3 is in B1: p = 1, T1 is larger, gives 5 to B1; 3 goes to T2.
    assert_eq!(request(3), ([1, 3, 2, 0], 1.0));
    // 4 is in B1 with one other: p = 2, T1 is not larger: T2 gives 1 to B2.
    assert_eq!(request(4), ([1, 3, 1, 1], 2.0));
    // 1 is in B2, as long as B1: p = 1 = |T1|, so T1 gives 6.
    assert_eq!(request(1), ([0, 4, 2, 0], 1.0));
}

/// The invariants of section III of the paper, and those of a cache, for any requests.
fn check_arc(capacity: usize, requests: &[u64]) {
    let mut arc = Arc::new(capacity);
    let mut held = BTreeSet::new();
    for &number in requests {
        if held.contains(&number) {
            arc.access(page(number));
        } else {
            if let Some(leaves) = arc.insert(page(number)) {
                assert!(held.remove(&leaves.number));
            }
            held.insert(number);
        }
        let [t1, t2, b1, b2] = arc.sizes();
        assert_eq!(t1 + t2, held.len());
        assert!(t1 + t2 <= capacity);
        assert!(t1 + b1 <= capacity);
        assert!(t1 + t2 + b1 + b2 <= 2 * capacity);
        // A.3: pages are remembered only while the cache is full.
        assert!(t1 + t2 == capacity || b1 + b2 == 0);
        assert!((0.0..=capacity as f64).contains(&arc.target()));
    }
}

/// Hits of Belady's algorithm, which evicts the page whose next request is last: no policy has
/// more.
fn optimum(requests: &[u64], capacity: usize) -> u64 {
    let mut hits = 0;
    let mut held: BTreeSet<u64> = BTreeSet::new();
    for (at, number) in requests.iter().enumerate() {
        if held.contains(number) {
            hits += 1;
            continue;
        }
        if held.len() == capacity {
            let next = |page: &u64| {
                let next = requests[at..].iter().position(|it| it == page);
                next.unwrap_or(usize::MAX)
            };
            let last = held.iter().copied().max_by_key(next).expect("it is full");
            held.remove(&last);
        }
        held.insert(*number);
    }
    hits
}

proptest! {
    #[test]
    fn no_policy_beats_the_optimum(
        capacity in 1_u64..12,
        requests in prop::collection::vec(0_u64..24, 1..300),
    ) {
        let most = optimum(&requests, capacity as usize);
        check_arc(capacity as usize, &requests);
        for kind in KINDS {
            let mut cache = Cache::of_kind(kind, capacity);
            for &number in &requests {
                cache.request(number);
                prop_assert!(cache.held.len() as u64 <= capacity);
                prop_assert!(cache.held.contains(&number));
            }
            prop_assert!(cache.hits <= most, "{kind:?}: {} of {most}", cache.hits);
            // A page that is removed does not leave once more.
            for number in cache.held.clone() {
                cache.policy.remove(page(number));
            }
            for number in 100..100 + capacity {
                prop_assert_eq!(cache.policy.insert(page(number)), None);
            }
        }
    }
}

/// Draws pages with Zipf's popularity of exponent 0.8.
struct Zipf(Vec<f64>);

impl Zipf {
    fn new(pages: u64) -> Zipf {
        let weights = (1..=pages).map(|rank| (rank as f64).powf(-0.8));
        let sums = weights.scan(0.0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        });
        Zipf(sums.collect())
    }

    fn draw(&self, random: &mut Random<'_>) -> u64 {
        let at = random.uniform() * self.0[self.0.len() - 1];
        self.0.partition_point(|&sum| sum <= at) as u64
    }

    fn chances(&self) -> Vec<f64> {
        let total = self.0[self.0.len() - 1];
        let before = std::iter::once(0.0).chain(self.0.iter().copied());
        self.0
            .iter()
            .zip(before)
            .map(|(sum, before)| (sum - before) / total)
            .collect()
    }
}

/// Hit ratio of independent requests after a warm-up.
fn hit_ratio(kind: Replacement, capacity: u64, pages: u64, requests: u64) -> f64 {
    let zipf = Zipf::new(pages);
    let mut counter = 0;
    let mut random = Random::named(7, "requests", &mut counter);
    let mut cache = Cache::of_kind(kind, capacity);
    for _ in 0..requests / 4 {
        cache.request(zipf.draw(&mut random));
    }
    cache.hits = 0;
    for _ in 0..requests {
        cache.request(zipf.draw(&mut random));
    }
    cache.hits as f64 / requests as f64
}

/// Che's approximation (Che, Tung and Wang 2002): page i is hit with the probability 1 − exp(−p_i
/// t). The time t makes these sum up to the size of the cache. FIFO and random replacement have p_i
/// t / (1 + p_i t) in its place (Fricker, Robert and Roberts 2012).
fn che(chances: &[f64], capacity: f64, hit: fn(f64) -> f64) -> f64 {
    let held = |time: f64| chances.iter().map(|chance| hit(chance * time)).sum::<f64>();
    let (mut low, mut high) = (0.0, 1e12);
    for _ in 0..200 {
        let time = f64::midpoint(low, high);
        match held(time) < capacity {
            true => low = time,
            false => high = time,
        }
    }
    chances
        .iter()
        .map(|chance| chance * hit(chance * low))
        .sum()
}

#[test]
fn hit_ratios_of_zipf_requests_are_those_of_che() {
    let pages = 2000;
    let chances = Zipf::new(pages).chances();
    for capacity in [20, 200, 1000] {
        let lru = che(&chances, capacity as f64, |it| 1.0 - (-it).exp());
        let got = hit_ratio(Replacement::Lru, capacity, pages, 400_000);
        assert!(
            (got - lru).abs() < 0.004,
            "LRU, {capacity}: {got}, expected {lru}"
        );
        let fifo = che(&chances, capacity as f64, |it| it / (1.0 + it));
        let got = hit_ratio(Replacement::Fifo, capacity, pages, 400_000);
        assert!(
            (got - fifo).abs() < 0.004,
            "FIFO, {capacity}: {got}, expected {fifo}"
        );
        // Policies that remember more than the last use do better.
        for kind in [Replacement::TwoQueue, Replacement::Arc, Replacement::Clock] {
            let got = hit_ratio(kind, capacity, pages, 400_000);
            assert!(got > fifo, "{kind:?}, {capacity}: {got}");
        }
        let arc = hit_ratio(Replacement::Arc, capacity, pages, 400_000);
        assert!(arc > lru, "ARC, {capacity}: {arc}, LRU: {lru}");
    }
}

/// Exact for two pages of four (King 1971). It sums the chance that an ordered pair is the last
/// two, times that of a request for either. FIFO has the same steady state as random replacement:
/// weights p_i p_j.
#[test]
fn small_caches_have_the_exact_hit_ratio() {
    let chances = Zipf::new(4).chances();
    let (mut lru, mut fifo, mut weights) = (0.0, 0.0, 0.0);
    for (first, p) in chances.iter().enumerate() {
        for (second, q) in chances.iter().enumerate() {
            if first != second {
                lru += p * q / (1.0 - p) * (p + q);
                fifo += p * q * (p + q);
                weights += p * q;
            }
        }
    }
    for (kind, exact) in [(Replacement::Lru, lru), (Replacement::Fifo, fifo / weights)] {
        let got = hit_ratio(kind, 2, 4, 1_000_000);
        assert!(
            (got - exact).abs() < 0.002,
            "{kind:?}: {got}, expected {exact}"
        );
    }
}

/// A loop over one page more than fits is LRU's and FIFO's worst case: no hit. A scan once
/// between uses of a small set is where 2Q and ARC keep the set (sections 1 of both papers).
#[test]
fn scans_do_not_push_out_what_is_used_often() {
    for kind in [Replacement::Lru, Replacement::Fifo, Replacement::Clock] {
        let mut cache = Cache::of_kind(kind, 10);
        for at in 0..1100 {
            cache.request(at % 11);
        }
        assert_eq!(cache.hits, 0, "{kind:?}");
    }
    let mut after: BTreeMap<&str, u64> = BTreeMap::new();
    for kind in KINDS {
        let mut cache = Cache::of_kind(kind, 64);
        // A hot set whose pages come back now and then among others.
        for round in 0..40 {
            cache.requests(&(0..16).collect::<Vec<_>>());
            cache.requests(&(1000 + round * 20..1020 + round * 20).collect::<Vec<_>>());
        }
        cache.requests(&(10_000..20_000).collect::<Vec<_>>());
        let before = cache.hits;
        cache.requests(&(0..16).collect::<Vec<_>>());
        after.insert(kind.word(), cache.hits - before);
    }
    assert_eq!(after["lru"], 0);
    assert_eq!(after["fifo"], 0);
    assert_eq!(after["clock"], 0);
    assert_eq!(after["2q"], 16);
    assert_eq!(after["arc"], 16);
}
