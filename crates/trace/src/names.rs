use std::borrow::Cow;
use std::fmt::Write as _;
use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// A table of names, each with a number: 0, 1, 2… in the order of first use.
///
/// The names lie in one text, one behind the other: a name takes its length
/// and some 20 bytes.
#[derive(Clone, Debug, Default)]
pub struct Names {
    text: String,
    /// End of each name in the text.
    ends: Vec<usize>,
    /// The names' numbers, found by their hashes.
    numbers: HashTable<u32>,
}

/// The names beyond share this number.
const LAST: u32 = u32::MAX;

impl Names {
    /// An empty table.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of `name`, which is added if it is new.
    ///
    /// A table can hold 2³² − 1 names (which would need some 200 GB); those
    /// beyond share the last number.
    pub fn intern(&mut self, name: &str) -> u32 {
        let Self {
            text,
            ends,
            numbers,
        } = self;
        let hash = FxBuildHasher.hash_one(name);
        let is_it = |number: &u32| name_in(text, ends, *number as usize) == Some(name);
        if let Some(number) = numbers.find(hash, is_it) {
            return *number;
        }
        let number = u32::try_from(ends.len()).unwrap_or(LAST);
        if number == LAST {
            return LAST;
        }
        numbers.insert_unique(hash, number, |number| {
            FxBuildHasher.hash_one(name_in(text, ends, *number as usize).unwrap_or_default())
        });
        text.push_str(name);
        ends.push(text.len());
        number
    }

    /// The name with this number.
    #[must_use]
    pub fn get(&self, number: u32) -> Option<&str> {
        name_in(&self.text, &self.ends, number as usize)
    }

    /// The number of `name`, if it is in the table.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<u32> {
        let hash = FxBuildHasher.hash_one(name);
        self.numbers
            .find(hash, |number| self.get(*number) == Some(name))
            .copied()
    }

    /// Number of names.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The names in the order of their numbers.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.ends.len()).map(|it| name_in(&self.text, &self.ends, it).unwrap_or_default())
    }
}

fn name_in<'a>(text: &'a str, ends: &[usize], number: usize) -> Option<&'a str> {
    let end = *ends.get(number)?;
    let start = number.checked_sub(1).map_or(0, |before| ends[before]);
    text.get(start..end)
}

/// A name as text.
///
/// File names are bytes; names in Headrace are text, so that they can go into
/// tables, CSV and Parquet. Bytes that are not UTF-8 become `\xNN`, and then
/// a backslash in the same name becomes `\\`, so that different names stay
/// different.
#[must_use]
pub fn text(name: &[u8]) -> Cow<'_, str> {
    if let Ok(name) = std::str::from_utf8(name) {
        return Cow::Borrowed(name);
    }
    let mut text = String::with_capacity(name.len() + 8);
    for chunk in name.utf8_chunks() {
        for character in chunk.valid().chars() {
            if character == '\\' {
                text.push('\\');
            }
            text.push(character);
        }
        for byte in chunk.invalid() {
            // Writing to a String cannot fail.
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_name_has_the_same_number() {
        let mut names = Names::new();
        assert_eq!(names.intern("/a"), 0);
        assert_eq!(names.intern("/b"), 1);
        assert_eq!(names.intern("/a"), 0);
        assert_eq!(names.get(1), Some("/b"));
        assert_eq!(names.get(2), None);
        assert_eq!(names.number("/b"), Some(1));
        assert_eq!(names.len(), 2);
        assert_eq!(names.intern(""), 2);
        assert_eq!(names.intern(""), 2);
        assert_eq!(names.get(2), Some(""));
        assert_eq!(names.iter().collect::<Vec<_>>(), ["/a", "/b", ""]);
    }

    #[test]
    fn many_names_keep_their_numbers() {
        let mut names = Names::new();
        for round in 0..2 {
            for number in 0..10_000_u32 {
                assert_eq!(names.intern(&format!("/{number}")), number, "{round}");
            }
        }
        assert_eq!(names.get(9_999), Some("/9999"));
        assert_eq!(names.number("/5000"), Some(5000));
    }

    #[test]
    fn bytes_that_are_not_text_are_escaped() {
        assert_eq!(text("/größe".as_bytes()), "/größe");
        assert_eq!(text(b"/a\\b"), "/a\\b");
        assert_eq!(text(b"/a\\b\xff\xfec"), "/a\\\\b\\xff\\xfec");
    }
}
