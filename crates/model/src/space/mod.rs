//! The state space of a net: every marking that it can reach, and what follows from them.
//!
//! Markings are explored breadth first, so that paths are shortest. Every enabled binding of the
//! transitions of highest priority is fired, with every outcome of discrete chance.
//!
//! Without time, delays and services take none, and `now()` is 0. A station with one
//! server (or the discipline `delay`) gives tokens in the order of their arrival, others in any
//! order. With time, delays and services must be constant or depend on tokens only. A marking has
//! the remaining time of each token, and time passes when nothing is enabled.
//!
//! A search ends early at a number of markings, or at half of the memory that is available.
//!
//! A reduced search answers one question, and meets a part of the markings of a place/transition
//! net made smaller ([`reduced`], [`stubborn`]). In other nets, one marking stands for those that
//! differ from it by values that the net does not distinguish ([`alike`]).
//!
//! Not modelled with time: processor sharing, whose remaining services become fractions without
//! end, and preemptive priorities with several servers.

mod alike;
mod chance;
mod components;
mod contents;
mod coverability;
mod firing;
mod layout;
mod linear;
mod logic;
mod marking;
mod markov;
mod memory;
mod plain;
mod predicate;
mod reduced;
mod step;
mod stubborn;
mod timed;
mod words;

use std::ops::ControlFlow;
use std::time::Instant;

use serde::Serialize;

use self::alike::Alike;
use self::components::Components;
use self::contents::Contents;
use self::coverability::Coverability;
pub use self::coverability::Unbounded;
pub use self::logic::negation;
use self::logic::{Backwards, Formula, Space};
use self::marking::{Markings, hash_of};
pub use self::markov::{Chain, chain};
use self::memory::memory_limit;
pub use self::plain::{Condition, PlainDocument, PlainPlace, Rule, plain};
use self::predicate::Predicate;
use self::reduced::{Concern, Reduced};
use self::step::Stepper;
use self::stubborn::Searched;
use crate::outcome::Failure;
use crate::program::Program;

/// A question about a state space.
#[derive(Clone, Debug)]
pub struct Question {
    /// Markings after which the search ends.
    pub limit: usize,
    /// True if time counts.
    pub timed: bool,
    /// A condition on markings whose shortest path is wanted: names of places stand for their
    /// numbers of tokens, `tokens("page/place", pattern)` for that of some.
    pub reach: Option<String>,
    /// Formulas of computation tree logic ([`logic`]) and of linear temporal logic ([`linear`]).
    pub holds: Vec<Asked>,
    /// True if only a marking to `reach` is asked for, or without it a deadlock: the search ends
    /// at the first one.
    pub reduced: bool,
}

/// A formula that is asked for.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The formula.
    pub formula: String,
    /// The automaton of a linear formula's [`negation`], in the format of LBT.
    pub automaton: Option<String>,
}

/// How a search was reduced.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Reduction {
    /// True if it looked for a marking to reach, not for a deadlock.
    pub has_property: bool,
    /// True if it was.
    pub reduced: bool,
    /// Why it was not.
    pub reason: Option<String>,
    /// Places of the smaller net, in all copies of their pages.
    pub places: usize,
    /// Firings of the smaller net.
    pub rules: usize,
    /// Sorts of values that the net does not distinguish: markings that differ by them are one.
    pub alike: usize,
}

/// The answer about a formula.
#[derive(Clone, Debug, Serialize)]
pub struct Held {
    /// The formula.
    pub formula: String,
    /// True if it holds in the first marking; none if the space is incomplete.
    pub holds: Option<bool>,
    /// Markings in which it holds; none of a linear formula.
    pub markings: Option<usize>,
    /// A way that shows it, if one way does.
    pub path: Option<Path>,
    /// Firings at its end that repeat for ever.
    pub repeated: usize,
}

/// Bounds of a place or station.
#[derive(Clone, Debug, Serialize)]
pub struct Bound {
    /// Page path and name.
    pub path: String,
    /// Fewest tokens in one copy.
    pub least: u32,
    /// Most tokens in one copy.
    pub most: u32,
}

/// A marking and the way to it.
#[derive(Clone, Debug, Serialize)]
pub struct Path {
    /// Firings in order: transition, and its variables.
    pub firings: Vec<String>,
    /// The tokens in each place that has some.
    pub marking: Vec<(String, Vec<String>)>,
}

