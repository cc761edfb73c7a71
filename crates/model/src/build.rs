//! From a program to a net of the kernel. All tokens of a net have one width, so that a transition
//! of any number of inputs is one piece of machine code.

use std::collections::BTreeMap;
use std::sync::Arc;

use headrace_net::{
    Barrier, Borrowed, BuildErrors, Builder, Delay, Discipline, Fcfs, Firing, Flows, Infinite,
    LoadSharing, Net, Page, PageId, Priority, Random, Rule, ServiceTime, Sharing, Slot, Span,
    Store, TallyId, To, TransitionBuilder, Work,
};

use crate::colour::Kind;
use crate::error::{Fault, Faults};
use crate::expression::{Code, NO_ELEMENT, Pure, Reason, Step, World, evaluate};
use crate::program::{self, NodeKind, Output, Program, Station, Transition, initial_tokens};
use crate::seen::{self, Request, Seen};

/// A net of the kernel, made from a program.
pub struct Built {
    /// The net.
    pub net: Net,
    /// Its tallies, in the order of the program's probes.
    pub probes: Vec<TallyId>,
    /// Its stores, in the order of the program's.
    pub stores: Vec<Store<Words>>,
}

/// A store's words.
pub type Words = Vec<i64>;

/// Builds a net; `seed` seeds all its random numbers.
///
/// # Errors
/// The kernel's faults in it, such as a place without input.
pub fn build(program: &Program, seed: u64) -> Result<Built, Faults> {
    build_seen(program, seed, None)
}

/// Builds a net whose transitions note their firings: those whose entry is true.
pub(crate) fn build_seen(
    program: &Program,
    seed: u64,
    seen: Option<(&Seen, &[bool])>,
) -> Result<Built, Faults> {
    match token_width(program) {
        1 => build_of::<1>(program, seed, seen),
        2 => build_of::<2>(program, seed, seen),
        4 => build_of::<4>(program, seed, seen),
        _ => build_of::<8>(program, seed, seen),
    }
}

/// Words of all tokens of a net: 1, 2, 4 or 8.
pub(crate) fn token_width(program: &Program) -> usize {
    program.width().next_power_of_two().min(8)
}

type Handle<const W: usize> = headrace_net::Node<[i64; W]>;

fn build_of<const W: usize>(
    program: &Program,
    seed: u64,
    seen: Option<(&Seen, &[bool])>,
) -> Result<Built, Faults> {
    let mut writer = Writer::<W> {
        program,
        pages: vec![None; program.pages.len()],
        nodes: vec![None; program.nodes.len()],
        probes: vec![None; program.probes.len()],
        stores: vec![None; program.stores.len()],
        faults: Vec::new(),
    };
    let mut builder = Builder::new(&program.name, seed);
    writer.page(0, &mut builder.root());
    if !writer.faults.is_empty() {
        return Err(Faults(writer.faults));
    }
    for (index, transition) in program.transitions.iter().enumerate() {
        let seen = seen.filter(|(_, noted)| noted[index]).map(|(seen, _)| seen);
        let Some(page) = writer.pages[transition.page] else {
            continue;
        };
        writer.transition(transition, seen, &mut builder.reopen(page));
    }
    let mut net = builder
        .compile()
        .map_err(|errors| in_document(program, &errors))?;
    if program.random_choice {
        let transitions = program.transitions.iter().enumerate();
        let weights = transitions.map(|(index, it)| (program.transition_path(index), it.weight));
        let weights: BTreeMap<String, f64> = weights.collect();
        net.choose_at_random(seed, |path| weights.get(path).copied().unwrap_or(1.0));
    }
    Ok(Built {
        net,
        probes: writer.probes.into_iter().flatten().collect(),
        stores: writer.stores.into_iter().flatten().collect(),
    })
}

/// The kernel's errors with their places in the document.
fn in_document(program: &Program, errors: &BuildErrors) -> Faults {
    let nodes =
        (0..program.nodes.len()).map(|it| (program.node_path(it), &program.nodes[it].place));
    let transitions = 0..program.transitions.len();
    let transitions =
        transitions.map(|it| (program.transition_path(it), &program.transitions[it].place));
    let pages = program.pages.iter();
    let pages = pages.map(|page| (page.path.clone(), &page.place));
    let places: Vec<(String, &Vec<String>)> = nodes.chain(transitions).chain(pages).collect();
    let faults = errors.0.iter().map(|error| {
        let message = error.to_string();
        let found = places.iter().find_map(|(path, place)| {
            let rest = message.strip_prefix(path.as_str())?.strip_prefix(": ")?;
            Some(((*place).clone(), rest.to_owned()))
        });
        let (path, message) = found.unwrap_or((Vec::new(), message));
        Fault {
            path,
            column: 0,
            message,
        }
    });
    Faults(faults.collect())
}

