//! Search in a part of the markings by stubborn sets (Valmari, Advances in Petri Nets 1990). It is
//! for a deadlock, or for a marking with a property (Schmidt, Petri Nets 1999).
//!
//! Firings of transitions outside a stubborn set of a marking neither enable nor disable one of the
//! set, and commute with its firings. A way that fires one of the set at some time may thus fire it
//! first, and others need not be fired.
//!
//! The set is closed under these rules:
//!
//! - of an enabled transition: all that may break one of its conditions, and all of which it may
//!   break a condition;
//! - of another one: all that help to meet one condition that is not met.
//!
//! The rules are edges of a graph. For a deadlock, the set has an enabled transition, as a way to a
//! dead marking fires or disables it. Tarjan's algorithm gives the strongly connected components.
//! Those with enabled transitions that reach no other such component are candidates. The search
//! takes one with the fewest enabled transitions. For a property, the set has all transitions that
//! help to meet a part of it that is not met.
//!
//! The search for a deadlock is depth first and prefers firings after which few transitions are
//! enabled, so that a deadlock is met early. Its path is not the shortest one. The search for a
//! property is breadth first.
//!
//! Not modelled: nets that are no place/transition nets ([`PlainNet`]); all their markings are
//! searched.

use std::ops::ControlFlow;

use super::marking::{Markings, hash_of};
use super::plain::{Condition, PlainNet};
use super::predicate::{Helping, Predicate};
use super::reduced::Reduced;
use super::step::{Next, Stepper};
use super::{Origin, way_to};
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
    at: Next,
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
    /// The rules on the way to a marking with the property; or to a deadlock, or else to the first
    /// dead marking.
    pub way: Option<Vec<u32>>,
}

impl Outcome {
    fn new() -> Outcome {
        Outcome {
            arcs: 0,
            explored: 0,
            complete: true,
            is_full: false,
            dead: 0,
            is_deadlock: false,
            way: None,
        }
    }
}

/// A net to search.
pub struct Searched<'a> {
    pub reduced: &'a Reduced,
    /// The first marking of the whole net.
    pub initial: &'a [u32],
    /// Markings and bytes, at most.
    pub limits: (usize, usize),
}

