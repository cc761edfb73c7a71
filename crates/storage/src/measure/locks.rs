//! The part of requests' time for which they wait for locks of their client's.
//!
//! It is timed by itself, as the stay of requests that wait. Meanwhile messages about the
//! lock and what others flush for it are under way, so that the other places have what is
//! left of the time.

use headrace_net::NodeReport;

use super::report::BreakdownEntry;

/// Where requests wait for locks.
const WAITING: &str = "system/client/waiting for locks";

/// What servers do about locks, which somebody who waits for one waits for.
const SERVER: &str = "system/server/lock server";

/// The breakdown with that part, of so many requests.
pub(super) fn breakdown(
    reports: &[NodeReport],
    others: Vec<BreakdownEntry>,
    mean_latency: f64,
    requests: u64,
) -> Vec<BreakdownEntry> {
    let waiting = reports.iter().find(|it| it.path == WAITING);
    let Some(waiting) = waiting.filter(|it| it.mean_inside > 0.0 && requests > 0) else {
        return others;
    };
    let seconds = waiting.residence * waiting.arrivals as f64 / requests as f64;
    let share = (seconds / mean_latency).min(1.0);
    let others: Vec<BreakdownEntry> = (others.into_iter())
        .filter(|entry| entry.place != SERVER)
        .collect();
    let left: f64 = others.iter().map(|entry| entry.share).sum();
    let scale = if left > 0.0 {
        (1.0 - share) / left
    } else {
        0.0
    };
    // A request needs no more elsewhere than the time for which it does not wait for locks;
    // what its client flushes later it does not wait for.
    let needed: f64 = others.iter().map(|entry| entry.least).sum();
    let least = ((1.0 - share) * mean_latency / needed.max(f64::MIN_POSITIVE)).min(1.0);
    let own = BreakdownEntry {
        place: WAITING.to_owned(),
        share,
        seconds: share * mean_latency,
        waiting: share * mean_latency,
        least: 0.0,
    };
    let mut entries: Vec<BreakdownEntry> = others
        .into_iter()
        .map(|entry| BreakdownEntry {
            share: entry.share * scale,
            seconds: entry.seconds * scale,
            waiting: entry.waiting * scale,
            least: entry.least * least,
            ..entry
        })
        .chain([own])
        .filter(|entry| entry.share > 1e-9)
        .collect();
    entries.sort_by(|a, b| b.share.total_cmp(&a.share));
    entries
}