struct Writer<'p, const W: usize> {
    program: &'p Program,
    pages: Vec<Option<PageId>>,
    nodes: Vec<Option<Handle<W>>>,
    probes: Vec<Option<TallyId>>,
    stores: Vec<Option<Store<Words>>>,
    faults: Vec<Fault>,
}

impl<const W: usize> Writer<'_, W> {
    fn page(&mut self, index: usize, page: &mut Page<'_>) {
        let program = self.program;
        self.pages[index] = Some(page.id());
        for (number, node) in program.nodes.iter().enumerate() {
            if node.page == index {
                self.node(number, node, page);
            }
        }
        for (number, store) in program.stores.iter().enumerate() {
            if store.page == index {
                self.store(number, store, page);
            }
        }
        for (number, (of, name)) in program.probes.iter().enumerate() {
            if *of == index {
                self.probes[number] = Some(page.tally(name));
            }
        }
        for (number, inner) in program.pages.iter().enumerate() {
            if inner.parent == Some(index) {
                match inner.folded {
                    true => page.fold(&inner.name, inner.copies, |page| self.page(number, page)),
                    false => page.page(&inner.name, |page| self.page(number, page)),
                }
            }
        }
    }

    fn node(&mut self, number: usize, node: &program::Node, page: &mut Page<'_>) {
        let name = &node.name;
        let handle = match &node.kind {
            NodeKind::Place(true) => page.place(name),
            NodeKind::Place(false) => page.bag(name),
            NodeKind::Station(station) => add_station(station, name, page),
        };
        self.nodes[number] = Some(handle);
        page.name_colour(handle, self.program.colours.name(node.colour));
        if node.sink {
            page.sink(handle);
        }
        if node.rest {
            page.rest(handle);
        }
        if node.conserve {
            page.conserve(handle);
        }
        if node.initial.is_empty() {
            return;
        }
        let mut first = Vec::new();
        for copy in 0..page.copies() {
            match initial_tokens(node, copy) {
                Ok(tokens) => first.push(tokens),
                Err(message) => {
                    self.faults.push(Fault {
                        path: node.place.clone(),
                        column: 0,
                        message,
                    });
                    return;
                }
            }
        }
        page.tokens(handle, move |copy| {
            let tokens = std::mem::take(&mut first[copy as usize]);
            tokens.into_iter().map(|words| widened(&words))
        });
    }

    fn store(&mut self, number: usize, store: &program::Store, page: &mut Page<'_>) {
        let mut first = Vec::new();
        for copy in 0..page.copies() {
            match store.first_words(copy) {
                Ok(words) => first.push(words),
                Err(message) => {
                    self.faults.push(Fault {
                        path: store.place.clone(),
                        column: 0,
                        message,
                    });
                    return;
                }
            }
        }
        let make = |copy| std::mem::take(&mut first[copy as usize]);
        self.stores[number] = Some(page.store(&store.name, make));
    }

    fn transition(&self, transition: &Transition, seen: Option<&Seen>, page: &mut Page<'_>) {
        let node = |index: usize| self.nodes[index].expect("all nodes are written first");
        let outputs: Vec<Put<W>> = transition
            .outputs
            .iter()
            .map(|output| Put {
                to: match output.copies.is_empty() {
                    true => node(output.node).into(),
                    false => To::from(node(output.node)).in_given_copies(),
                },
                output: output.clone(),
            })
            .collect();
        let inputs: Vec<Handle<W>> = transition.inputs.iter().map(|it| node(it.node)).collect();
        let stores: Option<Vec<Store<Words>>> = transition
            .stores
            .iter()
            .map(|&it| self.stores[it])
            .collect();
        let stores = stores.unwrap_or_default();
        let builder = page.transition(&transition.name);
        let builder = builder.priority(transition.priority);
        let builder = self.declare_arcs(transition, builder);
        let builder = declare(transition, builder, &outputs);
        let sources = transition
            .inputs
            .iter()
            .map(|it| &self.program.nodes[it.node]);
        let fifo = sources
            .clone()
            .map(|it| !matches!(it.kind, NodeKind::Place(false)));
        let has_data = sources.map(|it| it.colour != Kind::Unit);
        let mut differ = fifo.clone().zip(has_data.clone());
        let compiled = Compiled {
            is_random: self.program.random_bindings && differ.any(|(fifo, data)| data && !fifo),
            fifo: fifo.collect(),
            has_data: has_data.collect(),
            resets: transition.resets.iter().map(|it| node(*it)).collect(),
            records: transition
                .records
                .iter()
                .filter_map(|it| Some((self.probes[it.probe]?, it.clone())))
                .collect(),
            outputs,
            transition: transition.clone(),
            seen: seen.cloned(),
        };
        // A small frame is cheaper to clear.
        match transition.words {
            0..=8 => add_transition::<W, 8>(builder, &inputs, &stores, compiled),
            _ => add_transition::<W, 64>(builder, &inputs, &stores, compiled),
        }
    }
}

