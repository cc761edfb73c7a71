//! Directories and symbolic links that are there before the run.

/// Directories in sets, and symbolic links in the directories.
///
/// They have numbers behind those of files: first the directories, then the links.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NameSets {
    /// The number of the first.
    pub first: u32,
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

    /// The number of a symbolic link.
    #[must_use]
    pub fn symbolic_link(&self, number: u32) -> u32 {
        self.first + self.directories + number
    }

    /// Meaning of a number.
    #[must_use]
    pub fn named(&self, number: u32) -> Named {
        let Some(behind) = number.checked_sub(self.first) else {
            return Named::File;
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
        };
        assert_eq!(sets.named(19), Named::File);
        assert_eq!(sets.named(sets.directory(0)), Named::Directory(0));
        assert_eq!(sets.named(22), Named::Directory(2));
        assert_eq!(sets.named(sets.symbolic_link(0)), Named::SymbolicLink(0));
        assert_eq!(sets.named(29), Named::SymbolicLink(6));
        assert_eq!(sets.named(30), Named::File);
        assert_eq!([0, 1, 2].map(|it| sets.set_of(it)), [0, 1, 0]);
        assert_eq!([0, 4].map(|it| sets.directory_of(it)), [Some(0), Some(1)]);
        assert_eq!(NameSets::default().directory_of(1), None);
        assert_eq!(NameSets::default().named(0), Named::File);
    }
}
