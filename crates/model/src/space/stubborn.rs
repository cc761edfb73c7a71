//! Search for a deadlock in a part of the markings, by stubborn sets (Valmari, Advances in Petri
//! Nets 1990).
//!
//! A stubborn set of a marking is a set of transitions, at least one of which is enabled. Firings
//! of other transitions neither enable nor disable one of the set, and commute with its firings. A
//! way to a dead marking fires one of the set at some time, and may fire it first. Thus the
//! enabled transitions of the set lead to each dead marking, and others need not be fired.
//!
//! The set is closed under these rules:
//!
//! - of an enabled transition: all that may break one of its conditions, and all of which it may
//!   break a condition;
//! - of another one: all that help to meet one condition that is not met.
//!
//! The rules are edges of a graph, whose strongly connected components Tarjan's algorithm gives.
//! Components with enabled transitions that reach no other such component are candidates. The
//! search takes one with the fewest enabled transitions.
//!
//! The search is depth first and prefers firings after which few transitions are enabled, so that a
//! deadlock is met early. Its path is not the shortest one.
//!
//! Not modelled: nets that are no place/transition nets ([`PlainNet`]); all their markings are
//! searched.

use std::ops::ControlFlow;

use super::marking::{Markings, hash_of, part_of_hash};
use super::plain::{Condition, PlainNet};
use super::step::Stepper;
use crate::outcome::Failure;

/// Steps of comparing the firings of one marking, at most; more of them are tried in order.
const MOST_COMPARED: usize = 1_000_000;

/// Ways in which a transition and a place are related.
const DECREASES: usize = 0;
const INCREASES: usize = 1;
/// It needs tokens there.
const NEEDS: usize = 2;
/// Tokens there inhibit it.
const INHIBITED: usize = 3;

/// A net with its current marking, and what is enabled there.
struct Walk<'n> {
    net: &'n PlainNet,
    /// By place and relation: the rules. They are nodes of the graph, behind those of the rules,
    /// which keeps its edges as few as the arcs of the net.
    groups: Vec<Vec<u32>>,
    /// By rule: the targets of its edges while it is enabled.
    targets: Vec<Vec<u32>>,
    marking: Vec<u32>,
    hash: u64,
    /// By rule: its conditions that are not met.
    unmet: Vec<u32>,
    /// Number of rules that are enabled.
    enabled: usize,
    graph: Components,
}

/// State of Tarjan's algorithm, by node.
#[derive(Default)]
struct Components {
    /// Number in the order of visits, from 1; 0 if it was not visited.
    order: Vec<u32>,
    low: Vec<u32>,
    is_open: Vec<bool>,
    /// A component with enabled rules can be reached from it.
    is_beyond: Vec<bool>,
    open: Vec<u32>,
    visited: u32,
    /// Nodes on the way, and their next edges.
    way: Vec<(u32, u32)>,
}

/// The end of a search.
pub struct Outcome {
    /// Firings that were tried.
    pub arcs: usize,
    /// Markings whose successors were computed.
    pub explored: usize,
    /// True if no marking is left.
    pub complete: bool,
    /// True if memory ended the search.
    pub is_full: bool,
    pub dead: usize,
    /// True if the last dead marking is a deadlock.
    pub is_deadlock: bool,
    /// The rules that were fired on the way to a deadlock, or else to the first dead marking.
    pub way: Option<Vec<u32>>,
}

/// A marking on the way.
struct Level {
    /// The rule that led to it.
    fired: u32,
    /// Rules to fire yet; the last is the next.
    pending: Vec<u32>,
}