impl<const W: usize> Writer<'_, W> {
    /// Declares the arcs that only rules have.
    fn declare_arcs<'b>(
        &self,
        transition: &Transition,
        mut builder: TransitionBuilder<'b, (), ()>,
    ) -> TransitionBuilder<'b, (), ()> {
        let node = |index: usize| self.nodes[index].expect("all nodes are written first");
        for (position, input) in transition.inputs.iter().enumerate() {
            if input.is_read {
                builder = builder.reads(position);
            }
        }
        for inhibitor in &transition.inhibitors {
            let asks = !inhibitor.steps.is_empty();
            let tokens = if asks { u32::MAX } else { inhibitor.count };
            builder = builder.inhibited_by(node(inhibitor.node), tokens, asks);
        }
        for &reset in &transition.resets {
            builder = builder.resets(node(reset));
        }
        match transition.timing {
            Some(_) => builder.timed(),
            None => builder,
        }
    }
}

fn add_station<const W: usize>(station: &Station, name: &str, page: &mut Page<'_>) -> Handle<W> {
    fn add<const W: usize, D: Discipline<[i64; W]> + Clone>(
        name: &str,
        page: &mut Page<'_>,
        discipline: D,
    ) -> Handle<W> {
        page.station(name, discipline)
    }
    match station {
        Station::Fcfs(servers, service) => {
            add(name, page, Fcfs::new(*servers, Service::of(service)))
        }
        Station::Infinite(service) => add(name, page, Infinite(Service::of(service))),
        Station::Delay(Code::Constant(span)) => {
            add(name, page, Delay::new(Span((*span).max(0) as u64)))
        }
        Station::Delay(service) => add(name, page, Infinite(Service::of(service))),
        Station::Sharing(servers, service) => {
            add(name, page, Sharing::new(*servers, Service::of(service)))
        }
        Station::Priority(preemptive, servers, service, class) => {
            let class = Arc::new(class.clone());
            let service = Service {
                class: Some(class.clone()),
                ..Service::of(service)
            };
            let class = move |token: &[i64; W]| {
                let class = class_of(&class, token).unwrap_or(0);
                class.min(i64::from(u32::MAX)) as u32
            };
            match preemptive {
                true => add(name, page, Priority::preemptive(*servers, service, class)),
                false => add(name, page, Priority::new(*servers, service, class)),
            }
        }
        Station::Barrier(number) => add(name, page, Barrier::new(*number)),
        Station::LoadSharing(rates, work) => {
            let work = Arc::new(work.clone());
            let work = move |token: &[i64; W], random: &mut Random<'_>| Work {
                class: 0,
                amount: amount_of(&work, token, random),
            };
            add(
                name,
                page,
                LoadSharing::new(std::slice::from_ref(rates), work),
            )
        }
        Station::Flows(rates, links, work) => {
            let (links, work) = (Arc::new(links.clone()), Arc::new(work.clone()));
            let path = move |token: &[i64; W], path: &mut Vec<u32>| {
                let mut pure = Pure::default();
                let links = links.iter().map(|link| evaluate(link, token, &mut pure));
                // Less than 0 stands for no link; the kernel refuses links that are not there.
                let links = links.filter(|link| *link >= 0);
                path.extend(links.map(|link| u32::try_from(link).unwrap_or(u32::MAX)));
                let work = f64::from_bits(evaluate(&work, token, &mut pure) as u64);
                match pure.failure.is_none() && work >= 0.0 {
                    true => work,
                    false => f64::NAN,
                }
            };
            add(name, page, Flows::new(rates.iter().copied(), path))
        }
    }
}

/// The work of a token; no number if it has none.
fn amount_of(work: &Code, token: &[i64], random: &mut Random<'_>) -> f64 {
    let mut world = AtStation {
        random,
        failure: None,
    };
    let work = f64::from_bits(evaluate(work, token, &mut world) as u64);
    match world.failure.is_none() && work >= 0.0 {
        true => work,
        false => f64::NAN,
    }
}

fn widened<const W: usize>(words: &[i64]) -> [i64; W] {
    let mut token = [0; W];
    token[..words.len()].copy_from_slice(words);
    token
}

