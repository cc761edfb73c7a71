//! Computation tree logic: formulas on the ways through a complete state space.
//!
//! A way ends only in a dead marking, so `AX` holds there for any formula, and `EX` for none. This
//! is the semantics of the Model Checking Contest. All operators become E X f, E (f U g),
//! A (f U g) and E G f. Each is computed once, backwards over the arcs (Clarke, Emerson and Sistla, TOPLAS
//! 1986).
//!
//! Not modelled: fairness. Formulas without path quantifiers are those of [`linear`](super::linear).

use super::Arcs;
use super::Asked;
use super::linear::{self, Linear};
use super::predicate::{Predicate, shortened};
use crate::error::{Fault, Faults};
use crate::outcome::Failure;
use crate::program::{Program, transition_of};

/// A formula.
pub enum Formula {
    True,
    /// A condition on the marking.
    Marking(Predicate),
    /// No transition can fire.
    Dead,
    /// A transition can fire.
    Fires(u16),
    Not(Box<Formula>),
    Both(Box<Formula>, Box<Formula>),
    Either(Box<Formula>, Box<Formula>),
    /// It holds after some firing.
    Next(Box<Formula>),
    /// On some way, the first holds until the second does.
    Until(Box<Formula>, Box<Formula>),
    /// On all ways, the first holds until the second does.
    UntilOnAll(Box<Formula>, Box<Formula>),
    /// On some way, it holds always.
    Always(Box<Formula>),
    /// It holds on all runs; such a formula is in no other one.
    OnRuns(Linear),
}

use Formula::{
    Always, Both, Dead, Either, Fires, Marking, Next, Not, OnRuns, True, Until, UntilOnAll,
};

/// Most levels of operators in each other: the reading of each takes some of the stack.
pub const MOST_LEVELS: u32 = 200;
/// Operators of one formula.
const UNARY: [&str; 6] = ["AG", "AF", "AX", "EG", "EF", "EX"];
/// Words that say on which ways something holds.
pub const PATHS: [&str; 8] = ["A", "E", "AG", "AF", "AX", "EG", "EF", "EX"];

impl Formula {
    /// Reads a formula; adds texts of its conditions to the program.
    ///
    /// # Errors
    /// It is none.
    pub fn read(program: &mut Program, asked: &Asked) -> Result<Formula, Faults> {
        let text = &asked.formula;
        let formula = match &asked.automaton {
            None => read(program, text, MOST_LEVELS),
            Some(automaton) => Linear::read(program, text, automaton).map(OnRuns),
        };
        formula.map_err(|message| refused(text, &message))
    }

    /// Calls a function with each condition on markings, in order.
    pub fn conditions<'a>(&'a self, see: &mut impl FnMut(&'a Predicate)) {
        match self {
            Marking(condition) => see(condition),
            True | Dead | Fires(_) => {}
            Not(only) | Next(only) | Always(only) => only.conditions(see),
            Both(one, other) | Either(one, other) | Until(one, other) | UntilOnAll(one, other) => {
                one.conditions(see);
                other.conditions(see);
            }
            OnRuns(linear) => linear.atoms.iter().for_each(|it| it.conditions(see)),
        }
    }
}

fn refused(text: &str, message: &str) -> Faults {
    Faults(vec![Fault {
        path: Vec::new(),
        column: 0,
        message: format!("holds = {:?}: {message}", shortened(text)),
    }])
}

/// The negation of a formula without path quantifiers, for a translator; none of any other text.
///
/// # Errors
/// It is no formula.
pub fn negation(program: &Program, text: &str) -> Result<Option<String>, Faults> {
    if !linear::is_linear(text) {
        return Ok(None);
    }
    let negation = linear::negation(&mut program.clone(), text);
    negation
        .map(Some)
        .map_err(|message| refused(text, &message))
}

