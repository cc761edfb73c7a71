//! A k-ary fat tree (Al-Fares, Loukissas and Vahdat, "A scalable, commodity data center network
//! architecture", SIGCOMM 2008, §2.2). It has k pods of k/2 edge and k/2 aggregation switches.
//! Aggregation switch j of every pod has links to the core switches j·k/2 … (j+1)·k/2 − 1.
//!
//! Paths are chosen by hash (equal-cost multi-path) rather than by the two-level
//! tables and flow scheduling of the paper (§3.2–3.6).

use headrace_spec::{FatTree, Rate};

use super::{LinkGroup, Links, Path, Routes};

struct Switches {
    /// k/2.
    half: u32,
    switches: u32,
    /// The first link of each kind.
    edge_up: u32,
    edge_down: u32,
    core_up: u32,
    core_down: u32,
}

/// Adds the links between the tiers.
pub(super) fn routes(spec: &FatTree, bandwidth: Rate, links: &mut Links) -> Box<dyn Routes> {
    let half = spec.arity / 2;
    // k pods, k/2 switches in each tier of a pod, k/2 links up from each.
    let count = spec.arity * half * half;
    let rate = spec.bandwidth.unwrap_or(bandwidth);
    // Edge switches come first, then aggregation switches, then core switches.
    let tier = spec.arity * half;
    let mut add = |name: &str, each, leaves: fn(u32, u32) -> u32, first: u32| {
        let link = links.add(name, count, half, rate, each);
        links.leave(spec.latency, move |number| first + leaves(number, half));
        link
    };
    let of_switch = |number, half| number / half;
    Box::new(Switches {
        half,
        switches: 2 * tier + half * half,
        edge_up: add("edge up", edge_up, of_switch, 0),
        edge_down: add("edge down", edge_down, aggregation_above, tier),
        core_up: add("aggregation up", core_up, of_switch, tier),
        core_down: add("aggregation down", core_down, core_above, 2 * tier),
    })
}

/// The aggregation switch that a link down to an edge switch leaves.
fn aggregation_above(number: u32, half: u32) -> u32 {
    number / half / half * half + number % half
}

/// The core switch that a link down to an aggregation switch leaves.
fn core_above(number: u32, half: u32) -> u32 {
    number % (half * half)
}

fn edge_up(group: &LinkGroup, number: u32) -> String {
    named(group, number, "edge", "up")
}

fn edge_down(group: &LinkGroup, number: u32) -> String {
    named(group, number, "edge", "down")
}

fn core_up(group: &LinkGroup, number: u32) -> String {
    named(group, number, "aggregation", "up")
}

fn core_down(group: &LinkGroup, number: u32) -> String {
    named(group, number, "aggregation", "down")
}

/// Such as "pod 2 edge 1 up 0".
fn named(group: &LinkGroup, number: u32, tier: &str, way: &str) -> String {
    let half = group.per_switch;
    let (pod, switch, link) = (number / half / half, number / half % half, number % half);
    format!("pod {pod} {tier} {switch} {way} {link}")
}

impl Routes for Switches {
    fn between(&self, from: u32, to: u32, key: u64, path: &mut Path) {
        let half = self.half;
        let (from, to) = (from / half, to / half);
        if from == to {
            return;
        }
        let (from_pod, to_pod) = (from / half, to / half);
        let aggregation = (key % u64::from(half)) as u32;
        let core = (key / u64::from(half) % u64::from(half)) as u32;
        path.push(self.edge_up + from * half + aggregation);
        if from_pod != to_pod {
            path.push(self.core_up + (from_pod * half + aggregation) * half + core);
            path.push(self.core_down + (to_pod * half + aggregation) * half + core);
        }
        path.push(self.edge_down + to * half + aggregation);
    }

    fn switches(&self) -> u32 {
        self.switches
    }

    fn switch_of(&self, host: u32) -> u32 {
        host / self.half
    }

    fn longest(&self) -> usize {
        4
    }
}
