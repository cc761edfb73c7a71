//! On what the time of requests goes in a parallel file system.
//!
//! Every request has an account ([`headrace_net::Account`]). Each instant of it is divided equally
//! among the messages, jobs and transfers that work for it, and booked where they are. So a request
//! that waits first for a metadata server and then for four concurrent jobs has one second of each.
//! A late job has the time of those that are not.
//!
//! Requests inside a machine lie in a bag; their wait there is known from [`super::local`]. A data
//! server's machine has the time of its jobs. A client's has the time in which none of the
//! request's own jobs is in progress. The request is then on the processor, or waits for jobs of
//! others.

use headrace_net::{Net, NodeReport, NodeStructure, WaitReport};
use headrace_spec::{Lookups, Parallel};
use indexmap::IndexMap;

use super::job_counts::JobCounts;
use super::local::{self, Part};
use super::stations::BreakdownEntry;

/// The rest of a path on a page of hosts, below `system/KIND` or `system/KIND GROUP`. Heterogeneous
/// hosts have a page for each group.
pub(super) fn on_host<'a>(path: &'a str, kind: &str) -> Option<&'a str> {
    let page = path.strip_prefix("system/")?.strip_prefix(kind)?;
    match page.starts_with([' ', '/']) {
        true => page.split_once('/').map(|(_, rest)| rest),
        false => None,
    }
}

/// Returns true if a path lies in a server's machine.
pub(super) fn in_server_machine(path: &str) -> bool {
    on_host(path, "server").is_some_and(|rest| rest.starts_with("machine/"))
}

/// Returns true if a path lies in a client's cache.
fn in_client_machine(path: &str) -> bool {
    on_host(path, "client").is_some_and(|rest| rest.starts_with("machine/"))
}

/// Place where requests wait for locks; the messages and flushes for it count nowhere else.
pub(super) const LOCKS: &str = "waiting for locks";

/// Place where requests wait for database transfers that others requested: pages that are being
/// read, and the commit of a group.
const DATABASE: &str = "system/metadata/waiting for device";

/// Place of messages between two cards.
const LATENCY: &str = "system/network/latency";

/// Time that no place explains.
pub const UNATTRIBUTED: &str = "system/unattributed";

/// Returns true if requests' time is booked on a node.
pub fn counts(node: &NodeStructure, path: &str) -> bool {
    if in_client_machine(path) {
        false
    } else if in_server_machine(path) {
        path.ends_with("/requests")
    } else {
        on_host(path, "client") == Some(LOCKS)
            || node.kind != "bag" && matches!(&*node.colour, "Request" | "Job" | "Transfer")
    }
}

/// Time breakdown of requests, largest first.
pub(crate) fn breakdown(
    net: &Net,
    reports: &[NodeReport],
    mean_latency: f64,
    requests: u64,
    parts: &ServicePart,
) -> Vec<BreakdownEntry> {
    let waits = net.waits();
    let unattributed = net.unattributed();
    let charged = reports.iter().map(|node| node.charged);
    let charged = charged.chain(waits.iter().map(|wait| wait.charged));
    let total = charged.sum::<f64>() + unattributed;
    if total <= 0.0 {
        return Vec::new();
    }
    let inside = reports.iter().filter(|node| node.charged > 0.0);
    let inside: f64 = inside.map(|node| node.mean_inside).sum();
    let of = RequestShares {
        total,
        alone: inside <= 1.01 * total,
        mean_latency,
        requests: requests.max(1) as f64,
        parts,
    };
    let (inside, outside): (Vec<&NodeReport>, _) = reports
        .iter()
        .partition(|node| in_server_machine(&node.path));
    let mut entries: Vec<BreakdownEntry> =
        outside
            .iter()
            .flat_map(|node| of.node(node))
            .chain(waits.iter().map(|wait| of.wait(wait)))
            .chain(by_page(inside).iter().flat_map(|inside| {
                of.machines(inside, inside.iter().map(|node| node.charged).sum())
            }))
            .filter(|entry| entry.share > 0.0)
            .collect();
    let of_clients: Vec<&NodeReport> = reports
        .iter()
        .filter(|node| in_client_machine(&node.path))
        .collect();
    if of_clients.is_empty() {
        let database = reports.iter().find(|node| node.path == DATABASE);
        entries.extend(of.left(database.map_or(UNATTRIBUTED, |it| &it.path), unattributed));
        entries = of.joined(entries);
    } else {
        let jobs = net.nodes_of_colours(&["Job", "Transfer"]);
        let jobs: Vec<&NodeReport> = jobs
            .map(|id| &reports[id as usize])
            .filter(|node| !in_client_machine(&node.path) && !in_server_machine(&node.path))
            .collect();
        entries.extend(of.clients(&of_clients, &jobs, &waits, unattributed));
        entries = of.joined(entries);
        // Requests need not wait for pages that are written behind or read ahead, however long
        // these jobs take.
        for entry in entries
            .iter_mut()
            .filter(|it| !in_client_machine(&it.place))
        {
            entry.least = 0.0;
        }
    }
    entries.retain(|entry| entry.share > 1e-9);
    entries.sort_by(|a, b| b.share.total_cmp(&a.share));
    entries
}

