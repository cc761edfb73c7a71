//! Place/transition nets: tokens without data, and transitions that only count them.

use serde::Serialize;

use super::firing::MOST_PUT;
use super::layout::Owner;
use super::step::Stepper;
use crate::colour::Kind;
use crate::expression::Code;
use crate::outcome::Failure;
use crate::program::{NodeKind, Output, Program, Station, Transition};

/// A condition of a transition on the number of tokens of a place.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Condition {
    /// The place.
    pub place: u32,
    /// A number of tokens.
    pub count: u32,
    /// True for at least `count` tokens, false for fewer.
    pub at_least: bool,
}

impl Condition {
    /// Returns true if a number of tokens meets it.
    #[inline]
    pub fn is_met(self, tokens: u32) -> bool {
        (tokens >= self.count) == self.at_least
    }
}

/// A transition in one copy of its page.
#[derive(Clone, Debug, Serialize)]
pub struct Rule {
    /// The transition's number.
    pub transition: u32,
    /// All are met if it is enabled.
    pub conditions: Vec<Condition>,
    /// The places whose number of tokens a firing changes, and by how many.
    pub changes: Vec<(u32, i64)>,
    /// The places that a firing empties, and the tokens that it then puts there.
    pub resets: Vec<(u32, i64)>,
}

impl Rule {
    /// The rule of a transition in a copy of its page.
    fn of(stepper: &Stepper<'_>, index: usize, copy: u32) -> Rule {
        let layout = &stepper.current.layout;
        let (transition, plan) = (
            &stepper.current.program.transitions[index],
            &layout.plans[index],
        );
        let place =
            |node: usize, ratio: u32| (layout.of_node[node].0 + (copy / ratio) as usize) as u32;
        let (mut taken, mut read, mut changes) = (Counts::new(), Counts::new(), Counts::new());
        for (input, plan) in transition.inputs.iter().zip(&plan.inputs) {
            let place = place(input.node, plan.ratio);
            match input.is_read {
                true => add_to(&mut read, place, 1),
                false => {
                    add_to(&mut taken, place, 1);
                    add_to(&mut changes, place, -1);
                }
            }
        }
        for (output, (ratio, _)) in transition.outputs.iter().zip(&plan.ways) {
            add_to(&mut changes, place(output.node, *ratio), count_of(output));
        }
        // A token may be taken and read.
        for (place, count) in read {
            match taken.iter_mut().find(|(other, _)| *other == place) {
                Some((_, other)) => *other = count.max(*other),
                None => taken.push((place, count)),
            }
        }
        let needs = taken.into_iter().map(|(place, count)| Condition {
            place,
            count: count as u32,
            at_least: true,
        });
        let ratios = plan.inhibitors.iter();
        let inhibitors = transition.inhibitors.iter().zip(ratios);
        let inhibitors = inhibitors.map(|(inhibitor, ratio)| Condition {
            place: place(inhibitor.node, *ratio),
            count: inhibitor.count,
            at_least: false,
        });
        let conditions: Vec<Condition> = needs.chain(inhibitors).collect();
        let resets = transition
            .resets
            .iter()
            .zip(&plan.resets)
            .map(|(node, ratio)| {
                let place = place(*node, *ratio);
                let puts = transition.outputs.iter().zip(&plan.ways);
                let puts = puts.filter(|(output, _)| output.node == *node);
                (place, puts.map(|(output, _)| count_of(output)).sum())
            });
        let resets: Vec<(u32, i64)> = resets.collect();
        changes.retain(|(place, change)| {
            *change != 0 && !resets.iter().any(|(emptied, _)| emptied == place)
        });
        Rule {
            transition: index as u32,
            conditions,
            changes,
            resets,
        }
    }

    /// Returns true if it may fire in a marking.
    pub fn is_enabled(&self, marking: &[u32]) -> bool {
        let mut conditions = self.conditions.iter();
        conditions.all(|it| it.is_met(marking[it.place as usize]))
    }

    /// Changes a marking as a firing does, but for resets.
    pub fn fire(&self, marking: &mut [u32]) {
        for (place, change) in &self.changes {
            let tokens = &mut marking[*place as usize];
            *tokens = tokens.wrapping_add_signed(*change as i32);
        }
    }
}

/// A place in one copy of its page.
#[derive(Clone, Debug, Serialize)]
pub struct PlainPlace {
    /// Page path and name.
    pub path: String,
    /// Tokens in the first marking.
    pub initial: u32,
    /// True if tokens may remain there.
    pub may_remain: bool,
}

/// A place/transition net. Its places are the copies of a layout.
pub struct PlainNet {
    pub rules: Vec<Rule>,
    /// By place: the conditions on it, each with its rule.
    pub conditions_on: Vec<Vec<(u32, Condition)>>,
}

