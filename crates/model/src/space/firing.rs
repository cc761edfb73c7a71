//! A firing: the tokens that it puts, and the marking after it.

use super::chance::{InSpace, Oracle, Stored};
use super::contents::{Contents, EMPTY};
use super::step::{Current, Next, Taken};
use crate::build::negative;
use crate::expression::{NO_ELEMENT, World, evaluate};
use crate::outcome::Failure;
use crate::program::Change;

/// Most tokens of one output, as in runs.
pub const MOST_PUT: i64 = 1_000_000;

/// The tokens that a firing puts.
#[derive(Default)]
pub struct Puts {
    tokens: Vec<Put>,
    /// Copies of stores that change.
    stores: Vec<usize>,
    /// Copies of places that are emptied first.
    resets: Vec<usize>,
    /// Words of all tokens, one after the other, and then those of stores.
    pub words: Vec<i64>,
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
    /// Forgets all.
    pub fn clear(&mut self) {
        self.tokens.clear();
        self.stores.clear();
        self.resets.clear();
        self.words.clear();
    }

    /// Adds a token.
    pub fn push(&mut self, copy: usize, words: impl Iterator<Item = i64>, delay: i64) {
        let first = self.words.len();
        self.words.extend(words);
        self.tokens.push(Put { copy, first, delay });
    }

    /// The words of a token that a copy's tokens have, without a remaining time.
    #[inline]
    pub fn words_of(&self, put: &Put, words: usize) -> &[i64] {
        &self.words[put.first..put.first + words]
    }
}

