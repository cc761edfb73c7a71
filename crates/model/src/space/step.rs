//! One step of the search: from a marking to its successors.

use std::borrow::Cow;
use std::ops::{ControlFlow, Range};

use super::chance::{Oracle, Stored};
use super::contents::{Contents, EMPTY};
use super::firing::Puts;
use super::layout::{Layout, Owner};
use super::marking::{hash_of, part_of_hash};
use super::plain::PlainNet;
use crate::build::suits;
use crate::expression::{Pure, Step, evaluate};
use crate::outcome::Failure;
use crate::program::{Program, initial_tokens};

/// Steps through a net, with memory that all steps use.
pub struct Stepper<'p> {
    pub current: Current<'p>,
    /// By shape.
    pub contents: Vec<Contents>,
    /// Transitions by falling priority.
    pub(super) order: Vec<usize>,
    /// The net's rules if its transitions only count tokens, or the part that does more.
    pub plain: Result<PlainNet, String>,
    pub(super) oracle: Oracle,
    pub(super) stored: Stored,
    pub(super) puts: Puts,
    pub(super) next: Next,
}

/// The current marking.
pub struct Current<'p> {
    pub program: &'p Program,
    pub timed: bool,
    pub layout: Layout,
    /// By copy.
    pub marking: Vec<u32>,
    pub hash: u64,
}

/// A marking being made, and its hash.
#[derive(Default)]
pub struct Next {
    pub marking: Vec<u32>,
    pub hash: u64,
}

impl Next {
    /// Changes a copy.
    #[inline]
    pub fn set(&mut self, copy: usize, content: u32) {
        let old = part_of_hash(copy, self.marking[copy]);
        let new = part_of_hash(copy, content);
        self.hash = self.hash.wrapping_sub(old).wrapping_add(new);
        self.marking[copy] = content;
    }
}

/// A token that a firing takes: copy and position.
pub type Taken = (usize, usize);

/// A binding of a transition that is enabled.
pub struct Binding {
    pub taken: [Taken; 32],
    pub frame: [i64; 64],
}

impl Binding {
    pub fn new() -> Binding {
        Binding {
            taken: [(0, 0); 32],
            frame: [0; 64],
        }
    }
}

