//! The state space as a Markov chain in continuous time, for numerical solutions.
//!
//! Times are exponential: those of transitions with a rate or delay, and services of the
//! disciplines `fcfs`, `infinite` and `sharing`. A served token must be able to leave at once: the
//! transitions that take from a station take one token of it, without conditions.
//!
//! If several transitions can fire at once, the first or a random one fires, as in a run. All
//! bindings of one transition are equally likely, as in a run with random bindings; other runs take
//! the tokens that came first.
//!
//! Not modelled: delays of outputs; `now()`, which is 0; other disciplines and distributions.

use std::ops::ControlFlow;

use super::contents::Contents;
use super::layout::Owner;
use super::marking::{Markings, hash_of};
use super::predicate::Predicate;
use super::step::{Binding, Current, Stepper};
use crate::build::suits;
use crate::colour::Kind;
use crate::expression::{Code, Pure, Step, evaluate};
use crate::outcome::Failure;
use crate::program::{NodeKind, Program, Station};

/// A Markov chain. States in which a transition fires at once are vanishing: they take no time.
#[derive(Default)]
pub struct Chain {
    /// By state: true if it is vanishing.
    pub vanishing: Vec<bool>,
    /// By state and node: tokens of all copies.
    pub tokens: Vec<u32>,
    /// By state and node: busy servers of all copies; 0 for places and unbounded servers.
    pub busy: Vec<u32>,
    /// By state and condition: true if it holds.
    pub holds: Vec<bool>,
    /// By arc: the state that it leaves.
    pub source: Vec<u32>,
    /// By arc: the state that it leads to.
    pub target: Vec<u32>,
    /// By arc: the transition.
    pub transition: Vec<u32>,
    /// By arc: the rate per second, or the probability in a vanishing state.
    pub value: Vec<f64>,
    /// Servers of each node, all copies together; 0 for places and unbounded servers.
    pub servers: Vec<u32>,
    /// Transitions that had several bindings at once.
    pub ambiguous: Vec<usize>,
    /// The largest weight of a transition.
    heaviest: f64,
}

/// A transition that ends services of a station, and its probability.
type Ends = (usize, f64);