/// Looks for a deadlock; markings that were met are added.
///
/// # Errors
/// The search is interrupted, or a place has too many tokens.
pub fn search(
    net: &PlainNet,
    stepper: &mut Stepper<'_>,
    markings: &mut Markings,
    (limit, most_bytes): (usize, usize),
    watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Result<Outcome, Failure> {
    let mut walk = Walk::new(net, stepper.initial()?);
    markings.insert(&walk.marking, walk.hash);
    let mut outcome = Outcome {
        arcs: 0,
        explored: 0,
        complete: true,
        is_full: false,
        dead: 0,
        is_deadlock: false,
        way: None,
    };
    let mut levels: Vec<Level> = Vec::new();
    let mut bytes = 0;
    let mut fired = u32::MAX;
    let mut is_new = true;
    loop {
        if is_new {
            if outcome.explored & 0xFF == 0 && watch(outcome.explored).is_break() {
                return Err(Failure::Interrupted);
            }
            let pending = walk.stubborn().map_err(|place| too_many(stepper, place))?;
            outcome.explored += 1;
            let is_dead = pending.is_empty();
            bytes += size_of::<Level>() + 4 * pending.capacity();
            levels.push(Level { fired, pending });
            if is_dead {
                outcome.dead += 1;
                stepper.load(walk.marking.iter().copied());
                outcome.is_deadlock = stepper.current.stands();
                if outcome.is_deadlock || outcome.way.is_none() {
                    let way = levels.iter().skip(1).map(|level| level.fired);
                    outcome.way = Some(way.collect());
                }
                if outcome.is_deadlock {
                    outcome.complete = false;
                    return Ok(outcome);
                }
            }
        }
        let Some(level) = levels.last_mut() else {
            return Ok(outcome);
        };
        let Some(rule) = level.pending.pop() else {
            bytes -= size_of::<Level>() + 4 * level.pending.capacity();
            let fired = level.fired;
            levels.pop();
            if !levels.is_empty() {
                walk.fire(fired, true)
                    .map_err(|place| too_many(stepper, place))?;
            }
            is_new = false;
            continue;
        };
        walk.fire(rule, false)
            .map_err(|place| too_many(stepper, place))?;
        outcome.arcs += 1;
        is_new = markings.find(&walk.marking, walk.hash).is_none();
        if !is_new {
            walk.fire(rule, true)
                .map_err(|place| too_many(stepper, place))?;
            continue;
        }
        outcome.is_full = markings.bytes() + bytes > most_bytes;
        if outcome.is_full || markings.len() >= limit {
            outcome.complete = false;
            return Ok(outcome);
        }
        markings.insert(&walk.marking, walk.hash);
        fired = rule;
    }
}

fn too_many(stepper: &Stepper<'_>, place: usize) -> Failure {
    let (path, most) = (stepper.current.copy_path(place), u32::MAX);
    Failure::Run(format!("{path}: more than {most} tokens"))
}

impl<'n> Walk<'n> {
    fn new(net: &'n PlainNet, marking: Vec<u32>) -> Walk<'n> {
        let rules = net.rules.len();
        let mut groups = vec![Vec::new(); 4 * net.conditions_on.len()];
        for (number, rule) in net.rules.iter().enumerate() {
            for condition in &rule.conditions {
                let relation = if condition.at_least { NEEDS } else { INHIBITED };
                groups[group(condition.place, relation)].push(number as u32);
            }
            for &(place, change) in &rule.changes {
                let relation = if change < 0 { DECREASES } else { INCREASES };
                groups[group(place, relation)].push(number as u32);
            }
        }
        let mut walk = Walk {
            net,
            hash: hash_of(&marking),
            unmet: vec![0; rules],
            enabled: 0,
            graph: Components::default(),
            targets: (0..rules).map(|it| targets(net, &groups, it)).collect(),
            groups,
            marking,
        };
        for (number, rule) in net.rules.iter().enumerate() {
            let unmet = rule.conditions.iter().filter(|it| !walk.is_met(**it));
            walk.unmet[number] = unmet.count() as u32;
            walk.enabled += usize::from(walk.unmet[number] == 0);
        }
        walk
    }

    fn is_met(&self, condition: Condition) -> bool {
        condition.is_met(self.marking[condition.place as usize])
    }

    /// Fires a rule, or takes its firing back. The error is a place that has too many tokens.
    fn fire(&mut self, rule: u32, back: bool) -> Result<(), usize> {
        let net = self.net;
        for &(place, change) in &net.rules[rule as usize].changes {
            let copy = place as usize;
            let old = self.marking[copy];
            let change = if back { -change } else { change };
            let new = u32::try_from(i64::from(old) + change).map_err(|_| copy)?;
            self.marking[copy] = new;
            let parts = (part_of_hash(copy, old), part_of_hash(copy, new));
            self.hash = self.hash.wrapping_sub(parts.0).wrapping_add(parts.1);
            for &(other, condition) in &net.conditions_on[copy] {
                match (condition.is_met(old), condition.is_met(new)) {
                    (true, false) => {
                        self.enabled -= usize::from(self.unmet[other as usize] == 0);
                        self.unmet[other as usize] += 1;
                    }
                    (false, true) => {
                        self.unmet[other as usize] -= 1;
                        self.enabled += usize::from(self.unmet[other as usize] == 0);
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// The enabled rules of a stubborn set; the last is to be fired first.
    fn stubborn(&mut self) -> Result<Vec<u32>, usize> {
        let mut rules = self.smallest_component();
        let steps_of = |rule: &u32| {
            let changes = self.net.rules[*rule as usize].changes.iter();
            let conditions = changes.map(|it| self.net.conditions_on[it.0 as usize].len() + 1);
            conditions.sum::<usize>()
        };
        let steps: usize = rules.iter().map(steps_of).sum();
        if steps > MOST_COMPARED {
            rules.sort_unstable_by(|one, other| other.cmp(one));
            return Ok(rules);
        }
        let mut compared = Vec::with_capacity(rules.len());
        for rule in rules {
            self.fire(rule, false)?;
            compared.push((self.enabled, rule));
            self.fire(rule, true)?;
        }
        compared.sort_unstable_by(|one, other| other.cmp(one));
        Ok(compared.into_iter().map(|(_, rule)| rule).collect())
    }

    /// The enabled rules of the component with the fewest of them, among those from which no other
    /// one with enabled rules is reached.
    fn smallest_component(&mut self) -> Vec<u32> {
        let mut graph = std::mem::take(&mut self.graph);
        let mut best = Vec::new();
        graph.clear(self.net.rules.len() + self.groups.len());
        for (seed, unmet) in self.unmet.iter().enumerate() {
            if *unmet == 0 && graph.order[seed] == 0 {
                graph.visit(self, seed as u32, &mut best);
            }
            if best.len() == 1 {
                break;
            }
        }
        self.graph = graph;
        best
    }

    /// The target of an edge of the graph, by its number among those of its source.
    fn edge(&self, node: u32, number: u32) -> Option<u32> {
        let (node, number) = (node as usize, number as usize);
        let rules = self.net.rules.len();
        if node >= rules {
            return self.groups[node - rules].get(number).copied();
        }
        if self.unmet[node] == 0 {
            return self.targets[node].get(number).copied();
        }
        if number > 0 {
            return None;
        }
        let conditions = self.net.rules[node].conditions.iter();
        let unmet = conditions.filter(|it| !self.is_met(**it));
        let helping = unmet.map(|condition| match condition.at_least {
            true => group(condition.place, INCREASES),
            false => group(condition.place, DECREASES),
        });
        let least = helping.min_by_key(|group| self.groups[*group].len())?;
        Some((rules + least) as u32)
    }
}

/// The number of the rules with a relation to a place.
fn group(place: u32, relation: usize) -> usize {
    4 * place as usize + relation
}

/// The targets of the edges of a rule while it is enabled.
fn targets(net: &PlainNet, groups: &[Vec<u32>], number: usize) -> Vec<u32> {
    let rule = &net.rules[number];
    let broken_by = rule.conditions.iter().map(|it| match it.at_least {
        true => group(it.place, DECREASES),
        false => group(it.place, INCREASES),
    });
    let breaks = rule.changes.iter().map(|(place, change)| match change {
        ..0 => group(*place, NEEDS),
        _ => group(*place, INHIBITED),
    });
    let targets = broken_by.chain(breaks);
    let targets = targets.filter(|group| groups[*group].iter().any(|it| *it as usize != number));
    targets.map(|it| (net.rules.len() + it) as u32).collect()
}

impl Components {
    fn clear(&mut self, nodes: usize) {
        for numbers in [&mut self.order, &mut self.low] {
            numbers.clear();
            numbers.resize(nodes, 0);
        }
        for flags in [&mut self.is_open, &mut self.is_beyond] {
            flags.clear();
            flags.resize(nodes, false);
        }
        self.visited = 0;
    }

    /// Visits all nodes that a node reaches. `best` becomes the enabled rules of a component with
    /// fewer of them.
    fn visit(&mut self, walk: &Walk<'_>, seed: u32, best: &mut Vec<u32>) {
        self.enter(seed);
        while let Some((node, number)) = self.way.last_mut() {
            let node = *node;
            let next = walk.edge(node, *number);
            *number += 1;
            let Some(next) = next else {
                self.way.pop();
                self.leave(walk, node, best);
                if let Some(&(before, _)) = self.way.last() {
                    self.join(before as usize, node as usize);
                }
                continue;
            };
            match self.order[next as usize] {
                0 => self.enter(next),
                _ => self.join(node as usize, next as usize),
            }
        }
    }

    fn enter(&mut self, node: u32) {
        self.visited += 1;
        self.order[node as usize] = self.visited;
        self.low[node as usize] = self.visited;
        self.is_open[node as usize] = true;
        self.open.push(node);
        self.way.push((node, 0));
    }

    /// Takes over from the target of an edge.
    fn join(&mut self, node: usize, target: usize) {
        match self.is_open[target] {
            true => self.low[node] = self.low[node].min(self.low[target]),
            false => self.is_beyond[node] |= self.is_beyond[target],
        }
    }

    /// Closes the component of a node if it is the first of it.
    fn leave(&mut self, walk: &Walk<'_>, node: u32, best: &mut Vec<u32>) {
        if self.low[node as usize] < self.order[node as usize] {
            return;
        }
        let first = self.open.iter().rposition(|it| *it == node).unwrap_or(0);
        let members = &self.open[first..];
        let is_enabled = |it: &&u32| walk.unmet.get(**it as usize) == Some(&0);
        let enabled: Vec<u32> = members.iter().filter(is_enabled).copied().collect();
        let is_beyond = members.iter().any(|it| self.is_beyond[*it as usize]);
        let is_smaller = best.is_empty() || enabled.len() < best.len();
        for &member in members {
            self.is_open[member as usize] = false;
            self.is_beyond[member as usize] = is_beyond || !enabled.is_empty();
        }
        if !is_beyond && !enabled.is_empty() && is_smaller {
            *best = enabled;
        }
        self.open.truncate(first);
    }
}
