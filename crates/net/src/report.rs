//! Statistics of a net, by node and by invariant.

use serde::Serialize;

use crate::error::RunError;
use crate::handles::Node;
use crate::net::Net;
use crate::state::{ServingState, Visits};
use crate::structure::NodeStructure;
use crate::token::Token;

/// Statistics of one place or station, summed over its copies, since the start or the last reset.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct NodeReport {
    /// Its number, as in [`Structure`](crate::Structure).
    pub id: u32,
    /// Page path and name.
    pub path: String,
    /// A station's discipline; none for a place.
    pub discipline: Option<String>,
    /// Number of copies.
    pub copies: u32,
    /// Servers in one copy; none for places and for unbounded servers.
    pub servers: Option<u32>,
    /// Tokens that came.
    pub arrivals: u64,
    /// Completed visits: tokens that left.
    pub departures: u64,
    /// Tokens inside now: visits that are not over.
    pub inside: u64,
    /// Mean number of tokens inside, all copies together.
    pub mean_inside: f64,
    /// Mean stay of completed visits, in seconds; none without any. A visit that began before
    /// the last reset counts with its whole stay.
    pub residence: Option<f64>,
    /// Share of the servers' time spent serving, mean over copies; for
    /// unbounded servers and places 0.
    pub utilisation: f64,
    /// The busiest copy's utilisation.
    pub most_utilisation: f64,
    /// Mean service time of completed visits, in seconds; none without any.
    pub service: Option<f64>,
    /// Mean number of tokens that wait, all copies together: inside and not
    /// served; where work is booked, waiting for its start.
    pub mean_queue: f64,
    /// Mean number of accounts whose time goes on tokens inside, each divided among all
    /// its tokens.
    pub charged: f64,
    /// Mean part of `residence` after service, in seconds
    /// ([`Discipline::delay`](crate::Discipline::delay)).
    pub delay: f64,
}

/// Statistics of one copy of a place or station, since the start or the last reset.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct CopyReport {
    /// Tokens that came.
    pub arrivals: u64,
    /// Completed visits: tokens that left.
    pub departures: u64,
    /// Tokens inside now: visits that are not over.
    pub inside: u32,
    /// Mean number of tokens inside.
    pub mean_inside: f64,
    /// Share of the servers' time spent serving; 0 for unbounded servers and places.
    pub utilisation: f64,
    /// Mean number of tokens that wait.
    pub mean_queue: f64,
    /// Mean service time of completed visits, in seconds; none without any.
    pub service: Option<f64>,
    /// Mean stay of completed visits, in seconds; none without any.
    pub residence: Option<f64>,
}

impl CopyReport {
    /// Sum of the stays of completed visits, in seconds.
    pub fn stay(&self) -> f64 {
        self.residence.unwrap_or(0.0) * self.departures as f64
    }
}

/// Statistics of a wait since the start or the last reset.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct WaitReport {
    /// Page path and name.
    pub path: String,
    /// Waits that are over.
    pub count: u64,
    /// Mean number of tokens that waited, of waits that are over.
    pub mean_inside: f64,
    /// Mean time of a wait, in seconds.
    pub residence: f64,
    /// As in [`NodeReport`].
    pub charged: f64,
}

/// A sum of tokens that no firing can change.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct InvariantReport {
    /// The sum in words, such as "main/thinking + 2 main/server".
    pub sum: String,
    /// Its value now.
    pub value: i128,
}

impl Net {
    /// Returns the statistics of a place or station.
    pub fn node_report<T: Token>(&self, node: Node<T>) -> NodeReport {
        self.report(node.node as usize)
    }

    /// Returns the statistics of all nodes in order of definition.
    pub fn reports(&self) -> Vec<NodeReport> {
        (0..self.nodes.len())
            .map(|node| self.report(node))
            .collect()
    }

    /// Returns true if a node, by its number, is a station.
    pub fn is_station(&self, node: u32) -> bool {
        !self.nodes[node as usize].serving().is_empty()
    }