/// Reads a formula of at most some levels of operators.
pub fn read(program: &mut Program, text: &str, levels: u32) -> Result<Formula, String> {
    let text = text.trim();
    let Some(levels) = levels.checked_sub(1) else {
        return Err(format!(
            "expected at most {MOST_LEVELS} levels of operators"
        ));
    };
    for (word, make) in [(" or ", Either as fn(_, _) -> _), (" and ", Both)] {
        // A condition without operators is read as a whole.
        let parts = split(text, word);
        if is_temporal(text) && parts.len() > 1 {
            let parts = parts.into_iter().map(|part| read(program, part, levels));
            return Ok(joined(parts.collect::<Result<_, _>>()?, make));
        }
    }
    if let (true, Some(rest)) = (is_temporal(text), text.strip_prefix("not ")) {
        return Ok(not(read(program, rest, levels)?));
    }
    for operator in UNARY {
        if let Some(inner) = text
            .strip_prefix(operator)
            .and_then(|it| within(it, '(', ')'))
        {
            let inner = read(program, inner, levels)?;
            return Ok(match operator {
                "AG" => not(reached(not(inner))),
                "AF" => not(Always(Box::new(not(inner)))),
                "AX" => not(Next(Box::new(not(inner)))),
                "EG" => Always(Box::new(inner)),
                "EF" => reached(inner),
                _ => Next(Box::new(inner)),
            });
        }
    }
    for quantifier in ["A", "E"] {
        let Some(inner) = text.strip_prefix(quantifier) else {
            continue;
        };
        let Some(inner) = within(inner, '[', ']').or_else(|| within(inner, '(', ')')) else {
            continue;
        };
        let [one, other] = split(inner, " U ")[..] else {
            return Err(format!("expected {quantifier}[f U g]"));
        };
        let one = Box::new(read(program, one, levels)?);
        let other = Box::new(read(program, other, levels)?);
        return Ok(match quantifier {
            "E" => Until(one, other),
            _ => UntilOnAll(one, other),
        });
    }
    if let (true, Some(inner)) = (is_temporal(text), within(text, '(', ')')) {
        return read(program, inner, levels);
    }
    if linear::is_linear(text) {
        return Err(format!(
            "{:?}: expected A or E at each operator, or at none",
            shortened(text)
        ));
    }
    if text == "dead" {
        return Ok(Dead);
    }
    let name = text.strip_prefix("fires");
    if let Some(name) = name.and_then(|it| within(it, '(', ')')) {
        let index = transition_of(program, name.trim().trim_matches('"'))?;
        return Ok(Fires(index as u16));
    }
    if is_temporal(text) {
        return Err(format!(
            "{:?}: expected AG(f), AF(f), AX(f), EG(f), EF(f), EX(f), A[f U g], E[f U g], dead, \
             fires(\"transition\"), or a condition on the marking such as queue >= 3",
            shortened(text)
        ));
    }
    Ok(Marking(Predicate::read(program, text)?))
}

fn not(formula: Formula) -> Formula {
    match formula {
        Not(inner) => *inner,
        other => Not(Box::new(other)),
    }
}

/// E F f.
fn reached(formula: Formula) -> Formula {
    Until(Box::new(True), Box::new(formula))
}

/// Returns true if a text has words of formulas, outside quotes.
fn is_temporal(text: &str) -> bool {
    words(text).any(|(word, bracket)| {
        ["U", "dead"].contains(&word) || bracket && (PATHS.contains(&word) || word == "fires")
    })
}

/// The words of a text outside quotes, each with whether a bracket opens after it. `U` is one
/// between spaces only: places can have this name.
pub fn words(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let is_inner = |it: char| it.is_alphanumeric() || it == '_';
    text.split('"').step_by(2).flat_map(move |part| {
        let words = part
            .split(move |it| !is_inner(it))
            .filter(|it| !it.is_empty());
        let after = move |word: &str| {
            let end = word.as_ptr() as usize - part.as_ptr() as usize + word.len();
            &part[end..]
        };
        let named = move |word: &&str| *word != "U" || is_between_formulas(part, after(word));
        words
            .filter(named)
            .map(move |word| (word, after(word).trim_start().starts_with(['(', '['])))
    })
}

