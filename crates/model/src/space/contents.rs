//! Contents of copies of nodes: each distinct collection of tokens is stored once and has a number.
//!
//! Most markings differ in few places, so a marking is a short row of these numbers. A firing cuts
//! a token out of a content or inserts one. The result of each such edit is cached, so that the
//! next equal edit is one table look-up.
//!
//! A content of many mostly equal tokens is stored as runs: the words of a token, and the position
//! after its last equal neighbour. Its size does not grow with the number of its tokens.

use std::borrow::Cow;

use hashbrown::HashTable;

/// Contents of one shape.
pub struct Contents {
    /// Words of a token. Tokens without words are only counted: their number is the content's.
    stride: usize,
    /// Tokens stay in the order of their arrival; otherwise they are sorted, so that equal ones
    /// have equal words.
    fifo: bool,
    words: Vec<i64>,
    contents: Vec<Content>,
    table: HashTable<u32>,
    /// Edits of contents with many of them: content and argument, and the result.
    more_edits: HashTable<(u64, u32)>,
    /// Bytes of the edits that lie with their contents.
    edit_bytes: usize,
    /// Bytes of all.
    bytes: usize,
    scratch: Vec<i64>,
    /// Words of runs while they are made.
    scratch_runs: Vec<i64>,
}

/// A collection of tokens.
#[derive(Default)]
struct Content {
    /// Its part of the words: first and number. Runs have fewer words than the tokens.
    start: usize,
    words: u32,
    tokens: u32,
    /// Edits that have been made: arguments and results. They lie together, because those of one
    /// marking follow each other.
    edits: Vec<(u32, u32)>,
}

/// The content without tokens.
pub const EMPTY: u32 = 0;

/// Kinds of edits: the upper two bits of an argument.
const CUT: u32 = 0;
const INSERT_WORD: u32 = 1 << 30;
const INSERT_TOKEN: u32 = 2 << 30;

/// Arguments of edits are less than this.
const ARGUMENTS: u32 = 1 << 30;

/// Edits of a content that lie together; more would take long to look through.
const TOGETHER: usize = 32;

/// Longest content without runs, in words: short ones are read faster without.
const MOST_PLAIN: usize = 32;

/// The most tokens of a content with words. Positions are arguments of edits, and all words of a
/// content have 32-bit numbers.
const MOST_TOKENS: u32 = 1 << 28;

/// A change of a content.
#[derive(Clone, Copy)]
enum Edit<'t> {
    /// The token at a position leaves.
    Cut(usize),
    Insert(&'t [i64]),
}

const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

fn hash_of_edit(edit: u64) -> u64 {
    let product = edit.wrapping_mul(FACTOR);
    product ^ (product >> 32)
}

fn hash_of_words(words: &[i64]) -> u64 {
    let state = words.iter().fold(words.len() as u64, |state, &word| {
        (state.rotate_left(5) ^ word as u64).wrapping_mul(FACTOR)
    });
    let state = (state ^ (state >> 32)).wrapping_mul(FACTOR);
    state ^ (state >> 29)
}

impl Contents {
    /// The empty one only.
    pub fn new(stride: usize, fifo: bool) -> Contents {
        Contents {
            stride,
            fifo,
            words: Vec::new(),
            contents: vec![Content::default()],
            table: HashTable::new(),
            more_edits: HashTable::new(),
            edit_bytes: 0,
            bytes: 0,
            scratch: Vec::new(),
            scratch_runs: Vec::new(),
        }
    }

    /// Memory that they use.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Counts the memory again, after an addition.
    fn count_bytes(&mut self) {
        self.bytes = 8 * self.words.capacity()
            + size_of::<Content>() * self.contents.capacity()
            + self.edit_bytes
            + 5 * self.table.capacity()
            + 17 * self.more_edits.capacity();
    }

    /// Number of tokens.
    #[inline]
    pub fn len(&self, content: u32) -> usize {
        match self.stride {
            0 => content as usize,
            _ => self.contents[content as usize].tokens as usize,
        }
    }

    /// Returns true if no token can be added.
    #[inline]
    pub fn is_full(&self, content: u32) -> bool {
        match self.stride {
            0 => content == u32::MAX,
            _ => self.contents[content as usize].tokens >= MOST_TOKENS,
        }
    }

    /// The words of a content as stored, and true if they are runs.
    #[inline]
    fn stored(&self, content: u32) -> (&[i64], bool) {
        let content = &self.contents[content as usize];
        let words = &self.words[content.start..content.start + content.words as usize];
        let has_runs = words.len() != content.tokens as usize * self.stride;
        (words, has_runs)
    }