impl PlainNet {
    /// A net of rules on a number of places.
    pub fn new(rules: Vec<Rule>, places: usize) -> PlainNet {
        let mut conditions_on = vec![Vec::new(); places];
        for (number, rule) in rules.iter().enumerate() {
            for condition in &rule.conditions {
                conditions_on[condition.place as usize].push((number as u32, *condition));
            }
        }
        PlainNet {
            rules,
            conditions_on,
        }
    }

    /// The net of a program.
    ///
    /// # Errors
    /// It is no place/transition net: the first part that is not, and why.
    pub fn of(stepper: &Stepper<'_>) -> Result<PlainNet, String> {
        let (program, layout) = (stepper.current.program, &stepper.current.layout);
        if stepper.current.timed {
            return Err("time counts".to_owned());
        }
        for (index, node) in program.nodes.iter().enumerate() {
            let path = program.node_path(index);
            if node.colour != Kind::Unit {
                return Err(format!("tokens of {path} have data"));
            }
            if matches!(node.kind, NodeKind::Station(Station::Barrier(_))) {
                return Err(format!("{path} is a barrier"));
            }
        }
        let rank = program.transitions.first().map(Transition::rank);
        let mut rules = Vec::new();
        for (index, transition) in program.transitions.iter().enumerate() {
            let path = || program.transition_path(index);
            if let Some(part) = data_part(transition) {
                return Err(format!("{} has {part}", path()));
            }
            if Some(transition.rank()) != rank {
                return Err(format!("{} has a priority of its own", path()));
            }
            for copy in 0..program.pages[transition.page].total {
                rules.push(Rule::of(stepper, index, copy));
            }
        }
        Ok(PlainNet::new(rules, layout.copies.len()))
    }

    /// The net, if no transition empties places.
    ///
    /// # Errors
    /// One does.
    pub fn without_resets(self, program: &Program) -> Result<PlainNet, String> {
        match self.rules.iter().find(|rule| !rule.resets.is_empty()) {
            Some(rule) => {
                let path = program.transition_path(rule.transition as usize);
                Err(format!("{path} has a reset arc"))
            }
            None => Ok(self),
        }
    }
}

/// A place/transition net for programs.
#[derive(Clone, Debug, Serialize)]
pub struct PlainDocument {
    /// The places.
    pub places: Vec<PlainPlace>,
    /// The firings, in each copy of their page.
    pub rules: Vec<Rule>,
    /// Page paths and names of the transitions.
    pub transitions: Vec<String>,
}

/// A net as places and rules, whose times do not count.
///
/// # Errors
/// It is no place/transition net: the first part that is not, and why.
pub fn plain(program: &Program) -> Result<PlainDocument, String> {
    let failed = |failure: Failure| match failure {
        Failure::Run(message) => message,
        Failure::Document(faults) => faults.to_string(),
        Failure::Interrupted => "it was interrupted".to_owned(),
    };
    let mut stepper = Stepper::new(program, false).map_err(failed)?;
    let net = PlainNet::of(&stepper)?;
    let initial = stepper.initial().map_err(failed)?;
    let copies = stepper.current.layout.copies.iter().zip(&initial);
    let places = copies.map(|(copy, initial)| match copy.owner {
        Owner::Node(node) => Ok(PlainPlace {
            path: program.node_path(node),
            // Contents of tokens without data are their numbers.
            initial: *initial,
            may_remain: program.nodes[node].rest || program.nodes[node].sink,
        }),
        Owner::Store(store) => Err(format!("{} is a store", program.store_path(store))),
    });
    let transitions = 0..program.transitions.len();
    Ok(PlainDocument {
        places: places.collect::<Result<_, _>>()?,
        rules: net.rules,
        transitions: transitions.map(|it| program.transition_path(it)).collect(),
    })
}

fn count_of(output: &Output) -> i64 {
    match output.count {
        Some(Code::Constant(count)) => count,
        _ => 1,
    }
}

type Counts = Vec<(u32, i64)>;

fn add_to(counts: &mut Counts, place: u32, count: i64) {
    match counts.iter_mut().find(|(other, _)| *other == place) {
        Some((_, sum)) => *sum += count,
        None => counts.push((place, count)),
    }
}

/// The part of a transition that does more than count tokens.
fn data_part(transition: &Transition) -> Option<&'static str> {
    let counts = |code: &Code| matches!(code, Code::Constant(0..=MOST_PUT));
    let parts = [
        ("a guard", transition.is_guarded()),
        ("a store", !transition.stores.is_empty()),
        ("let", !transition.lets.is_empty()),
        (
            "an output with a condition, a computed number or a chosen copy",
            transition.outputs.iter().any(|output| {
                let is_counted = output.count.as_ref().is_none_or(counts);
                output.when.is_some()
                    || !is_counted
                    || !output.copies.is_empty()
                    || !output.first.is_empty()
            }),
        ),
    ];
    parts
        .iter()
        .find(|(_, is_there)| *is_there)
        .map(|(part, _)| *part)
}
