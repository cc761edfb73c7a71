use std::borrow::Cow;
use std::fmt::Write as _;

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

/// A table of names, each with a number: 0, 1, 2… in the order of first use.
#[derive(Clone, Debug, Default)]
pub struct Names {
    names: IndexSet<Box<str>, FxBuildHasher>,
}

impl Names {
    /// An empty table.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of `name`, which is added if it is new.
    ///
    /// A table can hold 2³² − 1 names (which would need some 100 GB); those
    /// beyond share the last number.
    pub fn intern(&mut self, name: &str) -> u32 {
        let index = match self.names.get_index_of(name) {
            Some(index) => index,
            None => self.names.insert_full(name.into()).0,
        };
        u32::try_from(index).unwrap_or(u32::MAX)
    }

    /// The name with this number.
    #[must_use]
    pub fn get(&self, number: u32) -> Option<&str> {
        self.names.get_index(number as usize).map(AsRef::as_ref)
    }

    /// The number of `name`, if it is in the table.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<u32> {
        let index = self.names.get_index_of(name)?;
        u32::try_from(index).ok()
    }

    /// How many names there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The names in the order of their numbers.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.names.iter().map(AsRef::as_ref)
    }
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
    }

    #[test]
    fn bytes_that_are_not_text_are_escaped() {
        assert_eq!(text("/größe".as_bytes()), "/größe");
        assert_eq!(text(b"/a\\b"), "/a\\b");
        assert_eq!(text(b"/a\\b\xff\xfec"), "/a\\\\b\\xff\\xfec");
    }
}
