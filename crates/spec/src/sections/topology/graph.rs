//! `kind = "graph"`: switches and links by name.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::needs_a_whole_network;
use crate::Error;
use crate::declare::{Place, Tables, section};
use crate::names;
use crate::sections::{FlowControl, Scenario};
use crate::values::{NonEmpty, Rate, Seconds};

section! {
    /// Switches joined by links, each named by the scenario. Messages take a shortest
    /// path; where several are equally short, a hash of the two hosts, with the run's
    /// seed, chooses one at every switch.
    pub struct Graph {
        /// The links between switches.
        link: Vec<GraphLink> as Tables<GraphLink> = required([GraphLink::example()]) aka ["links"],
        /// Switches that differ from `network.switch`.
        switch: Option<Vec<GraphSwitch>> as Option<Tables<GraphSwitch>> = optional("every switch is as in network.switch") aka ["switches"],
        /// The switches that clients are on, in turn.
        clients: Vec<String> as NonEmpty<String> = required(["a"]),
        /// The switches that data servers are on, in turn.
        servers: Vec<String> as NonEmpty<String> = required(["b"]),
        /// The switches that metadata servers are on, in turn.
        metadata: Vec<String> as NonEmpty<String> = same(servers),
    }
    check every_switch_is_reached;
}

section! {
    /// A link between two switches, the same in both directions.
    pub struct GraphLink {
        /// The switch at one end.
        from: String = required("a"),
        /// The switch at the other end.
        to: String = required("b"),
        /// Bytes per second in each direction.
        bandwidth: Option<Rate> = optional("network.bandwidth") aka ["rate", "speed"],
        /// Latency, besides `network.latency`.
        latency: Seconds = default("0 s", "`network.latency` counts it") aka ["delay"],
    }
}

section! {
    /// A switch that a link leads to.
    pub struct GraphSwitch {
        /// Its name.
        name: String = required("a"),
        /// Time to forward a packet or message.
        latency: Option<Seconds> = optional("network.switch.latency") aka ["delay"],
        /// Bytes per second of all packets together inside it.
        bandwidth: Option<Rate> = optional("network.switch.bandwidth") aka ["rate", "speed", "backplane"],
    }
}

impl GraphLink {
    fn example() -> crate::tree::Table {
        let mut table = crate::tree::Table::default();
        table.push("from", crate::tree::Node::plain("a".into()));
        table.push("to", crate::tree::Node::plain("b".into()));
        table
    }
}

/// The most links between two switches on a path, besides the two hosts' cards and what
/// data streams through behind them.
const MOST_HOPS: u32 = 24;

/// The most switches: every one knows its way to every other.
const MOST_SWITCHES: usize = 2000;

impl Graph {
    /// The switches, in the order in which links name them.
    #[must_use]
    pub fn switches(&self) -> Vec<&str> {
        let mut switches: Vec<&str> = Vec::new();
        let mut known = std::collections::HashSet::new();
        for name in self.link.iter().flat_map(|link| [&link.from, &link.to]) {
            if known.insert(name.as_str()) {
                switches.push(name);
            }
        }
        switches
    }

    /// The links by the numbers of the switches that they join.
    #[must_use]
    pub fn joined(&self) -> Vec<(u32, u32)> {
        let numbers: std::collections::HashMap<&str, u32> =
            self.switches().into_iter().zip(0..).collect();
        let number = |name: &String| numbers.get(name.as_str()).copied().unwrap_or(0);
        let links = self.link.iter();
        links
            .map(|link| (number(&link.from), number(&link.to)))
            .collect()
    }

    /// Returns the number of links from one switch to every other; none without a path.
    #[must_use]
    pub fn distances(&self, from: u32) -> Vec<Option<u32>> {
        let mut neighbours = vec![Vec::new(); self.switches().len()];
        for (one, other) in self.joined() {
            neighbours[one as usize].push(other);
            neighbours[other as usize].push(one);
        }
        let mut distances = vec![None; neighbours.len()];
        let mut queue = VecDeque::from([(from, 0)]);
        while let Some((switch, distance)) = queue.pop_front() {
            let known = &mut distances[switch as usize];
            if known.is_none() {
                *known = Some(distance);
                let next = neighbours[switch as usize].iter();
                queue.extend(next.map(|&switch| (switch, distance + 1)));
            }
        }
        distances
    }
}