impl Searched<'_> {
    /// Makes a marking the current one of a stepper.
    fn load(&self, stepper: &mut Stepper<'_>, marking: &[u32]) {
        let whole = self.reduced.widened(marking);
        stepper.load(whole.into_iter());
    }

    fn too_many(&self, stepper: &Stepper<'_>, place: usize) -> Failure {
        let copy = self.reduced.places[place] as usize;
        let (path, most) = (stepper.current.copy_path(copy), u32::MAX);
        Failure::Run(format!("{path}: more than {most} tokens"))
    }

    /// Fires a rule, and takes it back if its marking was met before.
    fn is_new(
        &self,
        walk: &mut Walk<'_>,
        rule: u32,
        (stepper, markings): (&Stepper<'_>, &mut Markings),
        outcome: &mut Outcome,
    ) -> Result<bool, Failure> {
        walk.fire(rule)
            .map_err(|place| self.too_many(stepper, place))?;
        outcome.arcs += 1;
        let is_new = markings.find(&walk.at.marking, walk.at.hash).is_none();
        if !is_new {
            walk.take_back(rule);
        }
        Ok(is_new)
    }

    /// Returns true if one more marking may be added beside other memory.
    fn has_room(&self, markings: &Markings, bytes: usize, outcome: &mut Outcome) -> bool {
        outcome.is_full = markings.bytes() + bytes > self.limits.1;
        let has_room = !outcome.is_full && markings.len() < self.limits.0;
        outcome.complete &= has_room;
        has_room
    }

    /// Looks for the nearest marking with a property; markings that were met are added.
    ///
    /// # Errors
    /// The search is interrupted, a place has too many tokens, or the property has no value.
    pub fn find(
        &self,
        property: &Predicate,
        stepper: &mut Stepper<'_>,
        markings: &mut Markings,
        watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Outcome, Failure> {
        let mut walk = Walk::new(self);
        markings.insert(&walk.at.marking, walk.at.hash);
        // By marking: the one before it, and the rule that led to it.
        let mut origins = vec![(u32::MAX, u32::MAX)];
        let mut outcome = Outcome::new();
        let seeds: Vec<Vec<u32>> = property
            .helping()
            .iter()
            .map(|part| walk.helping(part, self.reduced, stepper))
            .collect();
        while outcome.explored < markings.len() {
            let state = outcome.explored;
            if state & 0xFF == 0 && watch(state).is_break() {
                return Err(Failure::Interrupted);
            }
            walk.go_to(markings.get(state));
            self.load(stepper, &walk.at.marking);
            let Some(part) = property.failing(&stepper.current, &stepper.contents)? else {
                let way = way_to(&origins, state).into_iter().skip(1);
                outcome.way = Some(way.map(|state| origins[state].1).collect());
                outcome.complete = false;
                return Ok(outcome);
            };
            for rule in walk.reached_from(&seeds[part]) {
                if self.is_new(&mut walk, rule, (stepper, markings), &mut outcome)? {
                    let bytes = size_of::<Origin>() * origins.capacity();
                    if self.has_room(markings, bytes, &mut outcome) {
                        markings.insert(&walk.at.marking, walk.at.hash);
                        origins.push((state as u32, rule));
                    } else if outcome.is_full {
                        return Ok(outcome);
                    }
                    walk.take_back(rule);
                }
            }
            outcome.explored += 1;
        }
        Ok(outcome)
    }

    /// Looks for a deadlock; markings that were met are added.
    ///
    /// # Errors
    /// The search is interrupted, or a place has too many tokens.
    pub fn find_deadlock(
        &self,
        stepper: &mut Stepper<'_>,
        markings: &mut Markings,
        watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Outcome, Failure> {
        let mut walk = Walk::new(self);
        markings.insert(&walk.at.marking, walk.at.hash);
        let mut outcome = Outcome::new();
        let mut levels: Vec<Level> = Vec::new();
        let mut bytes = 0;
        let mut fired = u32::MAX;
        let mut is_new = true;
        loop {
            if is_new {
                if outcome.explored & 0xFF == 0 && watch(outcome.explored).is_break() {
                    return Err(Failure::Interrupted);
                }
                let pending = walk
                    .stubborn()
                    .map_err(|place| self.too_many(stepper, place))?;
                outcome.explored += 1;
                let is_dead = pending.is_empty();
                bytes += size_of::<Level>() + 4 * pending.capacity();
                levels.push(Level { fired, pending });
                if is_dead {
                    outcome.dead += 1;
                    self.load(stepper, &walk.at.marking);
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
                    walk.take_back(fired);
                }
                is_new = false;
                continue;
            };
            is_new = self.is_new(&mut walk, rule, (stepper, markings), &mut outcome)?;
            if !is_new {
                continue;
            }
            if !self.has_room(markings, bytes, &mut outcome) {
                return Ok(outcome);
            }
            markings.insert(&walk.at.marking, walk.at.hash);
            fired = rule;
        }
    }
}

/// A marking on the way.
struct Level {
    /// The rule that led to it.
    fired: u32,
    /// Rules to fire yet; the last is the next.
    pending: Vec<u32>,
}

impl<'n> Walk<'n> {
    fn new(searched: &'n Searched<'_>) -> Walk<'n> {
        let reduced = searched.reduced;
        let places = reduced.places.iter();
        let marking: Vec<u32> = places.map(|it| searched.initial[*it as usize]).collect();
        let net = &reduced.net;
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
            unmet: vec![0; rules],
            enabled: 0,
            graph: Components::default(),
            targets: (0..rules).map(|it| targets(net, &groups, it)).collect(),
            groups,
            at: Next {
                hash: hash_of(&marking),
                marking,
            },
        };
        for (number, rule) in net.rules.iter().enumerate() {
            let unmet = rule.conditions.iter().filter(|it| !walk.is_met(**it));
            walk.unmet[number] = unmet.count() as u32;
            walk.enabled += usize::from(walk.unmet[number] == 0);
        }
        walk
    }

    fn is_met(&self, condition: Condition) -> bool {
        condition.is_met(self.at.marking[condition.place as usize])
    }

    /// Fires a rule. The error is a place that has too many tokens.
    fn fire(&mut self, rule: u32) -> Result<(), usize> {
        let net = self.net;
        for &(place, change) in &net.rules[rule as usize].changes {
            let tokens = i64::from(self.at.marking[place as usize]) + change;
            let tokens = u32::try_from(tokens).map_err(|_| place as usize)?;
            self.put(place as usize, tokens);
        }
        Ok(())
    }

    /// Takes a firing back.
    fn take_back(&mut self, rule: u32) {
        let net = self.net;
        for &(place, change) in &net.rules[rule as usize].changes {
            let tokens = i64::from(self.at.marking[place as usize]) - change;
            self.put(place as usize, tokens as u32);
        }
    }

    /// Changes the tokens of a place.
    fn put(&mut self, place: usize, tokens: u32) {
        let before = self.at.marking[place];
        self.at.set(place, tokens);
        for &(other, condition) in &self.net.conditions_on[place] {
            match (condition.is_met(before), condition.is_met(tokens)) {
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

    /// Makes a marking the current one.
    fn go_to(&mut self, marking: impl Iterator<Item = u32>) {
        for (place, tokens) in marking.enumerate() {
            if self.at.marking[place] != tokens {
                self.put(place, tokens);
            }
        }
    }

    /// The nodes of the rules that help to meet a part of a property.
    fn helping(&self, part: &[Helping], reduced: &Reduced, stepper: &Stepper<'_>) -> Vec<u32> {
        let rules = self.net.rules.len();
        let mut nodes = Vec::new();
        for helping in part {
            let (first, copies) = stepper.current.layout.of_node[helping.node];
            for (place, copy) in reduced.places.iter().enumerate() {
                if (first..first + copies).contains(&(*copy as usize)) {
                    let more = helping.more.then_some(INCREASES);
                    let fewer = helping.fewer.then_some(DECREASES);
                    let relations = more.into_iter().chain(fewer);
                    nodes.extend(relations.map(|it| (rules + group(place as u32, it)) as u32));
                }
            }
        }
        nodes
    }

    /// The enabled rules that are reached from some nodes.
    fn reached_from(&mut self, nodes: &[u32]) -> Vec<u32> {
        let mut graph = std::mem::take(&mut self.graph);
        graph.clear(self.net.rules.len() + self.groups.len());
        let mut rules = Vec::new();
        let mut open = nodes.to_vec();
        while let Some(node) = open.pop() {
            if std::mem::replace(&mut graph.order[node as usize], 1) > 0 {
                continue;
            }
            if self.unmet.get(node as usize) == Some(&0) {
                rules.push(node);
            }
            open.extend((0..).map_while(|number| self.edge(node, number)));
        }
        self.graph = graph;
        rules
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
            self.fire(rule)?;
            compared.push((self.enabled, rule));
            self.take_back(rule);
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