/// A service time.
#[derive(Clone)]
struct Service {
    code: Arc<Code>,
    /// A class to check, which the discipline itself cannot refuse.
    class: Option<Arc<Code>>,
    failure: Option<Reason>,
}

impl Service {
    fn of(code: &Code) -> Service {
        Service {
            code: Arc::new(code.clone()),
            class: None,
            failure: None,
        }
    }

    fn refused(&mut self, reason: Reason) -> Span {
        self.failure = Some(reason);
        Span(u64::MAX)
    }
}

/// The class of a token.
///
/// # Errors
/// It has none, or it is less than 0.
pub(crate) fn class_of(class: &Code, token: &[i64]) -> Result<i64, Reason> {
    let mut pure = Pure::default();
    let value = evaluate(class, token, &mut pure);
    match pure.failure {
        Some(failure) => Err(failure),
        None if value < 0 => Err(format!("a class of {value}: expected 0 or more").into()),
        None => Ok(value),
    }
}

impl<const W: usize> ServiceTime<[i64; W]> for Service {
    fn sample(&mut self, token: &[i64; W], random: &mut Random<'_>) -> Span {
        if let Some(class) = &self.class
            && let Err(reason) = class_of(class, token)
        {
            return self.refused(reason);
        }
        if let Code::Constant(span) = *self.code {
            return Span(span.max(0) as u64);
        }
        let mut world = AtStation {
            random,
            failure: None,
        };
        let span = evaluate(&self.code, token, &mut world);
        if span < 0 {
            world.fail(negative("service time", span).into());
        }
        match world.failure {
            None => Span(span as u64),
            Some(reason) => self.refused(reason),
        }
    }

    fn failure(&mut self) -> Option<String> {
        self.failure.take().map(Reason::into_owned)
    }
}

/// The reason against a time that is less than 0.
#[cold]
pub(crate) fn negative(what: &str, time: i64) -> String {
    let seconds = time as f64 / 1e12;
    format!("a {what} of {seconds} s: expected 0 or more")
}

struct AtStation<'a, 'r> {
    random: &'a mut Random<'r>,
    failure: Option<Reason>,
}

impl World for AtStation<'_, '_> {
    fn now(&mut self) -> i64 {
        0
    }
    fn copy(&mut self) -> i64 {
        0
    }
    fn uniform(&mut self) -> f64 {
        self.random.uniform()
    }
    fn below(&mut self, bound: u64) -> u64 {
        self.random.below(bound)
    }
    fn stored(&mut self, _: usize, _: usize) -> i64 {
        self.fail("a service time cannot read stores".into());
        0
    }
    fn fail(&mut self, reason: Reason) {
        self.failure.get_or_insert(reason);
    }
}

/// An output with its target.
struct Put<const W: usize> {
    to: To<[i64; W]>,
    output: Output,
}

/// The outputs, from this one on, of which each firing uses one. Their conditions compare a random
/// number below some bound with each of its values.
fn one_of<const W: usize>(
    transition: &Transition,
    outputs: &[Put<W>],
    first: usize,
) -> Option<Vec<usize>> {
    let Some(Code::WordIs(word, _)) = outputs[first].output.when else {
        return None;
    };
    let mut drawn = transition.lets.iter();
    let bound = drawn.find_map(|(of, code)| match code {
        Code::Below(bound) if *of == word => Some(&bound.0),
        _ => None,
    });
    let Some(Code::Constant(bound)) = bound else {
        return None;
    };
    let mut cases = Vec::new();
    for value in 0..*bound {
        let mut of = outputs.iter().enumerate().skip(first).filter(|(_, it)| {
            it.output.when == Some(Code::WordIs(word, value)) && it.output.count.is_none()
        });
        let (case, _) = of.next()?;
        if of.next().is_some() {
            return None;
        }
        cases.push(case);
    }
    // No other output leads to a node of theirs.
    let others = (0..outputs.len()).filter(|other| !cases.contains(other));
    let mut nodes = others.map(|other| outputs[other].output.node);
    let own = |node| cases.iter().any(|&case| outputs[case].output.node == node);
    (!nodes.any(own)).then_some(cases)
}