    /// Words of all tokens, one after the other.
    #[inline]
    pub fn tokens(&self, content: u32) -> Cow<'_, [i64]> {
        if self.stride == 0 {
            return Cow::Borrowed(&[]);
        }
        match self.stored(content) {
            (words, false) => Cow::Borrowed(words),
            (runs, true) => Cow::Owned(expanded(runs, self.stride)),
        }
    }

    /// Returns true if a content is stored as runs.
    #[inline]
    pub fn has_runs(&self, content: u32) -> bool {
        match self.stride {
            0 => true,
            stride => {
                let content = &self.contents[content as usize];
                content.words as usize != content.tokens as usize * stride
            }
        }
    }

    /// The token at a position of a content without runs.
    #[inline]
    pub fn plain_token(&self, content: u32, position: usize) -> &[i64] {
        let first = self.contents[content as usize].start + position * self.stride;
        &self.words[first..first + self.stride]
    }

    /// The token at a position, and a position after it: all tokens between them are equal to it.
    #[inline]
    pub fn token(&self, content: u32, position: usize) -> (&[i64], usize) {
        match self.has_runs(content) {
            true => self.run(content, position),
            false => (self.plain_token(content, position), position + 1),
        }
    }

    /// The first position from `start` on whose token is at least `least`, where tokens are single
    /// words in their order.
    #[inline]
    pub fn first_from(&self, content: u32, start: usize, least: i64) -> usize {
        match self.stored(content) {
            (words, false) => {
                let tokens = words[start..].iter();
                start + tokens.take_while(|token| **token < least).count()
            }
            (runs, true) => {
                let runs = runs.chunks_exact(2);
                let less = runs.take_while(|run| run[0] < least).last();
                less.map_or(start, |run| start.max(run[1] as usize))
            }
        }
    }

    /// The token of the run with a position, and the run's end.
    #[cold]
    fn run(&self, content: u32, position: usize) -> (&[i64], usize) {
        if self.stride == 0 {
            return (&[], content as usize);
        }
        let (runs, _) = self.stored(content);
        let run = &runs[run_at(runs, self.stride, position)..];
        (&run[..self.stride], run[self.stride] as usize)
    }

    /// The number of a content.
    pub fn number_of(&mut self, words: &[i64]) -> u32 {
        if words.is_empty() {
            return EMPTY;
        }
        let tokens = (words.len() / self.stride) as u32;
        if words.len() <= MOST_PLAIN {
            return self.number_of_stored(words, tokens);
        }
        let mut runs = std::mem::take(&mut self.scratch_runs);
        let content = match make_runs(words, self.stride, &mut runs) {
            true => self.number_of_stored(&runs, tokens),
            false => self.number_of_stored(words, tokens),
        };
        self.scratch_runs = runs;
        content
    }

    /// The number of a content from its words as they are stored.
    fn number_of_stored(&mut self, words: &[i64], tokens: u32) -> u32 {
        let hash = hash_of_words(words);
        let is_same = |content: &u32| {
            self.contents[*content as usize].tokens == tokens && self.stored(*content).0 == words
        };
        if let Some(content) = self.table.find(hash, is_same) {
            return *content;
        }
        let content = self.contents.len() as u32;
        let start = self.words.len();
        self.words.extend_from_slice(words);
        self.contents.push(Content {
            start,
            words: words.len() as u32,
            tokens,
            edits: Vec::new(),
        });
        let (all, contents) = (&self.words, &self.contents);
        self.table.insert_unique(hash, content, |&content| {
            let content = &contents[content as usize];
            hash_of_words(&all[content.start..content.start + content.words as usize])
        });
        self.count_bytes();
        content
    }

    /// The number of a content whose tokens may be in any order.
    pub fn number_of_tokens(&mut self, words: &[i64]) -> u32 {
        if self.fifo {
            return self.number_of(words);
        }
        self.number_of(&sorted(words, self.stride))
    }

    /// The content after an edit; none if it has not been made yet, or is among many.
    #[inline]
    fn remembered(&self, content: u32, argument: u32) -> Option<u32> {
        let edits = &self.contents[content as usize].edits;
        let edit = edits.iter().find(|(it, _)| *it == argument);
        edit.map(|(_, result)| *result)
    }

    fn edit(&mut self, content: u32, argument: u32, edit: Edit<'_>) -> u32 {
        let together = self.contents[content as usize].edits.len() < TOGETHER;
        let key = u64::from(content) << 32 | u64::from(argument);
        let hash = hash_of_edit(key);
        if !together && let Some((_, result)) = self.more_edits.find(hash, |(it, _)| *it == key) {
            return *result;
        }
        let mut words = std::mem::take(&mut self.scratch);
        words.clear();
        let (stored, has_runs) = self.stored(content);
        words.extend_from_slice(stored);
        let result = match has_runs {
            true => self.edit_runs(content, edit, &mut words),
            false => {
                self.edit_tokens(edit, &mut words);
                self.number_of(&words)
            }
        };
        self.scratch = words;
        match together {
            true => {
                let edits = &mut self.contents[content as usize].edits;
                let before = edits.capacity();
                edits.push((argument, result));
                self.edit_bytes += 8 * (edits.capacity() - before);
            }
            false => {
                let hash_of = |(it, _): &(u64, u32)| hash_of_edit(*it);
                self.more_edits.insert_unique(hash, (key, result), hash_of);
            }
        }
        self.count_bytes();
        result
    }

    fn edit_tokens(&self, edit: Edit<'_>, words: &mut Vec<i64>) {
        match edit {
            Edit::Cut(position) => {
                words.drain(position * self.stride..(position + 1) * self.stride);
            }
            Edit::Insert(token) => {
                let mut at = words.len();
                if !self.fifo {
                    while at > 0 && token < &words[at - self.stride..at] {
                        at -= self.stride;
                    }
                }
                words.splice(at..at, token.iter().copied());
            }
        }
    }

    /// Edits a content of runs, and gives the number of the result.
    fn edit_runs(&mut self, content: u32, edit: Edit<'_>, runs: &mut Vec<i64>) -> u32 {
        let stride = self.stride;
        let mut tokens = self.contents[content as usize].tokens;
        match edit {
            Edit::Cut(position) => {
                cut_from_runs(runs, stride, position);
                tokens -= 1;
            }
            Edit::Insert(token) => {
                insert_into_runs(runs, stride, self.fifo, token);
                tokens += 1;
            }
        }
        match are_runs_shorter(runs.len(), tokens as usize * stride) {
            true => self.number_of_stored(runs, tokens),
            false => self.number_of_stored(&expanded(runs, stride), tokens),
        }
    }

    /// The content without the token at a position.
    #[inline]
    pub fn cut(&mut self, content: u32, position: usize) -> u32 {
        if self.stride == 0 {
            return content - 1;
        }
        let argument = CUT | (position as u32 & (ARGUMENTS - 1));
        match self.remembered(content, argument) {
            Some(result) => result,
            None => self.edit(content, argument, Edit::Cut(position)),
        }
    }

    /// The content with one more token.
    #[inline]
    pub fn insert(&mut self, content: u32, token: &[i64]) -> u32 {
        let argument = match token {
            [] => return content + 1,
            &[word] if (0..i64::from(ARGUMENTS)).contains(&word) => INSERT_WORD | word as u32,
            _ => INSERT_TOKEN | self.number_of(token),
        };
        match self.remembered(content, argument) {
            Some(result) => result,
            None => self.edit(content, argument, Edit::Insert(token)),
        }
    }
}

