//! Bottleneck of a system, and the next one behind it.

use serde::Serialize;

use super::attribution::{LOCKS, on_host};
use super::stations::{BreakdownEntry, StationReport};

/// The verdict on a run.
#[derive(Clone, Debug, Serialize)]
pub struct Bottleneck {
    /// The station or place that holds the system back; none in an idle run.
    pub station: Option<String>,
    /// Its utilisation, mean over its copies; 0 for a place.
    pub utilisation: f64,
    /// True if it, or its busiest copy, is saturated: busy for more than [`SATURATED`] of the time.
    pub saturated: bool,
    /// The part of the latency that goes with it. That is the time that requests spend there and,
    /// if it is saturated, wait in queues elsewhere, which may be for it. None where requests come
    /// at times of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Next bottleneck.
    pub next: Option<String>,
    /// By what factor throughput could grow at the most if it took no time at
    /// all: an upper bound from operational analysis. None, and no key, if
    /// nothing else takes any time: then nothing bounds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_gain: Option<f64>,
    /// All this in one sentence.
    pub sentence: String,
}

/// Mean turn of a process: from one request to the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    /// The measured time over the requests of one process, in seconds; no less than `think` and
    /// `latency` together.
    pub seconds: f64,
    /// Think time in it that cannot lie outside the run.
    pub think: f64,
    /// Latency in it.
    pub latency: f64,
}

impl Turn {
    /// The factor by which throughput could grow at most without a place. No process can issue
    /// faster than its think time allows, and its request is served in the other places. Requests
    /// that wait there may wait for this place: a scheduler, a thread pool or a lock frees them
    /// when a request has left it.
    pub(super) fn most_gain(self, breakdown: &[BreakdownEntry], place: &str) -> f64 {
        let others = breakdown.iter().filter(|entry| entry.place != place);
        let needed = others.map(|entry| entry.least).sum::<f64>();
        let left = self.think + needed;
        // Requests that need more than they took share jobs, as those that are written behind.
        if left > 1e-9 * self.seconds && needed <= self.latency * (1.0 + 1e-9) {
            self.seconds / left
        } else {
            f64::INFINITY
        }
    }
}

/// By what factor throughput could grow until one of these stations is fully busy.
pub(super) fn until_busy<'a>(stations: impl Iterator<Item = &'a StationReport>) -> f64 {
    let stations = stations.filter(|it| it.servers.is_some() && !it.deferred);
    let gains = stations.map(|it| 1.0 / it.most_utilisation);
    gains.fold(f64::INFINITY, f64::min)
}

/// Busier than this, a station is called saturated.
pub(super) const SATURATED: f64 = 0.9;

/// Operational analysis finds it (Denning and Buzen, "The operational analysis
/// of queueing network models", ACM Computing Surveys 10(3), 1978). No copy of
/// a station can be more than fully busy. Without the busiest one, throughput
/// can grow until the next one's busiest copy is. A closed system has a second
/// bound: the think time and the rest of a request's path without waiting
/// ([`Turn::most_gain`]).
pub(crate) fn bottleneck(
    stations: &[StationReport],
    breakdown: &[BreakdownEntry],
    turn: Turn,
) -> Bottleneck {
    let mut busy: Vec<&StationReport> = stations
        .iter()
        .filter(|station| station.servers.is_some())
        .collect();
    busy.sort_by(|a, b| b.most_utilisation.total_cmp(&a.most_utilisation));
    // Places that a station's visitors pass at the same time are included.
    let place_of = |station: &StationReport| match station.within {
        Some(place) => place.to_owned(),
        None => station.station.clone(),
    };
    let first = busy.first().filter(|station| station.utilisation > 0.0);
    match (first, breakdown.first()) {
        (Some(first), _) if first.most_utilisation >= SATURATED => {
            let next = busy.get(1).filter(|station| station.utilisation > 0.0);
            let by_next = until_busy(busy.iter().skip(1).copied());
            let place = place_of(first);
            let share = share_with_queues(stations, breakdown, &place);
            let turn = turn.most_gain(breakdown, &place);
            let most_gain = by_next.min(turn).max(1.0);
            let mut bounding = busy.iter().skip(1).filter(|station| !station.deferred);
            let then = match bounding.next() {
                _ if most_gain.is_infinite() => String::new(),
                Some(next) if by_next <= turn => format!(
                    ", then {} would be the limit ({:.0} % busy now)",
                    next.station,
                    100.0 * next.most_utilisation
                ),
                _ => ", then the time that requests need without any waiting would be the limit"
                    .to_owned(),
            };
            Bottleneck {
                station: Some(first.station.clone()),
                utilisation: first.utilisation,
                saturated: true,
                share: Some(share),
                next: next.map(|next| next.station.clone()),
                most_gain: finite(most_gain),
                sentence: format!(
                    "{} is the bottleneck: {:.1} % busy{}; without it, {}{then}.",
                    first.station,
                    100.0 * first.utilisation,
                    copies(first),
                    rise(most_gain),
                ),
            }
        }
        (first, Some(most)) => {
            let next = breakdown.get(1).map(|entry| entry.place.clone());
            let (inside, outside): (Vec<&StationReport>, _) =
                busy.iter().partition(|it| place_of(it) == most.place);
            let within = inside.first();
            // Messages that share links do not wait: the links are full in turn, or may
            // be, if they are busy enough together.
            let together: f64 = inside.iter().map(|it| it.most_utilisation).sum();
            let in_turn = together >= SATURATED && within.is_some_and(|it| it.within.is_some());
            // The place may be a station itself, which then takes no time.
            let others: Vec<&StationReport> = match in_turn {
                true => busy
                    .iter()
                    .filter(|it| within.is_none_or(|own| own.station != it.station))
                    .copied()
                    .collect(),
                false => outside,
            };
            let by_others = until_busy(others.iter().copied());
            let by_turn = turn.most_gain(breakdown, &most.place);
            let most_gain = by_turn.min(by_others).max(1.0);
            let in_bursts = within.filter(|_| in_turn || most.waiting > 0.5 * most.seconds);
            // Where requests mostly wait, they are as many as it takes.
            let waiting: f64 = breakdown.iter().map(|entry| entry.waiting).sum();
            let more = match waiting > 0.5 * turn.latency {
                true => "",
                false => ", and more requests at once would also raise it",
            };
            let there = match in_turn {
                true => format!("in {}", most.place),
                false => "there, mostly waiting".to_owned(),
            };
            let sentence = match in_bursts {
                Some(station) => format!(
                    "{} is the bottleneck for a part of the run: {:.0} % busy over all of it{}, yet \
                     requests spend {:.0} % of their time {there}; without it, {}.",
                    station.station,
                    100.0 * station.utilisation,
                    copies(station),
                    100.0 * most.share,
                    rise(most_gain),
                ),
                None => format!(
                    "Nothing is saturated{}: requests spend {:.0} % of their time in {}; without \
                     it, {}{more}.",
                    first.map_or_else(String::new, |first| format!(
                        " (the busiest, {}, is {:.0} % busy)",
                        first.station,
                        100.0 * first.most_utilisation
                    )),
                    100.0 * most.share,
                    most.place,
                    rise(most_gain),
                ),
            };
            let station = within.map_or(&most.place, |within| &within.station);
            Bottleneck {
                station: Some(station.clone()),
                utilisation: within.map_or(0.0, |within| within.utilisation),
                saturated: false,
                share: Some(most.share),
                next,
                most_gain: finite(most_gain),
                sentence,
            }
        }
        (_, None) => Bottleneck {
            station: None,
            utilisation: 0.0,
            saturated: false,
            share: None,
            next: None,
            most_gain: Some(1.0),
            sentence: "Nothing was asked of the system.".to_owned(),
        },
    }
}

