//! The grain of flows. A message with file data is a flow through all links of its path at once.
//! All flows share the links max-min fair.
//!
//! ```text
//!   submit ─▶ [send] ─ data ─▶ (flows) ─▶ [arrive] ····▶ host
//!                └─ none ····························▶ host
//! ```
//!
//! Rates are max-min fair: none can grow except at the cost of one that is no larger (Bertsekas and
//! Gallager 1992, §6.5.2). They are recomputed whenever a flow arrives or departs.
//! `network.interval` recomputes them less often; the bandwidth of a finished flow is then unused
//! until the next time. Flows of equal rate that end together are one event. If nearly all flows
//! share a resource, every arrival affects all of them, and the interval bounds the cost.
//!
//! Messages of a connection go one after the other. A write of several jobs thus reaches its server
//! job by job, and the server's device works while the rest is in transit. With
//! `network.connection_rate` each connection is a link of its own, which limits its messages.
//!
//! A message arrives when its last byte has left plus the latency of the path. One without file
//! data, a request or an acknowledgement, takes the latency and its transmission on the slowest
//! link of its path. It uses no bandwidth of others.
//!
//! Not modelled: queues in switches; loss, and TCP's reaction to it; the order of messages of
//! different hosts on one card; the time in which rates adapt; the bandwidth of messages without file data.

use std::collections::BTreeMap;
use std::sync::Arc;

use headrace_net::{Flows, Page, Port, Span};
use headrace_spec::Network;

use super::{Carried, Destinations, Fabric, LinkLoads};
use crate::tokens::Job;

/// The page of the network; gives where messages go in and what its links carry.
pub(super) fn network(
    page: &mut Page<'_>,
    spec: &Network,
    fabric: Fabric,
    to: Destinations,
) -> (Port<Job>, LinkLoads) {
    let fabric = Arc::new(fabric);
    let latency = Span::from_seconds(spec.latency.0);
    let submit = page.input("submit");
    let submitted = page.place("submitted");
    page.connect(submit, submitted);
    let carried = page.store("bytes carried", |_| Carried::new(fabric.rates().len()));
    let turns = page.store("turns of messages", |_| BTreeMap::new());
    let way = page.wait("latency");
    let flows = if fabric.longest_path() <= SHORT_PATHS {
        page.stations("flows", |_| flows::<SHORT_PATHS>(spec, &fabric))
    } else {
        page.stations("flows", |_| flows::<LONG_PATHS>(spec, &fabric))
    };
    let paths = fabric.clone();
    let sends = page.transition("send").take(submitted).with(turns);
    sends
        .puts_one_of(to.all())
        .later()
        .or_puts(flows)
        .fires(move |firing, mut job: Job, turns| {
            paths.take_turn(&mut job, turns);
            if job.payload() > 0 {
                firing.put(flows, job);
                return;
            }
            let path = paths.path(&job);
            let rate = paths.slowest(&path);
            let latency = paths.latency(&path, latency);
            let transmission = Span::from_seconds(job.wire as f64 / rate);
            firing.put_after_in(to.of(&job), job, transmission + latency, way);
        });
    let paths = fabric.clone();
    let arrives = page.transition("arrive").take(flows).with(carried);
    arrives
        .puts_one_of(to.all())
        .later()
        .fires(move |firing, job: Job, carried| {
            let path = paths.path(&job);
            carried.add(path.links(), job.wire);
            firing.put_after_in(to.of(&job), job, paths.latency(&path, latency), way);
        });
    let loads = LinkLoads {
        carried,
        fabric,
        page: "system/network",
        station: "system/network/flows",
        packets: None,
    };
    (submit, loads)
}

/// Links on a path, at the most: of small networks, and of all.
const SHORT_PATHS: usize = 8;
const LONG_PATHS: usize = 64;

/// The flows through a network whose paths have at most `LONGEST` links.
fn flows<const LONGEST: usize>(
    spec: &Network,
    fabric: &Arc<Fabric>,
) -> Flows<impl FnMut(&Job, &mut Vec<u32>) -> f64 + Clone + Send + use<LONGEST>, LONGEST> {
    let paths = fabric.clone();
    let path = move |job: &Job, links: &mut Vec<u32>| {
        links.extend(paths.path(job).links());
        job.wire as f64
    };
    let interval = Span::from_seconds(spec.interval.0);
    let flows = Flows::with_longest_path(fabric.rates().iter().copied(), path);
    flows.every(interval).in_lines()
}
