//! One step of the search: from a marking to its successors.
//!
//! A successor is written from the bytes of the current marking: what a firing does not touch is
//! copied, and the tokens that it takes and puts are cut out and inserted.

use super::chance::Oracle;
use super::layout::Layout;
use super::marking::{read, write};
use crate::build::suits;
use crate::expression::{Pure, Step, evaluate};
use crate::program::{Program, initial_tokens};
use crate::run::Failure;

/// Steps through a net, with memory that all steps use.
pub struct Stepper<'p> {
    pub current: Current<'p>,
    /// Transitions by falling priority.
    order: Vec<usize>,
    oracle: Oracle,
    puts: Puts,
    scratch: Scratch,
    bytes: Vec<u8>,
}

/// The current marking.
pub struct Current<'p> {
    pub program: &'p Program,
    pub timed: bool,
    pub layout: Layout,
    bytes: Vec<u8>,
    /// Start of each copy's part of the bytes, and the end.
    parts: Vec<usize>,
    /// Tokens in each copy.
    lens: Vec<usize>,
    /// Words of all tokens, and the first of each copy.
    words: Vec<i64>,
    first_word: Vec<usize>,
    /// Start of each token's bytes; after the last one of each copy, its end.
    starts: Vec<usize>,
    first_start: Vec<usize>,
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

/// The tokens that a firing puts.
#[derive(Default)]
pub struct Puts {
    tokens: Vec<Put>,
    /// Words of all of them, one after the other.
    words: Vec<i64>,
}

/// A token that a firing puts.
#[derive(Clone, Copy)]
pub struct Put {
    pub copy: usize,
    /// Its first word.
    first: usize,
    pub delay: i64,
}

impl Puts {
    fn clear(&mut self) {
        self.tokens.clear();
        self.words.clear();
    }

    fn push(&mut self, copy: usize, words: impl Iterator<Item = i64>, delay: i64) {
        let first = self.words.len();
        self.words.extend(words);
        self.tokens.push(Put { copy, first, delay });
    }

    /// The words of a token that a copy's tokens have, without a remaining time.
    #[inline]
    pub fn words_of(&self, put: &Put, words: usize) -> &[i64] {
        &self.words[put.first..put.first + words]
    }

    /// Tokens for a copy.
    pub fn to(&self, copy: usize) -> impl Iterator<Item = &Put> {
        self.tokens.iter().filter(move |put| put.copy == copy)
    }
}

/// Memory for writing successors.
#[derive(Default)]
pub struct Scratch {
    /// Positions of tokens to cut out, ascending.
    cuts: Vec<usize>,
    /// Tokens to insert, each before the token at a position, ascending.
    inserts: Vec<(usize, Put)>,
    pub tokens: Vec<i64>,
}

