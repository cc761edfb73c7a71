//! Contents of copies of nodes: each distinct collection of tokens is stored once and has a number.
//!
//! Most markings differ in few places, so a marking is a short row of these numbers. A firing cuts
//! a token out of a content or inserts one; the result of each such edit is remembered, so that
//! the same edit is one look into a table the next time.

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
    scratch: Vec<i64>,
}

/// A collection of tokens.
#[derive(Default)]
struct Content {
    /// Its part of the words.
    start: usize,
    end: usize,
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
            scratch: Vec::new(),
        }
    }

    /// Memory that they use.
    pub fn bytes(&self) -> usize {
        let edits = self.contents.iter().map(|it| 8 * it.edits.capacity());
        8 * self.words.len()
            + size_of::<Content>() * self.contents.len()
            + edits.sum::<usize>()
            + 5 * self.table.capacity()
            + 17 * self.more_edits.capacity()
    }

    /// Number of tokens.
    #[inline]
    pub fn len(&self, content: u32) -> usize {
        match self.stride {
            0 => content as usize,
            1 => self.words_of(content).len(),
            stride => self.words_of(content).len() / stride,
        }
    }

    /// Words of all tokens, one after the other.
    #[inline]
    pub fn words_of(&self, content: u32) -> &[i64] {
        match self.stride {
            0 => &[],
            _ => {
                let content = &self.contents[content as usize];
                &self.words[content.start..content.end]
            }
        }
    }

    /// The number of a content.
    pub fn number_of(&mut self, words: &[i64]) -> u32 {
        if words.is_empty() {
            return EMPTY;
        }
        let hash = hash_of_words(words);
        let found = self.table.find(hash, |&it| self.words_of(it) == words);
        if let Some(content) = found {
            return *content;
        }
        let content = self.contents.len() as u32;
        let start = self.words.len();
        self.words.extend_from_slice(words);
        self.contents.push(Content {
            start,
            end: self.words.len(),
            edits: Vec::new(),
        });
        let (all, contents) = (&self.words, &self.contents);
        self.table.insert_unique(hash, content, |&it| {
            let content = &contents[it as usize];
            hash_of_words(&all[content.start..content.end])
        });
        content
    }

    /// The number of a content whose tokens may be in any order.
    pub fn number_of_tokens(&mut self, words: &[i64]) -> u32 {
        if self.fifo {
            return self.number_of(words);
        }
        self.number_of(&sorted(words, self.stride))
    }

    /// The content after an edit: as remembered, or made by `make` from its words.
    #[inline]
    fn edited(
        &mut self,
        content: u32,
        argument: u32,
        make: impl FnOnce(&Contents, &mut Vec<i64>),
    ) -> u32 {
        let edits = &self.contents[content as usize].edits;
        if let Some((_, result)) = edits.iter().find(|(it, _)| *it == argument) {
            return *result;
        }
        self.edit(content, argument, make)
    }

    fn edit(
        &mut self,
        content: u32,
        argument: u32,
        make: impl FnOnce(&Contents, &mut Vec<i64>),
    ) -> u32 {
        let together = self.contents[content as usize].edits.len() < TOGETHER;
        let edit = u64::from(content) << 32 | u64::from(argument);
        let hash = hash_of_edit(edit);
        if !together && let Some((_, result)) = self.more_edits.find(hash, |(it, _)| *it == edit) {
            return *result;
        }
        let mut words = std::mem::take(&mut self.scratch);
        words.clear();
        words.extend_from_slice(self.words_of(content));
        make(self, &mut words);
        let result = self.number_of(&words);
        self.scratch = words;
        match together {
            true => self.contents[content as usize]
                .edits
                .push((argument, result)),
            false => {
                let hash_of = |(it, _): &(u64, u32)| hash_of_edit(*it);
                self.more_edits.insert_unique(hash, (edit, result), hash_of);
            }
        }
        result
    }

    /// The content without the token at a position.
    #[inline]
    pub fn cut(&mut self, content: u32, position: usize) -> u32 {
        if self.stride == 0 {
            return content - 1;
        }
        let argument = CUT | (position as u32 & (ARGUMENTS - 1));
        self.edited(content, argument, |this, words| {
            words.drain(position * this.stride..(position + 1) * this.stride);
        })
    }

    /// The content with one more token.
    #[inline]
    pub fn insert(&mut self, content: u32, token: &[i64]) -> u32 {
        let argument = match token {
            [] => return content + 1,
            &[word] if (0..i64::from(ARGUMENTS)).contains(&word) => INSERT_WORD | word as u32,
            _ => INSERT_TOKEN | self.number_of(token),
        };
        self.edited(content, argument, |this, words| {
            let mut at = words.len();
            if !this.fifo {
                while at > 0 && token < &words[at - this.stride..at] {
                    at -= this.stride;
                }
            }
            words.splice(at..at, token.iter().copied());
        })
    }
}

/// Words of tokens in their order.
fn sorted(words: &[i64], stride: usize) -> Vec<i64> {
    let mut tokens: Vec<&[i64]> = words.chunks_exact(stride).collect();
    tokens.sort_unstable();
    tokens.concat()
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
                prop_assert_eq!(contents.words_of(content), &slow.concat()[..]);
                prop_assert_eq!(contents.len(content), slow.len());
                prop_assert_eq!(contents.number_of(&slow.concat()), content);
            }
        }
    }
}
