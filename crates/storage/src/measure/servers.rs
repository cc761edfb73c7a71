//! Bottlenecks of a parallel file system whose servers are modelled machines.
//!
//! Requests and jobs are counted where they are, as everywhere; a job that a thread
//! has is where its call is ([`super::local`]). A job that waits for a thread waits
//! for what the threads wait for if that is busy, and else for more threads.

use headrace_spec::Daemon;

use super::attribution::{in_server_machine as in_machine, on_host};
use super::bottleneck::{self, Bottleneck, SATURATED, Turn, finite, rise};
use super::local;
use super::stations::{BreakdownEntry, StationReport};

/// Place where jobs wait for a thread.
const WAITING: &str = "waiting for a thread";

/// The verdict.
pub(crate) fn bottleneck(
    stations: &[StationReport],
    breakdown: &[BreakdownEntry],
    turn: Turn,
    daemon: &Daemon,
) -> Bottleneck {
    let mut places = breakdown.to_vec();
    let held = places.iter().position(|entry| in_machine(&entry.place));
    // Those that are held up wait for the threads of the same servers.
    let page = held.and_then(|held| places[held].place.split('/').nth(1));
    let waits = |place: &str| {
        on_host(place, "server") == Some(WAITING) && (place.split('/').nth(1) == page)
    };
    let waiting = places.iter().position(|entry| waits(&entry.place));
    if let (Some(waiting), Some(held)) = (waiting, held) {
        let behind = local::behind(stations, &places[held].place);
        let station = stations.iter().find(|it| it.station == behind);
        let busiest = station.map_or(0.0, |it| it.most_utilisation);
        if busiest >= SATURATED {
            let entry = places[waiting].clone();
            places[held].share += entry.share;
            places[held].seconds += entry.seconds;
            places[held].waiting += entry.waiting;
            places.remove(waiting);
            places.sort_by(|a, b| b.share.total_cmp(&a.share));
        } else if waiting == 0 {
            return threads(&places, &behind, busiest, turn, daemon);
        }
    }
    match places.first() {
        Some(most) if in_machine(&most.place) => local::bottleneck(stations, &places, turn),
        // Their devices are busy with asynchronous work, too.
        _ => {
            let others = stations.iter().filter(|it| !in_machine(&it.station));
            let others: Vec<StationReport> = others.cloned().collect();
            bottleneck::bottleneck(&others, &places, turn)
        }
    }
}

/// The verdict where nothing below the threads is busy.
fn threads(
    places: &[BreakdownEntry],
    behind: &str,
    busiest: f64,
    turn: Turn,
    daemon: &Daemon,
) -> Bottleneck {
    let most = &places[0];
    let by_turn = turn.most_gain(places, &most.place);
    let most_gain = by_turn.min(1.0 / busiest.max(1e-9)).max(1.0);
    let threads = daemon.threads;
    Bottleneck {
        station: Some(most.place.clone()),
        utilisation: 0.0,
        saturated: false,
        share: Some(most.share),
        next: places.get(1).map(|entry| entry.place.clone()),
        most_gain: finite(most_gain),
        sentence: format!(
            "The daemon's threads are the bottleneck: requests wait {:.0} % of their time for one \
             (servers.daemon.threads = {threads}), with {behind} at most {:.0} % busy; with more \
             threads, {}.",
            100.0 * most.share,
            100.0 * busiest,
            rise(most_gain),
        ),
    }
}