impl<'p> Stepper<'p> {
    /// For a net; fails if it has parts that are not modelled.
    pub fn new(program: &'p Program, timed: bool) -> Result<Stepper<'p>, Failure> {
        let layout = Layout::new(program, timed)?;
        let mut order: Vec<usize> = (0..program.transitions.len()).collect();
        order.sort_by_key(|&it| -program.transitions[it].priority);
        Ok(Stepper {
            current: Current {
                program,
                timed,
                layout,
                bytes: Vec::new(),
                parts: Vec::new(),
                lens: Vec::new(),
                words: Vec::new(),
                first_word: Vec::new(),
                starts: Vec::new(),
                first_start: Vec::new(),
            },
            order,
            oracle: Oracle::new(),
            puts: Puts::default(),
            scratch: Scratch::default(),
            bytes: Vec::new(),
        })
    }

    /// The bytes of the first marking.
    pub fn initial(&mut self) -> Result<Vec<u8>, Failure> {
        let program = self.current.program;
        self.puts.clear();
        for (index, node) in program.nodes.iter().enumerate() {
            for copy in 0..program.pages[node.page].total {
                let tokens = initial_tokens(node, copy).map_err(|message| {
                    Failure::Run(format!("{}: {message}", program.node_path(index)))
                })?;
                let copy = self.current.layout.of_node[index].0 + copy as usize;
                for token in tokens {
                    self.puts.push(copy, token.into_iter(), 0);
                }
            }
        }
        let mut bytes = vec![0; self.current.layout.copies.len()];
        self.current.load(&bytes);
        bytes.clear();
        let mut copied = 0;
        // Tokens of one copy come together.
        let mut puts = self.puts.tokens.iter().map(|put| put.copy).peekable();
        while let Some(copy) = puts.next() {
            if puts.peek() != Some(&copy) {
                let (puts, scratch) = (&self.puts, &mut self.scratch);
                self.current
                    .change(copy, &[], puts, &mut copied, scratch, &mut bytes);
            }
        }
        bytes.extend_from_slice(&self.current.bytes[copied..]);
        Ok(bytes)
    }

    /// Computes all successors of the current marking; `found` gets the bytes and transition of
    /// each.
    pub fn successors(&mut self, mut found: impl FnMut(&[u8], u32)) -> Result<(), Failure> {
        let Stepper {
            current,
            order,
            oracle,
            puts,
            scratch,
            bytes,
        } = self;
        let current = &*current;
        let mut binding = Binding::new();
        let mut priority = None;
        for &index in &*order {
            let transition = &current.program.transitions[index];
            if priority.is_some_and(|priority| priority > transition.priority) {
                return Ok(());
            }
            for copy in 0..current.program.pages[transition.page].total {
                let mut fired = |binding: &mut Binding| -> Result<(), Failure> {
                    priority = Some(transition.priority);
                    oracle.start(copy);
                    loop {
                        current.act(index, &mut binding.frame, copy, oracle, puts)?;
                        let taken = &binding.taken[..transition.inputs.len()];
                        bytes.clear();
                        current.compose(index, taken, puts, scratch, bytes);
                        found(bytes, index as u32);
                        if !oracle.next() {
                            return Ok(());
                        }
                    }
                };
                current.bind(index, copy, 0, &mut binding, &mut fired)?;
            }
        }
        if current.timed && priority.is_none() && current.wait(bytes) {
            found(bytes, u32::from(u16::MAX));
        }
        Ok(())
    }

    /// Writes the successors of one transition's firing that `suit` accepts; gives its binding.
    pub fn firing_to(
        &mut self,
        index: usize,
        copy: u32,
        goal: &[u8],
    ) -> Result<Option<Binding>, Failure> {
        let (current, oracle) = (&self.current, &mut self.oracle);
        let (puts, scratch, bytes) = (&mut self.puts, &mut self.scratch, &mut self.bytes);
        let inputs = current.program.transitions[index].inputs.len();
        let mut goal_binding = None;
        let mut fired = |binding: &mut Binding| -> Result<(), Failure> {
            oracle.start(copy);
            while goal_binding.is_none() {
                current.act(index, &mut binding.frame, copy, oracle, puts)?;
                bytes.clear();
                current.compose(index, &binding.taken[..inputs], puts, scratch, bytes);
                if bytes == goal {
                    goal_binding = Some(Binding {
                        taken: binding.taken,
                        frame: binding.frame,
                    });
                }
                if !oracle.next() {
                    break;
                }
            }
            Ok(())
        };
        current.bind(index, copy, 0, &mut Binding::new(), &mut fired)?;
        Ok(goal_binding)
    }
}

impl Current<'_> {
    /// Makes a marking the current one.
    pub fn load(&mut self, bytes: &[u8]) {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.parts.clear();
        self.lens.clear();
        self.words.clear();
        self.first_word.clear();
        self.starts.clear();
        self.first_start.clear();
        let mut at = 0;
        for copy in &self.layout.copies {
            self.parts.push(at);
            self.first_word.push(self.words.len());
            self.first_start.push(self.starts.len());
            let count = read(bytes, &mut at) as usize;
            self.lens.push(count);
            // Tokens without words are only counted.
            if copy.stride > 0 {
                for _ in 0..count {
                    self.starts.push(at);
                    for _ in 0..copy.stride {
                        self.words.push(read(bytes, &mut at));
                    }
                }
                self.starts.push(at);
            }
        }
        self.parts.push(at);
    }

    /// Number of tokens of a copy.
    pub fn len(&self, copy: usize) -> usize {
        self.lens[copy]
    }

    /// Words of all tokens of a copy.
    #[inline]
    pub fn tokens(&self, copy: usize) -> &[i64] {
        let first = self.first_word[copy];
        &self.words[first..first + self.lens[copy] * self.layout.copies[copy].stride]
    }

    /// Words of a token.
    pub fn token(&self, copy: usize, position: usize) -> &[i64] {
        let stride = self.layout.copies[copy].stride;
        let first = self.first_word[copy] + position * stride;
        &self.words[first..first + stride]
    }

    /// Widens bounds by the current marking.
    pub fn bound(&self, bounds: &mut [(u32, u32)]) {
        for (copy, &tokens) in self.layout.copies.iter().zip(&self.lens) {
            let (least, most) = &mut bounds[copy.node];
            *least = (tokens as u32).min(*least);
            *most = (tokens as u32).max(*most);
        }
    }

    /// Counts tokens of a node that pass a test, in all its copies.
    pub fn count(&self, node: usize, test: &mut dyn FnMut(&[i64]) -> bool) -> i64 {
        let (first, copies) = self.layout.of_node[node];
        let mut count = 0;
        for copy in first..first + copies {
            let tokens = (0..self.len(copy)).filter(|&it| test(self.token(copy, it)));
            count += tokens.count() as i64;
        }
        count
    }

