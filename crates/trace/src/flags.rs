use std::ops::{BitOr, BitOrAssign};

/// Declares the flags: name, bit, name in files and tables. To add a flag, add a line.
macro_rules! flags {
    ($($(#[$doc:meta])* $name:ident, $bit:literal, $word:literal;)*) => {
        impl Flags {
            $($(#[$doc])* pub const $name: Flags = Flags(1 << $bit);)*

            const ALL: &[(Flags, &str)] = &[$((Flags::$name, $word),)*];
        }
    };
}

/// Details of a record: how a file was opened, what kind it is, how the call ended, and whether
/// its time and duration were recorded.
///
/// A trace may tell none of them: then only the absence of a flag is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags(u16);

flags! {
    /// Opened for reading.
    READ, 0, "read";
    /// Opened for writing.
    WRITE, 1, "write";
    /// Emptied when it was opened (`O_TRUNC`).
    TRUNCATE, 2, "truncate";
    /// It must not have been there (`O_EXCL`).
    EXCLUSIVE, 3, "exclusive";
    /// Each write is synchronous (`O_SYNC`, `O_DSYNC`).
    SYNCHRONOUS, 4, "synchronous";
    /// Opened to bypass the page cache (`O_DIRECT`).
    DIRECT, 5, "direct";
    /// A sync of the data alone (`fdatasync`); of a synchronous open or write, `O_DSYNC`.
    DATA_ONLY, 6, "data-only";
    /// A sync that only starts to write back a range (`sync_file_range`).
    RANGE, 7, "range";
    /// The file is a regular one.
    REGULAR, 8, "regular";
    /// The file is a directory.
    DIRECTORY, 9, "directory";
    /// The name is a symbolic link.
    SYMLINK, 10, "symlink";
    /// The call failed.
    FAILED, 11, "failed";
    /// It failed since a name was not there (`ENOENT`).
    MISSING, 12, "missing";
    /// It failed since the name was there (`EEXIST`).
    EXISTS, 13, "exists";
    /// The trace tells no times: the record's is 0.
    UNTIMED, 14, "untimed";
    /// The trace does not tell how long the call took: the record's duration is 0.
    NO_DURATION, 15, "no-duration";
}

impl Flags {
    /// None of them.
    pub const NONE: Flags = Flags(0);

    /// Returns true if all of these are set.
    #[must_use]
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// These if a condition holds, and none if not.
    #[must_use]
    pub const fn when(self, holds: bool) -> Flags {
        if holds { self } else { Flags::NONE }
    }

    /// These without others.
    #[must_use]
    pub const fn without(self, others: Flags) -> Flags {
        Flags(self.0 & !others.0)
    }

    /// The flags as a number.
    #[must_use]
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// The flags with this number; none if it has bits without a meaning.
    #[must_use]
    pub fn from_bits(bits: u16) -> Option<Flags> {
        let known = Self::ALL.iter().fold(0, |sum, (flag, _)| sum | flag.0);
        (bits & !known == 0).then_some(Flags(bits))
    }

    /// The names of those that are set, as `write|truncate`; empty if none is.
    #[must_use]
    pub fn text(self) -> String {
        let set = Self::ALL.iter().filter(|(flag, _)| self.has(*flag));
        let words: Vec<_> = set.map(|(_, word)| *word).collect();
        words.join("|")
    }

    /// The flags with these names.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Flags> {
        let mut words = text.split('|').filter(|it| !it.is_empty());
        words.try_fold(Flags::NONE, |sum, word| {
            let known = Self::ALL.iter().find(|(_, it)| *it == word)?;
            Some(sum | known.0)
        })
    }

    /// All names, as a list for messages.
    #[must_use]
    pub fn names() -> String {
        let names: Vec<_> = Self::ALL.iter().map(|(_, word)| *word).collect();
        names.join(", ")
    }
}

impl BitOr for Flags {
    type Output = Flags;

    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

impl BitOrAssign for Flags {
    fn bitor_assign(&mut self, other: Flags) {
        self.0 |= other.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_come_back_from_text_and_numbers() {
        for (flag, word) in Flags::ALL {
            assert_eq!(flag.text(), *word);
            assert_eq!(Flags::from_text(word), Some(*flag));
            assert_eq!(Flags::from_bits(flag.bits()), Some(*flag));
        }
        let both = Flags::WRITE | Flags::FAILED;
        assert_eq!(both.text(), "write|failed");
        assert_eq!(Flags::from_text("write|failed"), Some(both));
        assert_eq!(Flags::from_text(""), Some(Flags::NONE));
        assert_eq!(Flags::from_text("wrote"), None);
    }
}