/// Explores the state space as a Markov chain. `limit` is that of markings, and
/// `conditions` are on markings.
///
/// # Errors
/// The net has other times, an expression has no value, or there are more states than the limit.
pub fn chain(
    program: &Program,
    limit: usize,
    conditions: &[String],
    watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Result<Chain, Failure> {
    if program.has_externals() {
        let message = "numerical solutions refuse functions in Python: write them as expressions";
        return Err(Failure::Run(message.to_owned()));
    }
    let mut program = program.clone();
    let mut predicates = Vec::new();
    for text in conditions {
        predicates
            .push(Predicate::compile(&mut program, "where", text).map_err(Failure::Document)?);
    }
    let program = &program;
    let services = services(program)?;
    let mut stepper = Stepper::new(program, false)?;
    let mut markings = Markings::new(stepper.current.layout.copies.len());
    let initial = stepper.initial()?;
    markings.insert(&initial, hash_of(&initial));
    let mut chain = Chain {
        heaviest: heaviest(program),
        servers: (0..program.nodes.len())
            .map(|node| servers(program, node) * program.pages[program.nodes[node].page].total)
            .collect(),
        ..Chain::default()
    };
    let mut state = 0;
    while state < markings.len() {
        if state & 0xFFF == 0 && watch(state).is_break() {
            return Err(Failure::Interrupted);
        }
        if markings.len() > limit {
            return Err(Failure::Run(format!(
                "more than {limit} markings: a numerical solution needs all of them; give a higher \
                 limit, or bound the places (net check --state-space names one without bound)"
            )));
        }
        stepper.load(markings.get(state));
        chain.describe(&stepper.current, &stepper.contents);
        for predicate in &predicates {
            let holds = predicate.holds(&stepper.current, &stepper.contents)?;
            chain.holds.push(holds);
        }
        let arcs = chain.source.len();
        let is_vanishing = stepper.instants(&mut chain, &mut markings, state)?;
        if !is_vanishing {
            stepper.timed(&mut chain, &mut markings, state)?;
            stepper.services(&services, &mut chain, &mut markings, state)?;
        }
        chain.vanishing.push(is_vanishing);
        debug_assert!(chain.value[arcs..].iter().all(|value| *value > 0.0));
        state += 1;
    }
    chain.ambiguous.sort_unstable();
    chain.ambiguous.dedup();
    Ok(chain)
}

/// Servers of one copy of a node; 0 without a number of them.
fn servers(program: &Program, node: usize) -> u32 {
    match &program.nodes[node].kind {
        NodeKind::Station(Station::Fcfs(servers, _) | Station::Sharing(servers, _)) => *servers,
        _ => 0,
    }
}

/// The largest weight: parts of it have sums that are finite.
fn heaviest(program: &Program) -> f64 {
    let weights = program.transitions.iter().map(|it| it.weight);
    weights.fold(f64::MIN_POSITIVE, f64::max)
}

/// By node: the mean service time of a station, and the transitions that end services.
type Services = Vec<Option<(Code, Vec<Ends>)>>;

/// Checks that all times are exponential.
fn services(program: &Program) -> Result<Services, Failure> {
    let refuse = |path: String, reason: &str| Err(Failure::Run(format!("{path}: {reason}")));
    for (index, transition) in program.transitions.iter().enumerate() {
        if transition
            .outputs
            .iter()
            .any(|output| output.delay.is_some())
        {
            let path = program.transition_path(index);
            let reason = "a numerical solution has no delays of outputs: give the transition a \
                          delay of exponential(mean), or put the token into a station";
            return refuse(path, reason);
        }
    }
    let heaviest = heaviest(program);
    let mut services = Vec::new();
    for (node, of) in program.nodes.iter().enumerate() {
        let NodeKind::Station(station) = &of.kind else {
            services.push(None);
            continue;
        };
        let is_known = matches!(
            station,
            Station::Fcfs(..) | Station::Infinite(_) | Station::Sharing(..)
        );
        let mean = station.service().and_then(Code::mean_of_exponential);
        let (Some(mean), true) = (mean, is_known) else {
            let reason = "a numerical solution needs exponential(mean) as service, and the \
                          discipline fcfs, infinite or sharing";
            return refuse(program.node_path(node), reason);
        };
        if matches!(station, Station::Fcfs(2.., _)) && of.colour != Kind::Unit {
            let reason = "a numerical solution has no tokens with data at several servers: split \
                          the station, or leave out the data";
            return refuse(program.node_path(node), reason);
        }
        let takers = program.transitions.iter().enumerate();
        let takers = takers.filter(|(_, it)| it.inputs.iter().any(|input| input.node == node));
        let mut ends: Vec<(usize, i32, f64)> = Vec::new();
        for (index, it) in takers {
            let mut steps = it.inputs.iter().flat_map(|input| &input.steps);
            let is_free = it.takes() == 1
                && it.inputs.len() == 1
                && it.inhibitors.is_empty()
                && it.timing.is_none()
                && steps.all(|step| matches!(step, Step::Bind { .. }));
            if !is_free {
                let reason = "a numerical solution needs served tokens to leave at once: take one \
                              token of the station only, without conditions, into a place";
                return refuse(program.transition_path(index), reason);
            }
            ends.push((index, it.priority, it.weight / heaviest));
        }
        let highest = ends.iter().map(|it| it.1).max();
        ends.retain(|it| Some(it.1) == highest);
        if !program.random_choice {
            ends.truncate(1);
        }
        let all: f64 = ends.iter().map(|it| it.2).sum();
        let ends = ends.iter().map(|(index, _, weight)| (*index, weight / all));
        services.push(Some((mean, ends.collect())));
    }
    Ok(services)
}

impl Chain {
    fn describe(&mut self, current: &Current<'_>, contents: &[Contents]) {
        for node in 0..current.program.nodes.len() {
            let (first, copies) = current.layout.of_node[node];
            let each = (first..first + copies).map(|copy| current.len(contents, copy) as u32);
            let servers = servers(current.program, node);
            self.tokens.push(each.clone().sum());
            self.busy.push(each.map(|tokens| tokens.min(servers)).sum());
        }
    }

    fn add(&mut self, (source, target): (usize, u32), transition: usize, value: f64) {
        self.source.push(source as u32);
        self.target.push(target);
        self.transition.push(transition as u32);
        self.value.push(value);
    }
}

impl Stepper<'_> {
    /// Adds the firings that happen at once, with their probabilities; false without any.
    fn instants(
        &mut self,
        chain: &mut Chain,
        markings: &mut Markings,
        state: usize,
    ) -> Result<bool, Failure> {
        let program = self.current.program;
        let start = chain.source.len();
        let mut priority = None;
        let mut total = 0.0;
        for index in self.order.clone() {
            let transition = &program.transitions[index];
            if !self.current.layout.plans[index].is_instant {
                continue;
            }
            if priority.is_some_and(|priority| priority > transition.priority) {
                break;
            }
            for copy in 0..program.pages[transition.page].total {
                let first = chain.source.len();
                let weight = (transition.weight / chain.heaviest).max(f64::MIN_POSITIVE);
                let mut found = |next: &[u32], hash, value| {
                    let (target, _) = markings.insert(next, hash);
                    chain.add((state, target), index, value);
                };
                let of = (index, copy);
                let bindings = self.fire_all(of, &mut |_, _, _| Ok(weight), &mut found)?;
                if bindings == 0 {
                    continue;
                }
                if bindings > 1 {
                    if !program.random_bindings {
                        chain.ambiguous.push(index);
                    }
                    let values = &mut chain.value[first..];
                    values
                        .iter_mut()
                        .for_each(|value| *value /= f64::from(bindings));
                }
                priority = Some(transition.priority);
                total += weight;
                if !program.random_choice {
                    break;
                }
            }
            if priority.is_some() && !program.random_choice {
                break;
            }
        }
        let values = &mut chain.value[start..];
        values.iter_mut().for_each(|value| *value /= total);
        Ok(priority.is_some())
    }

    /// Adds the firings of timed transitions with their rates.
    fn timed(
        &mut self,
        chain: &mut Chain,
        markings: &mut Markings,
        state: usize,
    ) -> Result<(), Failure> {
        let program = self.current.program;
        for (index, transition) in program.transitions.iter().enumerate() {
            let Some(timing) = &transition.timing else {
                continue;
            };
            for copy in 0..program.pages[transition.page].total {
                let rate_of = &mut |current: &Current<'_>, contents: &[Contents], it: Bound<'_>| {
                    let read = |store, word| it.stored.word(store, word);
                    let mut pure = Pure::with_stores(&read);
                    let rate = timing.rate(&it.binding.frame, &mut pure);
                    let rate = rate.map_err(|reason| current.failed(index, &reason))?;
                    let busy = match timing.servers {
                        1 => 1,
                        servers => servers.min(current.degree(contents, index, it.binding)),
                    };
                    Ok(rate * f64::from(busy))
                };
                self.fire_all((index, copy), rate_of, &mut |next, hash, value| {
                    let (target, _) = markings.insert(next, hash);
                    chain.add((state, target), index, value);
                })?;
            }
        }
        Ok(())
    }

    /// Fires every binding of a transition with every outcome; their number. Values of outcomes
    /// are the binding's times the outcome's probability.
    fn fire_all(
        &mut self,
        (index, copy): (usize, u32),
        value_of: &mut ValueOf<'_>,
        found: &mut dyn FnMut(&[u32], u64, f64),
    ) -> Result<u32, Failure> {
        let Stepper {
            current,
            contents,
            oracle,
            stored,
            puts,
            next,
            ..
        } = self;
        let current = &*current;
        current.read_stores(contents, index, copy, stored);
        let stored = &*stored;
        let mut bindings = 0;
        let mut fired = |contents: &mut [Contents], binding: &mut Binding| {
            bindings += 1;
            let value = value_of(current, contents, Bound { binding, stored })?;
            oracle.start(copy);
            loop {
                current.act(index, &mut binding.frame, copy, (oracle, stored), puts)?;
                let taken = &binding.taken[..current.layout.plans[index].takes];
                current.compose(taken, puts, contents, next)?;
                found(&next.marking, next.hash, value * oracle.probability());
                if !oracle.next() {
                    return Ok(ControlFlow::Continue(()));
                }
            }
        };
        let of = (index, copy, stored);
        let _ = current.bind(contents, of, 0, &mut Binding::new(), &mut fired)?;
        Ok(bindings)
    }

    /// Adds ends of services with their rates.
    fn services(
        &mut self,
        services: &Services,
        chain: &mut Chain,
        markings: &mut Markings,
        state: usize,
    ) -> Result<(), Failure> {
        let program = self.current.program;
        for copy in 0..self.current.layout.copies.len() {
            let part = &self.current.layout.copies[copy];
            let Owner::Node(node) = part.owner else {
                continue;
            };
            let Some((mean, ends)) = &services[node] else {
                continue;
            };
            let (shape, stride) = (part.shape, part.stride);
            let tokens = self.current.len(&self.contents, copy);
            let busy = match servers(program, node) {
                0 => tokens,
                servers => tokens.min(servers as usize),
            };
            let is_shared = matches!(
                program.nodes[node].kind,
                NodeKind::Station(Station::Sharing(..) | Station::Infinite(_))
            );
            // Equal tokens without data are served alike.
            let (positions, share) = match (stride, is_shared) {
                (0, _) => (usize::from(busy > 0), busy as f64),
                (_, true) => (tokens, busy as f64 / tokens as f64),
                (_, false) => (busy, 1.0),
            };
            for position in 0..positions {
                let content = self.current.marking[copy];
                let token = self.contents[shape].token(content, position).0.to_vec();
                let mut pure = Pure::default();
                let mean = f64::from_bits(evaluate(mean, &token, &mut pure) as u64);
                if pure.failure.is_some() || mean.is_nan() || mean <= 0.0 {
                    let path = program.node_path(node);
                    let reason = "a numerical solution needs a mean service of more than 0";
                    return Err(Failure::Run(format!("{path}: {reason}")));
                }
                let first = self.current.layout.of_node[node].0;
                for &(index, probability) in ends {
                    let value = probability * share * 1e12 / mean;
                    let of_node = (copy - first) as u32;
                    let taken = (copy, position);
                    self.end_service((index, of_node), taken, value, &mut |next, hash, value| {
                        let (target, _) = markings.insert(next, hash);
                        chain.add((state, target), index, value);
                    })?;
                }
            }
        }
        Ok(())
    }

    /// Fires a transition that takes one token of a station. It may be in any copy of a page
    /// around which the station lies; all are equally likely.
    fn end_service(
        &mut self,
        (index, of_node): (usize, u32),
        taken: (usize, usize),
        value: f64,
        found: &mut dyn FnMut(&[u32], u64, f64),
    ) -> Result<(), Failure> {
        let Stepper {
            current,
            contents,
            oracle,
            stored,
            puts,
            next,
            ..
        } = self;
        let current = &*current;
        let part = &current.layout.copies[taken.0];
        let token = contents[part.shape].token(current.marking[taken.0], taken.1);
        let token = token.0.to_vec();
        let ratio = current.layout.plans[index].inputs[0].ratio;
        // Without chance the first copy takes it.
        let copies = if current.program.random_choice {
            ratio
        } else {
            1
        };
        for copy in of_node * ratio..of_node * ratio + copies {
            current.read_stores(contents, index, copy, stored);
            let stored = &*stored;
            let mut frame = [0; 64];
            let steps = &current.program.transitions[index].inputs[0].steps;
            suits(steps, &token, &mut frame, &mut Pure::default());
            oracle.start(copy);
            loop {
                current.act(index, &mut frame, copy, (oracle, stored), puts)?;
                current.compose(&[taken], puts, contents, next)?;
                let value = value * oracle.probability() / f64::from(copies);
                found(&next.marking, next.hash, value);
                if !oracle.next() {
                    break;
                }
            }
        }
        Ok(())
    }
}

/// A binding with the stores of its transition.
struct Bound<'a> {
    binding: &'a Binding,
    stored: &'a super::chance::Stored,
}

/// The weight or rate of a binding.
type ValueOf<'a> = dyn FnMut(&Current<'_>, &[Contents], Bound<'_>) -> Result<f64, Failure> + 'a;

impl Current<'_> {
    /// How often a binding could be taken at once.
    fn degree(&self, contents: &[Contents], index: usize, binding: &Binding) -> u32 {
        let taken = &binding.taken[..self.layout.plans[index].takes];
        let token = |(copy, position): (usize, usize)| {
            let shape = self.layout.copies[copy].shape;
            contents[shape].token(self.marking[copy], position).0
        };
        let degrees = taken.iter().map(|&it| {
            let is_equal = |other: &&(usize, usize)| other.0 == it.0 && token(**other) == token(it);
            let needed = taken.iter().filter(is_equal).count();
            let equal = self.count_in(contents, it.0..it.0 + 1, &mut |other| other == token(it));
            (equal as usize / needed.max(1)) as u32
        });
        degrees.min().unwrap_or(u32::MAX)
    }
}
