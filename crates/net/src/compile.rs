//! From a net written down to one that runs: flattens pages, resolves arcs to
//! indices, works out which transitions wait for which nodes, checks.

use crate::accounts::WaitState;
use crate::arc::{Arcs, CopyPlaces, How, OutArc, Reach, Union};
use crate::builder::{Builder, Direction, End};
use crate::error::{BuildError, BuildErrors};
use crate::handles::{EndId, ErasedSelector, Given};
use crate::invariants::{self, Changes, Invariants};
use crate::kernel::{Consumer, Kernel};
use crate::net::{Net, NetParts, Race, Transition, Watcher};
use crate::random::stream_key;
use crate::structure;

/// The target of an end: a node, or one in each of several pages, and the choices of copies on the
/// way.
struct Target {
    nodes: Vec<u32>,
    /// Where the copies of a union are.
    places: Option<CopyPlaces>,
    selectors: Vec<ErasedSelector>,
}

impl Target {
    fn nowhere(selectors: Vec<ErasedSelector>) -> Target {
        Target {
            nodes: vec![u32::MAX],
            places: None,
            selectors,
        }
    }
}

impl Builder {
    /// Checks the net and makes it ready to run.
    ///
    /// # Errors
    /// Everything that is wrong with it, each with its page path.
    pub fn compile(mut self) -> Result<Net, BuildErrors> {
        if !self.errors.is_empty() {
            return Err(BuildErrors(self.errors));
        }
        // Equal priorities keep the order in which they were written. Timed ones are last.
        self.transitions.sort_by_key(|transition| {
            (
                transition.rule.is_timed,
                std::cmp::Reverse(transition.priority),
            )
        });
        let outputs = self.resolve_outputs();
        let reaches = self.resolve_reaches();
        if !self.errors.is_empty() {
            return Err(BuildErrors(self.errors));
        }
        self.check_flow(&outputs);
        let invariants = invariants::find(&self.modes(&outputs), self.nodes.len());
        self.check_conserved(&invariants, &outputs);
        if !self.errors.is_empty() {
            return Err(BuildErrors(self.errors));
        }
        let structure = structure::describe(&self, &outputs);
        Ok(self.assemble(outputs, reaches, invariants, structure))
    }

    fn transition_path(&self, index: usize) -> String {
        let transition = &self.transitions[index];
        let page = &self.pages[transition.page as usize];
        format!("{}/{}", page.path, transition.name)
    }

    fn node_path(&self, node: u32) -> String {
        self.end_path(self.node_specs[node as usize].end)
    }

