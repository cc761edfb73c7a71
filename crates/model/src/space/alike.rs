//! Values that a net does not distinguish, and markings that differ by a permutation of them (Ip
//! and Dill, Better Verification through Symmetry, 1996).
//!
//! Words of tokens are of one sort if values move between them or are compared for equality. A
//! sort is alike if its values are only moved and compared with one another. No constant, order,
//! arithmetic, store, chance or number of a copy meets them. A permutation of its values changes
//! no firing but for the values in it. One marking can thus stand for all permutations of it.
//!
//! Its values are renamed to 0, 1, … in the order of where they occur, and of the values beside
//! them. If some are equal in this order, one is taken before the others. Where these cannot be
//! exchanged, a marking has several representatives. No answer changes by that, and paths have the
//! values of the first marking: each step renames them back.
//!
//! Not modelled: permutations of copies of pages, and rotations of cyclic colours.

use std::collections::{BTreeMap, BTreeSet};

use super::contents::Contents;
use super::layout::{Layout, Owner};
use super::predicate::Predicate;
use crate::expression::{Code, Operator, Step};
use crate::outcome::Failure;
use crate::program::{NodeKind, Program, Station, Transition};

/// Values of a marking that are distinguished one by one, at most.
const MOST_CHOSEN: usize = 8;

/// The alike sorts of a net.
pub struct Alike {
    /// Their number.
    pub sorts: usize,
    /// By node and word: its sort.
    sort_of: Vec<Vec<Option<usize>>>,
    layout: Layout,
}

/// By sort: other values.
pub type Renaming = Vec<BTreeMap<i64, i64>>;

/// By sort: its values in a marking.
type Traces = Vec<BTreeMap<i64, Trace>>;

/// Where a value occurs.
#[derive(Clone, Default)]
struct Trace {
    hash: u64,
    /// True if a token has another alike value beside it.
    is_beside: bool,
    /// Its number in the order of tokens, from 1; 0 if it has none yet.
    first: usize,
}

/// Words of tokens and frames, joined to sorts.
struct Sorts {
    /// By word: one of its sort; itself if it stands for the sort.
    parent: Vec<usize>,
    is_distinct: Vec<bool>,
    /// First word of each node.
    nodes: Vec<usize>,
    /// First word of the current frame.
    frame: usize,
}

impl Alike {
    /// The alike sorts of a net, for a property if there is one; none if it has none. Time does not
    /// count.
    pub fn of(program: &Program, property: Option<&Predicate>) -> Result<Option<Alike>, Failure> {
        let words = |node: usize| program.colours.words(program.nodes[node].colour);
        let mut sorts = Sorts {
            parent: Vec::new(),
            is_distinct: Vec::new(),
            nodes: Vec::new(),
            frame: 0,
        };
        for node in 0..program.nodes.len() {
            let first = sorts.add(words(node));
            sorts.nodes.push(first);
            sorts.of_station(first, &program.nodes[node].kind);
        }
        for transition in &program.transitions {
            sorts.of_transition(transition);
        }
        for (node, steps) in property.iter().flat_map(|it| it.patterns()) {
            sorts.enter_frame();
            sorts.of_steps(node, steps);
        }
        let mut numbers = BTreeMap::new();
        let mut sort_of = Vec::new();
        for (node, first) in sorts.nodes.clone().into_iter().enumerate() {
            let of_word = |word: usize| {
                let sort = sorts.root(word);
                let next = numbers.len();
                (!sorts.is_distinct[sort]).then(|| *numbers.entry(sort).or_insert(next))
            };
            sort_of.push((first..first + words(node)).map(of_word).collect());
        }
        if numbers.is_empty() {
            return Ok(None);
        }
        Ok(Some(Alike {
            sorts: numbers.len(),
            sort_of,
            layout: Layout::new(program, false)?,
        }))
    }

    /// The marking that stands for one and its permutations.
    pub fn representative(&self, marking: &[u32], contents: &mut [Contents]) -> Vec<u32> {
        let renaming = self.renaming(marking, contents);
        self.renamed(marking, &renaming, contents)
    }

