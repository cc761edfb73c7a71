//! Paths through a state space in words.

use super::contents::{Contents, EMPTY};
use super::marking::Markings;
use super::step::{Current, Stepper};
use super::{Origin, Path};
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
        let mut at = state;
        while origins[at].0 != u32::MAX {
            let (before, transition) = origins[at];
            self.load(markings.get(before as usize));
            firings.push(self.in_words(transition, markings.get(at))?);
            at = before as usize;
        }
        firings.reverse();
        self.load(markings.get(state));
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
    /// The tokens in each place that has some.
    fn in_words(&self, contents: &[Contents]) -> Vec<(String, Vec<String>)> {
        let mut marking = Vec::new();
        for (index, copy) in self.layout.copies.iter().enumerate() {
            if self.marking[index] == EMPTY {
                continue;
            }
            let node = &self.program.nodes[copy.node];
            let words = self.program.colours.words(node.colour);
            let all = self.tokens(contents, index);
            let tokens = (0..self.len(contents, index)).map(|position| {
                let token = &all[position * copy.stride..(position + 1) * copy.stride];
                let text = self.program.colours.show(node.colour, &token[..words]);
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

    fn copy_path(&self, index: usize) -> String {
        let node = self.layout.copies[index].node;
        let path = self.program.node_path(node);
        match self.layout.of_node[node] {
            (_, 1) => path,
            (first, _) => format!("{path} [{}]", index - first),
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
