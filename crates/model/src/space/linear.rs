//! Linear temporal logic: formulas on every run through a complete state space.
//!
//! A run that comes to a dead marking stays there, as in the Model Checking Contest. A translator
//! makes an automaton of the formula's negation. The formula fails if the product of state space
//! and automaton has a cycle that meets all accepting sets (Vardi and Wolper, LICS 1986).
//!
//! Not modelled: fairness.

use std::str::SplitAsciiWhitespace;

use super::components::Components;
use super::logic::{Formula, MOST_LEVELS, PATHS, Space, read, split, within, words};
use super::predicate::shortened;
use crate::program::Program;

/// Operators of one formula.
const UNARY: [&str; 3] = ["G", "F", "X"];
/// Operators and conditions of one formula. LBT 1.2.2 loses some beyond 32: of random formulas with
/// 40, one of eight automata was wrong, and with 30 none of 50.
const MOST_WORDS: usize = 30;
/// Accepting sets of its automaton.
const MOST_SETS: usize = 64;

/// A linear formula.
pub struct Linear {
    /// Formulas without operators on runs.
    pub atoms: Vec<Formula>,
    /// It accepts the runs on which the formula fails.
    automaton: Automaton,
}

/// A formula as a translator takes it.
#[derive(Default)]
struct Prefix {
    texts: Vec<String>,
    atoms: Vec<Formula>,
}

/// A generalised Büchi automaton.
struct Automaton {
    /// The states where a run begins.
    initial: Vec<usize>,
    /// By state: the arcs that leave it, and the accepting sets to which it belongs.
    arcs: Vec<Vec<(Guard, usize)>>,
    sets: Vec<u64>,
    /// All accepting sets.
    all: u64,
}

/// A condition on the atoms that hold.
enum Guard {
    True,
    False,
    Atom(usize),
    Not(Box<Guard>),
    Both(Box<Guard>, Box<Guard>),
    Either(Box<Guard>, Box<Guard>),
}

/// Returns true if a text is a formula without path quantifiers.
pub fn is_linear(text: &str) -> bool {
    let quantified = |(word, bracket): (&str, bool)| bracket && PATHS.contains(&word);
    let on_runs = |(word, bracket): (&str, bool)| word == "U" || bracket && UNARY.contains(&word);
    !words(text).any(quantified) && words(text).any(on_runs)
}

/// The negation of a formula in the notation of translators: operators come first, and conditions
/// are p0, p1 and so on.
///
/// # Errors
/// It is none.
pub fn negation(program: &mut Program, text: &str) -> Result<String, String> {
    let formula = format!("! {}", Prefix::read(program, text)?.0);
    match formula.split(' ').count() {
        words if words > MOST_WORDS => Err(format!(
            "it has {words} operators and conditions: expected at most {MOST_WORDS}, with \
             conditions that no operator parts as one"
        )),
        _ => Ok(formula),
    }
}

impl Prefix {
    fn read(program: &mut Program, text: &str) -> Result<(String, Vec<Formula>), String> {
        let mut prefix = Prefix::default();
        let formula = prefix.formula(program, text, MOST_LEVELS)?;
        Ok((formula, prefix.atoms))
    }

    fn formula(
        &mut self,
        program: &mut Program,
        text: &str,
        levels: u32,
    ) -> Result<String, String> {
        let text = text.trim();
        let Some(levels) = levels.checked_sub(1) else {
            return Err(format!(
                "expected at most {MOST_LEVELS} levels of operators"
            ));
        };
        // A part without operators on runs is one condition: translators take few.
        let is_temporal = is_linear(text);
        for (word, sign) in [(" or ", "|"), (" and ", "&")] {
            let parts = split(text, word);
            if is_temporal && parts.len() > 1 {
                let (on_runs, on_markings): (Vec<&str>, Vec<&str>) =
                    parts.iter().partition(|part| is_linear(part));
                let mut parts = on_runs;
                let others = on_markings.join(word);
                parts.extend((!others.is_empty()).then_some(others.as_str()));
                let mut formula = self.formula(program, parts[0], levels)?;
                for part in &parts[1..] {
                    let other = self.formula(program, part, levels)?;
                    formula = format!("{sign} {formula} {other}");
                }
                return Ok(formula);
            }
        }
        if let (true, Some(rest)) = (is_temporal, text.strip_prefix("not ")) {
            return Ok(format!("! {}", self.formula(program, rest, levels)?));
        }
        for operator in UNARY {
            let rest = text.strip_prefix(operator);
            if let Some(inner) = rest.and_then(|it| within(it, '(', ')')) {
                let inner = self.formula(program, inner, levels)?;
                return Ok(format!("{operator} {inner}"));
            }
        }
        let brackets = within(text, '[', ']').or_else(|| within(text, '(', ')'));
        if let (true, Some(inner)) = (is_temporal, brackets) {
            return match split(inner, " U ")[..] {
                [one, other] => {
                    let one = self.formula(program, one, levels)?;
                    let other = self.formula(program, other, levels)?;
                    Ok(format!("U {one} {other}"))
                }
                [only] => self.formula(program, only, levels),
                _ => Err(format!(
                    "{:?}: expected brackets around each f U g",
                    shortened(inner)
                )),
            };
        }
        if is_temporal {
            return Err(format!(
                "{:?}: expected G(f), F(f), X(f), (f U g), dead, fires(\"transition\"), or a \
                 condition on the marking such as queue >= 3",
                shortened(text)
            ));
        }
        let known = self.texts.iter().position(|it| it == text);
        let number = known.unwrap_or(self.texts.len());
        if known.is_none() {
            self.atoms.push(read(program, text, levels)?);
            self.texts.push(text.to_owned());
        }
        Ok(format!("p{number}"))
    }
}