/// Declares outputs, as exactly as the kernel can use for invariants.
fn declare<'b, const W: usize>(
    transition: &Transition,
    mut builder: TransitionBuilder<'b, (), ()>,
    outputs: &[Put<W>],
) -> TransitionBuilder<'b, (), ()> {
    let once = |put: &Put<W>| {
        let mut same = outputs.iter();
        put.output.count.is_none()
            && !same.any(|it| !std::ptr::eq(it, put) && it.output.node == put.output.node)
    };
    let mut done = vec![false; outputs.len()];
    for (index, put) in outputs.iter().enumerate() {
        if done[index] {
            continue;
        }
        if let Some(cases) = one_of(transition, outputs, index) {
            let targets = cases.iter().map(|&case| outputs[case].to);
            let mut targets = targets.enumerate();
            for (number, to) in &mut targets {
                builder = match number {
                    0 => builder.puts_one_of([to]),
                    _ => builder.or_puts(to),
                };
                if outputs[cases[number]].output.delay.is_some() {
                    builder = builder.later();
                }
            }
            cases.iter().for_each(|&case| done[case] = true);
            continue;
        }
        // One of two, by a condition and its opposite.
        let opposite = outputs.iter().position(|other| {
            let (Some(a), Some(b)) = (&put.output.when, &other.output.when) else {
                return false;
            };
            let not = |a: &Code, b: &Code| matches!(a, Code::Not(a) if **a == *b);
            (not(a, b) || not(b, a)) && !a.is_random() && once(put) && once(other)
        });
        if let Some(other) = opposite {
            builder = builder.puts_one_of([put.to, outputs[other].to]);
            (done[index], done[other]) = (true, true);
            continue;
        }
        let mut total = Some(0_u32);
        let mut delayed = false;
        for (position, same) in outputs.iter().enumerate() {
            if same.output.node != put.output.node {
                continue;
            }
            done[position] = true;
            delayed |= same.output.delay.is_some();
            let count = match (&same.output.when, &same.output.count) {
                (None, None) => Some(1),
                (None, Some(Code::Constant(count))) => u32::try_from(*count).ok(),
                _ => None,
            };
            total = total.zip(count).and_then(|(a, b)| a.checked_add(b));
        }
        builder = match total {
            Some(1) => builder.puts(put.to),
            Some(total) => builder.puts_exactly(put.to, total),
            None if once(put) => builder.may_put(put.to),
            None => builder.puts_many(put.to),
        };
        if delayed {
            builder = builder.later();
        }
    }
    builder
}

/// A transition with its handles.
struct Compiled<const W: usize> {
    transition: Transition,
    outputs: Vec<Put<W>>,
    records: Vec<(TallyId, program::Recorded)>,
    /// True if chance chooses among its bindings.
    is_random: bool,
    /// By input: true if only the first tokens may be taken.
    fifo: Vec<bool>,
    /// By input: true if its tokens may differ.
    has_data: Vec<bool>,
    resets: Vec<Handle<W>>,
    /// Where it notes its firings.
    seen: Option<Seen>,
}

fn add_transition<const W: usize, const F: usize>(
    builder: TransitionBuilder<'_, (), ()>,
    inputs: &[Handle<W>],
    stores: &[Store<Words>],
    compiled: Compiled<W>,
) {
    let guarded = compiled.transition.is_guarded();
    let in_detail = compiled.seen.as_ref().is_some_and(|seen| seen.in_detail);
    let is_rule = compiled.transition.needs_rule() || compiled.is_random;
    if let ([input], false, []) = (inputs, guarded || in_detail || is_rule, stores) {
        // The kernel takes the first token without a search.
        builder.take(*input).fires(move |firing, token, ()| {
            let mut frame = [0; F];
            bind(&compiled.transition.inputs[0].steps, &token, &mut frame);
            compiled.act(
                &mut frame,
                &mut InFiring {
                    firing,
                    stores: None,
                },
            );
        });
        return;
    }
    builder.rule(inputs, stores, guarded, Search::<W, F>(compiled));
}

fn bind<const W: usize>(steps: &[Step], token: &[i64; W], frame: &mut [i64]) {
    for step in steps {
        if let Step::Bind { word, to } = step {
            frame[*to] = token[*word];
        }
    }
}

struct Search<const W: usize, const F: usize>(Compiled<W>);

