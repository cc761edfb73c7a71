//! A net as places and transitions with weights, for programs that need no more.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::colour::Kind;
use crate::expression::Code;
use crate::program::{NodeKind, Program, Transition, initial_tokens};

/// A place.
#[derive(Clone, Debug, Serialize)]
pub struct PlainPlace {
    /// Page path and name.
    pub path: String,
    /// Tokens in the first marking.
    pub initial: usize,
    /// True if tokens may remain there.
    pub may_remain: bool,
}

/// A transition; places are numbers.
#[derive(Clone, Debug, Serialize)]
pub struct PlainTransition {
    /// Page path and name.
    pub path: String,
    /// Tokens that it takes, by place.
    pub takes: BTreeMap<usize, i64>,
    /// Tokens that it must find, which may be those that it takes.
    pub reads: BTreeMap<usize, i64>,
    /// Tokens that hold it.
    pub inhibitors: BTreeMap<usize, i64>,
    /// Places that it empties.
    pub resets: Vec<usize>,
    /// Tokens that it puts.
    pub puts: BTreeMap<usize, i64>,
}

/// A net whose tokens have no data.
#[derive(Clone, Debug, Serialize)]
pub struct PlainNet {
    /// The places.
    pub places: Vec<PlainPlace>,
    /// The transitions.
    pub transitions: Vec<PlainTransition>,
}

/// A net as places and transitions, whose times do not count.
///
/// # Errors
/// Why it is more than that.
pub fn plain(program: &Program) -> Result<PlainNet, String> {
    let first = program.transitions.first();
    let nodes = program.nodes.iter().enumerate();
    let places = nodes.map(|(index, node)| {
        let path = program.node_path(index);
        if !matches!(node.kind, NodeKind::Place(_)) {
            return Err(format!("{path} is a station"));
        }
        if node.colour != Kind::Unit {
            return Err(format!("tokens of {path} have data"));
        }
        if program.pages[node.page].total != 1 {
            return Err(format!("there are several copies of {path}"));
        }
        Ok(PlainPlace {
            initial: initial_tokens(node, 0)?.len(),
            may_remain: node.rest || node.sink,
            path,
        })
    });
    let places = places.collect::<Result<_, _>>()?;
    let transitions = program.transitions.iter().enumerate();
    let transitions = transitions.map(|(index, transition)| {
        let path = program.transition_path(index);
        let refused = |why: &str| Err(format!("{path} {why}"));
        if first.is_some_and(|first| first.rank() != transition.rank()) {
            return refused("has another priority than the first transition");
        }
        if transition.is_guarded() || !transition.stores.is_empty() {
            return refused("has conditions or stores");
        }
        match weights(transition) {
            Some(weights) => Ok(PlainTransition { path, ..weights }),
            None => refused("delays tokens, or puts a number that depends on chance"),
        }
    });
    Ok(PlainNet {
        places,
        transitions: transitions.collect::<Result<_, _>>()?,
    })
}

/// The weights of the arcs; none if they are not certain.
fn weights(transition: &Transition) -> Option<PlainTransition> {
    let mut weights = PlainTransition {
        path: String::new(),
        takes: BTreeMap::new(),
        reads: BTreeMap::new(),
        inhibitors: BTreeMap::new(),
        resets: transition.resets.clone(),
        puts: BTreeMap::new(),
    };
    for input in &transition.inputs {
        let of = if input.is_read {
            &mut weights.reads
        } else {
            &mut weights.takes
        };
        *of.entry(input.node).or_default() += 1;
    }
    for inhibitor in &transition.inhibitors {
        let count = i64::from(inhibitor.count);
        let least = weights.inhibitors.entry(inhibitor.node).or_insert(count);
        *least = count.min(*least);
    }
    for output in &transition.outputs {
        let count = match (&output.when, &output.count, &output.delay) {
            (None, None, None) => 1,
            (None, Some(Code::Constant(count)), None) => *count,
            _ => return None,
        };
        *weights.puts.entry(output.node).or_default() += count;
    }
    Some(weights)
}
