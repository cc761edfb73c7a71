//! Latencies of links and switches, and rates inside switches, besides those of the network.

use headrace_net::Span;
use headrace_spec::{Network, Rate, Switch, Topology};

use super::{CardPorts, LinkGroup, Links, Path, Routes};

/// No link.
const NONE: u32 = u32::MAX;

/// The time of a path besides `network.latency` and its links.
pub(super) struct SwitchTimes {
    /// By link: its latency.
    wires: Vec<Span>,
    /// By link: the latency of the switch that it leaves.
    forwarding: Vec<Span>,
    /// By link: the inside of the switch that it leaves, as a link.
    inside: Vec<u32>,
    /// The links that are the insides of switches.
    insides: std::ops::Range<u32>,
}

impl SwitchTimes {
    /// The times of a scenario's network; none if it has none. `receiving` are the links to the
    /// hosts. Switches whose rate is limited become links.
    pub fn new(
        network: &Network,
        routes: &dyn Routes,
        receiving: &[CardPorts],
        links: &mut Links,
    ) -> Option<SwitchTimes> {
        let switches = switches(network, routes.switches());
        let wires = links.between_switches.iter().any(|it| it.latency.0 > 0);
        let plain = |it: &Switch| it.latency.0 <= 0.0 && it.bandwidth.is_none();
        if !wires && switches.iter().all(plain) {
            return None;
        }
        let count = links.rates.len();
        let mut leaves = vec![NONE; count];
        let mut times = SwitchTimes {
            wires: vec![Span::ZERO; count],
            forwarding: vec![Span::ZERO; count],
            inside: vec![NONE; count],
            insides: 0..0,
        };
        for (host, card) in (0..).zip(receiving) {
            let ports = card.first as usize..(card.first + card.ports) as usize;
            leaves[ports].fill(routes.switch_of(host));
        }
        for group in &links.between_switches {
            for (number, link) in (0..).zip(group.links.clone()) {
                times.wires[link as usize] = group.latency;
                leaves[link as usize] = (group.leaves)(number);
            }
        }
        let insides: Vec<u32> = switches
            .iter()
            .map(|it| inside(it.bandwidth, links))
            .collect();
        times.insides = count as u32..links.rates.len() as u32;
        for (link, switch) in leaves.into_iter().enumerate() {
            if let Some(it) = switches.get(switch as usize) {
                times.forwarding[link] = Span::from_seconds(it.latency.0);
                times.inside[link] = insides[switch as usize];
            }
        }
        Some(times)
    }

    /// The path through the insides of its switches.
    pub fn through_switches(&self, path: Path) -> Path {
        if self.insides.is_empty() {
            return path;
        }
        let mut through = Path::default();
        for (hop, &link) in path.links().iter().enumerate() {
            let inside = self.inside[link as usize];
            if hop > 0 && inside != NONE {
                through.push(inside);
            }
            through.push(link);
        }
        through
    }

    /// Insides of switches on a path of this many links, at the most.
    pub fn inside(&self, links: usize) -> usize {
        if self.insides.is_empty() {
            0
        } else {
            links - 1
        }
    }

    /// The time of all links and switches of a path. Streamed data has none.
    pub fn latency(&self, path: &Path) -> Span {
        let of = |times: &[Span], link: u32| times.get(link as usize).map_or(0, |it| it.0);
        let links = path.links();
        let wires: u64 = links.iter().map(|&it| of(&self.wires, it)).sum();
        let switches = links.iter().skip(1).map(|&it| of(&self.forwarding, it));
        Span(wires + switches.sum::<u64>())
    }

    /// See [`super::Fabric::latencies_of_hop`].
    pub fn latencies_of_hop(&self, path: &Path, hop: usize, base: Span) -> [Span; 2] {
        let of = |times: &[Span], link: u32| times.get(link as usize).copied();
        let links = path.links();
        let wire = if self.insides.contains(&links[hop]) {
            Span::ZERO
        } else {
            let all = links.iter().filter(|it| !self.insides.contains(it)).count();
            Span(base.0 / all as u64) + of(&self.wires, links[hop]).unwrap_or(Span::ZERO)
        };
        let next = links.get(hop + 1).and_then(|&it| of(&self.forwarding, it));
        [wire, next.unwrap_or(Span::ZERO)]
    }
}

/// The switches by number, as the scenario has them.
fn switches(network: &Network, count: u32) -> Vec<Switch> {
    let mut switches = vec![network.switch.clone(); count as usize];
    if let Topology::Graph(graph) = &network.topology {
        let names = graph.switches();
        for named in graph.switch.iter().flatten() {
            if let Some(number) = names.iter().position(|it| *it == named.name) {
                let it = &mut switches[number];
                it.latency = named.latency.unwrap_or(it.latency);
                it.bandwidth = named.bandwidth.or(it.bandwidth);
            }
        }
    }
    switches
}

/// Adds the inside of a switch as a link, if its rate is limited.
fn inside(rate: Option<Rate>, links: &mut Links) -> u32 {
    let Some(rate) = rate else {
        return NONE;
    };
    let number = links.rates.len() as u32;
    match links.groups.last_mut().filter(|group| group.name == INSIDE) {
        Some(group) => {
            group.links.end += 1;
            links.rates.push(rate.0);
        }
        None => {
            links.add(INSIDE, 1, 1, rate, name);
        }
    }
    number
}

/// Name of the group of the insides of switches.
const INSIDE: &str = "switch";

fn name(_: &LinkGroup, number: u32) -> String {
    format!("switch {number}")
}
