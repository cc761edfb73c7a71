//! Places without bound, by the criterion of Karp and Miller (1969). It looks for a marking that has
//! at least the tokens of one before it on its path, and more in some place. The firings between
//! them can then be repeated for ever.
//!
//! The criterion holds for nets whose tokens have no data, where more tokens never hold a firing.
//! Transitions that others wait for, by their priority or because they take no time, must not take
//! from the places that grow. Nets with inhibitor or reset arcs, guards or stores are not examined.

use serde::Serialize;

use super::marking::Markings;
use super::{Origin, Path};
use crate::colour::Kind;
use crate::expression::Step;
use crate::program::{NodeKind, Program, Station};

/// Places without bound, and firings that show it.
#[derive(Clone, Debug, Serialize)]
pub struct Unbounded {
    /// Their page paths and names.
    pub places: Vec<String>,
    /// The firings to a marking after which the last can be repeated for ever.
    pub path: Path,
    /// Number of the last firings.
    pub repeated: usize,
}

/// The first markings are all examined.
const ALL_OF_THE_FIRST: usize = 10_000;
/// Later, one of this number of markings is.
const EVERY: usize = 64;

/// The examination of a net to which the criterion applies.
pub struct Coverability {
    /// By copy of a node: a transition that others wait for takes from it.
    is_awaited: Vec<bool>,
}

impl Coverability {
    /// None if more tokens may hold a firing.
    pub fn of(program: &Program, timed: bool) -> Option<Coverability> {
        let is_plain = |kind: &NodeKind| match kind {
            NodeKind::Place(_) => true,
            NodeKind::Station(station) => !matches!(station, Station::Barrier(_)),
        };
        let mut nodes = program.nodes.iter();
        let are_plain = nodes.all(|node| node.colour == Kind::Unit && is_plain(&node.kind));
        let lowest = program.transitions.iter().map(|it| it.priority).min();
        let is_any_timed = program.transitions.iter().any(|it| it.timing.is_some());
        let awaited = program
            .transitions
            .iter()
            .filter(|it| it.timing.is_none() && (is_any_timed || Some(it.priority) != lowest));
        let awaited: Vec<usize> = awaited
            .flat_map(|it| &it.inputs)
            .map(|it| it.node)
            .collect();
        let is_awaited = copies_of(program).map(|node| awaited.contains(&node));
        let mut transitions = program.transitions.iter();
        let are_monotone = transitions.all(|it| {
            let mut steps = it.inputs.iter().flat_map(|input| &input.steps);
            it.inhibitors.is_empty()
                && it.resets.is_empty()
                && it.guards.is_empty()
                && it.stores.is_empty()
                && steps.all(|step| matches!(step, Step::Bind { .. }))
        });
        let is_awaited = is_awaited.collect();
        (!timed && are_plain && are_monotone).then_some(Coverability { is_awaited })
    }

    /// The ancestor of a marking that it covers, and itself.
    pub fn covered(
        &self,
        markings: &Markings,
        origins: &[Origin],
        state: usize,
    ) -> Option<(usize, usize)> {
        if state >= ALL_OF_THE_FIRST && !state.is_multiple_of(EVERY) {
            return None;
        }
        // Contents of tokens without data are their numbers.
        let marking: Vec<u32> = markings.get(state).collect();
        let mut at = state;
        while origins[at].0 != u32::MAX {
            at = origins[at].0 as usize;
            let mut pairs = markings.get(at).zip(&marking).zip(&self.is_awaited);
            if pairs.all(|((before, now), fixed)| before == *now || (before < *now && !fixed)) {
                return Some((at, state));
            }
        }
        None
    }
}

/// The node of each part of a marking.
fn copies_of(program: &Program) -> impl Iterator<Item = usize> {
    program.nodes.iter().enumerate().flat_map(|(node, it)| {
        let copies = program.pages[it.page].total as usize;
        std::iter::repeat_n(node, copies)
    })
}

impl Unbounded {
    /// The places that grow between an ancestor and a marking.
    pub fn of(
        program: &Program,
        markings: &Markings,
        (ancestor, state): (usize, usize),
        (path, repeated): (Path, usize),
    ) -> Unbounded {
        let (before, now) = (markings.get(ancestor), markings.get(state));
        let grown = copies_of(program).zip(before.zip(now));
        let grown = grown.filter(|(_, (before, now))| before < now);
        let mut places: Vec<String> = grown.map(|(node, _)| program.node_path(node)).collect();
        places.dedup();
        Unbounded {
            places,
            path,
            repeated,
        }
    }
}