impl<'p> Stepper<'p> {
    /// For a net; fails if it has parts that are not modelled.
    pub fn new(program: &'p Program, timed: bool) -> Result<Stepper<'p>, Failure> {
        let layout = Layout::new(program, timed)?;
        let mut order: Vec<usize> = (0..program.transitions.len()).collect();
        order.sort_by_key(|&it| program.transitions[it].rank());
        let shapes = layout.shapes.iter();
        let marking = vec![EMPTY; layout.copies.len()];
        let mut stepper = Stepper {
            contents: shapes
                .map(|(stride, fifo)| Contents::new(*stride, *fifo))
                .collect(),
            current: Current {
                program,
                timed,
                layout,
                hash: hash_of(&marking),
                marking,
            },
            order,
            plain: Err(String::new()),
            oracle: Oracle::default(),
            stored: Stored::default(),
            puts: Puts::default(),
            next: Next::default(),
        };
        stepper.plain = PlainNet::of(&stepper).and_then(|net| net.without_resets(program));
        Ok(stepper)
    }

    /// The first marking.
    pub fn initial(&mut self) -> Result<Vec<u32>, Failure> {
        let program = self.current.program;
        let mut marking = self.current.marking.clone();
        for (index, node) in program.nodes.iter().enumerate() {
            for copy in 0..program.pages[node.page].total {
                let tokens = initial_tokens(node, copy).map_err(|message| {
                    Failure::Run(format!("{}: {message}", program.node_path(index)))
                })?;
                let copy = self.current.layout.of_node[index].0 + copy as usize;
                self.puts.clear();
                for token in tokens {
                    self.puts.push(copy, token.into_iter(), 0);
                }
                let of = &self.current.layout.copies[copy];
                marking[copy] = match of.due || of.stride == 0 {
                    true => self
                        .current
                        .put_all(copy, EMPTY, &self.puts, &mut self.contents)?,
                    false => self.contents[of.shape].number_of_tokens(&self.puts.words),
                };
            }
        }
        for (index, store) in program.stores.iter().enumerate() {
            let (first, copies) = self.current.layout.of_store[index];
            for copy in 0..copies {
                let words = store.first_words(copy as u32).map_err(|message| {
                    Failure::Run(format!("{}: {message}", program.store_path(index)))
                })?;
                let shape = self.current.layout.copies[first].shape;
                marking[first + copy] = self.contents[shape].number_of(&words);
            }
        }
        Ok(marking)
    }

    /// Makes a marking the current one.
    pub fn load(&mut self, marking: impl Iterator<Item = u32>) {
        self.current.marking.clear();
        self.current.marking.extend(marking);
        self.current.hash = hash_of(&self.current.marking);
    }

    /// Computes the successors of the current marking; `found` gets each with its transition and
    /// the contents so far, and may end the search.
    pub fn successors(
        &mut self,
        mut found: impl FnMut(&Next, u32, &mut [Contents]) -> ControlFlow<()>,
    ) -> Result<(), Failure> {
        let Stepper {
            current,
            contents,
            order,
            plain,
            oracle,
            stored,
            puts,
            next,
        } = self;
        let current = &*current;
        if let Ok(net) = plain {
            let enabled = net
                .rules
                .iter()
                .filter(|it| it.is_enabled(&current.marking));
            for rule in enabled {
                next.marking.clone_from(&current.marking);
                next.hash = current.hash;
                for (place, change) in &rule.changes {
                    let place = *place as usize;
                    next.set(
                        place,
                        next.marking[place].wrapping_add_signed(*change as i32),
                    );
                }
                if found(next, rule.transition, contents).is_break() {
                    return Ok(());
                }
            }
            return Ok(());
        }
        let mut binding = Binding::new();
        let mut priority = None;
        // Services of stations take time, as timed transitions do.
        let mut is_instant = false;
        for &index in &*order {
            let transition = &current.program.transitions[index];
            let waits = match transition.timing {
                Some(_) => is_instant,
                None => priority.is_some_and(|priority| priority > transition.priority),
            };
            if waits {
                continue;
            }
            for copy in 0..current.program.pages[transition.page].total {
                current.read_stores(contents, index, copy, stored);
                let stored = &*stored;
                let mut fired = |contents: &mut [Contents], binding: &mut Binding| {
                    priority = Some(transition.priority);
                    is_instant |= current.layout.plans[index].is_instant;
                    oracle.start(copy);
                    loop {
                        current.act(index, &mut binding.frame, copy, (oracle, stored), puts)?;
                        let taken = &binding.taken[..current.layout.plans[index].takes];
                        current.compose(taken, puts, contents, next)?;
                        let flow = found(next, index as u32, contents);
                        if flow.is_break() || !oracle.next() {
                            return Ok(flow);
                        }
                    }
                };
                let of = (index, copy, stored);
                let flow = current.bind(contents, of, 0, &mut binding, &mut fired)?;
                if flow.is_break() {
                    return Ok(());
                }
            }
        }
        if current.timed && priority.is_none() && current.wait(contents, next)? {
            let _ = found(next, u32::from(u16::MAX), contents);
        }
        Ok(())
    }

    /// Looks for a firing of a transition that leads to a marking; gives its binding.
    pub fn firing_to(
        &mut self,
        index: usize,
        copy: u32,
        goal: &[u32],
    ) -> Result<Option<Binding>, Failure> {
        let (current, oracle) = (&self.current, &mut self.oracle);
        let (puts, next) = (&mut self.puts, &mut self.next);
        let takes = current.layout.plans[index].takes;
        current.read_stores(&self.contents, index, copy, &mut self.stored);
        let stored = &self.stored;
        let mut goal_binding = None;
        let mut fired = |contents: &mut [Contents], binding: &mut Binding| {
            oracle.start(copy);
            loop {
                current.act(index, &mut binding.frame, copy, (oracle, stored), puts)?;
                current.compose(&binding.taken[..takes], puts, contents, next)?;
                if next.marking == goal {
                    goal_binding = Some(Binding {
                        taken: binding.taken,
                        frame: binding.frame,
                    });
                    return Ok(ControlFlow::Break(()));
                }
                if !oracle.next() {
                    return Ok(ControlFlow::Continue(()));
                }
            }
        };
        let contents = &mut self.contents;
        let of = (index, copy, stored);
        let _ = current.bind(contents, of, 0, &mut Binding::new(), &mut fired)?;
        Ok(goal_binding)
    }
}

impl Current<'_> {
    /// Number of tokens of a copy.
    pub fn len(&self, contents: &[Contents], copy: usize) -> usize {
        contents[self.layout.copies[copy].shape].len(self.marking[copy])
    }

