//! Figures of stations and places.

use headrace_net::NodeReport;
use serde::Serialize;

use super::attribution::{ServicePart, on_host};

/// One station, its copies together.
#[derive(Clone, Debug, Serialize)]
pub struct StationReport {
    /// Page path and name.
    pub station: String,
    /// Queueing discipline.
    pub discipline: String,
    /// Copies.
    pub copies: u32,
    /// Servers of one copy; none if unbounded.
    pub servers: Option<u32>,
    /// Share of time that servers were busy, mean over copies.
    pub utilisation: f64,
    /// The same of the busiest copy.
    pub most_utilisation: f64,
    /// The name of that copy, where copies have names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busiest: Option<String>,
    /// Mean number waiting in one copy.
    pub queue: f64,
    /// Mean service time of completed visits in seconds; none without any.
    pub service: Option<f64>,
    /// Mean stay of completed visits in seconds; none without any.
    pub residence: Option<f64>,
    /// Completed visits.
    pub visits: u64,
    /// Visits that were not over at the end.
    pub unfinished: u64,
    /// Packets that found its queue full, where there are packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<u64>,
    /// The station in which its visitors are, if it is a part of one.
    #[serde(skip)]
    pub(super) within: Option<&'static str>,
    /// True if its work may be done after the requests that cause it: it does not bound them.
    #[serde(skip)]
    pub(super) deferred: bool,
}

/// Where writes are acknowledged before they have reached a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WriteBack {
    /// On the client: only its processor works for them in time.
    Client,
    /// On the servers: their devices do not.
    Server,
}

/// Marks the stations that may work for writes after these have been acknowledged.
pub(crate) fn mark_deferred(stations: &mut [StationReport], write_back: WriteBack) {
    for station in stations {
        let path = &station.station;
        station.deferred = !path.ends_with("/processor")
            && match write_back {
                WriteBack::Client => true,
                WriteBack::Server => on_host(path, "server").is_some_and(|rest| {
                    !rest.starts_with("card ") && rest != "daemon" && rest != "memory"
                }),
            };
    }
}

/// Limits the need of requests at a station whose time they share, as flows do on links, to their
/// need alone. That is the longest mean service of the links that it consists of.
pub(crate) fn least_alone(
    breakdown: &mut [BreakdownEntry],
    stations: &[StationReport],
    requests: u64,
    parts: &ServicePart,
) {
    for entry in breakdown
        .iter_mut()
        .filter(|it| it.place.ends_with("/flows"))
    {
        let links = stations
            .iter()
            .filter(|it| it.within == Some(&*entry.place));
        let alone = links.map(|link| {
            let visits = link.visits as f64;
            let visits = visits * parts.at(&entry.place, visits) / requests.max(1) as f64;
            link.service.unwrap_or(0.0) * visits.min(1.0)
        });
        entry.least = alone
            .reduce(f64::max)
            .map_or(entry.least, |it| it.min(entry.least));
    }
}

/// A place or station on the way of requests.
#[derive(Clone, Debug, Serialize)]
pub struct BreakdownEntry {
    /// Page path and name.
    pub place: String,
    /// Its share of the time that requests, or their jobs, were in progress.
    pub share: f64,
    /// Contribution to the mean latency, in seconds. The time of parallel jobs of a request is
    /// divided among their places.
    pub seconds: f64,
    /// The part of these seconds spent waiting rather than being served.
    pub waiting: f64,
    /// Least seconds of a request here, without waiting: the stay of one job,
    /// as its other jobs may run concurrently.
    #[serde(skip)]
    pub(super) least: f64,
}

/// The figures of a node, if it is a station.
pub(crate) fn station(node: &NodeReport) -> Option<StationReport> {
    Some(StationReport {
        station: node.path.clone(),
        discipline: node.discipline.clone()?,
        copies: node.copies,
        servers: node.servers,
        utilisation: node.utilisation,
        most_utilisation: node.most_utilisation,
        busiest: None,
        queue: node.mean_queue / f64::from(node.copies),
        service: node.service,
        residence: node.residence,
        visits: node.departures,
        unfinished: node.inside,
        lost: None,
        within: None,
        deferred: false,
    })
}