impl Current<'_> {
    /// The failure of a transition.
    pub fn failed(&self, index: usize, message: &str) -> Failure {
        let path = self.program.transition_path(index);
        Failure::Run(format!("{path}: {message}"))
    }

    /// Computes the tokens that a firing puts.
    pub fn act(
        &self,
        index: usize,
        frame: &mut [i64; 64],
        copy: u32,
        (oracle, stored): (&mut Oracle, &Stored),
        puts: &mut Puts,
    ) -> Result<(), Failure> {
        puts.clear();
        let world = &mut InSpace {
            oracle,
            stored,
            failure: None,
        };
        let transition = &self.program.transitions[index];
        for (word, code) in &transition.lets {
            frame[*word] = evaluate(code, frame, world);
        }
        let plan = &self.layout.plans[index];
        for (&node, ratio) in transition.resets.iter().zip(&plan.resets) {
            let copy = self.layout.of_node[node].0 + (copy / ratio) as usize;
            puts.resets.push(copy);
        }
        let ways = &plan.ways;
        for (output, (ratio, levels)) in transition.outputs.iter().zip(ways) {
            for (word, code) in &output.first {
                frame[*word] = evaluate(code, frame, world);
            }
            if let Some(when) = &output.when
                && evaluate(when, frame, world) == 0
            {
                continue;
            }
            let count = output.count.as_ref();
            let count = count.map_or(1, |count| evaluate(count, frame, world));
            if !(0..=MOST_PUT).contains(&count) {
                let message = format!("puts {count} tokens: expected from 0 to {MOST_PUT}");
                return Err(self.failed(index, &message));
            }
            for _ in 0..count {
                let words = output.words.iter();
                let first = puts.words.len();
                puts.words
                    .extend(words.map(|code| evaluate(code, frame, world)));
                let delay = match &output.delay {
                    Some(delay) if self.timed => evaluate(delay, frame, world),
                    _ => 0,
                };
                if delay < 0 {
                    world.fail(negative("delay", delay).into());
                }
                let mut to = copy / ratio;
                for (copies, code) in levels.iter().zip(&output.copies) {
                    let chosen = evaluate(code, frame, world);
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
        for change in &transition.changes {
            for (word, code) in &change.steps {
                frame[*word] = evaluate(code, frame, world);
            }
        }
        for (number, (store, ratio)) in self.layout.plans[index].stores.iter().enumerate() {
            let mut changes = transition.changes.iter();
            if !changes.any(|change| change.store == number) {
                continue;
            }
            let first = puts.words.len();
            puts.words.extend_from_slice(stored.words(number));
            let of_store = |change: &&Change| change.store == number;
            for change in transition.changes.iter().filter(of_store) {
                if !change.apply(frame, &mut puts.words[first..]) {
                    world.fail(NO_ELEMENT.into());
                }
            }
            let copy = self.layout.of_store[*store].0 + (copy / ratio) as usize;
            puts.stores.push(copy);
        }
        match &world.failure {
            Some(failure) => Err(self.failed(index, failure)),
            None => Ok(()),
        }
    }

    /// Makes the marking after a firing.
    pub fn compose(
        &self,
        taken: &[Taken],
        puts: &Puts,
        contents: &mut [Contents],
        next: &mut Next,
    ) -> Result<(), Failure> {
        next.marking.clear();
        next.marking.extend_from_slice(&self.marking);
        next.hash = self.hash;
        for (index, &(copy, position)) in taken.iter().enumerate() {
            let earlier = taken[..index].iter();
            let cut = earlier.filter(|(other, it)| *other == copy && *it < position);
            let shape = self.layout.copies[copy].shape;
            let content = contents[shape].cut(next.marking[copy], position - cut.count());
            next.set(copy, content);
        }
        for &copy in &puts.resets {
            let of = &self.layout.copies[copy];
            let mut content = EMPTY;
            if of.due {
                // Tokens on their way are not there yet.
                let tokens = contents[of.shape].tokens(next.marking[copy]);
                let tokens = tokens.chunks_exact(of.stride);
                let coming = tokens.filter(|token| token[of.stride - 1] > 0);
                let coming = coming.collect::<Vec<_>>().concat();
                content = contents[of.shape].number_of_tokens(&coming);
            }
            next.set(copy, content);
        }
        for put in &puts.tokens {
            let content = self.put(put.copy, next.marking[put.copy], put, puts, contents)?;
            next.set(put.copy, content);
        }
        let mut end = puts.words.len();
        for &copy in puts.stores.iter().rev() {
            let of = &self.layout.copies[copy];
            let words = &puts.words[end - of.stride..end];
            next.set(copy, contents[of.shape].number_of(words));
            end -= of.stride;
        }
        Ok(())
    }

    /// Reads the stores that a transition uses.
    pub fn read_stores(&self, contents: &[Contents], index: usize, copy: u32, stored: &mut Stored) {
        stored.clear();
        for (store, ratio) in &self.layout.plans[index].stores {
            let copy = self.layout.of_store[*store].0 + (copy / ratio) as usize;
            stored.push(&self.tokens(contents, copy));
        }
    }

    /// The content of a copy with one more token.
    #[inline]
    fn put(
        &self,
        copy: usize,
        content: u32,
        put: &Put,
        puts: &Puts,
        contents: &mut [Contents],
    ) -> Result<u32, Failure> {
        let of = &self.layout.copies[copy];
        let contents = &mut contents[of.shape];
        if contents.is_full(content) {
            let (path, most) = (self.copy_path(copy), contents.len(content));
            return Err(Failure::Run(format!(
                "{path}: more than {most} tokens: expected fewer; a lower limit of markings ends \
                 the search before"
            )));
        }
        match of.due {
            true => self.put_timed(copy, content, put, puts, contents),
            false => Ok(contents.insert(content, puts.words_of(put, of.stride))),
        }
    }

    /// The content of a copy with all tokens put.
    pub fn put_all(
        &self,
        copy: usize,
        content: u32,
        puts: &Puts,
        contents: &mut [Contents],
    ) -> Result<u32, Failure> {
        let put = |content, put| self.put(copy, content, put, puts, contents);
        puts.tokens.iter().try_fold(content, put)
    }
}