/// A transition in the state space.
#[derive(Clone, Debug, Serialize)]
pub struct Occurrence {
    /// Page path and name.
    pub path: String,
    /// Arcs with it.
    pub arcs: u64,
    /// True if it never fires.
    pub dead: bool,
    /// True if it can always fire again, from every marking; none if the space is incomplete.
    pub live: Option<bool>,
}

/// The answer about a state space.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// Markings found.
    pub states: usize,
    /// Firings between them.
    pub arcs: usize,
    /// Markings whose successors were computed: all, unless memory ended the search.
    pub explored: usize,
    /// True if these are all, or if a reduced search left none.
    pub complete: bool,
    /// None unless the question asks for a reduced search.
    pub reduction: Option<Reduction>,
    /// Places without bound; none if no firings are known that add to them for ever.
    pub unbounded: Option<Unbounded>,
    /// Bytes at which the search ended; none unless memory ended it.
    pub memory_limit: Option<usize>,
    /// Seconds that the search took.
    pub seconds: f64,
    /// Bytes of all markings.
    pub bytes: usize,
    /// Bounds of places and stations.
    pub bounds: Vec<Bound>,
    /// Markings without successor.
    pub dead: usize,
    /// Dead markings with tokens where they may not remain.
    pub deadlocks: usize,
    /// The nearest deadlock, or else the nearest dead marking.
    pub deadlock: Option<Path>,
    /// Strongly connected components; none if the space is incomplete.
    pub components: Option<usize>,
    /// Components that nothing leaves.
    pub terminal_components: Option<usize>,
    /// Markings that can be reached from every marking.
    pub home_markings: Option<usize>,
    /// True if the first marking is one of them.
    pub initial_is_home: Option<bool>,
    /// Transitions.
    pub transitions: Vec<Occurrence>,
    /// The nearest marking that was asked for; none if it was not found.
    pub reached: Option<Path>,
    /// Answers about formulas, in the order in which they were asked for.
    pub formulas: Vec<Held>,
}

/// The state and transition from which a state was found.
type Origin = (u32, u32);

/// The states on the way from the first one to another.
fn way_to(origins: &[Origin], state: usize) -> Vec<usize> {
    let before = |state: &usize| match origins[*state].0 {
        u32::MAX => None,
        before => Some(before as usize),
    };
    let mut way: Vec<usize> = std::iter::successors(Some(state), before).collect();
    way.reverse();
    way
}

/// Arcs of the state space, by source.
#[derive(Default)]
struct Arcs {
    /// First arc of each state.
    first: Vec<usize>,
    target: Vec<u32>,
    /// The transition; its number of them is that of time passing.
    label: Vec<u16>,
}

impl Arcs {
    /// Memory that they use.
    fn bytes(&self) -> usize {
        8 * self.first.capacity() + 4 * self.target.capacity() + 2 * self.label.capacity()
    }
}