/// Returns true if the rest of a part after `U` follows a space, and begins with one and a formula.
fn is_between_formulas(part: &str, rest: &str) -> bool {
    let before = &part[..part.len() - rest.len() - 1];
    let follows = rest.trim_start();
    before.ends_with(' ')
        && rest.starts_with(' ')
        && !follows.starts_with(['=', '<', '>', '!', '+', '-', '*', '/', '%'])
        && !["and ", "or "].iter().any(|it| follows.starts_with(it))
}

/// Formulas joined by an operator, in a tree of few levels.
fn joined(mut parts: Vec<Formula>, make: fn(Box<Formula>, Box<Formula>) -> Formula) -> Formula {
    let rest = parts.split_off(parts.len().div_ceil(2));
    let one = match parts.len() {
        1 => parts.remove(0),
        _ => joined(parts, make),
    };
    match rest.len() {
        0 => one,
        _ => make(Box::new(one), Box::new(joined(rest, make))),
    }
}

/// Splits a text at a word outside brackets and quotes.
pub fn split<'a>(text: &'a str, word: &str) -> Vec<&'a str> {
    let (mut depth, mut quoted) = (0, false);
    let (mut parts, mut first) = (Vec::new(), 0);
    for (at, character) in text.char_indices() {
        match character {
            '"' => quoted = !quoted,
            '(' | '[' if !quoted => depth += 1,
            ')' | ']' if !quoted => depth -= 1,
            ' ' if depth == 0 && !quoted && at >= first && text[at..].starts_with(word) => {
                parts.push(&text[first..at]);
                first = at + word.len();
            }
            _ => {}
        }
    }
    parts.push(&text[first..]);
    parts
}

/// The text in a pair of brackets that are its first and last character.
pub fn within(text: &str, open: char, close: char) -> Option<&str> {
    let text = text.trim();
    let inner = text.strip_prefix(open)?.strip_suffix(close)?;
    let mut depth = 0;
    for character in inner.chars() {
        depth += i32::from(character == open) - i32::from(character == close);
        if depth < 0 {
            return None;
        }
    }
    Some(inner)
}

/// A state space backwards: the arcs by target.
pub struct Backwards {
    first: Vec<usize>,
    source: Vec<u32>,
}

impl Backwards {
    pub(super) fn of(arcs: &Arcs) -> Backwards {
        let states = arcs.first.len() - 1;
        let mut first = vec![0; states + 1];
        for &target in &arcs.target {
            first[target as usize + 1] += 1;
        }
        for state in 0..states {
            first[state + 1] += first[state];
        }
        let mut next = first.clone();
        let mut source = vec![0; arcs.target.len()];
        for state in 0..states {
            for &target in &arcs.target[arcs.first[state]..arcs.first[state + 1]] {
                source[next[target as usize]] = state as u32;
                next[target as usize] += 1;
            }
        }
        Backwards { first, source }
    }

    fn before(&self, state: usize) -> &[u32] {
        &self.source[self.first[state]..self.first[state + 1]]
    }
}

/// A complete state space, and the markings in which each condition holds, in order.
pub struct Space<'a> {
    pub(super) arcs: &'a Arcs,
    pub backwards: Backwards,
    pub conditions: Vec<Vec<bool>>,
}

