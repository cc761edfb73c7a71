//! Paths through a state space in words.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::alike::{Alike, Renaming};
use super::contents::{Contents, EMPTY};
use super::layout::Owner;
use super::marking::Markings;
use super::plain::PlainNet;
use super::step::{Current, Stepper};
use super::{Arcs, Origin, Path, way_to};
use crate::outcome::Failure;
use crate::program::Transition;

impl Stepper<'_> {
    /// The firings from the first marking to another, in words.
    pub fn path(
        &mut self,
        markings: &Markings,
        origins: &[Origin],
        state: usize,
    ) -> Result<Path, Failure> {
        let mut firings = Vec::new();
        for pair in way_to(origins, state).windows(2) {
            self.load(markings.get(pair[0]));
            let goal: Vec<u32> = markings.get(pair[1]).collect();
            firings.push(self.in_words(origins[pair[1]].1, &goal)?);
        }
        self.load(markings.get(state));
        Ok(Path {
            firings,
            marking: self.current.in_words(&self.contents),
        })
    }

    /// The firings from the first marking to one that another marking stands for, in words.
    pub fn path_among(
        &mut self,
        (alike, initial): (&Alike, &[u32]),
        (markings, origins): (&Markings, &[Origin]),
        state: usize,
    ) -> Result<Path, Failure> {
        let renaming = alike.renaming(initial, &self.contents);
        // The values of the first marking, by those of the representative.
        let mut values: Renaming = renaming.iter().map(inverse).collect();
        let mut marking = initial.to_vec();
        let mut firings = Vec::new();
        for pair in way_to(origins, state).windows(2) {
            let (before, after) = (pair[0], pair[1]);
            let (transition, goal) = (origins[after].1, markings.get(after).collect::<Vec<u32>>());
            let mut next = None;
            self.load(markings.get(before));
            self.successors(|found, fired, contents| {
                if fired == transition && alike.representative(&found.marking, contents) == goal {
                    next = Some(found.marking.clone());
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
            })?;
            // The search came this way.
            let next = next.unwrap_or(goal);
            let renaming = alike.renaming(&next, &self.contents);
            self.load(marking.iter().copied());
            marking = alike.renamed(&next, &values, &mut self.contents);
            firings.push(self.in_words(transition, &marking)?);
            let of_sort = |(renaming, values): (&BTreeMap<i64, i64>, &BTreeMap<i64, i64>)| {
                let pairs = renaming.iter();
                pairs
                    .map(|(value, renamed)| (*renamed, *values.get(value).unwrap_or(value)))
                    .collect()
            };
            values = renaming.iter().zip(&values).map(of_sort).collect();
        }
        self.load(marking.into_iter());
        Ok(Path {
            firings,
            marking: self.current.in_words(&self.contents),
        })
    }

    /// The firings on a way, which begins at the first marking, in words.
    pub fn way(
        &mut self,
        markings: &Markings,
        arcs: &Arcs,
        way: &[usize],
    ) -> Result<Path, Failure> {
        let mut firings = Vec::new();
        for pair in way.windows(2) {
            let own = arcs.first[pair[0]]..arcs.first[pair[0] + 1];
            let arc = own
                .into_iter()
                .find(|&it| arcs.target[it] as usize == pair[1]);
            let transition = arc.map_or(u16::MAX, |arc| arcs.label[arc]);
            let goal: Vec<u32> = markings.get(pair[1]).collect();
            self.load(markings.get(pair[0]));
            firings.push(self.in_words(transition.into(), &goal)?);
        }
        self.load(markings.get(way.last().copied().unwrap_or(0)));
        Ok(Path {
            firings,
            marking: self.current.in_words(&self.contents),
        })
    }

    /// The firings of some rules from the first marking on, in words.
    pub fn walk(&mut self, net: &PlainNet, rules: &[u32]) -> Result<Path, Failure> {
        let mut marking = self.initial()?;
        let mut firings = Vec::new();
        for rule in rules {
            self.load(marking.iter().copied());
            let rule = &net.rules[*rule as usize];
            rule.fire(&mut marking);
            firings.push(self.in_words(rule.transition, &marking)?);
        }
        self.load(marking.into_iter());
        Ok(Path {
            firings,
            marking: self.current.in_words(&self.contents),
        })
    }

    /// A firing of a transition that leads from the current marking to a goal.
    fn in_words(&mut self, transition: u32, goal: &[u32]) -> Result<String, Failure> {
        let (index, program) = (transition as usize, self.current.program);
        let Some(of) = program.transitions.get(index) else {
            return Ok("time passes".to_owned());
        };
        let mut words = program.transition_path(index);
        let copies = program.pages[of.page].total;
        for copy in 0..copies {
            let Some(binding) = self.firing_to(index, copy, goal)? else {
                continue;
            };
            if copies > 1 {
                words += &format!(" [{copy}]");
            }
            let variables = self.current.variables(of, &binding.frame);
            if !variables.is_empty() {
                words += &format!(" ({variables})");
            }
            break;
        }
        Ok(words)
    }
}

impl Current<'_> {
    /// The tokens in each place that has some, and the fields of stores.
    fn in_words(&self, contents: &[Contents]) -> Vec<(String, Vec<String>)> {
        let mut marking = Vec::new();
        for (index, copy) in self.layout.copies.iter().enumerate() {
            let colours = &self.program.colours;
            let all = self.tokens(contents, index);
            let node = match copy.owner {
                Owner::Node(node) => &self.program.nodes[node],
                Owner::Store(store) => {
                    let fields = self.program.stores[store].show(colours, &all);
                    let fields = fields
                        .iter()
                        .map(|(name, value)| format!("{name} = {value}"));
                    marking.push((self.copy_path(index), fields.collect()));
                    continue;
                }
            };
            if self.marking[index] == EMPTY {
                continue;
            }
            let words = colours.words(node.colour);
            let tokens = (0..self.len(contents, index)).map(|position| {
                let token = &all[position * copy.stride..(position + 1) * copy.stride];
                let text = colours.show(node.colour, &token[..words]);
                match token.last() {
                    Some(due) if copy.due && *due > 0 => {
                        format!("{text} in {} s", *due as f64 / 1e12)
                    }
                    _ => text,
                }
            });
            marking.push((self.copy_path(index), tokens.collect()));
        }
        marking
    }

    /// The path of a copy's place, station or store, and the copy's number if it has several.
    pub fn copy_path(&self, index: usize) -> String {
        let (path, (first, copies)) = match self.layout.copies[index].owner {
            Owner::Node(node) => (self.program.node_path(node), self.layout.of_node[node]),
            Owner::Store(store) => (self.program.store_path(store), self.layout.of_store[store]),
        };
        match copies {
            1 => path,
            _ => format!("{path} [{}]", index - first),
        }
    }

    fn variables(&self, of: &Transition, frame: &[i64]) -> String {
        let colours = &self.program.colours;
        let variables = of.variables.iter().map(|(name, kind, word)| {
            let words = &frame[*word..word + colours.words(*kind)];
            format!("{name} = {}", colours.show(*kind, words))
        });
        variables.collect::<Vec<_>>().join(", ")
    }
}

/// The values by their new ones.
fn inverse(renaming: &BTreeMap<i64, i64>) -> BTreeMap<i64, i64> {
    renaming
        .iter()
        .map(|(value, renamed)| (*renamed, *value))
        .collect()
}