/// The verdict where requests come at times of their own, processes keep up with them, and nothing
/// is saturated; none where something is.
pub(crate) fn of_arrivals(stations: &[StationReport]) -> Option<Bottleneck> {
    let mut busy: Vec<&StationReport> = stations.iter().filter(|it| it.servers.is_some()).collect();
    busy.sort_by(|a, b| b.most_utilisation.total_cmp(&a.most_utilisation));
    let first = busy.first()?;
    if first.most_utilisation >= SATURATED || first.utilisation == 0.0 {
        return None;
    }
    let most_gain = 1.0 / first.most_utilisation;
    let next = busy.get(1).filter(|station| station.utilisation > 0.0);
    Some(Bottleneck {
        station: Some(first.station.clone()),
        utilisation: first.utilisation,
        saturated: false,
        share: None,
        next: next.map(|next| next.station.clone()),
        most_gain: finite(most_gain),
        sentence: format!(
            "Nothing is saturated, and throughput is what requests ask for: the busiest, {}, is \
             {:.0} % busy{}, so {}.",
            first.station,
            100.0 * first.utilisation,
            copies(first),
            rise(most_gain),
        ),
    })
}

/// Places where requests wait for something other than a queue.
const NOT_QUEUES: [&str; 2] = [
    "system/waiting for failed servers",
    "system/network/waiting for retransmission",
];

/// The part of the time that requests spend at a place, or wait in queues without a station of
/// their own. Such queues are those of schedulers, threads and devices.
fn share_with_queues(stations: &[StationReport], breakdown: &[BreakdownEntry], place: &str) -> f64 {
    let is_queue = |entry: &&BreakdownEntry| {
        let own = stations.iter().find(|it| it.station == entry.place);
        own.is_none_or(|it| it.servers.is_none())
            && !NOT_QUEUES.contains(&entry.place.as_str())
            && on_host(&entry.place, "client") != Some(LOCKS)
    };
    let of = |entry: &BreakdownEntry| match entry.seconds > 0.0 {
        true => entry.share * entry.waiting / entry.seconds,
        false => 0.0,
    };
    let own = breakdown.iter().filter(|entry| entry.place == place);
    let queues = breakdown.iter().filter(|entry| entry.place != place);
    let queues = queues.filter(is_queue).map(of);
    own.map(|entry| entry.share)
        .chain(queues)
        .sum::<f64>()
        .min(1.0)
}

pub(super) fn finite(gain: f64) -> Option<f64> {
    gain.is_finite().then_some(gain)
}

/// Returns the possible gain in throughput.
pub(super) fn rise(most_gain: f64) -> String {
    match most_gain {
        gain if gain.is_infinite() => "nothing would bound throughput".to_owned(),
        gain if gain >= 100.0 => "throughput could be more than 100 times as high".to_owned(),
        gain => format!("throughput could be up to {gain:.1} times as high"),
    }
}

fn copies(station: &StationReport) -> String {
    let uneven = station.most_utilisation - station.utilisation > 0.05;
    let busiest = station.busiest.as_ref();
    match (station.copies, uneven) {
        (1, _) => String::new(),
        (copies, false) => format!(" in each of {copies} copies"),
        (copies, true) => format!(
            " on average of {copies} copies, {:.0} % the busiest{}",
            100.0 * station.most_utilisation,
            busiest.map_or_else(String::new, |name| format!(" ({name})"))
        ),
    }
}
