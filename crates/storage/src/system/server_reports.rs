//! Figures of each data server, and of each copy of its stations.
//!
//! A page of servers holds those that are alike; its copies are the servers in the order of their
//! numbers. The kernel has counts of every copy anyway, so that nothing is counted for this but
//! the bytes of answered jobs.
//!
//! Not counted: cards of networks that are modelled as a whole, which are links of the network, and
//! work of a machine after its answer.

use std::ops::Range;

use headrace_net::{CopyReport, Net, NodeStructure, PageStructure, Store};
use serde::Serialize;

use crate::measure::Bottleneck;
use crate::server::Served;

/// The most servers, and the most copies of stations, of which figures are given.
const MOST: usize = 4096;

/// A page of data servers that are alike.
pub(crate) struct ServerPage {
    /// Its name.
    name: String,
    group: Option<String>,
    numbers: Range<u32>,
    served: Store<Served>,
}

/// Report of a data server, or of its mean in replications.
#[derive(Clone, Debug, Serialize)]
pub struct ServerReport {
    /// Its number.
    pub server: u32,
    /// Its group, if it differs from the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Its busiest station.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busiest: Option<String>,
    /// Share of time that this station was busy.
    pub utilisation: f64,
    /// Mean number of jobs that wait at its stations.
    pub queue: f64,
    /// Mean number of jobs on it, waiting or served.
    pub in_progress: f64,
    /// Jobs that it answered.
    pub requests: u64,
    /// Bytes that they read.
    pub read_bytes: u64,
    /// Bytes that they wrote.
    pub written_bytes: u64,
    /// Bytes read and written per second.
    pub throughput: f64,
    /// Mean time from a job's arrival to its answer, in seconds, without the card. It is completed
    /// visits to its places and stations over answered jobs; none without jobs.
    pub latency: Option<f64>,
}

/// One copy of a station of a data server.
#[derive(Clone, Debug, Serialize)]
pub struct StationCopy {
    /// Page path and name of the station.
    pub station: String,
    /// The server that it is a part of.
    pub server: u32,
    /// Its number among the copies on that server.
    pub copy: u32,
    /// Share of time that it was busy.
    pub utilisation: f64,
    /// Mean number waiting.
    pub queue: f64,
    /// Mean service time of completed visits in seconds; none without any.
    pub service: Option<f64>,
    /// Mean stay of completed visits in seconds; none without any.
    pub residence: Option<f64>,
    /// Completed visits.
    pub visits: u64,
    /// Visits that were not over at the end.
    pub unfinished: u32,
}

/// The data servers over time, in windows of equal length but for the last.
#[derive(Clone, Debug, Default)]
pub struct ServerSeries {
    /// Start of each window, in seconds.
    pub starts: Vec<f64>,
    /// Lengths, in seconds.
    pub lengths: Vec<f64>,
    /// The servers' groups.
    pub groups: Vec<Option<String>>,
    /// By window, then by server: share of the window that its busiest station was busy.
    pub utilisation: Vec<f64>,
    /// The same order: mean number of jobs on it.
    pub in_progress: Vec<f64>,
}

/// A station or place of a page of servers.
#[derive(Clone)]
struct ServerNode {
    id: u32,
    path: String,
    /// Copies on one server.
    each: usize,
    /// Servers of a copy, if it is a station with a number of them.
    servers: Option<u32>,
    /// True if jobs on the server lie in it.
    has_jobs: bool,
}

impl ServerPage {
    pub fn new(group: Option<String>, numbers: Range<u32>, served: Store<Served>) -> ServerPage {
        let name = match &group {
            None => "server".to_owned(),
            Some(group) => format!("server {group}"),
        };
        ServerPage {
            name,
            group,
            numbers,
            served,
        }
    }

    /// The stations and places of its servers.
    fn nodes(&self, net: &Net) -> Vec<ServerNode> {
        let root = &net.structure().page;
        let mut nodes = Vec::new();
        if let Some(page) = root.pages.iter().find(|page| page.name == self.name) {
            self.collect(page, "", &mut nodes);
        }
        nodes
    }