/// Explores the state space, in at most half of the memory that is available.
///
/// # Errors
/// The net has parts that a state space does not model, or an expression has no value.
pub fn explore(
    program: &Program,
    question: &Question,
    watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Result<Answer, Failure> {
    explore_within(program, question, memory_limit(), watch)
}

/// Explores the state space within a limit of memory, `most_bytes`.
///
/// # Errors
/// As [`explore`].
pub fn explore_within(
    program: &Program,
    question: &Question,
    most_bytes: usize,
    watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Result<Answer, Failure> {
    let start = Instant::now();
    if program.has_externals() {
        let message = "state spaces refuse functions in Python: their values are not known before \
                       they are called; write them as expressions";
        return Err(Failure::Run(message.to_owned()));
    }
    let (mut reduction, mut alike) = (None, None);
    if question.reduced && !question.holds.is_empty() {
        let message = "a reduced search meets a part of the markings only: expected no formula \
                       beside it";
        return Err(Failure::Run(message.to_owned()));
    }
    let mut program = program.clone();
    let predicate = match &question.reach {
        None => None,
        Some(text) => {
            let compiled = Predicate::compile(&mut program, "reach", text);
            Some(compiled.map_err(Failure::Document)?)
        }
    };
    let formulas = logic::read_all(&mut program, &question.holds)?;
    let program = &program;
    let mut stepper = Stepper::new(program, question.timed)?;
    if question.reduced {
        if stepper.plain.is_ok() {
            let limits = (question.limit, most_bytes);
            return reduced_search(stepper, predicate.as_ref(), limits, watch);
        }
        if !question.timed {
            alike = Alike::of(program, predicate.as_ref())?;
        }
        reduction = Some(Reduction {
            has_property: predicate.is_some(),
            reduced: alike.is_some(),
            reason: stepper.plain.as_ref().err().cloned(),
            alike: alike.as_ref().map_or(0, |it| it.sorts),
            ..Reduction::default()
        });
    }
    let mut markings = Markings::new(stepper.current.layout.copies.len());
    let mut arcs = Arcs::default();
    let mut origins: Vec<Origin> = vec![(u32::MAX, 0)];
    let initial = stepper.initial()?;
    let mut stands_for = match &alike {
        Some(alike) => alike.representative(&initial, &mut stepper.contents),
        None => initial.clone(),
    };
    markings.insert(&stands_for, hash_of(&stands_for));
    let mut bounds = vec![(u32::MAX, 0_u32); program.nodes.len()];
    let (mut dead, mut deadlocks) = (0, 0);
    let (mut nearest_dead, mut nearest_deadlock, mut reached) = (None, None, None);
    let limit = question.limit.min(u32::MAX as usize - 1);
    let mut complete = true;
    let mut is_full = false;
    let coverability = match alike {
        Some(_) => None,
        None => Coverability::of(program, question.timed),
    };
    let mut covered = None;
    // Representatives take time.
    let often = if alike.is_some() { 0xF } else { 0x3FFF };
    let mut state = 0;
    while state < markings.len() && !is_full {
        if state & often == 0 && watch(state).is_break() {
            return Err(Failure::Interrupted);
        }
        stepper.load(markings.get(state));
        stepper.current.bound(&stepper.contents, &mut bounds);
        if let Some(predicate) = &predicate
            && reached.is_none()
            && predicate.holds(&stepper.current, &stepper.contents)?
        {
            reached = Some(state);
        }
        if let Some(coverability) = &coverability
            && covered.is_none()
        {
            covered = coverability.covered(&markings, &origins, state);
        }
        let is_met = match predicate {
            Some(_) => reached.is_some(),
            None => nearest_deadlock.is_some(),
        };
        if question.reduced && is_met {
            complete = false;
            break;
        }
        // Nothing more can be concluded, unless a marking is looked for.
        let is_answered = predicate.is_none() || reached.is_some();
        if covered.is_some() && is_answered && !question.reduced {
            complete = false;
            break;
        }
        arcs.first.push(arcs.target.len());
        let of_graph = arcs.bytes() + size_of::<Origin>() * origins.capacity();
        let most_of_contents = most_bytes.saturating_sub(markings.bytes() + of_graph);
        stepper.successors(|next, transition, contents| {
            let of_contents: usize = contents.iter().map(Contents::bytes).sum();
            if of_contents > most_of_contents {
                is_full = true;
                complete = false;
                return ControlFlow::Break(());
            }
            let (mut marking, mut hash) = (&next.marking, next.hash);
            if let Some(alike) = &alike {
                stands_for = alike.representative(marking, contents);
                (marking, hash) = (&stands_for, hash_of(&stands_for));
            }
            let found = match markings.len() >= limit {
                false => Some(markings.insert(marking, hash)),
                true => {
                    let known = markings.find(marking, hash);
                    known.map(|found| (found, false))
                }
            };
            let Some((target, new)) = found else {
                complete = false;
                return ControlFlow::Continue(());
            };
            if new {
                origins.push((state as u32, transition));
            }
            arcs.target.push(target);
            arcs.label.push((transition & 0xFFFF) as u16);
            ControlFlow::Continue(())
        })?;
        if arcs.target.len() == arcs.first[state] && complete {
            dead += 1;
            nearest_dead.get_or_insert(state);
            if stepper.current.stands() {
                deadlocks += 1;
                nearest_deadlock.get_or_insert(state);
            }
        }
        state += usize::from(!is_full);
    }
    arcs.first.push(arcs.target.len());
    let texts = question.holds.iter().map(|asked| &asked.formula);
    let texts = texts.zip(&formulas);
    let formulas = match complete && !formulas.is_empty() {
        true => held(texts, &mut stepper, &markings, &arcs)?,
        false => texts.map(|(text, _)| Held::unknown(text)).collect(),
    };
    let mut path = |state: usize| match &alike {
        Some(alike) => stepper.path_among((alike, &initial), (&markings, &origins), state),
        None => stepper.path(&markings, &origins, state),
    };
    let deadlock = nearest_deadlock
        .or(nearest_dead)
        .map(&mut path)
        .transpose()?;
    let reached = reached.map(&mut path).transpose()?;
    let unbounded = covered.map(|(ancestor, state)| {
        let (before, path) = (path(ancestor)?, path(state)?);
        let repeated = path.firings.len() - before.firings.len();
        Ok(Unbounded::of(
            program,
            &markings,
            (ancestor, state),
            (path, repeated),
        ))
    });
    let unbounded = unbounded.transpose()?;
    let seconds = start.elapsed().as_secs_f64();
    let components = complete.then(|| Components::of(&arcs.first, &arcs.target));
    let labels = program.transitions.len();
    let mut arcs_of = vec![0_u64; labels + 1];
    for label in &arcs.label {
        // Time that passes is no transition.
        arcs_of[usize::from(*label).min(labels)] += 1;
    }
    let graph = (&arcs.first[..], &arcs.target[..], &arcs.label[..]);
    let live = components.as_ref().map(|it| {
        let all = it.terminal();
        let with = it.terminals_with(graph, labels).into_iter();
        with.map(|number| number == all).collect::<Vec<bool>>()
    });
    let transitions = (0..labels).map(|index| Occurrence {
        path: program.transition_path(index),
        arcs: arcs_of[index],
        dead: arcs_of[index] == 0,
        live: live.as_ref().map(|live| live[index]),
    });
    let transitions = transitions.collect();
    let contents = stepper.contents.iter().map(Contents::bytes);
    let bounds = bounds
        .iter()
        .enumerate()
        .map(|(node, (least, most))| Bound {
            path: program.node_path(node),
            least: *least,
            most: *most,
        });
    Ok(Answer {
        states: markings.len(),
        arcs: arcs.target.len(),
        explored: state,
        complete,
        reduction,
        unbounded,
        memory_limit: is_full.then_some(most_bytes),
        seconds,
        bytes: markings.bytes() + contents.sum::<usize>(),
        bounds: bounds.collect(),
        dead,
        deadlocks,
        deadlock,
        components: components.as_ref().map(|it| it.number),
        terminal_components: components.as_ref().map(Components::terminal),
        home_markings: components.as_ref().map(Components::home),
        initial_is_home: components.as_ref().map(Components::initial_is_home),
        transitions,
        reached,
        formulas,
    })
}

/// Looks for a marking with a property, or without one for a deadlock, of a place/transition net.
fn reduced_search(
    mut stepper: Stepper<'_>,
    property: Option<&Predicate>,
    (limit, most_bytes): (usize, usize),
    watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Result<Answer, Failure> {
    let start = Instant::now();
    let net = &std::mem::replace(&mut stepper.plain, Err(String::new())).map_err(Failure::Run)?;
    let initial = stepper.initial()?;
    let concern = Concern::of(&stepper, property);
    let reduced = Reduced::of(net, &initial, &concern);
    let mut markings = Markings::new(reduced.places.len());
    let searched = Searched {
        reduced: &reduced,
        initial: &initial,
        limits: (limit.min(u32::MAX as usize - 1), most_bytes),
    };
    let outcome = match property {
        Some(property) => searched.find(property, &mut stepper, &mut markings, watch)?,
        None => searched.find_deadlock(&mut stepper, &mut markings, watch)?,
    };
    let way = outcome.way.as_ref();
    let way = way.map(|way| reduced.whole(net, &initial, (way, property.is_none())));
    let path = way.map(|way| stepper.walk(net, &way)).transpose()?;
    let (reached, deadlock) = match property {
        Some(_) => (path, None),
        None => (None, path),
    };
    Ok(Answer {
        states: markings.len(),
        arcs: outcome.arcs,
        explored: outcome.explored,
        complete: outcome.complete,
        reduction: Some(Reduction {
            has_property: property.is_some(),
            reduced: true,
            reason: None,
            places: reduced.places.len(),
            rules: reduced.net.rules.len(),
            alike: 0,
        }),
        unbounded: None,
        memory_limit: outcome.is_full.then_some(most_bytes),
        seconds: start.elapsed().as_secs_f64(),
        bytes: markings.bytes(),
        bounds: Vec::new(),
        dead: outcome.dead,
        deadlocks: usize::from(outcome.is_deadlock),
        deadlock,
        components: None,
        terminal_components: None,
        home_markings: None,
        initial_is_home: None,
        transitions: Vec::new(),
        reached,
        formulas: Vec::new(),
    })
}

impl Held {
    fn unknown(text: &str) -> Held {
        Held {
            formula: text.to_owned(),
            holds: None,
            markings: None,
            path: None,
            repeated: 0,
        }
    }
}

/// The firings of a way since its last marking was there before.
fn repeated(way: &[usize]) -> usize {
    let earlier = way
        .split_last()
        .map(|(last, before)| before.iter().rposition(|it| it == last));
    earlier.flatten().map_or(0, |at| way.len() - 1 - at)
}

/// Answers about formulas on a complete space.
fn held<'a>(
    formulas: impl Iterator<Item = (&'a String, &'a Formula)> + Clone,
    stepper: &mut Stepper<'_>,
    markings: &Markings,
    arcs: &Arcs,
) -> Result<Vec<Held>, Failure> {
    let mut conditions: Vec<(&Predicate, Vec<bool>)> = Vec::new();
    for (_, formula) in formulas.clone() {
        formula.conditions(&mut |it| conditions.push((it, Vec::with_capacity(markings.len()))));
    }
    for state in 0..markings.len() {
        stepper.load(markings.get(state));
        for (condition, holding) in &mut conditions {
            holding.push(condition.holds(&stepper.current, &stepper.contents)?);
        }
    }
    let space = Space {
        arcs,
        backwards: Backwards::of(arcs),
        conditions: conditions.into_iter().map(|it| it.1).collect(),
    };
    let mut next = 0;
    let answers = formulas.map(|(text, formula)| {
        if let Formula::OnRuns(linear) = formula {
            let way = space.counterexample(linear, &mut next);
            let way = way.map_err(|message| Failure::Run(format!("{text}: {message}")))?;
            return Ok(Held {
                holds: Some(way.is_none()),
                repeated: way.as_ref().map_or(0, |it| it.1),
                path: way
                    .map(|way| stepper.way(markings, arcs, &way.0))
                    .transpose()?,
                ..Held::unknown(text)
            });
        }
        let first = next;
        let holding = space.holding(formula, &mut next);
        let way = space.witness(formula, first);
        Ok(Held {
            holds: Some(holding[0]),
            markings: Some(holding.iter().filter(|it| **it).count()),
            repeated: way.as_ref().map_or(0, |way| repeated(way)),
            path: way
                .map(|way| stepper.way(markings, arcs, &way))
                .transpose()?,
            ..Held::unknown(text)
        })
    });
    answers.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Language, compile, parse, read};

    /// A transition that puts tokens into a place without bound.
    fn unbounded(token: &str) -> Program {
        let text = format!(
            r#"
            [places.source]
            colour = "int"
            initial = [1]
            [places.sink]
            colour = "int"
            [transitions.grow]
            take = [{{ place = "source", token = "n" }}]
            put = [{{ place = "source", token = "n + 1" }}, {{ place = "sink", token = "{token}" }}]
            "#
        );
        let value = parse(&text, Language::Toml).unwrap();
        compile(&read(&value).unwrap(), "net").unwrap()
    }

    fn explored(program: &Program, limit: usize, most_bytes: usize) -> Answer {
        let question = Question {
            limit,
            timed: false,
            reach: None,
            holds: Vec::new(),
            reduced: false,
        };
        let watch = &mut |_| ControlFlow::Continue(());
        explore_within(program, &question, most_bytes, watch).unwrap()
    }

    #[test]
    fn equal_tokens_of_an_unbounded_place_take_memory_of_their_markings_only() {
        let answer = explored(&unbounded("6"), 100_000, usize::MAX);
        assert_eq!((answer.states, answer.explored), (100_000, 100_000));
        assert_eq!((answer.complete, answer.memory_limit), (false, None));
        let sink = answer.bounds.iter().find(|it| it.path == "net/sink");
        assert_eq!(sink.unwrap().most, 99_999);
        assert!(answer.bytes < 60_000_000, "{}", answer.bytes);
    }

    #[test]
    fn memory_ends_a_search() {
        let most = 20_000_000;
        let answer = explored(&unbounded("n"), 1_000_000, most);
        assert_eq!((answer.complete, answer.memory_limit), (false, Some(most)));
        // Each marking has its own tokens, of eight bytes each.
        assert!((1000..3000).contains(&answer.explored), "{answer:?}");
        assert!(answer.states >= answer.explored);
        // Tables double when they grow.
        assert!(answer.bytes < 2 * most, "{}", answer.bytes);
        // Fewer markings than memory holds.
        let answer = explored(&unbounded("n"), 500, most);
        assert_eq!((answer.states, answer.memory_limit), (500, None));
    }
}
