//! Bottlenecks of machines with local file systems.
//!
//! The device of a local file system does much work that no process waits for. The bottleneck
//! therefore follows from the processes' time. A call is on the processor or waits for it, or it is
//! throttled because too much is dirty. Otherwise it waits for the device, for a commit of the
//! journal, or for dirty pages to be written. Waiting calls lie in bags by what they wait for; the
//! rest of a request's time is the processor's.
//!
//! The state with most time is the bottleneck. If it is the processor and its cores are not all
//! busy, single processes with one core each are the limit. The bound on the gain is the smaller of
//! 1 / (1 − share) and 1 / utilisation of the busiest other station.
//!
//! Not modelled: which of several workloads is throttled; chains of threads that wait for each
//! other (only time inside calls counts).

use headrace_net::NodeReport;

use super::bottleneck::{Bottleneck, SATURATED, Turn, finite, rise, until_busy};
use super::stations::{BreakdownEntry, StationReport};

/// Waiting places of processes in the net, and the places to which the time is attributed.
const WAITS: [(&str, &str); 8] = [
    ("/waiting for the device", "device"),
    ("/page cache/waiting for pages", "device"),
    ("/flusher/waiting for write-back", "device"),
    ("/flusher/waiting for dirty pages", "dirty limit"),
    ("/flusher/throttled", "dirty limit"),
    ("/journal/waiting for a commit", "journal"),
    ("/journal/waiting for room in the journal", "journal"),
    (
        "/journal/waiting for a transfer into the journal",
        "journal",
    ),
];

/// Share of a place in the requests of machines.
pub(super) struct Part {
    pub place: String,
    /// The mean number of requests that it holds up.
    pub inside: f64,
    /// The share of them that wait.
    pub waiting: f64,
}

/// Time breakdown of requests, largest first.
pub(crate) fn breakdown(reports: &[NodeReport], mean_latency: f64) -> Vec<BreakdownEntry> {
    let all: Vec<&NodeReport> = reports.iter().collect();
    let (total, parts) = parts(&all);
    let mut entries: Vec<BreakdownEntry> = parts
        .into_iter()
        .filter(|part| part.inside > total * 1e-9)
        .map(|part| part.entry(total, mean_latency))
        .collect();
    entries.sort_by(|a, b| b.share.total_cmp(&a.share));
    entries
}

impl Part {
    /// The same as a part of all requests in progress.
    pub(super) fn entry(self, total: f64, mean_latency: f64) -> BreakdownEntry {
        let share = self.inside / total;
        let seconds = share * mean_latency;
        BreakdownEntry {
            place: self.place,
            share,
            seconds,
            waiting: self.waiting * seconds,
            least: (1.0 - self.waiting) * seconds,
        }
    }
}

/// Mean number of requests of machines, and where the nodes of the machines say that they are.
pub(super) fn parts(reports: &[&NodeReport]) -> (f64, Vec<Part>) {
    let mut total = 0.0;
    let mut parts: Vec<Part> = Vec::new();
    for node in reports {
        if node.path.ends_with("/requests") {
            total += node.mean_inside;
        }
        let waits = WAITS.iter();
        let mut found =
            waits.filter_map(|(wait, booked)| Some((node.path.strip_suffix(wait)?, booked)));
        let Some((page, booked)) = found.next() else {
            continue;
        };
        let place = match *booked {
            "device" => device_or_queue(reports, page),
            other => format!("{page}/{other}"),
        };
        match parts.iter_mut().find(|part| part.place == place) {
            Some(part) => part.inside += node.mean_inside,
            None => parts.push(Part {
                place,
                inside: node.mean_inside,
                waiting: 1.0,
            }),
        }
    }
    let waited: f64 = parts.iter().map(|part| part.inside).sum();
    let processor = reports.iter().find(|it| it.path.ends_with("/processor"));
    if let Some(processor) = processor {
        let waiting = match processor.mean_inside > 0.0 {
            true => processor.mean_queue / processor.mean_inside,
            false => 0.0,
        };
        parts.push(Part {
            place: processor.path.clone(),
            inside: (total - waited).max(0.0),
            waiting,
        });
    }
    (total, parts)
}

/// Returns the place of a volume's transfers: its device, or the queue before it.
fn device_or_queue(reports: &[&NodeReport], page: &str) -> String {
    let inside = |path: &str| {
        let node = reports.iter().find(|node| node.path == path);
        node.map_or(0.0, |node| node.mean_inside)
    };
    let stations = reports.iter().filter(|node| node.discipline.is_some());
    let device = device(
        stations.map(|it| (it.path.as_str(), it.most_utilisation)),
        page,
    );
    let queues = ["I/O queue", IN_ARRAY].map(|name| format!("{page}/{name}"));
    let queue = queues.into_iter().find(|queue| inside(queue) > 0.0);
    match queue {
        Some(queue) if inside(&queue) > inside(&device) => queue,
        _ => device,
    }
}

/// The queue before each disk of an array, in the page of its volume.
const IN_ARRAY: &str = "array/disk/I/O queue";