impl<const W: usize, const F: usize> Rule for Search<W, F> {
    fn fire(&self, firing: &mut Firing<'_>, stores: &mut Borrowed<'_>) -> bool {
        let mut frame = [0; F];
        let mut chosen = [Slot(u32::MAX); 32];
        let read = |store, word| stores.get::<Words>(store)[word];
        let mut pure = Pure::with_stores(&read);
        let takes = self.0.transition.takes();
        let seen = self.0.seen.as_ref().filter(|seen| seen.in_detail);
        let request = seen.map_or(Request::Fire, |seen| seen.last().request);
        let mut skip = match request {
            Request::Fire => 0,
            Request::Choose(choice) | Request::Look(choice) => choice,
        };
        let found = match (&self.0.transition.timing, request) {
            (Some(_), Request::Fire) => {
                let drawn = self.draw(firing, &mut pure);
                (frame, chosen) = drawn.unwrap_or((frame, chosen));
                drawn.is_some()
            }
            (None, Request::Fire) if self.0.is_random => {
                let drawn = self.pick(firing, &mut pure);
                (frame, chosen) = drawn.unwrap_or((frame, chosen));
                drawn.is_some()
            }
            _ => self
                .0
                .select(firing, 0, &mut frame, &mut chosen, &mut pure, &mut skip),
        };
        if let Some(failure) = pure.failure {
            firing.fail(format!("guard: {failure}"));
        }
        if !found {
            return false;
        }
        if let (Some(seen), Request::Look(_)) = (seen, request) {
            seen.bound(&frame[..self.0.transition.words]);
            seen.last().found = true;
            return false;
        }
        if let Some(seen) = seen {
            seen.begin();
        }
        for (input, fifo) in self.0.fifo.iter().take(takes).enumerate() {
            let slot = (!fifo).then_some(chosen[input]);
            let Some(token) = firing.take_ready::<[i64; W]>(input, slot) else {
                return false;
            };
            if let Some(seen) = seen {
                seen.last().taken.push(token.to_vec());
            }
        }
        for &node in &self.0.resets {
            firing.take_all(node);
        }
        let mut world = InFiring {
            firing,
            stores: Some(stores),
        };
        self.0.act(&mut frame, &mut world);
        // All expressions saw the values before the firing.
        for change in &self.0.transition.changes {
            if !change.apply(&frame, stores.get_mut::<Words>(change.store)) {
                firing.fail(NO_ELEMENT);
            }
        }
        true
    }

    fn rate(&self, firing: &mut Firing<'_>, stores: &Borrowed<'_>) -> f64 {
        let read = |store, word| stores.get::<Words>(store)[word];
        let mut pure = Pure::with_stores(&read);
        let bindings = self.bindings(firing, &mut pure);
        let total = bindings.iter().map(|(rate, ..)| rate).sum();
        if let Some(failure) = pure.failure {
            firing.fail(failure);
        }
        total
    }
}

/// A visit of a selection: words of the frame, and slots of the tokens. It ends the search by true.
type Visit<'a> = dyn FnMut(&[i64], &[Slot; 32], &mut Pure<'_>) -> bool + 'a;

/// Words of a frame, and the slots of the tokens.
type Selection<const F: usize> = ([i64; F], [Slot; 32]);

impl<const W: usize, const F: usize> Search<W, F> {
    /// The different bindings of a timed transition, with their rates.
    fn bindings(&self, firing: &Firing<'_>, pure: &mut Pure<'_>) -> Vec<(f64, Selection<F>)> {
        let mut bindings = Vec::new();
        let mut failure = None;
        let mut visit = |frame: &[i64], chosen: &[Slot; 32], pure: &mut Pure<'_>| {
            let Some(timing) = &self.0.transition.timing else {
                return true;
            };
            match timing.rate(frame, pure) {
                Ok(rate) => {
                    let busy = match timing.servers {
                        1 => 1,
                        servers => servers.min(self.0.degree(firing, chosen)),
                    };
                    let mut words = [0; F];
                    words.copy_from_slice(frame);
                    bindings.push((rate * f64::from(busy), (words, *chosen)));
                }
                Err(reason) => failure = Some(reason),
            }
            false
        };
        let mut chosen = [Slot(u32::MAX); 32];
        self.0
            .each_binding(firing, 0, &mut [0; F], &mut chosen, pure, &mut visit);
        pure.failure = pure.failure.take().or(failure);
        bindings
    }

    /// Draws one of the different bindings, each with the same probability.
    fn pick(&self, firing: &mut Firing<'_>, pure: &mut Pure<'_>) -> Option<Selection<F>> {
        let mut count = 0_u64;
        let mut search = |firing: &Firing<'_>, visit: &mut Visit<'_>| {
            let mut chosen = [Slot(u32::MAX); 32];
            self.0
                .each_binding(firing, 0, &mut [0; F], &mut chosen, pure, visit);
        };
        search(firing, &mut |_, _, _| {
            count += 1;
            false
        });
        let mut left = match count {
            0 | 1 => 0,
            _ => firing.random().below(count),
        };
        let mut picked = None;
        search(firing, &mut |frame, chosen, _| {
            let is_picked = left == 0;
            if is_picked {
                let mut words = [0; F];
                words.copy_from_slice(frame);
                picked = Some((words, *chosen));
            }
            left = left.saturating_sub(1);
            is_picked
        });
        picked
    }

    /// Draws one of them by their rates.
    fn draw(&self, firing: &mut Firing<'_>, pure: &mut Pure<'_>) -> Option<Selection<F>> {
        let bindings = self.bindings(firing, pure);
        let total: f64 = bindings.iter().map(|(rate, _)| rate).sum();
        let mut left = match &*bindings {
            [_] => 0.0,
            _ => firing.random().uniform() * total,
        };
        let drawn = bindings.iter().find(|(rate, _)| {
            left -= rate;
            left < 0.0
        });
        drawn.or(bindings.last()).map(|(_, selection)| *selection)
    }
}

