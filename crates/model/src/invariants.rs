//! Transition invariants: numbers of firings that together leave the number of tokens in every
//! place unchanged. They are the place invariants of the transposed net (Murata 1989, §VI.B).
//! Colours and conditions are ignored: a transition invariant says what may return the net to a
//! marking, not that it does.

use std::collections::HashMap;

use headrace_net::{Changes, find_invariants};
use serde::Serialize;

use crate::expression::Code;
use crate::program::Program;

/// Transition invariants in words.
#[derive(Clone, Default, Debug, Serialize)]
pub struct TransitionInvariants {
    /// The minimal ones, such as "net/send + net/receive". None if `not_computed` says why.
    pub sums: Option<Vec<String>>,
    /// Transitions that change the same numbers of tokens: each may take the place of the first,
    /// which alone is in the sums.
    pub alike: Vec<Vec<String>>,
    /// Why there are no sums.
    pub not_computed: Option<String>,
}

/// Finds the transition invariants of a net.
pub fn transition_invariants(program: &Program) -> TransitionInvariants {
    let mut classes: Vec<(Changes, Vec<usize>)> = Vec::new();
    let mut known: HashMap<Changes, usize> = HashMap::new();
    for index in 0..program.transitions.len() {
        let Some(changes) = changes(program, index) else {
            let path = program.transition_path(index);
            let reason = match program.transitions[index].resets.is_empty() {
                true => {
                    format!("the number of tokens that {path} puts depends on values or chance")
                }
                false => format!("{path} empties places"),
            };
            return TransitionInvariants {
                not_computed: Some(reason),
                ..TransitionInvariants::default()
            };
        };
        match known.get(&changes) {
            // One that changes nothing is an invariant by itself.
            Some(&class) if !changes.is_empty() => classes[class].1.push(index),
            _ => {
                known.insert(changes.clone(), classes.len());
                classes.push((changes, vec![index]));
            }
        }
    }
    let mut of_nodes: Vec<Changes> = vec![Vec::new(); program.nodes.len()];
    for (class, (changes, _)) in classes.iter().enumerate() {
        for &(node, by) in changes {
            of_nodes[node as usize].push((class as u32, by));
        }
    }
    let invariants = find_invariants(&of_nodes, classes.len());
    let path = |class: usize| program.transition_path(classes[class].1[0]);
    let in_words = |firings: &Vec<i64>| {
        let terms = firings.iter().enumerate();
        let terms = terms.filter(|(_, number)| **number > 0);
        let terms: Vec<String> = terms
            .map(|(class, number)| match number {
                1 => path(class),
                number => format!("{number} {}", path(class)),
            })
            .collect();
        terms.join(" + ")
    };
    let alike = classes.iter().filter(|(_, members)| members.len() > 1);
    let paths = |members: &Vec<usize>| {
        let members = members.iter();
        members.map(|it| program.transition_path(*it)).collect()
    };
    TransitionInvariants {
        alike: alike.map(|(_, members)| paths(members)).collect(),
        sums: (!invariants.incomplete).then(|| invariants.weights.iter().map(in_words).collect()),
        not_computed: invariants
            .incomplete
            .then(|| "there are too many candidates".to_owned()),
    }
}

/// The certain change of each node by a transition, by node; none if it is not certain.
fn changes(program: &Program, index: usize) -> Option<Changes> {
    let transition = &program.transitions[index];
    let mut change: HashMap<usize, i64> = HashMap::new();
    if !transition.resets.is_empty() {
        return None;
    }
    for input in transition.inputs.iter().filter(|input| !input.is_read) {
        *change.entry(input.node).or_default() -= 1;
    }
    for output in &transition.outputs {
        let count = match (&output.when, &output.count) {
            (None, None) => 1,
            (None, Some(Code::Constant(count))) => *count,
            _ => return None,
        };
        let sum = change.entry(output.node).or_default();
        *sum = sum.checked_add(count)?;
    }
    let change = change.into_iter().filter(|(_, by)| *by != 0);
    let mut change: Changes = change.map(|(node, by)| (node as u32, by)).collect();
    change.sort_unstable();
    Some(change)
}