/// The nodes of each page of hosts, which follow each other.
fn by_page(nodes: Vec<&NodeReport>) -> Vec<Vec<&NodeReport>> {
    let page = |node: &NodeReport| node.path.split('/').nth(1).map(str::to_owned);
    let mut pages: Vec<Vec<&NodeReport>> = Vec::new();
    for node in nodes {
        match pages.last_mut() {
            Some(own) if page(own[0]) == page(node) => own.push(node),
            _ => pages.push(vec![node]),
        }
    }
    pages
}

/// The least part of the service at a place that requests must wait for, as their jobs may run
/// concurrently.
pub(crate) struct ServicePart {
    /// Time of jobs for data.
    data: f64,
    /// Jobs for data. A server may work on parts of one concurrently, or send it on to a copy.
    jobs: f64,
    /// Time of messages to metadata servers.
    metadata: f64,
}

impl ServicePart {
    /// The service of the counted jobs, and of metadata requests of the scenario's clients.
    pub fn new(counts: &JobCounts, parallel: &Parallel) -> ServicePart {
        let servers = f64::from(parallel.metadata_servers().max(1));
        ServicePart {
            data: counts.least_part(),
            jobs: counts.jobs() as f64,
            metadata: match parallel.metadata.lookups {
                Lookups::Everywhere => 1.0 / servers,
                // After the answers of all, one is asked again.
                Lookups::NewEverywhere => 2.0 / (servers + 1.0),
                Lookups::One => 1.0,
            },
        }
    }

    /// At a place with that many visits.
    pub fn at(&self, path: &str, visits: f64) -> f64 {
        if on_host(path, "metadata").is_some() {
            self.metadata
        } else if on_host(path, "server").is_some() {
            self.data * (self.jobs / visits.max(1.0)).min(1.0)
        } else {
            self.data.min(self.metadata)
        }
    }
}

/// Shares of the mean number of requests in progress.
struct RequestShares<'a> {
    total: f64,
    /// No request has several jobs in progress at once: the service of each is its need.
    alone: bool,
    mean_latency: f64,
    requests: f64,
    parts: &'a ServicePart,
}