impl Linear {
    /// Reads a formula, and what a translator wrote about its [`negation`].
    ///
    /// # Errors
    /// It is no formula, or that is no automaton in the format of LBT.
    pub fn read(program: &mut Program, text: &str, automaton: &str) -> Result<Linear, String> {
        let (_, atoms) = Prefix::read(program, text)?;
        let written = automaton.split_ascii_whitespace();
        let automaton = Automaton::read(written, atoms.len());
        let automaton =
            automaton.ok_or("its translator wrote something else than an automaton of LBT")?;
        Ok(Linear { atoms, automaton })
    }
}

impl Automaton {
    fn read(mut written: SplitAsciiWhitespace<'_>, atoms: usize) -> Option<Automaton> {
        let states: usize = written.next()?.parse().ok()?;
        let sets: u32 = written.next()?.parse().ok()?;
        if sets as usize > MOST_SETS {
            return None;
        }
        let mut names = Vec::new();
        let mut automaton = Automaton {
            initial: Vec::new(),
            arcs: Vec::new(),
            sets: Vec::new(),
            all: u64::MAX.checked_shr(64 - sets).unwrap_or(0),
        };
        for state in 0..states {
            names.push(written.next()?);
            if written.next()? == "1" {
                automaton.initial.push(state);
            }
            let mut own = 0;
            for set in written.by_ref().take_while(|it| *it != "-1") {
                own |= 1_u64.checked_shl(set.parse().ok()?)?;
            }
            automaton.sets.push(own);
            let mut arcs = Vec::new();
            loop {
                match written.next()? {
                    "-1" => break,
                    target => arcs.push((Guard::read(&mut written, atoms)?, target)),
                }
            }
            automaton.arcs.push(Vec::new());
            // The names of targets until all are known.
            for (guard, target) in arcs {
                automaton.arcs[state].push((guard, target.parse().ok()?));
            }
        }
        let number = |name: usize| names.iter().position(|it| it.parse() == Ok(name));
        for (_, target) in automaton.arcs.iter_mut().flatten() {
            *target = number(*target)?;
        }
        Some(automaton)
    }
}

impl Guard {
    fn read(written: &mut SplitAsciiWhitespace<'_>, atoms: usize) -> Option<Guard> {
        let word = written.next()?;
        let mut inner = || Guard::read(written, atoms).map(Box::new);
        Some(match word {
            "t" => Guard::True,
            "f" => Guard::False,
            "!" => Guard::Not(inner()?),
            "&" => Guard::Both(inner()?, inner()?),
            "|" => Guard::Either(inner()?, inner()?),
            name => {
                let number: usize = name.strip_prefix('p')?.parse().ok()?;
                (number < atoms).then_some(Guard::Atom(number))?
            }
        })
    }

    fn holds(&self, atoms: u64) -> bool {
        match self {
            Guard::True => true,
            Guard::False => false,
            Guard::Atom(number) => atoms >> number & 1 == 1,
            Guard::Not(inner) => !inner.holds(atoms),
            Guard::Both(one, other) => one.holds(atoms) && other.holds(atoms),
            Guard::Either(one, other) => one.holds(atoms) || other.holds(atoms),
        }
    }
}

/// The part of the product that a run can reach: markings with states of the automaton.
#[derive(Default)]
struct Product {
    nodes: Vec<(u32, u32)>,
    /// The node from which each was first reached.
    before: Vec<u32>,
    first: Vec<usize>,
    target: Vec<u32>,
}

