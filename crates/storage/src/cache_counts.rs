//! Hits, pages read ahead, misses and evictions of caches, and how they are reported.
//!
//! Counts of a page cache are in pages and in bytes that reads asked for. Other caches count their
//! own entries, and bytes only if they hold any. Writes are none of the first three. The first read
//! of a page that was brought in from below is no hit. It is a miss if the read waited for the
//! page, and else was read ahead.

use headrace_net::{Page, Store};

/// Counts of a cache since the start of a run.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct CacheCounts {
    /// Pages or entries that were asked for and cached since an earlier use.
    pub hits: u64,
    /// Pages or requests that read-ahead had brought in, and nothing had used since.
    pub read_ahead: u64,
    /// Pages or entries that were asked for and not cached.
    pub misses: u64,
    /// Bytes of the hits.
    pub hit_bytes: u64,
    /// Bytes that were read ahead.
    pub read_ahead_bytes: u64,
    /// Bytes of the misses.
    pub miss_bytes: u64,
    /// Pages or entries that left for others.
    pub evictions: u64,
    /// Bytes of them.
    pub evicted_bytes: u64,
    /// Evicted bytes that had to be written first.
    pub evicted_dirty_bytes: u64,
}

/// Name of the gauge of dirty bytes.
pub const DIRTY: &str = "dirty bytes";

/// Name of the gauge of bytes that a page cache is writing back.
pub const WRITING: &str = "bytes under write-back";

/// Name of the gauge of a page cache's bytes.
pub const CACHED: &str = "cached bytes";

/// Name of page caches in reports.
pub const PAGE_CACHE: &str = "page cache";

/// Names of the gauges of [`CacheCounts`], in order.
pub const COUNTS: [&str; 9] = [
    "hits",
    "read ahead",
    "misses",
    "hit bytes",
    "read-ahead bytes",
    "miss bytes",
    "evictions",
    "evicted bytes",
    "evicted dirty bytes",
];

impl CacheCounts {
    /// Counts bytes of pages that were found.
    pub fn hit(&mut self, bytes: u64, page: u64) {
        self.hits += bytes / page;
        self.hit_bytes += bytes;
    }

    /// Counts bytes of pages that were read ahead.
    pub fn ahead(&mut self, bytes: u64, page: u64) {
        self.read_ahead += bytes / page;
        self.read_ahead_bytes += bytes;
    }

    /// Counts bytes of pages that were not found.
    pub fn miss(&mut self, bytes: u64, page: u64) {
        self.misses += bytes / page;
        self.miss_bytes += bytes;
    }

    /// Counts bytes of pages that left.
    pub fn evict(&mut self, bytes: u64, page: u64, dirty: bool) {
        self.evictions += bytes / page;
        self.evicted_bytes += bytes;
        self.evicted_dirty_bytes += if dirty { bytes } else { 0 };
    }

    /// Adds those of another cache.
    pub fn add(&mut self, other: &CacheCounts) {
        self.hits += other.hits;
        self.read_ahead += other.read_ahead;
        self.misses += other.misses;
        self.hit_bytes += other.hit_bytes;
        self.read_ahead_bytes += other.read_ahead_bytes;
        self.miss_bytes += other.miss_bytes;
        self.evictions += other.evictions;
        self.evicted_bytes += other.evicted_bytes;
        self.evicted_dirty_bytes += other.evicted_dirty_bytes;
    }

    /// From values in the order of [`COUNTS`].
    pub fn of(values: [u64; 9]) -> CacheCounts {
        let [
            hits,
            read_ahead,
            misses,
            hit_bytes,
            read_ahead_bytes,
            miss_bytes,
            evictions,
            evicted_bytes,
            evicted_dirty_bytes,
        ] = values;
        CacheCounts {
            hits,
            read_ahead,
            misses,
            hit_bytes,
            read_ahead_bytes,
            miss_bytes,
            evictions,
            evicted_bytes,
            evicted_dirty_bytes,
        }
    }

    /// In the order of [`COUNTS`].
    pub fn values(&self) -> [u64; 9] {
        [
            self.hits,
            self.read_ahead,
            self.misses,
            self.hit_bytes,
            self.read_ahead_bytes,
            self.miss_bytes,
            self.evictions,
            self.evicted_bytes,
            self.evicted_dirty_bytes,
        ]
    }

    /// As gauges of a discipline that has a cache.
    pub fn gauges(&self, dirty_bytes: u64) -> Vec<(&'static str, u64)> {
        let counts = COUNTS.into_iter().zip(self.values());
        counts.chain([(DIRTY, dirty_bytes)]).collect()
    }
}

/// Reports the counts of a store that has a cache of this name, and its dirty bytes if it can
/// have any.
pub fn report<S: Send + 'static>(
    page: &mut Page<'_>,
    store: Store<S>,
    cache: &str,
    counts: fn(&S) -> CacheCounts,
    dirty_bytes: Option<fn(&S) -> u64>,
) {
    for (index, count) in COUNTS.into_iter().enumerate() {
        page.gauge(store, cache, count, move |it| counts(it).values()[index]);
    }
    if let Some(dirty_bytes) = dirty_bytes {
        page.gauge(store, cache, DIRTY, dirty_bytes);
    }
}
