//! Directories and symbolic links that are there before the run.

/// Directories in sets, and symbolic links in the directories.
///
/// They have numbers behind those of files: first the directories, then the links. Before them may
/// be names that are made in the directories, which take these in turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NameSets {
    /// The number of the first.
    pub first: u32,
    /// Number of names that are made in the directories; the last one is before the first directory.
    pub made: u32,
    /// Number of names that are made in directories of single processes, as far before the first
    /// directory.
    pub own: u32,
    /// Names made by one process may be used by others.
    pub any: bool,
    /// Number of directories.
    pub directories: u32,
    /// Number of symbolic links.
    pub symbolic_links: u32,
    /// Number of sets the directories are in.
    pub sets: u32,
}

/// Meaning of a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Named {
    /// A file, or a name beside it.
    File,
    /// A name that is made in the n-th directory.
    Made(u32),
    /// The n-th directory.
    Directory(u32),
    /// The n-th symbolic link.
    SymbolicLink(u32),
}

impl NameSets {
    /// The number of a directory.
    #[must_use]
    pub fn directory(&self, number: u32) -> u32 {
        self.first + number
    }

    /// The number of the n-th name that is made in a directory.
    #[must_use]
    pub fn made_in(&self, directory: u32, number: u32) -> u32 {
        self.first - self.made + number * self.directories + directory
    }

    /// Returns true if a number stands for a name in a directory of a single process.
    #[must_use]
    pub fn is_own(&self, number: u32) -> bool {
        (self.first - self.own..self.first).contains(&number)
    }

    /// Number of names that are made in each directory.
    #[must_use]
    pub fn made_in_each(&self) -> u32 {
        self.made / self.directories.max(1)
    }

    /// The number of a symbolic link.
    #[must_use]
    pub fn symbolic_link(&self, number: u32) -> u32 {
        self.first + self.directories + number
    }

    /// Meaning of a number.
    #[must_use]
    pub fn named(&self, number: u32) -> Named {
        let Some(behind) = number.checked_sub(self.first) else {
            let made = number.checked_sub(self.first - self.made);
            return made.map_or(Named::File, |made| {
                Named::Made(made % self.directories.max(1))
            });
        };
        match behind.checked_sub(self.directories) {
            None => Named::Directory(behind),
            Some(link) if link < self.symbolic_links => Named::SymbolicLink(link),
            Some(_) => Named::File,
        }
    }

    /// The set that a directory is in.
    #[must_use]
    pub fn set_of(&self, directory: u32) -> u32 {
        directory % self.sets.max(1)
    }

    /// The directory that a symbolic link is in; none if there are only links.
    #[must_use]
    pub fn directory_of(&self, link: u32) -> Option<u32> {
        (self.directories > 0).then(|| link % self.directories)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_for_directories_and_then_for_links() {
        let sets = NameSets {
            first: 20,
            directories: 3,
            symbolic_links: 7,
            sets: 2,
            ..NameSets::default()
        };
        assert_eq!(sets.named(19), Named::File);
        assert_eq!(sets.named(sets.directory(0)), Named::Directory(0));
        assert_eq!(sets.named(22), Named::Directory(2));
        assert_eq!(sets.named(sets.symbolic_link(0)), Named::SymbolicLink(0));
        assert_eq!(sets.named(29), Named::SymbolicLink(6));
        assert_eq!(sets.named(30), Named::File);
        assert_eq!([0, 1, 2].map(|it| sets.set_of(it)), [0, 1, 0]);
        assert_eq!([0, 4].map(|it| sets.directory_of(it)), [Some(0), Some(1)]);
        let shared = NameSets { made: 6, ..sets };
        // Names 14 to 19: two rounds over the three directories.
        let named = [13, 14, 16, 17, 19].map(|it| shared.named(it));
        let made = [0, 2, 0, 2].map(Named::Made);
        assert_eq!(named[0], Named::File);
        assert_eq!(named[1..], made);
        assert_eq!((shared.made_in(2, 1), shared.made_in_each()), (19, 2));
        let own = NameSets { own: 6, ..sets };
        assert_eq!(
            [13, 14, 19, 20].map(|it| own.is_own(it)),
            [false, true, true, false]
        );
        assert_eq!(NameSets::default().directory_of(1), None);
        assert_eq!(NameSets::default().named(0), Named::File);
    }
}