impl Product {
    fn of(space: &Space<'_>, automaton: &Automaton, atoms: &[u64]) -> Product {
        let width = automaton.arcs.len();
        let mut numbers = vec![u32::MAX; atoms.len() * width];
        let mut product = Product::default();
        for &state in &automaton.initial {
            product.number(&mut numbers[state], (0, state as u32), 0);
        }
        let mut at = 0;
        while let Some(&(marking, state)) = product.nodes.get(at) {
            product.first.push(product.target.len());
            let after = space.after(marking as usize);
            let after = if after.is_empty() { &[marking] } else { after };
            for (guard, to) in &automaton.arcs[state as usize] {
                if !guard.holds(atoms[marking as usize]) {
                    continue;
                }
                for &next in after {
                    let number = &mut numbers[next as usize * width + to];
                    let target = product.number(number, (next, *to as u32), at);
                    product.target.push(target);
                }
            }
            at += 1;
        }
        product.first.push(product.target.len());
        product
    }

    fn number(&mut self, number: &mut u32, node: (u32, u32), before: usize) -> u32 {
        if *number == u32::MAX {
            *number = self.nodes.len() as u32;
            self.nodes.push(node);
            self.before.push(before as u32);
        }
        *number
    }

    /// A run that the automaton accepts: the way to a cycle and once around it, and the number of
    /// steps around it.
    fn accepted(&self, automaton: &Automaton) -> Option<(Vec<usize>, usize)> {
        let components = Components::of(&self.first, &self.target);
        let set = |node: usize| automaton.sets[self.nodes[node].1 as usize];
        let mut sets = vec![0; components.number];
        let mut cyclic = vec![false; components.number];
        for node in 0..self.nodes.len() {
            let own = components.at(node);
            sets[own] |= set(node);
            cyclic[own] |= self
                .after(node)
                .iter()
                .any(|&to| components.at(to as usize) == own);
        }
        let accepts = |node: &usize| {
            let own = components.at(*node);
            cyclic[own] && sets[own] == automaton.all
        };
        let begin = (0..self.nodes.len()).find(accepts)?;
        let mut way = vec![begin];
        while let Some(&node) = way.last()
            && self.before[node] as usize != node
        {
            way.push(self.before[node] as usize);
        }
        way.reverse();
        let before = way.len();
        let within = |node: usize| components.at(node) == components.at(begin);
        let mut seen = set(begin);
        while seen != automaton.all {
            let last = *way.last()?;
            let part = self.way(last, within, |node| set(node) & !seen != 0)?;
            part.iter().for_each(|&node| seen |= set(node));
            way.extend(part);
        }
        way.extend(self.way(*way.last()?, within, |node| node == begin)?);
        let around = way.len() - before;
        Some((way, around))
    }

    /// The nodes after one, on a shortest way to a goal.
    fn way(
        &self,
        from: usize,
        within: impl Fn(usize) -> bool,
        goal: impl Fn(usize) -> bool,
    ) -> Option<Vec<usize>> {
        let mut before = std::collections::HashMap::new();
        let (mut queue, mut at) = (vec![from], 0);
        while at < queue.len() {
            let node = queue[at];
            at += 1;
            for &next in self.after(node) {
                let next = next as usize;
                if !within(next) || before.contains_key(&next) {
                    continue;
                }
                before.insert(next, node);
                if goal(next) {
                    let mut way = vec![next];
                    while let Some(&earlier) = way.last().and_then(|it| before.get(it))
                        && earlier != from
                    {
                        way.push(earlier);
                    }
                    way.reverse();
                    return Some(way);
                }
                queue.push(next);
            }
        }
        None
    }

    fn after(&self, node: usize) -> &[u32] {
        &self.target[self.first[node]..self.first[node + 1]]
    }
}

