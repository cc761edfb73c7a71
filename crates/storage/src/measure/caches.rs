//! Figures of caches: hits, misses, evictions.

use headrace_net::Gauge;
use serde::Serialize;

use crate::cache_counts::{COUNTS, CacheCounts, DIRTY};

/// One cache, its copies together.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CacheReport {
    /// Page path and name.
    pub cache: String,
    /// Copies.
    pub copies: u32,
    /// Pages or entries that were asked for and cached.
    pub hits: u64,
    /// Pages or entries that were asked for and not cached.
    pub misses: u64,
    /// Hits over hits and misses; none if there were neither.
    pub hit_ratio: Option<f64>,
    /// Bytes of the hits.
    pub hit_bytes: u64,
    /// Bytes of the misses.
    pub miss_bytes: u64,
    /// Pages or entries that left for others.
    pub evictions: u64,
    /// Bytes of them.
    pub evicted_bytes: u64,
    /// Of these, bytes that had to be written first.
    pub evicted_dirty_bytes: u64,
    /// Dirty bytes at the end of the run; none if the cache holds no data to be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dirty_bytes: Option<u64>,
}

/// Reports the caches of a net: what they counted since `before`.
pub(crate) fn caches(now: &[Gauge], before: &[Gauge]) -> Vec<CacheReport> {
    let mut reports: Vec<CacheReport> = Vec::new();
    let mut rest = now;
    let mut earlier = before.iter();
    while let Some(first) = rest.first() {
        let of_one = rest.iter().take_while(|it| it.path == first.path).count();
        let (gauges, others) = rest.split_at(of_one);
        rest = others;
        let before: Vec<&Gauge> = earlier.by_ref().take(of_one).collect();
        let value = |name: &str| {
            let gauge = gauges.iter().position(|it| it.name == name)?;
            Some((
                gauges[gauge].sum(),
                before.get(gauge).map_or(0, |it| it.sum()),
            ))
        };
        let since = |name: &str| value(name).map_or(0, |(now, before)| now.saturating_sub(before));
        if value(COUNTS[0]).is_none() {
            continue;
        }
        let counts = CacheCounts::of(COUNTS.map(since));
        let asked = counts.hits + counts.misses;
        reports.push(CacheReport {
            cache: first.path.clone(),
            copies: first.copies.len() as u32,
            hits: counts.hits,
            misses: counts.misses,
            hit_ratio: (asked > 0).then(|| counts.hits as f64 / asked as f64),
            hit_bytes: counts.hit_bytes,
            miss_bytes: counts.miss_bytes,
            evictions: counts.evictions,
            evicted_bytes: counts.evicted_bytes,
            evicted_dirty_bytes: counts.evicted_dirty_bytes,
            dirty_bytes: value(DIRTY).map(|(now, _)| now),
        });
    }
    reports
}