    fn collect(&self, page: &PageStructure, within: &str, into: &mut Vec<ServerNode>) {
        let hosts = self.numbers.len().max(1);
        for node in &page.nodes {
            let name = format!("{within}{}", node.name);
            into.push(ServerNode {
                id: node.id,
                path: format!("{}/{}", page.path, node.name),
                each: node.copies as usize / hosts,
                servers: node.servers.filter(|_| node.kind == "station"),
                has_jobs: has_jobs(node, &name),
            });
        }
        for inner in &page.pages {
            self.collect(inner, &format!("{within}{}/", inner.name), into);
        }
    }

    /// The words for one or all of its servers.
    fn words(&self, server: Option<u32>) -> String {
        let servers = match (server, self.numbers.len()) {
            (Some(server), _) => format!("server {server}"),
            (None, 1) => format!("server {}", self.numbers.start),
            (None, _) => format!("servers {} to {}", self.numbers.start, self.numbers.end - 1),
        };
        match &self.group {
            Some(group) => format!("{servers} of group {group}"),
            None => servers,
        }
    }
}

/// Returns true if jobs on a server lie in a node of its page. Jobs at its card are on the network;
/// the calls of a machine's threads lie in a bag.
fn has_jobs(node: &NodeStructure, name: &str) -> bool {
    match &*node.colour {
        "Job" => !name.starts_with("card "),
        "Request" => name == "machine/requests",
        _ => false,
    }
}

/// Reports of all data servers in the order of their numbers, and of the copies of their stations.
/// None of either where there are too many.
pub(crate) fn servers(pages: &[ServerPage], net: &Net) -> (Vec<ServerReport>, Vec<StationCopy>) {
    let (mut all, mut copies) = (Vec::new(), Vec::new());
    if pages.iter().map(|page| page.numbers.len()).sum::<usize>() > MOST {
        return (all, copies);
    }
    let seconds = net.measured().as_seconds();
    for page in pages {
        let nodes = page.nodes(net).into_iter();
        let nodes: Vec<(ServerNode, Vec<CopyReport>)> = nodes
            .filter(|node| node.servers.is_some() || node.has_jobs)
            .map(|node| (node.clone(), net.copy_reports(node.id)))
            .collect();
        for (server, place) in page.numbers.clone().zip(0..) {
            let mut report = ServerReport {
                server,
                group: page.group.clone(),
                busiest: None,
                utilisation: 0.0,
                queue: 0.0,
                in_progress: 0.0,
                requests: 0,
                read_bytes: 0,
                written_bytes: 0,
                throughput: 0.0,
                latency: None,
            };
            let mut stay = 0.0;
            for (node, reports) in &nodes {
                let own = reports.iter().skip(place * node.each).take(node.each);
                if node.has_jobs {
                    report.in_progress += own.clone().map(|it| it.mean_inside).sum::<f64>();
                    let stays = own.clone().map(CopyReport::stay);
                    stay += stays.sum::<f64>();
                }
                if node.servers.is_none() {
                    continue;
                }
                for (copy, number) in own.zip(0..) {
                    report.queue += copy.mean_queue;
                    if copy.utilisation > report.utilisation {
                        report.utilisation = copy.utilisation;
                        report.busiest = Some(node.path.clone());
                    }
                    copies.push(station_copy(&node.path, server, number, copy));
                }
            }
            let served = net.store(page.served, place as u32);
            report.requests = served.jobs;
            (report.read_bytes, report.written_bytes) = (served.read, served.written);
            if seconds > 0.0 {
                report.throughput = (served.read + served.written) as f64 / seconds;
            }
            if served.jobs > 0 {
                report.latency = Some(stay / served.jobs as f64);
            }
            all.push(report);
        }
    }
    if copies.len() > MOST {
        copies.clear();
    }
    (all, copies)
}

/// Counts jobs from now on.
pub(crate) fn reset(pages: &[ServerPage], net: &mut Net) {
    for page in pages {
        for copy in 0..page.numbers.len() {
            *net.store_mut(page.served, copy as u32) = Served::default();
        }
    }
}

fn station_copy(path: &str, server: u32, number: u32, copy: &CopyReport) -> StationCopy {
    StationCopy {
        station: path.to_owned(),
        server,
        copy: number,
        utilisation: copy.utilisation,
        queue: copy.mean_queue,
        service: copy.service,
        residence: copy.residence,
        visits: copy.departures,
        unfinished: copy.inside,
    }
}