    /// Returns the statistics of each copy of a place or station, by its number in
    /// [`Structure`](crate::Structure).
    pub fn copy_reports(&self, node: u32) -> Vec<CopyReport> {
        let node = &self.nodes[node as usize];
        let now = self.now();
        let elapsed = self.measured().0 as f64;
        let servers = f64::from(node.servers().unwrap_or(0).max(1));
        let per_time = |area: f64| if elapsed > 0.0 { area / elapsed } else { 0.0 };
        let copies = node.states().iter().zip(node.visits(now)).enumerate();
        let copies = copies.map(|(copy, (state, visits))| {
            let serving = node.serving().get(copy);
            let area = state.area(now) as f64;
            let served = serving.map_or(0.0, |it| it.area(now) as f64);
            let waited = serving.and_then(ServingState::waited);
            CopyReport {
                arrivals: state.arrivals,
                departures: visits.count,
                inside: state.inside,
                mean_inside: per_time(area),
                utilisation: match node.servers() {
                    Some(_) => per_time(serving.map_or(0.0, |it| it.worked(now) as f64)) / servers,
                    None => 0.0,
                },
                mean_queue: match waited {
                    Some(waited) => per_time(waited as f64),
                    None => (per_time(area) - per_time(served)).max(0.0),
                },
                service: visits.mean(visits.service),
                residence: visits.mean(visits.stay),
            }
        });
        copies.collect()
    }

    fn report(&self, index: usize) -> NodeReport {
        let node = &self.nodes[index];
        let now = self.now();
        let states = node.states();
        let elapsed = self.measured().0 as f64;
        let servers = node.servers();
        let per_time = |area: u128| {
            if elapsed > 0.0 {
                area as f64 / elapsed
            } else {
                0.0
            }
        };
        let area: u128 = states.iter().map(|state| state.area(now)).sum();
        let work = node.serving().iter().map(|state| state.worked(now));
        let most = work.clone().max().unwrap_or(0);
        let worked: u128 = work.sum();
        let served: u128 = node.serving().iter().map(|state| state.area(now)).sum();
        let booked = node.serving().iter().filter_map(ServingState::waited);
        let booked = booked.reduce(|sum, waited| sum + waited);
        let arrivals: u64 = states.iter().map(|state| state.arrivals).sum();
        let mut visits = Visits::default();
        for copy in node.visits(now) {
            visits.count += copy.count;
            visits.stay += copy.stay;
            visits.service += copy.service;
        }
        let of_servers = |busy: f64| servers.map_or(0.0, |servers| busy / f64::from(servers));
        NodeReport {
            id: index as u32,
            path: self.node_paths[index].clone(),
            discipline: node.discipline(),
            copies: states.len() as u32,
            servers,
            arrivals,
            departures: visits.count,
            inside: states.iter().map(|state| u64::from(state.inside)).sum(),
            mean_inside: per_time(area),
            residence: visits.mean(visits.stay),
            utilisation: of_servers(per_time(worked)) / states.len() as f64,
            most_utilisation: of_servers(per_time(most)),
            service: visits.mean(visits.service),
            mean_queue: match booked {
                Some(waited) => per_time(waited),
                None => (per_time(area) - per_time(served)).max(0.0),
            },
            charged: match elapsed > 0.0 {
                true => node.charged(&self.kernel) / elapsed,
                false => 0.0,
            },
            delay: node.delay(),
        }
    }

    /// Returns the statistics of all waits in order of definition.
    pub fn waits(&self) -> Vec<WaitReport> {
        let (now, elapsed) = (self.now(), self.measured().0 as f64);
        let accounts = &self.kernel.accounts;
        let mut charged: Vec<f64> = accounts.waits.iter().map(|it| it.charged).collect();
        for node in &self.nodes {
            node.charged_on_the_way(&self.kernel, &mut |wait, share| {
                charged[wait as usize] += share;
            });
        }
        for (wait, share) in accounts.in_stores(now).chain(accounts.in_gaps(now)) {
            charged[wait.0 as usize] += share;
        }
        let per_time = |amount: f64| if elapsed > 0.0 { amount / elapsed } else { 0.0 };
        let waits = accounts.waits.iter().zip(charged);
        waits
            .map(|(wait, charged)| WaitReport {
                path: wait.path.clone(),
                count: wait.count,
                mean_inside: per_time(wait.area as f64),
                residence: wait.area as f64 * 1e-12 / wait.count.max(1) as f64,
                charged: per_time(charged),
            })
            .collect()
    }