fn every_switch_is_reached(graph: &Graph, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    needs_a_whole_network(all, at)?;
    let switches = graph.switches();
    if switches.len() > MOST_SWITCHES {
        let message = format!(
            "these are {} switches: expected at most {MOST_SWITCHES}",
            switches.len()
        );
        return Err(at.error("link", message));
    }
    for (number, link) in graph.link.iter().enumerate() {
        if link.from == link.to {
            let message = "a link joins two switches: expected another one than at its other end";
            let at = at.field("link");
            return Err(at.field(&number.to_string()).error("to", message));
        }
    }
    named_switches_are_there(graph, &switches, all, at)?;
    let mut used = Vec::new();
    for (field, hosts) in [
        ("clients", &graph.clients),
        ("servers", &graph.servers),
        ("metadata", &graph.metadata),
    ] {
        for name in hosts {
            let Some(number) = switches.iter().position(|switch| switch == name) else {
                let message = format!(
                    "no link leads to switch {name:?}{}",
                    names::hint(name, &switches)
                );
                return Err(at.error(field, message));
            };
            used.push((field, name, number));
        }
    }
    let clients = used.iter().filter(|(field, ..)| *field == "clients");
    for (_, from, number) in clients {
        #[expect(clippy::cast_possible_truncation, reason = "they are few: see above")]
        let distances = graph.distances(*number as u32);
        for (field, to, number) in &used {
            match distances[*number] {
                None => {
                    let message = format!("there is no way from switch {from:?} to {to:?}");
                    return Err(at.error(field, message));
                }
                Some(hops) if hops > MOST_HOPS => {
                    let message = format!(
                        "it is {hops} links from switch {from:?} to {to:?}: expected at most \
                         {MOST_HOPS}"
                    );
                    return Err(at.error(field, message));
                }
                Some(_) => {}
            }
        }
    }
    let credits = all
        .parallel()
        .is_some_and(|it| it.network.flow_control == FlowControl::Credits);
    if credits {
        let used: Vec<usize> = used.iter().map(|(.., number)| *number).collect();
        credits_return(graph, &switches, &used, at)?;
    }
    Ok(())
}

/// Refuses shortest paths whose links wait for each other's credits in a circle: packets on them
/// can wait forever. Without such a circle they cannot (Dally and Seitz, "Deadlock-free message
/// routing in multiprocessor interconnection networks", IEEE Transactions on Computers 1987).
fn credits_return(
    graph: &Graph,
    switches: &[&str],
    used: &[usize],
    at: &Place<'_>,
) -> Result<(), Error> {
    let mut neighbours = vec![Vec::new(); switches.len()];
    for (one, other) in graph.joined() {
        neighbours[one as usize].push(other as usize);
        neighbours[other as usize].push(one as usize);
    }
    // By link: the links that a packet may take next.
    let mut next: BTreeMap<(usize, usize), BTreeSet<(usize, usize)>> = BTreeMap::new();
    for &to in used {
        #[expect(clippy::cast_possible_truncation, reason = "they are few: see above")]
        let distances = graph.distances(to as u32);
        let nearer = |from: usize| {
            let distances = &distances;
            let ways = neighbours[from].iter().copied();
            ways.filter(move |&it| distances[it].is_some() && distances[it] < distances[from])
        };
        let (mut reached, mut queue) = (BTreeSet::new(), used.to_vec());
        while let Some(switch) = queue.pop() {
            if distances[switch].is_none() || !reached.insert(switch) {
                continue;
            }
            for middle in nearer(switch) {
                queue.push(middle);
                let after = nearer(middle).map(|it| (middle, it));
                next.entry((switch, middle)).or_default().extend(after);
            }
        }
    }
    // Links that nothing waits for go first; the rest are circles and the links behind them.
    let mut waiting: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for after in next.values().flatten() {
        *waiting.entry(*after).or_default() += 1;
    }
    let free = |link: &(usize, usize)| !waiting.contains_key(link);
    let mut free: Vec<(usize, usize)> = next.keys().copied().filter(free).collect();
    let mut left: BTreeSet<(usize, usize)> = next.keys().copied().collect();
    while let Some(link) = free.pop() {
        left.remove(&link);
        for after in next.get(&link).into_iter().flatten() {
            if let Some(count) = waiting.get_mut(after) {
                *count -= 1;
                if *count == 0 {
                    free.push(*after);
                }
            }
        }
    }
    // A link that is left has another before it: backwards they end in a circle.
    let before = |link: (usize, usize)| {
        let mut links = left.iter().copied();
        links.find(|it| next.get(it).is_some_and(|after| after.contains(&link)))
    };
    let Some(&first) = left.first() else {
        return Ok(());
    };
    let mut circle = vec![first];
    while let Some(link) = circle.last().copied().and_then(before) {
        if let Some(start) = circle.iter().position(|&it| it == link) {
            circle.drain(..start);
            break;
        }
        circle.push(link);
    }
    let mut names: Vec<&str> = circle
        .iter()
        .rev()
        .map(|&(from, _)| switches[from])
        .collect();
    names.extend(names.first().copied());
    let message = format!(
        "its shortest paths wait for credits in a circle, {}, and packets on them can wait \
         forever: expected links without circles, kind = \"torus\", or network.flow_control = \
         \"none\"",
        names.join(" to ")
    );
    Err(at.error("link", message))
}

fn named_switches_are_there(
    graph: &Graph,
    switches: &[&str],
    all: &Scenario,
    at: &Place<'_>,
) -> Result<(), Error> {
    let named = graph.switch.as_deref().unwrap_or_default();
    for (number, switch) in named.iter().enumerate() {
        let tables = at.field("switch");
        let at = tables.field(&number.to_string());
        let name = &switch.name;
        if !switches.contains(&name.as_str()) {
            let hint = names::hint(name, switches);
            let message = format!("no link leads to switch {name:?}{hint}");
            return Err(at.error("name", message));
        }
        if named[..number].iter().any(|other| other.name == *name) {
            return Err(at.error("name", "expected each switch once"));
        }
        let credits = all
            .parallel()
            .is_some_and(|it| it.network.flow_control == FlowControl::Credits);
        if switch.bandwidth.is_some() && credits {
            let message = "switches with credits are crossbars that never block: leave it out";
            return Err(at.error("bandwidth", message));
        }
    }
    Ok(())
}