    /// Returns true if tokens are where they may not remain.
    pub fn stands(&self) -> bool {
        let mut copies = self.layout.copies.iter().zip(&self.lens);
        copies.any(|(copy, len)| {
            let node = &self.program.nodes[copy.node];
            !node.rest && !node.sink && *len > 0
        })
    }

    /// Finds the bindings of an input and those after it.
    fn bind<F: FnMut(&mut Binding) -> Result<(), Failure>>(
        &self,
        index: usize,
        copy: u32,
        input: usize,
        binding: &mut Binding,
        fired: &mut F,
    ) -> Result<(), Failure> {
        let Some(arc) = self.program.transitions[index].inputs.get(input) else {
            return fired(binding);
        };
        let plan = &self.layout.plans[index].inputs[input];
        let from = self.layout.of_node[arc.node].0 + (copy / plan.ratio) as usize;
        let of = &self.layout.copies[from];
        let len = self.lens[from];
        let start = match plan.repeated {
            true => binding.taken[input - 1].1 + 1,
            false => 0,
        };
        if start >= len {
            return Ok(());
        }
        let mut pure = Pure::default();
        // A value that does not depend on the token is computed once.
        let (wanted, steps) = match arc.steps.split_first() {
            Some((Step::Equal { word, code }, rest)) => {
                let value = evaluate(code, &binding.frame, &mut pure);
                if let Some(failure) = pure.failure {
                    return Err(self.failed(index, failure));
                }
                (Some((*word, value)), rest)
            }
            _ => (None, &arc.steps[..]),
        };
        let (tokens, stride) = (self.tokens(from), of.stride);
        let sorted = !of.fifo && !of.due;
        let mut start = start;
        if let (Some((0, value)), true, 1) = (wanted, sorted, stride) {
            start += tokens[start..].iter().take_while(|&&it| it < value).count();
        }
        let mut last: &[i64] = &[];
        let mut is_first = true;
        for position in start..len {
            let token = &tokens[position * stride..(position + 1) * stride];
            if of.due && token[stride - 1] != 0 {
                continue;
            }
            if plan.shared && binding.taken[..input].contains(&(from, position)) {
                continue;
            }
            if of.fifo {
                // Earlier inputs have taken the tokens before this one.
                if !is_first {
                    break;
                }
            } else if !is_first && last == token {
                // An equal token gives an equal binding.
                continue;
            }
            is_first = false;
            last = token;
            if let Some((word, value)) = wanted
                && token[word] != value
            {
                if sorted && word == 0 && token[0] > value {
                    break;
                }
                continue;
            }
            let suitable = suits(steps, token, &mut binding.frame, &mut pure);
            if let Some(failure) = pure.failure {
                return Err(self.failed(index, failure));
            }
            if suitable {
                binding.taken[input] = (from, position);
                self.bind(index, copy, input + 1, binding, fired)?;
            }
        }
        Ok(())
    }

    fn failed(&self, index: usize, message: &str) -> Failure {
        let path = self.program.transition_path(index);
        Failure::Run(format!("{path}: {message}"))
    }

    /// Computes the tokens that a firing puts.
    fn act(
        &self,
        index: usize,
        frame: &mut [i64; 64],
        copy: u32,
        oracle: &mut Oracle,
        puts: &mut Puts,
    ) -> Result<(), Failure> {
        puts.clear();
        let transition = &self.program.transitions[index];
        for (word, code) in &transition.lets {
            frame[*word] = evaluate(code, frame, oracle);
        }
        let ways = &self.layout.plans[index].ways;
        for (output, (ratio, levels)) in transition.outputs.iter().zip(ways) {
            for (word, code) in &output.first {
                frame[*word] = evaluate(code, frame, oracle);
            }
            if let Some(when) = &output.when
                && evaluate(when, frame, oracle) == 0
            {
                continue;
            }
            let count = output.count.as_ref();
            let count = count.map_or(1, |count| evaluate(count, frame, oracle));
            if !(0..=10_000).contains(&count) {
                let message = format!("puts {count} tokens: expected from 0 to 10000");
                return Err(self.failed(index, &message));
            }
            for _ in 0..count {
                let words = output.words.iter();
                let first = puts.words.len();
                puts.words
                    .extend(words.map(|code| evaluate(code, frame, oracle)));
                let delay = match &output.delay {
                    Some(delay) if self.timed => evaluate(delay, frame, oracle),
                    _ => 0,
                };
                let mut to = copy / ratio;
                for (copies, code) in levels.iter().zip(&output.copies) {
                    let chosen = evaluate(code, frame, oracle);
                    if !(0..i64::from(*copies)).contains(&chosen) {
                        let path = self.program.node_path(output.node);
                        let message = format!("chose copy {chosen} of {path}, which has {copies}");
                        return Err(self.failed(index, &message));
                    }
                    to = to * copies + chosen as u32;
                }
                puts.tokens.push(Put {
                    copy: self.layout.of_node[output.node].0 + to as usize,
                    first,
                    delay: delay.max(0),
                });
            }
        }
        match oracle.failure {
            Some(failure) => Err(self.failed(index, failure)),
            None => Ok(()),
        }
    }

