//! What holds a parallel file system back whose servers are machines.
//!
//! Requests and jobs are counted where they are, as everywhere; a job that a thread
//! has is where its call is ([`super::local`]). A job that waits for a thread waits
//! for what the threads wait for if that is busy, and else for more threads.

use headrace_net::{Net, NodeReport};
use headrace_spec::Daemon;

use super::bottleneck::{self, Bottleneck, SATURATED, finite, rise};
use super::report::{BreakdownEntry, StationReport, on_the_way};
use super::{clients, local};

/// The page of the machines.
const MACHINE: &str = "system/server/machine/";

/// Where jobs wait for a thread.
const WAITING: &str = "system/server/waiting for a thread";

fn in_machine(path: &str) -> bool {
    path.starts_with(MACHINE)
}

/// Where requests spend their time, most first.
pub(super) fn breakdown(
    net: &Net,
    reports: &[NodeReport],
    mean_latency: f64,
    requests: u64,
) -> Vec<BreakdownEntry> {
    let machines: Vec<&NodeReport> = reports
        .iter()
        .filter(|node| in_machine(&node.path))
        .collect();
    let outside: Vec<&NodeReport> = net
        .nodes_of_colours(&["Request", "Job"])
        .map(|id| &reports[id as usize])
        .filter(|node| !in_machine(&node.path) && !clients::in_machine(&node.path))
        .collect();
    let (held, parts) = local::parts(&machines);
    let total = held + outside.iter().map(|node| node.mean_inside).sum::<f64>();
    let mut entries: Vec<BreakdownEntry> = outside
        .into_iter()
        .filter(|node| node.mean_inside > 0.0)
        .map(|node| on_the_way(node, total, mean_latency, requests))
        .chain(
            parts
                .into_iter()
                .map(|part| part.entry(total, mean_latency)),
        )
        .filter(|entry| entry.share > 1e-9)
        .collect();
    entries.sort_by(|a, b| b.share.total_cmp(&a.share));
    entries
}

/// The verdict.
pub(super) fn bottleneck(
    stations: &[StationReport],
    breakdown: &[BreakdownEntry],
    mean_latency: f64,
    mean_think: f64,
    daemon: &Daemon,
) -> Bottleneck {
    let mut places = breakdown.to_vec();
    let waiting = places.iter().position(|entry| entry.place == WAITING);
    let held = places.iter().position(|entry| in_machine(&entry.place));
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
            return threads(&places, &behind, busiest, mean_latency + mean_think, daemon);
        }
    }
    match places.first() {
        Some(most) if in_machine(&most.place) => {
            local::bottleneck(stations, &places, mean_think, mean_latency)
        }
        // Their devices are busy with what nobody waits for, too.
        _ => {
            let others = stations.iter().filter(|it| !in_machine(&it.station));
            let others: Vec<StationReport> = others.cloned().collect();
            bottleneck::bottleneck(&others, &places, mean_latency, mean_think)
        }
    }
}

/// The verdict where nothing below the threads is busy.
fn threads(
    places: &[BreakdownEntry],
    behind: &str,
    busiest: f64,
    turn: f64,
    daemon: &Daemon,
) -> Bottleneck {
    let most = &places[0];
    let by_turn = turn / (turn - most.seconds).max(turn * 1e-9);
    let most_gain = by_turn.min(1.0 / busiest.max(1e-9)).max(1.0);
    let threads = daemon.threads;
    Bottleneck {
        station: Some(most.place.clone()),
        utilisation: 0.0,
        saturated: false,
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