    /// Words of all tokens of a copy.
    pub fn tokens<'c>(&self, contents: &'c [Contents], copy: usize) -> Cow<'c, [i64]> {
        contents[self.layout.copies[copy].shape].tokens(self.marking[copy])
    }

    /// Widens bounds by the current marking.
    pub fn bound(&self, contents: &[Contents], bounds: &mut [(u32, u32)]) {
        for (index, copy) in self.layout.copies.iter().enumerate() {
            let Owner::Node(node) = copy.owner else {
                continue;
            };
            let tokens = self.len(contents, index) as u32;
            let (least, most) = &mut bounds[node];
            *least = tokens.min(*least);
            *most = tokens.max(*most);
        }
    }

    /// Counts tokens of a node that pass a test, in all its copies.
    pub fn count(
        &self,
        contents: &[Contents],
        node: usize,
        test: &mut dyn FnMut(&[i64]) -> bool,
    ) -> i64 {
        let (first, copies) = self.layout.of_node[node];
        self.count_in(contents, first..first + copies, test)
    }

    /// Counts tokens of some copies that pass a test.
    pub fn count_in(
        &self,
        contents: &[Contents],
        copies: Range<usize>,
        test: &mut dyn FnMut(&[i64]) -> bool,
    ) -> i64 {
        let mut count = 0;
        for copy in copies {
            let contents = &contents[self.layout.copies[copy].shape];
            let content = self.marking[copy];
            let (mut position, len) = (0, contents.len(content));
            while position < len {
                let (token, next) = contents.token(content, position);
                if test(token) {
                    count += (next - position) as i64;
                }
                position = next;
            }
        }
        count
    }

    /// Returns true if tokens are where they may not remain.
    pub fn stands(&self) -> bool {
        let mut copies = self.layout.copies.iter().zip(&self.marking);
        copies.any(|(copy, content)| {
            let Owner::Node(node) = copy.owner else {
                return false;
            };
            let node = &self.program.nodes[node];
            !node.rest && !node.sink && *content != EMPTY
        })
    }

    /// Returns true if neither guards nor inhibitors hold a binding.
    fn admits(
        &self,
        contents: &[Contents],
        index: usize,
        copy: u32,
        (frame, stored): (&mut [i64; 64], &Stored),
    ) -> Result<bool, Failure> {
        let transition = &self.program.transitions[index];
        if transition.guards.is_empty() && transition.inhibitors.is_empty() {
            return Ok(true);
        }
        let read = |store, word| stored.word(store, word);
        let mut pure = Pure::with_stores(&read);
        let mut guards = transition.guards.iter();
        let mut admits = guards.all(|guard| evaluate(guard, &frame[..], &mut pure) != 0);
        let ratios = &self.layout.plans[index].inhibitors;
        for (inhibitor, ratio) in transition.inhibitors.iter().zip(ratios) {
            let of = self.layout.of_node[inhibitor.node].0 + (copy / ratio) as usize;
            let is_place = self.is_place(of);
            let due = self.layout.copies[of].due;
            let count = self.count_in(contents, of..of + 1, &mut |token| {
                let is_inside = !is_place || !due || token.last() == Some(&0);
                is_inside && suits(&inhibitor.steps, token, &mut frame[..], &mut pure)
            });
            admits &= count < i64::from(inhibitor.count);
        }
        match pure.failure {
            Some(failure) => Err(self.failed(index, &failure)),
            None => Ok(admits),
        }
    }

    /// Finds the bindings of an input and those after it, until `fired` ends the search.
    pub(super) fn bind<F>(
        &self,
        contents: &mut [Contents],
        (index, copy, stored): (usize, u32, &Stored),
        input: usize,
        binding: &mut Binding,
        fired: &mut F,
    ) -> Result<ControlFlow<()>, Failure>
    where
        F: FnMut(&mut [Contents], &mut Binding) -> Result<ControlFlow<()>, Failure>,
    {
        let Some(arc) = self.program.transitions[index].inputs.get(input) else {
            let frame = &mut binding.frame;
            return match self.admits(contents, index, copy, (frame, stored))? {
                true => fired(contents, binding),
                false => Ok(ControlFlow::Continue(())),
            };
        };
        // A token may be taken and read.
        let first = if arc.is_read {
            self.layout.plans[index].takes
        } else {
            0
        };
        let plan = &self.layout.plans[index].inputs[input];
        let from = self.layout.of_node[arc.node].0 + (copy / plan.ratio) as usize;
        let content = self.marking[from];
        let of = &self.layout.copies[from];
        let (shape, stride) = (of.shape, of.stride);
        let mut start = match plan.repeated {
            true => binding.taken[input - 1].1 + 1,
            false => 0,
        };
        let len = contents[shape].len(content);
        if start >= len {
            return Ok(ControlFlow::Continue(()));
        }
        let read = |store, word| stored.word(store, word);
        let mut pure = Pure::with_stores(&read);
        // A value that does not depend on the token is computed once.
        let (wanted, steps) = match arc.steps.split_first() {
            Some((Step::Equal { word, code }, rest)) => {
                let value = evaluate(code, &binding.frame, &mut pure);
                if let Some(failure) = pure.failure {
                    return Err(self.failed(index, &failure));
                }
                (Some((*word, value)), rest)
            }
            _ => (None, &arc.steps[..]),
        };
        let sorted = !of.fifo && !of.due;
        if let (Some((0, value)), true, 1) = (wanted, sorted, stride) {
            start = contents[shape].first_from(content, start, value);
        }
        let has_runs = contents[shape].has_runs(content);
        let mut last = None;
        let mut next = start;
        while next < len {
            let position = next;
            let token;
            (token, next) = match has_runs {
                true => contents[shape].token(content, position),
                false => (contents[shape].plain_token(content, position), position + 1),
            };
            if of.due && token[stride - 1] != 0 {
                continue;
            }
            if plan.shared && binding.taken[first..input].contains(&(from, position)) {
                next = position + 1;
                continue;
            }
            match last {
                // Earlier inputs have taken the tokens before this one.
                Some(_) if of.fifo => break,
                // An equal token gives an equal binding.
                Some(last) if contents[shape].token(content, last).0 == token => continue,
                _ => last = Some(position),
            }
            if let Some((word, value)) = wanted
                && token[word] != value
            {
                if sorted && word == 0 && token[0] > value {
                    break;
                }
                continue;
            }
            let suitable = suits(steps, token, &mut binding.frame, &mut pure);
            if let Some(failure) = &pure.failure {
                return Err(self.failed(index, failure));
            }
            if suitable {
                binding.taken[input] = (from, position);
                let of = (index, copy, stored);
                if self
                    .bind(contents, of, input + 1, binding, fired)?
                    .is_break()
                {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}