/// The device of the volume in a page. For an array it is the busiest of its disks, their bus and
/// the controller's cache. Over a network it is the busiest station of both hosts. Stations come
/// with their utilisation.
fn device<'a>(stations: impl Iterator<Item = (&'a str, f64)>, page: &str) -> String {
    let of_page = |path: &str| {
        if path.starts_with("system/target/") {
            return true;
        }
        let rest = path
            .strip_prefix(page)
            .and_then(|rest| rest.strip_prefix('/'));
        rest.is_some_and(|rest| {
            let in_array = rest.strip_prefix("array/");
            let parts = ["bus", "cache"];
            let over_network = ["network/", "target/"];
            rest == "device"
                || over_network.iter().any(|it| rest.starts_with(it))
                || in_array.is_some_and(|it| it.ends_with("/device") || parts.contains(&it))
        })
    };
    let busiest = stations
        .filter(|(path, _)| of_page(path))
        .reduce(|most, it| if it.1 > most.1 { it } else { most });
    busiest.map_or_else(|| format!("{page}/device"), |it| it.0.to_owned())
}

/// The station that a place of the breakdown stands for.
pub(super) fn behind(stations: &[StationReport], place: &str) -> String {
    let (page, name) = place.rsplit_once('/').unwrap_or(("", place));
    let of_page = |page: &str| {
        let all = stations.iter();
        device(
            all.map(|it| (it.station.as_str(), it.most_utilisation)),
            page,
        )
    };
    match name {
        "dirty limit" | "journal" => of_page(page),
        // Its name has a stroke of its own.
        "O queue" => {
            let volume = place.strip_suffix(IN_ARRAY);
            let volume = volume.or_else(|| place.strip_suffix("I/O queue"));
            of_page(volume.unwrap_or(page).trim_end_matches('/'))
        }
        _ => place.to_owned(),
    }
}

/// The verdict: what most of the processes' time goes to, and what would come next.
pub(crate) fn bottleneck(
    stations: &[StationReport],
    breakdown: &[BreakdownEntry],
    turn: Turn,
) -> Bottleneck {
    let Some(most) = breakdown.first() else {
        return Bottleneck {
            station: None,
            utilisation: 0.0,
            saturated: false,
            share: None,
            next: None,
            most_gain: Some(1.0),
            sentence: "Nothing was asked of the system.".to_owned(),
        };
    };
    let next = breakdown.get(1).map(|entry| entry.place.clone());
    let (_, name) = most.place.rsplit_once('/').unwrap_or(("", &most.place));
    let behind = behind(stations, &most.place);
    let station = stations.iter().find(|it| it.station == behind);
    let busiest = station.map_or(0.0, |it| it.most_utilisation);
    let utilisation = station.map_or(0.0, |it| it.utilisation);
    let saturated = busiest >= SATURATED;
    // Other stations can be no more than fully busy.
    let by_others = until_busy(stations.iter().filter(|it| it.station != behind));
    let by_turn = turn.most_gain(breakdown, &most.place);
    let most_gain = by_turn.min(by_others).max(1.0);
    let (busy, share) = (100.0 * utilisation, 100.0 * most.share);
    let verdict = match name {
        "processor" if saturated => {
            format!("{behind} is the bottleneck: its cores are {busy:.0} % busy")
        }
        "processor" if most.share < 0.5 => format!(
            "Nothing is saturated: requests spend {share:.0} % of their time in {behind}, \
             {busy:.0} % busy"
        ),
        "processor" => format!(
            "The processor time of single processes is the bottleneck: requests spend {share:.0} % \
             of their time on {behind}, a core each, with all cores together {busy:.0} % busy; more \
             processes at once, or faster cores, would help"
        ),
        "dirty limit" => format!(
            "The limit of dirty pages is the bottleneck: writers are throttled for {share:.0} % of \
             the time of requests while {behind} writes, {busy:.0} % busy; a faster device would \
             help, and for files that fit a higher limit"
        ),
        "journal" => format!(
            "The journal is the bottleneck: requests wait {share:.0} % of their time for commits, \
             with {behind} {busy:.0} % busy; fewer synchronous calls, or a device with less latency, \
             would help"
        ),
        "O queue" => format!(
            "The I/O queue is the bottleneck: requests wait {share:.0} % of their time for transfers \
             in {}, with {behind} {busy:.0} % busy",
            most.place
        ),
        _ if saturated => format!(
            "{behind} is the bottleneck: {busy:.0} % busy, and requests wait for it {share:.0} % of \
             their time"
        ),
        _ => format!(
            "{behind} is what requests wait for, {share:.0} % of their time, though it is only \
             {busy:.0} % busy; more requests at once would also help"
        ),
    };
    let then = match (&next, by_others < by_turn) {
        _ if most_gain.is_infinite() => String::new(),
        (_, true) => ", then another station would be fully busy".to_owned(),
        (Some(next), false) => format!(", then {next} would be the limit"),
        (None, false) => String::new(),
    };
    Bottleneck {
        station: Some(most.place.clone()),
        utilisation,
        saturated,
        share: Some(most.share),
        next,
        most_gain: finite(most_gain),
        sentence: format!("{verdict}; without it, {}{then}.", rise(most_gain)),
    }
}
