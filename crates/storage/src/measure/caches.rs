//! Figures of caches: hits, pages read ahead, misses, evictions, and data that is not written yet.

use headrace_net::Gauge;
use serde::Serialize;

use crate::cache_counts::{COUNTS, CacheCounts, DIRTY, WRITING};

/// One cache, its copies together.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CacheReport {
    /// Page path and name.
    pub cache: String,
    /// Copies.
    pub copies: u32,
    /// Pages or entries that were asked for and cached since an earlier use.
    pub hits: u64,
    /// Pages or requests that read-ahead had brought in, and nothing had used since.
    pub read_ahead: u64,
    /// Pages or entries that were asked for and not cached.
    pub misses: u64,
    /// Hits over all three; none if there were none.
    pub hit_ratio: Option<f64>,
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
    /// Dirty bytes at the end of the run; none if the cache holds no data to be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dirty_bytes: Option<u64>,
}

/// Data at the end of a run that only caches hold.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct UnwrittenReport {
    /// Bytes that clients, or the machines of a local file system, hold or are sending.
    pub client_bytes: u64,
    /// Bytes that servers hold or are writing.
    pub server_bytes: u64,
}

/// Reports the data that only caches of a net hold; none if all is on devices.
pub(crate) fn unwritten(now: &[Gauge]) -> Option<UnwrittenReport> {
    let mut report = UnwrittenReport::default();
    for gauge in now.iter().filter(|it| [DIRTY, WRITING].contains(&it.name)) {
        let host = gauge.path.split('/').nth(1).unwrap_or_default();
        let sum = match host.starts_with("client") {
            true => &mut report.client_bytes,
            false => &mut report.server_bytes,
        };
        *sum += gauge.sum();
    }
    (report != UnwrittenReport::default()).then_some(report)
}

/// Reports the caches of a net: their counts since `before`.
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
        let asked = counts.hits + counts.read_ahead + counts.misses;
        reports.push(CacheReport {
            cache: first.path.clone(),
            copies: first.copies.len() as u32,
            hits: counts.hits,
            read_ahead: counts.read_ahead,
            misses: counts.misses,
            hit_ratio: (asked > 0).then(|| counts.hits as f64 / asked as f64),
            hit_bytes: counts.hit_bytes,
            read_ahead_bytes: counts.read_ahead_bytes,
            miss_bytes: counts.miss_bytes,
            evictions: counts.evictions,
            evicted_bytes: counts.evicted_bytes,
            evicted_dirty_bytes: counts.evicted_dirty_bytes,
            dirty_bytes: value(DIRTY).map(|(now, _)| now),
        });
    }
    reports
}