/// Words of tokens in their order.
fn sorted(words: &[i64], stride: usize) -> Vec<i64> {
    let mut tokens: Vec<&[i64]> = words.chunks_exact(stride).collect();
    tokens.sort_unstable();
    tokens.concat()
}

/// Returns true if a content is stored as runs. It follows from the tokens alone, so that equal
/// contents are stored equally.
fn are_runs_shorter(run_words: usize, token_words: usize) -> bool {
    token_words > MOST_PLAIN && run_words <= token_words / 2
}

/// Makes runs of tokens; false if the content is not stored so.
fn make_runs(words: &[i64], stride: usize, runs: &mut Vec<i64>) -> bool {
    runs.clear();
    for (position, token) in words.chunks_exact(stride).enumerate() {
        match runs.len().checked_sub(stride + 1) {
            Some(last) if runs[last..last + stride] == *token => runs[last + stride] += 1,
            _ => {
                runs.extend_from_slice(token);
                runs.push(position as i64 + 1);
            }
        }
        if !are_runs_shorter(runs.len(), words.len()) {
            return false;
        }
    }
    true
}

/// Words of all tokens.
fn expanded(runs: &[i64], stride: usize) -> Vec<i64> {
    let mut words = Vec::new();
    let mut start = 0;
    for run in runs.chunks_exact(stride + 1) {
        let end = run[stride];
        words.extend((start..end).flat_map(|_| &run[..stride]));
        start = end;
    }
    words
}