    /// The renaming of a marking's values that gives its representative.
    pub fn renaming(&self, marking: &[u32], contents: &[Contents]) -> Renaming {
        let mut traces: Traces = vec![BTreeMap::new(); self.sorts];
        self.each(marking, contents, |_, _, token, sorts| {
            let alike = sorts.iter().flatten().count();
            for (word, sort) in token.iter().zip(sorts) {
                if let Some(sort) = sort {
                    let trace = traces[*sort].entry(*word).or_default();
                    trace.is_beside |= alike > 1;
                }
            }
        });
        let (mut distinct, mut chosen) = (0, 0);
        loop {
            self.refine(marking, contents, &mut traces);
            let before = std::mem::replace(&mut distinct, number_of(&traces));
            if distinct > before {
                continue;
            }
            // Values that stay equal beside others are distinguished one by one.
            if chosen == MOST_CHOSEN || !distinguish_one(&mut traces) {
                break;
            }
            chosen += 1;
        }
        // Those that are equal now have the order of their tokens.
        let mut tokens = Vec::new();
        self.each(marking, contents, |copy, position, token, sorts| {
            let whole = hash_of_token((copy, position), token, sorts, &traces);
            tokens.push((copy, whole, token.to_vec()));
        });
        tokens.sort_unstable();
        let mut next = 0;
        for (copy, _, token) in &tokens {
            let sorts = self.of_copy(*copy).unwrap_or_default();
            for (word, sort) in token.iter().zip(sorts) {
                let trace = sort.and_then(|sort| traces[sort].get_mut(word));
                if let Some(trace) = trace.filter(|it| it.first == 0) {
                    next += 1;
                    trace.first = next;
                }
            }
        }
        let renamed = traces.into_iter().map(|traces| {
            let values = traces.iter();
            let mut values: Vec<_> = values
                .map(|(value, it)| (it.hash, it.first, *value))
                .collect();
            values.sort_unstable();
            let values = values.into_iter().enumerate();
            values
                .map(|(number, (_, _, value))| (value, number as i64))
                .collect()
        });
        renamed.collect()
    }

    /// A marking with other values.
    pub fn renamed(
        &self,
        marking: &[u32],
        renaming: &Renaming,
        contents: &mut [Contents],
    ) -> Vec<u32> {
        let mut renamed = marking.to_vec();
        let mut words = Vec::new();
        for (copy, content) in renamed.iter_mut().enumerate() {
            let Some(sorts) = self.of_copy(copy) else {
                continue;
            };
            let shape = &mut contents[self.layout.copies[copy].shape];
            words.clear();
            for token in shape.tokens(*content).chunks_exact(sorts.len()) {
                let pairs = token.iter().zip(sorts);
                words.extend(pairs.map(|(word, sort)| match sort {
                    Some(sort) => *renaming[*sort].get(word).unwrap_or(word),
                    None => *word,
                }));
            }
            *content = shape.number_of_tokens(&words);
        }
        renamed
    }

    /// Distinguishes values by where they occur, and by the values beside them.
    fn refine(&self, marking: &[u32], contents: &[Contents], traces: &mut Traces) {
        let before = traces.clone();
        self.each(marking, contents, |copy, position, token, sorts| {
            let words = || token.iter().zip(sorts);
            let whole = hash_of_token((copy, position), token, sorts, &before);
            for (at, (word, sort)) in words().enumerate() {
                if let Some(trace) = sort.and_then(|sort| traces[sort].get_mut(word)) {
                    let of_same = words().enumerate().filter(|(_, it)| *it == (word, sort));
                    let same = of_same.fold(at as u64, |sum, (other, _)| mixed(sum, other as u64));
                    trace.hash = trace.hash.wrapping_add(mixed(whole, same));
                }
            }
        });
        for trace in traces.iter_mut().flat_map(BTreeMap::values_mut) {
            trace.hash = mixed(trace.hash, 0);
        }
    }

    /// The sorts of a copy's words, if there are some.
    fn of_copy(&self, copy: usize) -> Option<&[Option<usize>]> {
        match self.layout.copies[copy].owner {
            Owner::Node(node) => {
                let sorts = &self.sort_of[node];
                sorts.iter().any(Option::is_some).then_some(&sorts[..])
            }
            Owner::Store(_) => None,
        }
    }

    /// Visits the tokens of a marking that have alike values: copy, position if it matters, words
    /// and their sorts.
    fn each(
        &self,
        marking: &[u32],
        contents: &[Contents],
        mut visit: impl FnMut(usize, u64, &[i64], &[Option<usize>]),
    ) {
        for (copy, content) in marking.iter().enumerate() {
            let Some(sorts) = self.of_copy(copy) else {
                continue;
            };
            let part = &self.layout.copies[copy];
            let tokens = contents[part.shape].tokens(*content);
            for (position, token) in tokens.chunks_exact(sorts.len()).enumerate() {
                let position = if part.fifo { position as u64 + 1 } else { 0 };
                visit(copy, position, token, sorts);
            }
        }
    }
}

/// A number of a token by where it is and what is known of its values.
fn hash_of_token(
    (copy, position): (usize, u64),
    token: &[i64],
    sorts: &[Option<usize>],
    traces: &Traces,
) -> u64 {
    let known = |(word, sort): (&i64, &Option<usize>)| match sort {
        Some(sort) => traces[*sort][word].hash,
        None => *word as u64,
    };
    let words = token.iter().zip(sorts).map(known);
    words.fold(mixed(copy as u64, position), mixed)
}