impl<const W: usize> Compiled<W> {
    /// Returns true if neither guards nor tokens of certain values hold a selection.
    fn admits(&self, firing: &Firing<'_>, frame: &mut [i64], pure: &mut Pure<'_>) -> bool {
        let guards = &self.transition.guards;
        let inhibitors = self.transition.inhibitors.iter().enumerate();
        let mut inhibitors = inhibitors.filter(|(_, inhibitor)| !inhibitor.steps.is_empty());
        guards.iter().all(|guard| evaluate(guard, frame, pure) != 0)
            && inhibitors.all(|(position, inhibitor)| {
                let tokens = firing.inhibiting::<[i64; W]>(position);
                let tokens = tokens.filter(|token| suits(&inhibitor.steps, *token, frame, pure));
                tokens.count() < inhibitor.count as usize
            })
    }

    /// Calls `visit` with each different selection of tokens for this input and those after it,
    /// until it returns true.
    fn each_binding(
        &self,
        firing: &Firing<'_>,
        input: usize,
        frame: &mut [i64],
        chosen: &mut [Slot; 32],
        pure: &mut Pure<'_>,
        visit: &mut Visit<'_>,
    ) -> bool {
        let Some(arc) = self.transition.inputs.get(input) else {
            return self.admits(firing, frame, pure) && visit(frame, chosen, pure);
        };
        let ready = firing.ready::<[i64; W]>(input);
        let (skip, most) = match self.fifo[input] {
            true => (arc.before, 1),
            false => (0, usize::MAX),
        };
        let mut known: Vec<&[i64; W]> = Vec::new();
        for (slot, token) in ready.skip(skip).take(most) {
            if self.is_chosen(input, slot, chosen) || known.contains(&token) {
                continue;
            }
            known.push(token);
            if suits(&arc.steps, token, frame, pure) {
                chosen[input] = slot;
                if self.each_binding(firing, input + 1, frame, chosen, pure, visit) {
                    return true;
                }
            }
            if !self.has_data[input] {
                break;
            }
        }
        false
    }

    /// Returns true if an earlier input uses a token as this one does.
    fn is_chosen(&self, input: usize, slot: Slot, chosen: &[Slot; 32]) -> bool {
        let arc = &self.transition.inputs[input];
        arc.before > 0
            && (0..input).any(|other| {
                let earlier = &self.transition.inputs[other];
                (earlier.node, earlier.is_read) == (arc.node, arc.is_read) && chosen[other] == slot
            })
    }

    /// How often a selection could be taken at once.
    fn degree(&self, firing: &Firing<'_>, chosen: &[Slot; 32]) -> u32 {
        let takes = self.transition.takes();
        let token = |input: usize| {
            let mut ready = firing.ready::<[i64; W]>(input);
            ready.find_map(|(slot, token)| (slot == chosen[input]).then_some(*token))
        };
        let tokens: Vec<_> = (0..takes).map(token).collect();
        let degrees = tokens.iter().enumerate().map(|(input, token)| {
            let node = self.transition.inputs[input].node;
            let equal = tokens.iter().zip(&self.transition.inputs);
            let needed = equal.filter(|(other, arc)| arc.node == node && *other == token);
            let ready = firing.ready::<[i64; W]>(input);
            let ready = ready.filter(|(_, other)| Some(**other) == *token);
            (ready.count() / needed.count().max(1)) as u32
        });
        degrees.min().unwrap_or(u32::MAX)
    }

    /// Finds tokens for this input and those after it, in the order of their arrival; the first
    /// selections may be skipped.
    fn select(
        &self,
        firing: &Firing<'_>,
        input: usize,
        frame: &mut [i64],
        chosen: &mut [Slot; 32],
        pure: &mut Pure<'_>,
        skip_selections: &mut usize,
    ) -> bool {
        let Some(arc) = self.transition.inputs.get(input) else {
            if !self.admits(firing, frame, pure) {
                return false;
            }
            let is_wanted = *skip_selections == 0;
            *skip_selections = skip_selections.saturating_sub(1);
            return is_wanted;
        };
        let ready = firing.ready::<[i64; W]>(input);
        let (skip, most) = match self.fifo[input] {
            true => (arc.before, 1),
            false => (0, usize::MAX),
        };
        for (slot, token) in ready.skip(skip).take(most) {
            if self.is_chosen(input, slot, chosen) || !suits(&arc.steps, token, frame, pure) {
                continue;
            }
            chosen[input] = slot;
            if self.select(firing, input + 1, frame, chosen, pure, skip_selections) {
                return true;
            }
        }
        false
    }

