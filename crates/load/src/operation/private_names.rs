//! Names that processes make and remove.

use std::collections::{HashMap, VecDeque};
use std::ffi::CString;
use std::sync::{Arc, Mutex, PoisonError};

use headrace_workload::Named;

use crate::files::Names;

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

/// Names that exist, by the directory that they are in and by kind: each used longest ago first.
pub type Pool = Arc<Mutex<HashMap<u32, [VecDeque<u64>; 4]>>>;

/// Names that processes make and remove, so that each operation finds the names that it expects,
/// and no others.
///
/// In a directory of the process's own, the last one made is used first. In directories that
/// processes share (`names.made_in`), it is the one used longest ago. A name is in use by one process
/// at a time.
#[derive(Debug)]
pub struct PrivateNames {
    /// The directory; none if processes share theirs.
    own: Option<String>,
    names: Names,
    made: Pool,
    /// The next number, and its distance from the next but one.
    next: u64,
    step: u64,
}

impl PrivateNames {
    /// Names in a directory that no other process uses.
    #[must_use]
    pub fn new(names: &Names, rank: u32) -> PrivateNames {
        PrivateNames {
            own: Some(names.own(rank).to_string_lossy().into_owned()),
            names: names.clone(),
            made: Pool::default(),
            next: 0,
            step: 1,
        }
    }

    /// Names of process `rank` of `processes` in directories that they share, taken from `pool` and
    /// put there.
    #[must_use]
    pub fn shared(names: &Names, rank: u32, processes: u32, pool: Pool) -> PrivateNames {
        PrivateNames {
            own: None,
            names: names.clone(),
            made: pool,
            next: rank.into(),
            step: processes.into(),
        }
    }

    fn path(&self, kind: Kind, file: u32, number: u64) -> CString {
        let letter = kind.letter();
        let path = match &self.own {
            Some(directory) => format!("{directory}/hr-{letter}{number}"),
            None => {
                let directory = self.names.directory(file);
                format!("{}/hr-{letter}{number}", directory.to_string_lossy())
            }
        };
        CString::new(path).unwrap_or_default()
    }

    /// Has the names of a kind in the directory that a number stands for.
    fn of<R>(&self, kind: Kind, file: u32, change: impl FnOnce(&mut VecDeque<u64>) -> R) -> R {
        let directory = match (&self.own, self.names.named(file)) {
            (None, Named::Made(directory) | Named::Directory(directory)) => directory,
            _ => 0,
        };
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut made.entry(directory).or_default()[kind as usize])
    }

    fn number(&mut self) -> u64 {
        let number = self.next;
        self.next += self.step;
        number
    }

    /// A name that is not there, and that no operation goes to.
    pub fn passing(&mut self, kind: Kind, file: u32) -> CString {
        let number = self.number();
        self.path(kind, file, number)
    }

    /// A name that is not there, and its number for [`PrivateNames::keep`].
    pub fn fresh(&mut self, kind: Kind, file: u32) -> (CString, u64) {
        let number = self.number();
        (self.path(kind, file, number), number)
    }

    /// A name is there from now on.
    pub fn keep(&self, kind: Kind, file: u32, number: u64) {
        self.of(kind, file, |made| made.push_back(number));
    }

    /// A name that is there, and from now on is not; none if there is none.
    pub fn take(&self, kind: Kind, file: u32) -> Option<(CString, u64)> {
        let last = self.own.is_some();
        let number = self.of(kind, file, |made| match last {
            true => made.pop_back(),
            false => made.pop_front(),
        })?;
        Some((self.path(kind, file, number), number))
    }
}