impl RequestShares<'_> {
    /// Entries of a node: of itself, and of the latency of the network behind it.
    fn node(&self, node: &NodeReport) -> impl Iterator<Item = BreakdownEntry> + use<> {
        let residence = node.residence.unwrap_or(0.0);
        let on_the_way = match residence > 0.0 {
            true => (node.delay / residence).min(1.0),
            false => 0.0,
        };
        let stay = 1.0 - on_the_way;
        let waiting = match node.discipline {
            Some(_) if node.mean_inside * stay > 0.0 => {
                (node.mean_queue / (node.mean_inside * stay)).min(1.0)
            }
            Some(_) => 0.0,
            None => 1.0,
        };
        // The need of a job here, if all others of its request run concurrently. Packets that wait
        // for retransmission stay among the packets.
        let visits = match node.path.ends_with("/packets") {
            true => 0.0,
            false => self.visits(&node.path, node.departures as f64),
        };
        let least = (1.0 - waiting) * residence * stay * visits;
        let own = self.entry(&node.path, node.charged * stay, waiting, least);
        let latency = (on_the_way > 0.0).then(|| {
            let least = residence * on_the_way * visits;
            self.entry(LATENCY, node.charged * on_the_way, 0.0, least)
        });
        [Some(own), latency].into_iter().flatten()
    }

    fn wait(&self, wait: &WaitReport) -> BreakdownEntry {
        // On the way nothing waits for anything.
        let waiting = f64::from(u8::from(!wait.path.ends_with("/latency")));
        let visits = self.visits(&wait.path, wait.count as f64);
        let least = (1.0 - waiting) * wait.residence * visits;
        self.entry(&wait.path, wait.charged, waiting, least)
    }

    /// Visits of a request to a place that follow each other, at the least.
    fn visits(&self, path: &str, visits: f64) -> f64 {
        (visits * self.parts.at(path, visits) / self.requests).min(1.0)
    }

    fn entry(&self, place: &str, charged: f64, waiting: f64, least: f64) -> BreakdownEntry {
        let share = charged / self.total;
        let seconds = share * self.mean_latency;
        BreakdownEntry {
            place: place.to_owned(),
            share,
            seconds,
            waiting: waiting * seconds,
            least: match self.alone {
                true => least.max((1.0 - waiting) * seconds),
                false => least,
            },
        }
    }

    /// Requests that machines have, where the machines say that they are.
    fn machines(
        &self,
        nodes: &[&NodeReport],
        charged: f64,
    ) -> impl Iterator<Item = BreakdownEntry> {
        let (inside, parts) = local::parts(nodes);
        let parts = parts.into_iter().filter(move |_| inside > 0.0);
        parts.map(move |part: Part| {
            let charged = charged * part.inside / inside;
            self.entry(&part.place, charged, part.waiting, 0.0)
        })
    }

    fn left(&self, place: &str, unattributed: f64) -> Option<BreakdownEntry> {
        let some = unattributed > 1e-9 * self.total;
        some.then(|| self.entry(place, unattributed, 1.0, 0.0))
    }

    /// The clients' processor, and the time for which requests wait for jobs that others
    /// asked for, divided among the places of all jobs.
    fn clients(
        &self,
        machines: &[&NodeReport],
        jobs: &[&NodeReport],
        waits: &[WaitReport],
        unattributed: f64,
    ) -> Vec<BreakdownEntry> {
        let (_, parts) = local::parts(machines);
        let processor = parts.iter().find(|it| it.place.ends_with("/processor"));
        let own = processor.map_or(0.0, |it| it.inside.min(unattributed));
        let all = jobs.iter().map(|node| node.mean_inside);
        let all: f64 = all.chain(waits.iter().map(|it| it.mean_inside)).sum();
        let rest = unattributed - own;
        let processor = processor.map(|it| self.entry(&it.place, own, it.waiting, 0.0));
        if all <= 0.0 {
            return processor
                .into_iter()
                .chain(self.left(UNATTRIBUTED, rest))
                .collect();
        }
        let jobs = jobs.iter().flat_map(|node| {
            let charged = rest * node.mean_inside / all;
            self.node(&NodeReport {
                charged,
                ..(*node).clone()
            })
        });
        let waits = waits.iter().map(|wait| {
            let charged = rest * wait.mean_inside / all;
            self.wait(&WaitReport {
                charged,
                ..wait.clone()
            })
        });
        processor.into_iter().chain(jobs).chain(waits).collect()
    }

    /// Joins entries of the same place.
    fn joined(&self, entries: Vec<BreakdownEntry>) -> Vec<BreakdownEntry> {
        let mut places: IndexMap<String, BreakdownEntry> = IndexMap::new();
        for entry in entries {
            match places.get_mut(&entry.place) {
                None => {
                    places.insert(entry.place.clone(), entry);
                }
                Some(sum) => {
                    sum.share += entry.share;
                    sum.seconds += entry.seconds;
                    sum.waiting += entry.waiting;
                    sum.least = match self.alone {
                        true => sum.least + entry.least,
                        false => sum.least.max(entry.least),
                    };
                }
            }
        }
        places.into_values().collect()
    }
}