impl Space<'_> {
    /// A run on which a formula fails, as markings; none if there is none. With it comes the number
    /// of steps at its end that repeat for ever. `condition` is the number of its first condition.
    ///
    /// # Errors
    /// The product with its automaton can have too many nodes.
    pub fn counterexample(
        &self,
        linear: &Linear,
        condition: &mut usize,
    ) -> Result<Option<(Vec<usize>, usize)>, String> {
        let mut atoms = vec![0_u64; self.states()];
        for (bit, atom) in linear.atoms.iter().enumerate() {
            let holding = self.holding(atom, condition);
            for (atoms, holds) in atoms.iter_mut().zip(holding) {
                *atoms |= u64::from(holds) << bit;
            }
        }
        let states = linear.automaton.arcs.len();
        if atoms.len().saturating_mul(states) >= u32::MAX as usize {
            return Err(format!(
                "the automaton of the formula has {states} states: it and {} markings are too \
                 many together",
                atoms.len()
            ));
        }
        let product = Product::of(self, &linear.automaton, &atoms);
        let Some((way, around)) = product.accepted(&linear.automaton) else {
            return Ok(None);
        };
        let mut way: Vec<usize> = way.iter().map(|&it| product.nodes[it].0 as usize).collect();
        // Nothing fires in a dead marking, where the run stays.
        let is_dead = |state: usize| self.after(state).is_empty();
        let around = if way.last().is_some_and(|&it| is_dead(it)) {
            0
        } else {
            around
        };
        way.dedup_by(|next, state| next == state && is_dead(*state));
        Ok(Some((way, around)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::logic::Backwards;
    use crate::space::logic::tests::program;
    use crate::space::{Arcs, Asked};

    /// LBT 1.2.2 about `! G F p0`: from some marking on, p0 never holds.
    const NOT_AGAIN: &str = "4 1 0 1 -1 1 ! p0 3 t -1 1 0 0 -1 2 ! p0 -1 2 0 0 -1 2 ! p0 -1 \
                             3 0 -1 1 ! p0 3 t -1";

    #[test]
    fn formulas_get_the_notation_of_translators_or_are_refused() {
        let mut program = program();
        for (text, expected) in [
            ("G(F(a == 0))", "! G F p0"),
            ("F(dead and b == 2) or G(a >= 1)", "! | F p0 G p1"),
            ("G(a == 2 and dead or F(a == 2) or b == 1)", "! G | F p0 p1"),
            (
                "G(F(a == 2) and (b == 1 or X(a == 2)))",
                "! G & F p0 | X p0 p1",
            ),
            (
                "[not dead U (X(fires(\"go\")) U b == 1)]",
                "! U p0 U X p1 p2",
            ),
            ("(a >= 1 and b == 0 U dead)", "! U p0 p1"),
        ] {
            assert!(is_linear(text), "{text}");
            assert_eq!(negation(&mut program, text).as_deref(), Ok(expected));
        }
        for text in [
            "AG(a == 1)",
            "A[a == 1 U dead]",
            "a == 1",
            "dead",
            "AG(F(dead))",
        ] {
            assert!(!is_linear(text), "{text}");
        }
        let many: Vec<String> = (0..11).map(|it| format!("F(a == {it})")).collect();
        let deep = format!("{}dead{}", "G(".repeat(300), ")".repeat(300));
        for (text, message) in [
            ("G(c == 1)", "c"),
            ("G(a == 1", "expected G(f)"),
            ("[a == 1 U a == 0 U dead]", "expected brackets"),
            ("F(fires(went))", "no transition"),
            (&many.join(" or "), "at most 30"),
            (&deep, "at most 200 levels"),
        ] {
            let refused = negation(&mut program, text).err().unwrap();
            assert!(refused.contains(message), "{text}: {refused}");
        }
    }

    /// A run in a graph on which p0 holds only a number of times.
    fn again(after: &[&[u32]], holds: &[bool]) -> Option<(Vec<usize>, usize)> {
        let mut arcs = Arcs::default();
        for targets in after {
            arcs.first.push(arcs.target.len());
            arcs.target.extend(*targets);
        }
        arcs.first.push(arcs.target.len());
        let space = Space {
            arcs: &arcs,
            backwards: Backwards::of(&arcs),
            conditions: vec![holds.to_vec()],
        };
        let formula = Linear::read(&mut program(), "G(F(a == 0))", NOT_AGAIN).unwrap();
        space.counterexample(&formula, &mut 0).unwrap()
    }

    #[test]
    fn a_counterexample_ends_in_a_cycle_or_in_a_dead_marking() {
        // 0 -> 1 -> 0, and 1 -> 2, which is dead.
        let graph: &[&[u32]] = &[&[1], &[0, 2], &[]];
        assert_eq!(again(graph, &[true, false, true]), None);
        assert_eq!(again(graph, &[true, true, false]), Some((vec![0, 1, 2], 0)));
        let (way, around) = again(graph, &[false, false, true]).unwrap();
        assert_eq!(around, 2);
        assert!(
            way.ends_with(&[0, 1, 0]) || way.ends_with(&[1, 0, 1]),
            "{way:?}"
        );
        // A marking that a firing does not change is no dead one.
        let (way, around) = again(&[&[1], &[1]], &[true, false]).unwrap();
        assert!(way.ends_with(&[1, 1]) && around == 1, "{way:?}");
    }

    #[test]
    fn something_else_than_an_automaton_is_refused() {
        for written in [
            "",
            "1",
            "1 99",
            "1 0 0 1 -1 0 p1 -1",
            "1 0 0 1 -1 5 t -1",
            "x y",
            "-1",
        ] {
            let asked = Asked {
                formula: "G(a == 0)".to_owned(),
                automaton: Some(written.to_owned()),
            };
            let refused = Formula::read(&mut program(), &asked).err().unwrap();
            assert!(refused.0[0].message.contains("LBT"), "{written}");
        }
    }
}