/// The number of values and hashes that differ.
fn number_of(traces: &Traces) -> usize {
    let of_sort = |traces: &BTreeMap<i64, Trace>| {
        let hashes: BTreeSet<u64> = traces.values().map(|it| it.hash).collect();
        hashes.len()
    };
    traces.iter().map(of_sort).sum()
}

/// Distinguishes one value from those of the same hash; false if none needs it.
fn distinguish_one(traces: &mut Traces) -> bool {
    for of_sort in traces {
        let mut beside: Vec<_> = of_sort.values_mut().filter(|it| it.is_beside).collect();
        beside.sort_by_key(|it| it.hash);
        if let Some(pair) = beside
            .windows(2)
            .position(|pair| pair[0].hash == pair[1].hash)
        {
            let trace = &mut beside[pair];
            trace.hash = mixed(trace.hash, 1);
            return true;
        }
    }
    false
}

/// A number that depends on two others (Steele, Lea and Flood 2014); that of zeros is none.
fn mixed(one: u64, other: u64) -> u64 {
    let mut state = (one ^ 0x9E37_79B9_7F4A_7C15).wrapping_mul(0xD134_2543_DE82_EF95) ^ other;
    state = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    state ^ (state >> 31)
}

impl Sorts {
    /// Adds words of sorts of their own, and returns the first.
    fn add(&mut self, words: usize) -> usize {
        let first = self.parent.len();
        self.parent.extend(first..first + words);
        self.is_distinct.resize(first + words, false);
        first
    }

    /// Begins a frame.
    fn enter_frame(&mut self) {
        // The longest frame of a binding.
        self.frame = self.add(64);
    }

    fn root(&mut self, mut word: usize) -> usize {
        while self.parent[word] != word {
            self.parent[word] = self.parent[self.parent[word]];
            word = self.parent[word];
        }
        word
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        self.parent[one] = other;
        self.is_distinct[other] |= self.is_distinct[one];
    }

    /// The values of a word's sort are not alike.
    fn distinguish(&mut self, word: usize) {
        let root = self.root(word);
        self.is_distinct[root] = true;
    }

    /// A value becomes that of a word, or is compared with it.
    fn meet(&mut self, word: usize, code: &Code) {
        match self.value(code) {
            Some(other) => self.join(word, other),
            None => self.distinguish(word),
        }
    }

    /// The word whose value an expression has; none if it computes one.
    fn value(&mut self, code: &Code) -> Option<usize> {
        match code {
            Code::Word(word) => Some(self.frame + word),
            Code::WordIs(word, _) => {
                self.distinguish(self.frame + word);
                None
            }
            Code::Int(Operator::Equal | Operator::Unequal, parts) => {
                match (self.value(&parts[0]), self.value(&parts[1])) {
                    (Some(one), Some(other)) => self.join(one, other),
                    (Some(one), None) | (None, Some(one)) => self.distinguish(one),
                    (None, None) => {}
                }
                None
            }
            _ => {
                code.parts().iter().for_each(|part| self.judge(part));
                None
            }
        }
    }

    /// A value decides more than an equality.
    fn judge(&mut self, code: &Code) {
        if let Some(word) = self.value(code) {
            self.distinguish(word);
        }
    }

    fn of_station(&mut self, first: usize, kind: &NodeKind) {
        self.frame = first;
        let NodeKind::Station(station) = kind else {
            return;
        };
        match station {
            Station::Priority(_, _, _, class) => self.judge(class),
            Station::Flows(_, links, _) => links.iter().for_each(|it| self.judge(it)),
            _ => {}
        }
    }

    fn of_steps(&mut self, node: usize, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Bind { word, to } => self.join(self.nodes[node] + word, self.frame + to),
                Step::Equal { word, code } => self.meet(self.nodes[node] + word, code),
                Step::Test(code) => self.judge(code),
            }
        }
    }

    fn of_transition(&mut self, transition: &Transition) {
        self.enter_frame();
        for input in &transition.inputs {
            self.of_steps(input.node, &input.steps);
        }
        for inhibitor in &transition.inhibitors {
            self.of_steps(inhibitor.node, &inhibitor.steps);
        }
        transition.guards.iter().for_each(|it| self.judge(it));
        let frame = self.frame;
        for (word, code) in &transition.lets {
            self.meet(frame + word, code);
        }
        for output in &transition.outputs {
            for (word, code) in &output.first {
                self.meet(frame + word, code);
            }
            let judged = output
                .when
                .iter()
                .chain(&output.count)
                .chain(&output.copies);
            judged.for_each(|it| self.judge(it));
            for (word, code) in output.words.iter().enumerate() {
                self.meet(self.nodes[output.node] + word, code);
            }
        }
        for change in &transition.changes {
            for (word, code) in &change.steps {
                self.meet(frame + word, code);
            }
            (change.from..change.from + change.words).for_each(|it| self.distinguish(frame + it));
            self.distinguish(frame + change.at);
        }
    }
}