impl Space<'_> {
    pub fn states(&self) -> usize {
        self.arcs.first.len() - 1
    }

    pub fn after(&self, state: usize) -> &[u32] {
        &self.arcs.target[self.arcs.first[state]..self.arcs.first[state + 1]]
    }

    /// The markings in which a formula holds; `condition` is the number of its first condition.
    pub fn holding(&self, formula: &Formula, condition: &mut usize) -> Vec<bool> {
        let mut pair = |one, other| (self.holding(one, condition), self.holding(other, condition));
        match formula {
            Marking(_) => {
                *condition += 1;
                self.conditions[*condition - 1].clone()
            }
            True => vec![true; self.states()],
            Dead => (0..self.states())
                .map(|state| self.after(state).is_empty())
                .collect(),
            Fires(transition) => {
                let labels = |state| self.arcs.first[state]..self.arcs.first[state + 1];
                let fires = |state| self.arcs.label[labels(state)].contains(transition);
                (0..self.states()).map(fires).collect()
            }
            Not(inner) => {
                let mut holding = self.holding(inner, condition);
                holding.iter_mut().for_each(|it| *it = !*it);
                holding
            }
            Both(one, other) => {
                let (one, other) = pair(one, other);
                one.iter()
                    .zip(other)
                    .map(|(one, other)| *one && other)
                    .collect()
            }
            Either(one, other) => {
                let (one, other) = pair(one, other);
                one.iter()
                    .zip(other)
                    .map(|(one, other)| *one || other)
                    .collect()
            }
            Next(inner) => {
                let inner = self.holding(inner, condition);
                let holds = |state| self.after(state).iter().any(|&it| inner[it as usize]);
                (0..self.states()).map(holds).collect()
            }
            Until(one, other) => {
                let (one, other) = pair(one, other);
                self.until(&one, other)
            }
            UntilOnAll(one, other) => {
                let (one, other) = pair(one, other);
                let (without, broken, _) = self.failing(&one, &other);
                let failing = without.iter().zip(broken);
                failing
                    .map(|(without, broken)| !without && !broken)
                    .collect()
            }
            Always(inner) => {
                let inner = self.holding(inner, condition);
                self.always(inner)
            }
            // It is asked of the first marking only.
            OnRuns(_) => Vec::new(),
        }
    }

    /// Where A (f U g) fails: markings with a way on which g never holds, and with one on which f
    /// ends before. The last set has the markings where f ends.
    fn failing(&self, one: &[bool], other: &[bool]) -> (Vec<bool>, Vec<bool>, Vec<bool>) {
        let not: Vec<bool> = other.iter().map(|it| !it).collect();
        let neither = one.iter().zip(other).map(|(one, other)| !one && !other);
        let neither: Vec<bool> = neither.collect();
        let broken = self.until(&not, neither.clone());
        (self.always(not), broken, neither)
    }

    fn until(&self, one: &[bool], mut holding: Vec<bool>) -> Vec<bool> {
        let mut open: Vec<usize> = (0..holding.len()).filter(|&it| holding[it]).collect();
        while let Some(state) = open.pop() {
            for &before in self.backwards.before(state) {
                let before = before as usize;
                if one[before] && !holding[before] {
                    holding[before] = true;
                    open.push(before);
                }
            }
        }
        holding
    }

    fn always(&self, mut holding: Vec<bool>) -> Vec<bool> {
        // Arcs of each marking to those in which it holds.
        let number = |state: usize| self.after(state).iter().filter(|&&it| holding[it as usize]);
        let mut ways: Vec<usize> = (0..holding.len())
            .map(|state| number(state).count())
            .collect();
        let ends = |state: usize, ways: usize| ways == 0 && !self.after(state).is_empty();
        let mut open: Vec<usize> = (0..holding.len())
            .filter(|&state| holding[state] && ends(state, ways[state]))
            .collect();
        open.iter().for_each(|&state| holding[state] = false);
        while let Some(state) = open.pop() {
            for &before in self.backwards.before(state) {
                let before = before as usize;
                ways[before] -= 1;
                if holding[before] && ends(before, ways[before]) {
                    holding[before] = false;
                    open.push(before);
                }
            }
        }
        holding
    }

    /// A way that shows why a formula holds in the first marking, or why it does not: the markings
    /// on it. None if it takes more than one way.
    pub fn witness(&self, formula: &Formula, condition: usize) -> Option<Vec<usize>> {
        let mut numbers = condition;
        match formula {
            Not(inner) => self.witness(inner, condition),
            Either(one, other) => {
                let holds = self.holding(one, &mut numbers)[0];
                match holds {
                    true => self.witness(one, condition),
                    false => self.witness(other, numbers),
                }
            }
            Next(inner) => {
                let inner = self.holding(inner, &mut numbers);
                let next = self.after(0).iter().find(|&&it| inner[it as usize])?;
                Some(vec![0, *next as usize])
            }
            Until(one, other) => {
                let one = self.holding(one, &mut numbers);
                let other = self.holding(other, &mut numbers);
                self.shortest(&one, &other)
            }
            UntilOnAll(one, other) => {
                let one = self.holding(one, &mut numbers);
                let other = self.holding(other, &mut numbers);
                let (without, broken, neither) = self.failing(&one, &other);
                let not: Vec<bool> = other.iter().map(|it| !it).collect();
                match (broken[0], without[0]) {
                    (true, _) => self.shortest(&not, &neither),
                    (_, true) => self.endless(&without),
                    _ => None,
                }
            }
            Always(_) => {
                let holding = self.holding(formula, &mut numbers);
                self.endless(&holding)
            }
            True | Marking(_) | Dead | Fires(_) | Both(..) | OnRuns(_) => None,
        }
    }

    /// A shortest way from the first marking to one of `goal`, through markings of `through`.
    fn shortest(&self, through: &[bool], goal: &[bool]) -> Option<Vec<usize>> {
        let mut before = vec![u32::MAX; goal.len()];
        before[0] = 0;
        let (mut queue, mut at) = (vec![0], 0);
        while at < queue.len() {
            let state = queue[at];
            at += 1;
            if goal[state] {
                let mut way = vec![state];
                while let Some(&last) = way.last().filter(|it| **it != 0) {
                    way.push(before[last] as usize);
                }
                way.reverse();
                return Some(way);
            }
            if !through[state] {
                continue;
            }
            for &next in self.after(state) {
                if before[next as usize] == u32::MAX {
                    before[next as usize] = state as u32;
                    queue.push(next as usize);
                }
            }
        }
        None
    }

    /// A way from the first marking within some, to a dead marking or around a cycle.
    fn endless(&self, within: &[bool]) -> Option<Vec<usize>> {
        let mut way = vec![0];
        let mut seen = vec![false; within.len()];
        while within[*way.last()?] && !seen[*way.last()?] {
            let state = *way.last()?;
            seen[state] = true;
            match self.after(state).iter().find(|&&it| within[it as usize]) {
                Some(&next) => way.push(next as usize),
                None => break,
            }
        }
        (within[0]).then_some(way)
    }
}

