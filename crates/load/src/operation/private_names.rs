//! Names that a process makes and removes by itself.

use std::ffi::CString;

/// Kind of name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A file.
    File,
    /// A further name of a file.
    SecondName,
    /// A directory.
    Directory,
    /// A symbolic link.
    SymbolicLink,
}

impl Kind {
    /// Returns the first letter of the names.
    fn letter(self) -> char {
        match self {
            Kind::File => 'f',
            Kind::SecondName => 'n',
            Kind::Directory => 'd',
            Kind::SymbolicLink => 's',
        }
    }

    /// The word behind a file's name, of one that belongs to a numbered file.
    pub(super) fn word(self) -> &'static str {
        match self {
            Kind::File => "file",
            Kind::SecondName => "second",
            Kind::Directory => "dir",
            Kind::SymbolicLink => "link",
        }
    }
}

/// Names that a process makes and removes by itself, so that each operation finds the names that it
/// expects, and no others.
#[derive(Debug)]
pub struct PrivateNames {
    directory: String,
    /// Existing names, by kind.
    made: [Vec<u32>; 4],
    next: u32,
}

impl PrivateNames {
    /// Names in a directory that no other process uses.
    #[must_use]
    pub fn new(directory: String) -> PrivateNames {
        PrivateNames {
            directory,
            made: Default::default(),
            next: 0,
        }
    }

    fn path(&self, kind: Kind, number: u32) -> CString {
        let letter = kind.letter();
        CString::new(format!("{}/hr-{letter}{number}", self.directory)).unwrap_or_default()
    }

    /// A name that is not there; from now on it is taken for one that is.
    pub fn fresh(&mut self, kind: Kind) -> CString {
        let number = self.next;
        self.next += 1;
        self.made[kind as usize].push(number);
        self.path(kind, number)
    }

    /// A name that is there, and from now on is not; none if there is none.
    pub fn take(&mut self, kind: Kind) -> Option<CString> {
        let number = self.made[kind as usize].pop()?;
        Some(self.path(kind, number))
    }

    /// A name that is there; none if there is none.
    #[must_use]
    pub fn one(&self, kind: Kind) -> Option<CString> {
        let number = self.made[kind as usize].last()?;
        Some(self.path(kind, *number))
    }
}