    /// Writes the marking after a firing.
    fn compose(
        &self,
        index: usize,
        taken: &[Taken],
        puts: &Puts,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) {
        let mut copied = 0;
        for &node in &self.layout.plans[index].nodes {
            let (first, copies) = self.layout.of_node[node];
            if copies == 1 {
                self.change(first, taken, puts, &mut copied, scratch, out);
                continue;
            }
            // The copies that change, in their order.
            let mut from = first;
            loop {
                let of_taken = taken.iter().map(|(copy, _)| *copy);
                let changed = of_taken.chain(puts.tokens.iter().map(|put| put.copy));
                let within = |copy: &usize| (from..first + copies).contains(copy);
                let Some(copy) = changed.filter(within).min() else {
                    break;
                };
                self.change(copy, taken, puts, &mut copied, scratch, out);
                from = copy + 1;
            }
        }
        out.extend_from_slice(&self.bytes[copied..]);
    }

    /// Writes the marking up to the last change of a copy; `copied` is the number of bytes of the
    /// current marking that are done.
    fn change(
        &self,
        copy: usize,
        taken: &[Taken],
        puts: &Puts,
        copied: &mut usize,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) {
        let of = &self.layout.copies[copy];
        if of.due {
            self.change_timed(copy, taken, puts, &mut scratch.tokens);
            out.extend_from_slice(&self.bytes[*copied..self.parts[copy]]);
            encode(&scratch.tokens, of.stride, out);
            *copied = self.parts[copy + 1];
            return;
        }
        let Scratch { cuts, inserts, .. } = scratch;
        cuts.clear();
        inserts.clear();
        for (_, position) in taken.iter().filter(|(from, _)| *from == copy) {
            let at = cuts.iter().rposition(|it| it < position);
            cuts.insert(at.map_or(0, |at| at + 1), *position);
        }
        let (len, tokens, stride) = (self.lens[copy], self.tokens(copy), of.stride);
        for put in puts.to(copy) {
            let new = puts.words_of(put, stride);
            if of.fifo {
                inserts.push((len, *put));
                continue;
            }
            // A token that is taken and put again changes nothing.
            let same =
                |position: &usize| tokens[position * stride..(position + 1) * stride] == *new;
            if let Some(cut) = cuts.iter().position(same) {
                cuts.remove(cut);
                continue;
            }
            // A bag is sorted, so that equal ones have equal bytes.
            let at = match new {
                [] => len,
                &[word] => tokens.iter().position(|&it| it >= word).unwrap_or(len),
                _ => {
                    let mut sorted = tokens.chunks_exact(stride);
                    sorted.position(|it| it >= new).unwrap_or(len)
                }
            };
            let before = inserts.iter().rposition(|(other, it)| {
                *other < at || (*other == at && puts.words_of(it, stride) <= new)
            });
            inserts.insert(before.map_or(0, |it| it + 1), (at, *put));
        }
        if cuts.is_empty() && inserts.is_empty() {
            return;
        }
        let mut done = *copied;
        if cuts.len() != inserts.len() {
            out.extend_from_slice(&self.bytes[done..self.parts[copy]]);
            write(out, (len - cuts.len() + inserts.len()) as i64);
            // The number of tokens ends where the first token starts.
            done = match stride {
                0 => self.parts[copy + 1],
                _ => self.starts[self.first_start[copy]],
            };
        }
        if stride > 0 {
            let starts = &self.starts[self.first_start[copy]..=self.first_start[copy] + len];
            let (mut cuts, mut inserts) = (cuts.iter().peekable(), inserts.iter());
            let mut insert = inserts.next();
            loop {
                let cut = cuts.next_if(|&&cut| insert.is_none_or(|(at, _)| cut < *at));
                if let Some(&cut) = cut {
                    out.extend_from_slice(&self.bytes[done..starts[cut]]);
                    done = starts[cut + 1];
                } else if let Some((at, put)) = insert {
                    out.extend_from_slice(&self.bytes[done..starts[*at]]);
                    done = starts[*at];
                    let words = puts.words_of(put, stride).iter();
                    words.for_each(|&word| write(out, word));
                    insert = inserts.next();
                } else {
                    break;
                }
            }
        }
        // The rest is copied with what follows.
        *copied = done;
    }
}

/// Writes the tokens of a copy.
pub fn encode(tokens: &[i64], stride: usize, out: &mut Vec<u8>) {
    write(out, (tokens.len() / stride.max(1)) as i64);
    tokens.iter().for_each(|&word| write(out, word));
}