    /// Mean number of open accounts that had no token in a node that is counted: on what
    /// their time went is not known.
    pub fn unattributed(&self) -> f64 {
        let elapsed = self.measured().0 as f64;
        match elapsed > 0.0 {
            true => self.kernel.accounts.unattributed(self.now()) / elapsed,
            false => 0.0,
        }
    }

    /// Bytes that tokens, node states and future events occupy, and the sum
    /// over the nodes of the most tokens that each held at once.
    pub fn memory(&self) -> (usize, usize) {
        let sizes = self.nodes.iter().map(|node| node.footprint());
        let events = self.kernel.heap().bytes();
        sizes.fold((events, 0), |(bytes, tokens), (more, others)| {
            (bytes + more, tokens + others)
        })
    }

    /// The numbers of the places and stations, bags left out, whose tokens are
    /// of one of these types (names without their module).
    pub fn nodes_of_colours(&self, colours: &[&str]) -> impl Iterator<Item = u32> {
        let wanted = |node: &NodeStructure| node.kind != "bag" && colours.contains(&&*node.colour);
        let mut nodes = Vec::new();
        let mut pages = vec![&self.structure().page];
        while let Some(page) = pages.pop() {
            nodes.extend(
                page.nodes
                    .iter()
                    .filter(|node| wanted(node))
                    .map(|node| node.id),
            );
            pages.extend(&page.pages);
        }
        nodes.sort_unstable();
        nodes.into_iter()
    }

    /// Number of times each transition fired, by path.
    pub fn transition_firings(&self) -> impl Iterator<Item = (&str, u64)> {
        self.transitions
            .iter()
            .map(|transition| (transition.path.as_str(), transition.firings))
    }

    /// The invariants and their values now.
    pub fn invariants(&self) -> Vec<InvariantReport> {
        let sums = self.invariant_sums();
        let weights = self.invariants.weights.iter();
        weights
            .zip(sums)
            .map(|(weights, value)| InvariantReport {
                sum: self.sum_in_words(weights),
                value,
            })
            .collect()
    }

    /// Paths of nodes that no invariant covers: tokens are made or end there,
    /// or in numbers that colours decide.
    pub fn uncovered(&self) -> Vec<&str> {
        let paths = self.node_paths.iter().enumerate();
        paths
            .filter(|(node, _)| !self.invariants.covers(*node))
            .map(|(_, path)| path.as_str())
            .collect()
    }

    /// Returns true if the search for invariants ended at its limit: there are none to list.
    pub fn gave_up_invariants(&self) -> bool {
        self.invariants.incomplete
    }

    /// Checks that no token was lost or made where an invariant forbids it.
    ///
    /// # Errors
    /// [`RunError::Invariant`] names the sum that changed.
    pub fn check_invariants(&self) -> Result<(), RunError> {
        let now = self.invariant_sums();
        for (index, (&before, &after)) in self.sums.iter().zip(&now).enumerate() {
            if before != after {
                let invariant = self.sum_in_words(&self.invariants.weights[index]);
                return Err(RunError::Invariant {
                    invariant,
                    before,
                    after,
                });
            }
        }
        Ok(())
    }

    pub(crate) fn invariant_sums(&self) -> Vec<i128> {
        let tokens = |node: usize| -> i128 {
            let inside = self.nodes[node]
                .states()
                .iter()
                .map(|state| i128::from(state.inside));
            inside.sum::<i128>() + i128::from(self.nodes[node].coming())
        };
        let sum = |weights: &Vec<i64>| -> i128 {
            let terms = weights
                .iter()
                .enumerate()
                .filter(|(_, weight)| **weight != 0);
            terms
                .map(|(node, &weight)| i128::from(weight) * tokens(node))
                .sum()
        };
        self.invariants.weights.iter().map(sum).collect()
    }

    fn sum_in_words(&self, weights: &[i64]) -> String {
        let terms = weights
            .iter()
            .zip(&self.node_paths)
            .filter(|(weight, _)| **weight != 0);
        let words: Vec<String> = terms
            .map(|(weight, path)| match weight {
                1 => path.clone(),
                weight => format!("{weight} {path}"),
            })
            .collect();
        words.join(" + ")
    }
}