    /// Computes and puts tokens, records figures, and computes changes of stores.
    fn act(&self, frame: &mut [i64], world: &mut InFiring<'_, '_, '_>) {
        for (word, code) in &self.transition.lets {
            frame[*word] = evaluate(code, frame, world);
        }
        for (index, put) in self.outputs.iter().enumerate() {
            let output = &put.output;
            for (word, code) in &output.first {
                frame[*word] = evaluate(code, frame, world);
            }
            if let Some(when) = &output.when
                && evaluate(when, frame, world) == 0
            {
                continue;
            }
            let count = match &output.count {
                None => 1,
                Some(count) => evaluate(count, frame, world),
            };
            if !(0..=1_000_000).contains(&count) {
                world
                    .firing
                    .fail(format!("puts {count} tokens: expected from 0 to 1000000"));
                return;
            }
            for _ in 0..count {
                let mut token = [0; W];
                for (word, code) in token.iter_mut().zip(&output.words) {
                    *word = evaluate(code, frame, world);
                }
                let delay = match &output.delay {
                    None => 0,
                    Some(delay) => evaluate(delay, frame, world),
                };
                if delay < 0 {
                    world.firing.fail(negative("delay", delay));
                    return;
                }
                let delay = Span(delay as u64);
                if output.copies.is_empty() {
                    self.note_put(index, &[], &token, delay);
                    match delay {
                        Span::ZERO => world.firing.put(put.to, token),
                        delay => world.firing.put_after(put.to, token, delay),
                    };
                    continue;
                }
                let mut copies = [0; 16];
                let given = &mut copies[..output.copies.len().min(16)];
                for (copy, code) in given.iter_mut().zip(&output.copies) {
                    let chosen = evaluate(code, frame, world);
                    *copy = u32::try_from(chosen).unwrap_or(u32::MAX);
                }
                self.note_put(index, given, &token, delay);
                world.firing.put_in_copies(put.to, given, token, delay);
            }
        }
        for (tally, record) in &self.records {
            if let Some(when) = &record.when
                && evaluate(when, frame, world) == 0
            {
                continue;
            }
            let value = evaluate(&record.value, frame, world);
            world.firing.record(*tally, f64::from_bits(value as u64));
        }
        for change in &self.transition.changes {
            for (word, code) in &change.steps {
                frame[*word] = evaluate(code, frame, world);
            }
        }
        if let Some(seen) = &self.seen {
            seen.bound(&frame[..self.transition.words]);
        }
    }

    /// Notes a token that is put, for plays.
    #[inline]
    fn note_put(&self, output: usize, given: &[u32], token: &[i64; W], delay: Span) {
        if let Some(seen) = &self.seen
            && seen.in_detail
        {
            seen.last().put.push(seen::Put {
                output,
                given: given.to_vec(),
                words: token.to_vec(),
                delay: delay.0,
            });
        }
    }
}

/// Binds a token, and tells if it passes the tests.
#[inline]
pub(crate) fn suits(steps: &[Step], token: &[i64], frame: &mut [i64], pure: &mut Pure<'_>) -> bool {
    for step in steps {
        let suits = match step {
            Step::Bind { word, to } => {
                frame[*to] = token[*word];
                true
            }
            Step::Equal { word, code } => token[*word] == evaluate(code, frame, pure),
            Step::Test(code) => evaluate(code, frame, pure) != 0,
        };
        if !suits {
            return false;
        }
    }
    true
}

struct InFiring<'a, 'f, 's> {
    firing: &'a mut Firing<'f>,
    /// None for transitions that use no stores.
    stores: Option<&'a Borrowed<'s>>,
}

impl World for InFiring<'_, '_, '_> {
    fn now(&mut self) -> i64 {
        self.firing.now().0.min(i64::MAX as u64) as i64
    }
    fn copy(&mut self) -> i64 {
        i64::from(self.firing.copy())
    }
    fn uniform(&mut self) -> f64 {
        self.firing.random().uniform()
    }
    fn below(&mut self, bound: u64) -> u64 {
        self.firing.random().below(bound)
    }
    fn stored(&mut self, store: usize, word: usize) -> i64 {
        self.stores.map_or(0, |it| it.get::<Words>(store)[word])
    }
    fn fail(&mut self, reason: Reason) {
        self.firing.fail(reason);
    }
}
