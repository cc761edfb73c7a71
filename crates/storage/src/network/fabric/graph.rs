//! An explicit graph: switches and links as the scenario names them, shortest paths.

use headrace_spec::{Graph, Rate};

use super::{Links, Path, Routes};
use crate::network::Hosts;

struct Switches {
    hosts: Hosts,
    /// By kind of host: the switches that they are on in turn.
    attached: [Vec<u32>; 3],
    /// By switch: the switch at the other end of each link, and the link to it.
    neighbours: Vec<Vec<(u32, u32)>>,
    /// By target switch: how many links it is from each.
    distances: Vec<Vec<u32>>,
}

/// Adds two links, one a direction, for each of the scenario's.
pub(super) fn routes(
    spec: &Graph,
    hosts: Hosts,
    bandwidth: Rate,
    links: &mut Links,
) -> Box<dyn Routes> {
    let switches = spec.switches();
    let mut neighbours = vec![Vec::new(); switches.len()];
    for (link, (from, to)) in spec.link.iter().zip(spec.joined()) {
        let rate = link.bandwidth.unwrap_or(bandwidth);
        let mut one_way = |from: u32, to: u32| {
            let names = [from, to].map(|switch| switches[switch as usize]);
            let number = links.add_one(&format!("{} to {}", names[0], names[1]), rate);
            links.leave(link.latency, move |_| from);
            neighbours[from as usize].push((to, number));
        };
        one_way(from, to);
        one_way(to, from);
    }
    let attached = [&spec.clients, &spec.servers, &spec.metadata].map(|names| {
        let numbers = names.iter().filter_map(|name| {
            let number = switches.iter().position(|switch| switch == name)?;
            Some(number as u32)
        });
        numbers.collect()
    });
    let distances = (0..switches.len() as u32)
        .map(|switch| {
            let distances = spec.distances(switch).into_iter();
            distances.map(|it| it.unwrap_or(u32::MAX)).collect()
        })
        .collect();
    Box::new(Switches {
        hosts,
        attached,
        neighbours,
        distances,
    })
}

impl Switches {
    fn switch(&self, host: u32) -> u32 {
        let servers = self.hosts.clients;
        let metadata = servers + self.hosts.servers;
        let (kind, number) = if host < servers {
            (0, host)
        } else if host < metadata {
            (1, host - servers)
        } else {
            (2, host - metadata)
        };
        let switches = &self.attached[kind];
        switches[number as usize % switches.len()]
    }
}

impl Routes for Switches {
    fn between(&self, from: u32, to: u32, key: u64, path: &mut Path) {
        let (mut at, to) = (self.switch(from), self.switch(to));
        let distances = &self.distances[to as usize];
        let mut key = key;
        while at != to {
            let nearer =
                |(next, _): &&(u32, u32)| distances[*next as usize] < distances[at as usize];
            let ways = self.neighbours[at as usize].iter().filter(nearer);
            let count = ways.clone().count().max(1) as u64;
            // That there is a way was seen to when the scenario was loaded.
            let Some(&(next, link)) = ways.clone().nth((key % count) as usize) else {
                return;
            };
            key /= count;
            path.push(link);
            at = next;
        }
    }

    fn switches(&self) -> u32 {
        self.neighbours.len() as u32
    }

    fn switch_of(&self, host: u32) -> u32 {
        self.switch(host)
    }

    fn longest(&self) -> usize {
        let used = self.attached.iter().flatten();
        let between = used.flat_map(|&to| {
            let from = self.attached.iter().flatten();
            from.map(move |&from| self.distances[to as usize][from as usize])
        });
        between.filter(|&it| it < u32::MAX).max().unwrap_or(0) as usize
    }
}