/// The nodes that are sampled, page by page.
fn sampled(pages: &[ServerPage], net: &Net) -> Vec<Vec<ServerNode>> {
    let of = |page: &ServerPage| {
        let nodes = page.nodes(net).into_iter();
        nodes
            .filter(|node| node.servers.is_some() || node.has_jobs)
            .collect()
    };
    pages.iter().map(of).collect()
}

/// Samples the servers `samples` times or more from now on, unless they are too many.
pub(crate) fn sample_servers(pages: &[ServerPage], net: &mut Net, samples: u32) {
    let nodes = sampled(pages, net);
    let copies = nodes.iter().zip(pages);
    let copies = copies.flat_map(|(nodes, page)| {
        let hosts = page.numbers.len();
        nodes.iter().map(move |node| node.each * hosts)
    });
    if !pages.is_empty() && copies.sum::<usize>() <= MOST {
        net.sample_copies(
            nodes.iter().flatten().map(|node| node.id).collect(),
            samples,
        );
    }
}

/// The servers over time, if they are sampled.
pub(crate) fn server_series(pages: &[ServerPage], net: &Net) -> Option<ServerSeries> {
    let sampled_copies = net.copy_series()?;
    let nodes = sampled(pages, net);
    let mut series = ServerSeries::default();
    for page in pages {
        let groups = page.numbers.clone().map(|_| page.group.clone());
        series.groups.extend(groups);
    }
    for pair in sampled_copies.samples.windows(2) {
        let [before, after] = pair else { continue };
        let length = after.time.since(before.time).as_seconds();
        if length <= 0.0 {
            continue;
        }
        series.starts.push(before.time.as_seconds());
        series.lengths.push(length);
        // Places have no work: both lists have their own offsets.
        let (mut work, mut inside) = (0, 0);
        for (page, nodes) in pages.iter().zip(&nodes) {
            let hosts = page.numbers.len();
            let first = series.utilisation.len();
            series.utilisation.resize(first + hosts, 0.0);
            series.in_progress.resize(first + hosts, 0.0);
            for node in nodes {
                for copy in 0..node.each * hosts {
                    let host = first + copy / node.each.max(1);
                    if let Some(servers) = node.servers {
                        let worked = after.work[work + copy] - before.work[work + copy];
                        let busy = worked / length / f64::from(servers);
                        let most = &mut series.utilisation[host];
                        *most = most.max(busy.clamp(0.0, 1.0));
                    }
                    if node.has_jobs {
                        let area = after.inside[inside + copy] - before.inside[inside + copy];
                        series.in_progress[host] += (area / length).max(0.0);
                    }
                }
                if net.is_station(node.id) {
                    work += node.each * hosts;
                }
                inside += node.each * hosts;
            }
        }
    }
    Some(series)
}

/// Names the servers of a station in the verdict, if servers are heterogeneous.
pub(crate) fn name_servers(
    bottleneck: &mut Bottleneck,
    pages: &[ServerPage],
    reports: &[ServerReport],
) {
    let unlike = pages.iter().any(|page| page.group.is_some());
    let Some(station) = bottleneck.station.clone().filter(|_| unlike) else {
        return;
    };
    let of_page = |page: &&ServerPage| {
        let name = station.split('/').nth(1);
        name == Some(page.name.as_str())
    };
    let Some(page) = pages.iter().find(of_page) else {
        return;
    };
    // One server may be much busier than the others of its page.
    let own = reports
        .iter()
        .filter(|it| page.numbers.contains(&it.server));
    let busiest = own
        .clone()
        .max_by(|a, b| a.utilisation.total_cmp(&b.utilisation));
    let mean = own.clone().map(|it| it.utilisation).sum::<f64>() / page.numbers.len() as f64;
    let alone = busiest.filter(|it| it.utilisation > mean + 0.05);
    let words = page.words(alone.map(|it| it.server));
    let sentence = &bottleneck.sentence;
    let named = format!("{station} ({words})");
    bottleneck.sentence = sentence.replacen(&station, &named, 1);
}
