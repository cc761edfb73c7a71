//! Where requests are whose clients have a cache: on the client's processor, or
//! waiting for the servers, be it for pages or for room among the dirty ones. Jobs
//! that bring dirty data to the servers are on their way without a request that waits
//! for them, so requests that wait are divided among the places of all jobs.

use headrace_net::NodeReport;

use super::local;
use super::report::BreakdownEntry;

/// The page of the clients' caches.
const MACHINE: &str = "system/client/machine/";

/// Whether a node is a part of a client's cache.
pub(super) fn in_machine(path: &str) -> bool {
    path.starts_with(MACHINE)
}

/// The breakdown of jobs with the processor before them.
pub(super) fn breakdown(
    reports: &[NodeReport],
    jobs: Vec<BreakdownEntry>,
    mean_latency: f64,
) -> Vec<BreakdownEntry> {
    let machines: Vec<&NodeReport> = reports.iter().filter(|it| in_machine(&it.path)).collect();
    let (total, parts) = local::parts(&machines);
    if total <= 0.0 {
        return jobs;
    }
    let processor = parts
        .into_iter()
        .find(|it| it.place.ends_with("/processor"));
    let own = processor.map(|part| part.entry(total, mean_latency));
    let rest = 1.0 - own.as_ref().map_or(0.0, |entry| entry.share);
    let mut entries: Vec<BreakdownEntry> = jobs
        .into_iter()
        .map(|job| BreakdownEntry {
            share: job.share * rest,
            seconds: job.seconds * rest,
            waiting: job.waiting * rest,
            ..job
        })
        .chain(own)
        .filter(|entry| entry.share > 1e-9)
        .collect();
    entries.sort_by(|a, b| b.share.total_cmp(&a.share));
    entries
}