/// The formulas of a question.
pub fn read_all(program: &mut Program, asked: &[Asked]) -> Result<Vec<Formula>, Failure> {
    let formulas = asked.iter().map(|asked| Formula::read(program, asked));
    formulas
        .collect::<Result<_, _>>()
        .map_err(Failure::Document)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::{Language, compile, parse, read as read_document};
    use proptest::prelude::*;

    fn formula(text: &str) -> Result<Formula, Faults> {
        let asked = Asked {
            formula: text.to_owned(),
            automaton: None,
        };
        Formula::read(&mut program(), &asked)
    }

    pub fn program() -> Program {
        let text = r#"
            [places.a]
            initial = 2
            [places.b]
            [transitions.go]
            take = "a"
            put = "b"
        "#;
        let value = parse(text, Language::Toml).unwrap();
        compile(&read_document(&value).unwrap(), "net").unwrap()
    }

    #[test]
    fn formulas_are_read_or_refused_with_what_was_expected() {
        for text in [
            "AG(a + b == 2)",
            "AG(a >= 1 and b <= 1 or dead)",
            "AG((a == 2 or b >= 1) and EF(dead))",
            "not EF(a == 0 and not dead)",
            "A[a >= 1 U dead] and E(a > 0 U b == 2)",
            "AG(not fires(\"go\") or a >= 1)",
            &vec!["fires(\"go\")"; 3000].join(" or "),
            &format!("{}dead{}", "A[true U ".repeat(100), "]".repeat(100)),
            "a == 2",
        ] {
            let refused = formula(text).err();
            assert!(refused.is_none(), "{text}: {refused:?}");
        }
        for (text, message) in [
            ("AG(c == 1)", "c"),
            ("AG(fires(went))", "no transition is called \"went\""),
            ("A[a == 1]", "expected A[f U g]"),
            ("AG(a == 1", "expected AG(f)"),
            ("GF(dead)", "expected AG(f)"),
            (
                &format!("{}dead{}", "AG(".repeat(3000), ")".repeat(3000)),
                "at most 200 levels",
            ),
            (
                &format!("{}dead", "not ".repeat(3000)),
                "at most 200 levels",
            ),
        ] {
            let refused = formula(text).err().unwrap();
            let said = &refused.0[0].message;
            assert!(
                said.contains(message) && said.starts_with("holds = "),
                "{text}: {said}"
            );
        }
    }

    #[test]
    fn places_may_be_called_as_operators_are() {
        for text in [
            "U == 1",
            "A + G >= 1",
            "E < 2 or 2 == U and X == 1",
            "\"AG(U )\" == 1",
        ] {
            assert!(!is_temporal(text) && !linear::is_linear(text), "{text}");
        }
        assert!(is_temporal("A [a == 1 U b == 1]") && is_temporal("EF (b == 1)"));
        assert!(linear::is_linear("[U == 1 U U == 2]") && !linear::is_linear("E[a == 1 U b == 1]"));
    }

    /// The sets of a graph from their definitions. E (f U g) is the least set g or f and
    /// E X E (f U g). E G f is the largest set f and (no arc, or E X E G f). A (f U g) is the
    /// least set g or f and (some arc, and A X A (f U g)).
    fn by_definition(after: &[Vec<usize>], one: &[bool], other: &[bool]) -> [Vec<bool>; 3] {
        let mut until = vec![false; after.len()];
        let mut on_all = vec![false; after.len()];
        let mut always = vec![true; after.len()];
        for _ in 0..=after.len() {
            let some = |set: &[bool], state: usize| after[state].iter().any(|&it| set[it]);
            let states = 0..after.len();
            until = states
                .clone()
                .map(|it| other[it] || one[it] && some(&until, it))
                .collect();
            let all = |set: &[bool], state: usize| after[state].iter().all(|&it| set[it]);
            let goes_on = |it: usize| !after[it].is_empty() && all(&on_all, it);
            on_all = states
                .clone()
                .map(|it| other[it] || one[it] && goes_on(it))
                .collect();
            always = states
                .map(|it| one[it] && (after[it].is_empty() || some(&always, it)))
                .collect();
        }
        [until, always, on_all]
    }

    proptest! {
        #[test]
        fn sets_are_those_of_the_definitions(
            after in prop::collection::vec(prop::collection::vec(0_usize..12, 0..3), 12),
            one in prop::collection::vec(any::<bool>(), 12),
            other in prop::collection::vec(any::<bool>(), 12),
        ) {
            let mut arcs = Arcs::default();
            for targets in &after {
                arcs.first.push(arcs.target.len());
                arcs.target.extend(targets.iter().map(|it| *it as u32));
            }
            arcs.first.push(arcs.target.len());
            arcs.label = vec![0; arcs.target.len()];
            let space = Space { arcs: &arcs, backwards: Backwards::of(&arcs), conditions: Vec::new() };
            let [until, always, on_all] = by_definition(&after, &one, &other);
            prop_assert_eq!(&space.until(&one, other.clone()), &until);
            prop_assert_eq!(&space.always(one.clone()), &always);
            let (without, broken, _) = space.failing(&one, &other);
            let holding: Vec<bool> = without.iter().zip(broken).map(|it| !it.0 && !it.1).collect();
            prop_assert_eq!(&holding, &on_all);
            let way = space.shortest(&one, &other);
            prop_assert_eq!(way.is_some(), until[0]);
            let way = way.unwrap_or_default();
            for pair in way.windows(2) {
                prop_assert!(after[pair[0]].contains(&pair[1]) && one[pair[0]]);
            }
            prop_assert!(way.last().is_none_or(|&last| other[last]));
            let way = space.endless(&always);
            prop_assert_eq!(way.is_some(), always[0]);
            let way = way.unwrap_or_default();
            prop_assert!(way.iter().all(|&state| one[state]));
            if let Some((last, earlier)) = way.split_last() {
                prop_assert!(after[*last].is_empty() || earlier.contains(last));
            }
        }
    }
}