    fn node_kind(&self, node: usize) -> &'static str {
        match self.nodes[node].discipline() {
            Some(_) => "station",
            None => "place",
        }
    }

    /// A page and those around it, inside out.
    fn around(&self, page: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(Some(page), |&page| self.pages[page as usize].parent)
    }

    fn resolve_outputs(&mut self) -> Vec<Vec<OutArc>> {
        // Every port must lead somewhere, used or not.
        let ends: Vec<EndId> = (0..self.ends.len() as u32).map(EndId).collect();
        for &end in &ends {
            self.follow(end);
        }
        if !self.errors.is_empty() {
            return Vec::new();
        }
        let mut resolved = Vec::new();
        for index in 0..self.transitions.len() {
            let specs = std::mem::take(&mut self.transitions[index].outputs);
            let mut arcs = Vec::new();
            for spec in specs {
                let mut target = self.follow(spec.end);
                target.selectors.splice(0..0, spec.by);
                let given = spec.given;
                arcs.extend(self.arc(index, spec.end, target, given, spec.how));
                if let Some(arc) = arcs.last_mut() {
                    arc.delayed = spec.delayed;
                }
            }
            resolved.push(arcs);
        }
        resolved
    }

    /// The target of an end.
    fn follow(&mut self, start: EndId) -> Target {
        let mut selectors = Vec::new();
        let mut end = start;
        for _ in 0..=self.ends.len() {
            match &self.ends[end.0 as usize] {
                End::Node { node } => {
                    return Target {
                        nodes: vec![*node],
                        places: None,
                        selectors,
                    };
                }
                End::Union { inputs, places, .. } => {
                    let (inputs, places) = (inputs.clone(), places.clone());
                    let ends = inputs.into_iter().map(|input| self.follow(input));
                    let ends: Vec<Target> = ends.collect();
                    let simple = ends.iter().all(|end| end.selectors.is_empty());
                    let nodes: Vec<u32> = ends.into_iter().flat_map(|end| end.nodes).collect();
                    if !simple || nodes.len() < 2 {
                        let path = self.end_path(end);
                        self.error(BuildError::NoUnion { path });
                    }
                    return Target {
                        nodes,
                        places: Some(places),
                        selectors,
                    };
                }
                End::Port {
                    bound: Some((next, by)),
                    ..
                } => {
                    selectors.extend(by.as_ref().map(|by| by.duplicate()));
                    end = *next;
                }
                End::Port {
                    bound: None,
                    direction,
                    ..
                } => {
                    let direction = match direction {
                        Direction::Input => "input",
                        Direction::Output => "output",
                    };
                    let path = self.end_path(end);
                    let error = BuildError::PortUnbound { path, direction };
                    if !self.errors.contains(&error) {
                        self.error(error);
                    }
                    return Target::nowhere(selectors);
                }
            }
        }
        let path = self.end_path(start);
        self.error(BuildError::PortCycle { path });
        Target::nowhere(selectors)
    }

    /// The page that both a page and a node lie in, and the copies of the folded pages from there
    /// to the node.
    fn way_in(&self, from: u32, node: u32) -> (u32, Vec<u32>) {
        let target = self.node_specs[node as usize].page;
        let outer: Vec<u32> = self.around(from).collect();
        let mut inward: Vec<u32> = self
            .around(target)
            .take_while(|page| !outer.contains(page))
            .collect();
        inward.reverse();
        let shared = match inward.first() {
            None => target,
            Some(&page) => self.pages[page as usize].parent.unwrap_or(0),
        };
        let folded = inward.iter().map(|&page| &self.pages[page as usize]);
        let folded = folded.filter(|page| page.folded);
        (shared, folded.map(|page| page.copies).collect())
    }

    /// An arc to a target; `given` says that firings give the copies.
    fn arc(
        &mut self,
        transition: usize,
        end: EndId,
        target: Target,
        given: bool,
        how: How,
    ) -> Option<OutArc> {
        let from = self.transitions[transition].page;
        let Target {
            nodes,
            places,
            mut selectors,
        } = target;
        let node = *nodes.first()?;
        let (shared, mut copies) = self.way_in(from, node);
        let mut union = None;
        if let Some(places) = places {
            let ways: Vec<(u32, Vec<u32>)> =
                nodes.iter().map(|&node| self.way_in(from, node)).collect();
            let beside = |(page, copies): &(u32, Vec<u32>)| *page == shared && copies.len() == 1;
            if given || !ways.iter().all(beside) {
                let path = self.end_path(end);
                self.error(BuildError::NoUnion { path });
                return None;
            }
            let copies_of = ways.iter().map(|(_, copies)| copies[0]);
            union = Some(Box::new(Union {
                nodes: nodes.iter().copied().zip(copies_of).collect(),
                places,
            }));
            copies = vec![0];
        }
        if given {
            let all = copies.iter().map(|_| Box::new(Given) as ErasedSelector);
            selectors = all.collect();
        }
        if copies.len() != selectors.len() {
            let path = self.transition_path(transition);
            let node = self.node_path(node);
            self.error(if copies.len() > selectors.len() {
                let copies = copies.iter().product();
                BuildError::NoSelector { path, node, copies }
            } else {
                BuildError::NeedlessSelector { path, node }
            });
            return None;
        }
        Some(OutArc {
            end,
            node,
            ratio: self.pages[from as usize].total / self.pages[shared as usize].total,
            levels: copies.into_iter().zip(selectors).collect(),
            union,
            how,
            delayed: false,
        })
    }

    /// Inputs, bags, stores and inhibitors of every transition, in this order.
    fn resolve_reaches(&mut self) -> Vec<[Vec<Reach>; 4]> {
        let mut resolved = Vec::new();
        for index in 0..self.transitions.len() {
            let spec = &self.transitions[index];
            let (page, no_input) = (spec.page, spec.inputs.is_empty() && !spec.rule.is_rule);
            let inhibitors = spec.rule.inhibitors.iter();
            let inhibitors: Vec<u32> = inhibitors.map(|(node, ..)| *node).collect();
            let inputs = spec.inputs.clone();
            let bags: Vec<u32> = spec.may_take.iter().map(|(node, _)| *node).collect();
            let stores = spec.stores.clone();
            if no_input {
                let path = self.transition_path(index);
                self.error(BuildError::NoInput { path });
            }
            let nodes = |builder: &mut Builder, nodes: Vec<u32>| {
                let page_of = |builder: &Builder, node: u32| {
                    (
                        builder.node_specs[node as usize].page,
                        builder.node_path(node),
                    )
                };
                builder.reach(index, page, nodes, page_of)
            };
            let inputs = nodes(self, inputs);
            let bags = nodes(self, bags);
            let inhibitors = nodes(self, inhibitors);
            let stores = self.reach(index, page, stores, |builder, store| {
                let spec = &builder.store_specs[store as usize];
                let path = &builder.pages[spec.page as usize].path;
                (spec.page, format!("{path}/{}", spec.name))
            });
            resolved.push([inputs, bags, stores, inhibitors]);
        }
        resolved
    }

    fn reach(
        &mut self,
        transition: usize,
        from: u32,
        what: Vec<u32>,
        page_of: impl Fn(&Builder, u32) -> (u32, String),
    ) -> Vec<Reach> {
        let total = self.pages[from as usize].total;
        let mut reaches = Vec::new();
        for index in what {
            let (page, node) = page_of(self, index);
            if !self.around(from).any(|around| around == page) {
                let path = self.transition_path(transition);
                self.error(BuildError::OutOfReach { path, node });
            }
            let ratio = total / self.pages[page as usize].total.min(total);
            reaches.push(Reach { index, ratio });
        }
        reaches
    }

    /// Every node must have a way in and a way out.
    fn check_flow(&mut self, outputs: &[Vec<OutArc>]) {
        let mut filled: Vec<bool> = self.node_specs.iter().map(|spec| spec.filled).collect();
        let mut drained: Vec<bool> = self.node_specs.iter().map(|spec| spec.sink).collect();
        for arc in outputs
            .iter()
            .flatten()
            .filter(|arc| arc.how != How::Signal)
        {
            for node in arc.nodes() {
                filled[node as usize] = true;
            }
        }
        for transition in &self.transitions {
            let bags = transition.may_take.iter().map(|(node, _)| node);
            let inhibitors = transition.rule.inhibitors.iter().map(|(node, ..)| node);
            for &node in transition.inputs.iter().chain(bags).chain(inhibitors) {
                drained[node as usize] = true;
            }
        }
        for node in 0..self.nodes.len() {
            let path = self.node_path(node as u32);
            let kind = self.node_kind(node);
            if !filled[node] {
                self.error(BuildError::NothingFills { path, kind });
            } else if !drained[node] {
                self.error(BuildError::NothingDrains { path, kind });
            }
        }
    }

    /// Token changes of firings by node: one row for the certain effect of a transition, and one
    /// for each optional effect. A sum that none of these changes is not changed by a mixture of
    /// them either, so mixtures need no rows.
    fn modes(&self, outputs: &[Vec<OutArc>]) -> Vec<Changes> {
        let mut modes = Vec::new();
        for (transition, arcs) in self.transitions.iter().zip(outputs) {
            let inputs = transition.inputs.iter().enumerate();
            let taken = inputs.filter(|(position, _)| !transition.rule.reads.contains(position));
            let mut usual: Changes = taken.map(|(_, &node)| (node, -1)).collect();
            let mut paired = Vec::new();
            for (bag, outputs) in &transition.may_take {
                if outputs.is_empty() {
                    modes.push(vec![(*bag, -1)]);
                }
                for &output in outputs {
                    for node in arcs[output].nodes() {
                        modes.push(vec![(*bag, -1), (node, 1)]);
                    }
                    paired.push(output);
                }
            }
            for (index, arc) in arcs.iter().enumerate() {
                let to = (arc.node, 1);
                // An arc to one node of a union may lead to any other as well.
                if arc.how != How::Signal && !paired.contains(&index) {
                    let others = arc.other_nodes();
                    modes.extend(others.map(|other| vec![(arc.node, -1), (other, 1)]));
                }
                match arc.how {
                    How::One => usual.push(to),
                    How::Exactly(tokens) => usual.push((arc.node, i64::from(tokens))),
                    How::Maybe if paired.contains(&index) => {}
                    How::Maybe | How::Many => modes.push(vec![to]),
                    How::Signal => {}
                    How::Either(_) => match arcs.iter().find(|first| first.how == arc.how) {
                        Some(first) if !std::ptr::eq(first, arc) => {
                            modes.push(vec![(first.node, -1), to]);
                        }
                        _ => usual.push(to),
                    },
                }
            }
            modes.push(usual);
        }
        modes
    }

    fn check_conserved(&mut self, invariants: &Invariants, outputs: &[Vec<OutArc>]) {
        for node in 0..self.node_specs.len() {
            if !self.node_specs[node].conserved || invariants.covers(node) {
                continue;
            }
            let touches = |index: &usize| {
                let transition = &self.transitions[*index];
                transition.inputs.contains(&(node as u32))
                    || transition
                        .may_take
                        .iter()
                        .any(|(bag, _)| *bag == node as u32)
                    || outputs[*index]
                        .iter()
                        .any(|arc| arc.nodes().any(|it| it == node as u32))
            };
            let suspects: Vec<String> = (0..self.transitions.len())
                .filter(touches)
                .map(|index| self.transition_path(index))
                .collect();
            let path = self.node_path(node as u32);
            self.error(BuildError::NotConserved {
                path,
                suspects: suspects.join(", "),
            });
        }
    }

    fn assemble(
        mut self,
        outputs: Vec<Vec<OutArc>>,
        reaches: Vec<[Vec<Reach>; 4]>,
        invariants: Invariants,
        mut structure: structure::Structure,
    ) -> Net {
        let paths: Vec<String> = (0..self.transitions.len())
            .map(|index| self.transition_path(index))
            .collect();
        let node_paths = (0..self.nodes.len() as u32)
            .map(|node| self.node_path(node))
            .collect();
        let mut transitions = Vec::new();
        let mut owners = Vec::new();
        let mut missing = Vec::new();
        let mut watchers: Vec<Vec<Watcher>> = self.stores.iter().map(|_| Vec::new()).collect();
        let parts = std::mem::take(&mut self.transitions)
            .into_iter()
            .zip(outputs)
            .zip(reaches);
        let mut first_timed = u32::MAX;
        for (index, ((spec, outputs), [inputs, bags, stores, inhibitors])) in parts.enumerate() {
            let base = owners.len() as u32;
            let copies = self.pages[spec.page as usize].total;
            if spec.rule.is_timed {
                first_timed = first_timed.min(base);
            }
            // Tokens that are read may be those that are taken.
            let mut distinct: Vec<(Reach, [u32; 2])> = Vec::new();
            for (position, &input) in inputs.iter().enumerate() {
                let known = distinct.iter().position(|it| it.0.index == input.index);
                let at = known.unwrap_or(distinct.len());
                if known.is_none() {
                    distinct.push((input, [0, 0]));
                }
                distinct[at].1[usize::from(spec.rule.reads.contains(&position))] += 1;
            }
            for (reach, (_, weight, asks)) in inhibitors.iter().zip(&spec.rule.inhibitors) {
                let inhibited = self.nodes[reach.index as usize].inhibited_mut();
                inhibited.push(Consumer {
                    base,
                    ratio: reach.ratio,
                    weight: *weight,
                    guarded: *asks,
                    sole: false,
                });
            }
            for &(reach, weights) in &distinct {
                let weight = weights[0].max(weights[1]);
                let is_simple = !spec.guarded && inhibitors.is_empty();
                self.nodes[reach.index as usize]
                    .consumers_mut()
                    .push(Consumer {
                        base,
                        ratio: reach.ratio,
                        weight,
                        guarded: spec.guarded,
                        sole: is_simple && inputs.len() == 1 && reach.ratio == 1,
                    });
            }
            if spec.guarded {
                for &store in &stores {
                    watchers[store.index as usize].push(Watcher {
                        base,
                        ratio: store.ratio,
                    });
                }
            }
            owners.extend(std::iter::repeat_n(index as u32, copies as usize));
            missing.extend(std::iter::repeat_n(distinct.len() as u8, copies as usize));
            transitions.push(Transition {
                key: stream_key(self.seed, &paths[index]),
                path: paths[index].clone(),
                priority: spec.priority,
                base,
                arcs: Arcs {
                    inputs,
                    may_take: bags,
                    inhibitors,
                    outputs,
                },
                stores,
                touches: Vec::new(),
                action: spec.action,
                firings: 0,
            });
        }
        for transition in &mut transitions {
            let watched = |store: &&Reach| !watchers[store.index as usize].is_empty();
            transition.touches = transition.stores.iter().filter(watched).copied().collect();
        }
        let mut kernel = Kernel::new(missing);
        kernel.accounts.waits = self.waits.into_iter().map(WaitState::new).collect();
        for place in self.initial {
            place(&mut self.nodes, &mut kernel);
        }
        structure.page.count_initial(&self.nodes);
        let rest = self.node_specs.iter().map(|spec| spec.rest).collect();
        let (levels, gauges) = (self.levels, self.gauges);
        let mut net = Net::new(NetParts {
            kernel,
            nodes: self.nodes,
            stores: self.stores,
            tallies: self.tallies,
            transitions,
            owners,
            watchers,
            node_paths,
            rest,
            invariants,
            structure,
            race: Race::new(self.seed, first_timed),
        });
        net.watch_levels(levels);
        net.set_gauges(gauges);
        net
    }
}