/// First word of the run with a position.
fn run_at(runs: &[i64], stride: usize, position: usize) -> usize {
    let width = stride + 1;
    let (mut low, mut high) = (0, runs.len() / width);
    while low < high {
        let middle = low.midpoint(high);
        match runs[middle * width + stride] as usize <= position {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    low * width
}

/// Moves the ends of all runs from one on.
fn move_ends(runs: &mut [i64], stride: usize, by: i64) {
    for run in runs.chunks_exact_mut(stride + 1) {
        run[stride] += by;
    }
}

/// End of the run before the one at `run`.
fn end_before(runs: &[i64], run: usize) -> i64 {
    run.checked_sub(1).map_or(0, |end| runs[end])
}

fn cut_from_runs(runs: &mut Vec<i64>, stride: usize, position: usize) {
    let width = stride + 1;
    let run = run_at(runs, stride, position);
    move_ends(&mut runs[run..], stride, -1);
    if runs[run + stride] > end_before(runs, run) {
        return;
    }
    runs.drain(run..run + width);
    // Its neighbours may be equal where tokens are in the order of their arrival.
    if run > 0 && run < runs.len() && runs[run - width..run - 1] == runs[run..run + stride] {
        runs.drain(run - width..run);
    }
}

fn insert_into_runs(runs: &mut Vec<i64>, stride: usize, fifo: bool, token: &[i64]) {
    let width = stride + 1;
    let mut run = runs.len();
    if !fifo {
        while run > 0 && token < &runs[run - width..run - 1] {
            run -= width;
        }
    }
    if run > 0 && runs[run - width..run - 1] == *token {
        return move_ends(&mut runs[run - width..], stride, 1);
    }
    move_ends(&mut runs[run..], stride, 1);
    let end = end_before(runs, run) + 1;
    runs.splice(run..run, token.iter().copied().chain([end]));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn edits_agree_with_vectors(
            fifo in any::<bool>(),
            steps in prop::collection::vec((any::<bool>(), 0_usize..8, prop::array::uniform2(-2_i64..3)), 0..300),
        ) {
            let mut contents = Contents::new(2, fifo);
            let (mut content, mut slow) = (EMPTY, Vec::new());
            for (cut, position, token) in steps {
                if cut && !slow.is_empty() {
                    let position = position % slow.len();
                    content = contents.cut(content, position);
                    slow.remove(position);
                } else {
                    content = contents.insert(content, &token);
                    slow.push(token);
                    if !fifo {
                        slow.sort_unstable();
                    }
                }
                prop_assert_eq!(&contents.tokens(content)[..], &slow.concat()[..]);
                prop_assert_eq!(contents.len(content), slow.len());
                prop_assert_eq!(contents.number_of(&slow.concat()), content);
            }
        }

        #[test]
        fn runs_agree_with_vectors(
            fifo in any::<bool>(),
            steps in prop::collection::vec((any::<bool>(), 0_usize..90, 1_usize..40, 0_i64..3), 0..60),
        ) {
            let mut contents = Contents::new(1, fifo);
            let (mut content, mut slow) = (EMPTY, Vec::<i64>::new());
            let steps = steps.into_iter().flat_map(|(cut, position, times, token)| {
                std::iter::repeat_n((cut, position, token), times)
            });
            for (cut, position, token) in steps {
                if cut && !slow.is_empty() {
                    let position = position % slow.len();
                    content = contents.cut(content, position);
                    slow.remove(position);
                } else if slow.len() < 200 {
                    content = contents.insert(content, &[token]);
                    slow.push(token);
                    if !fifo {
                        slow.sort_unstable();
                    }
                }
                prop_assert_eq!(&contents.tokens(content)[..], &slow[..]);
                prop_assert_eq!(contents.len(content), slow.len());
                prop_assert_eq!(contents.number_of(&slow), content);
                for (position, token) in slow.iter().enumerate() {
                    let (words, next) = contents.token(content, position);
                    prop_assert_eq!(words, &[*token]);
                    prop_assert!(slow[position..next].iter().all(|other| other == token));
                }
            }
        }
    }

    #[test]
    fn equal_tokens_take_no_more_memory_for_their_number() {
        let mut contents = Contents::new(2, false);
        let mut content = EMPTY;
        for _ in 0..100_000 {
            content = contents.insert(content, &[4, 5]);
        }
        assert_eq!(contents.len(content), 100_000);
        assert_eq!(contents.token(content, 99_999), (&[4, 5][..], 100_000));
        assert!(contents.bytes() < 20_000_000, "{}", contents.bytes());
    }
}
