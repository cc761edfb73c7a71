//! Maps files to directories.

use crate::{NameSets, Named};

/// The directories of all workloads: the files of each in order, N in each directory.
#[derive(Clone, Default, Debug)]
pub struct Directories {
    parts: Vec<Part>,
    /// The number of the next.
    next: u32,
}

#[derive(Clone, Copy, Debug)]
struct Part {
    first_file: u32,
    first: u32,
    /// Number of files a directory has.
    files: u32,
    /// Directories behind these, of names that are made in them.
    sets: NameSets,
}

impl Directories {
    /// Adds those of a workload with `files` files from `first_file` on: all in one
    /// directory, or `in_each` in each. Names that are made in directories lie behind these.
    pub fn add(&mut self, first_file: u32, files: u32, in_each: Option<u32>, sets: NameSets) {
        let files = files.max(1);
        let in_each = in_each.map_or(files, |in_each| in_each.max(1));
        self.parts.push(Part {
            first_file,
            first: self.next,
            files: in_each,
            sets,
        });
        let own = files.div_ceil(in_each);
        let behind = if sets.made > 0 { sets.directories } else { 0 };
        self.next = self.next.saturating_add(own.saturating_add(behind));
    }

    /// The number of each workload's first file.
    pub fn first_files(&self) -> impl Iterator<Item = u32> {
        self.parts.iter().map(|part| part.first_file)
    }

    /// The number of a file's directory.
    pub fn of(&self, file: u32) -> u32 {
        match self.part_of(file) {
            Some((_, part)) => part.first + part.directory(file),
            None => 0,
        }
    }

    /// The number of a file's directory; none if a single process has the directory.
    pub fn shared(&self, file: u32) -> Option<u32> {
        let own = self.part_of(file);
        let own = own.is_some_and(|(_, part)| part.sets.is_own(file - part.first_file));
        (!own).then(|| self.of(file))
    }

    /// The workload of a file, and the number of its directory among the workload's.
    pub fn in_workload(&self, file: u32) -> (u32, u32) {
        match self.part_of(file) {
            Some((workload, part)) => (workload, part.directory(file)),
            None => (0, 0),
        }
    }

    fn part_of(&self, file: u32) -> Option<(u32, Part)> {
        let after = self.parts.partition_point(|part| part.first_file <= file);
        let index = after.checked_sub(1)?;
        Some((index as u32, self.parts[index]))
    }
}

impl Part {
    /// The number of a file's directory in the workload.
    fn directory(&self, file: u32) -> u32 {
        let file = file - self.first_file;
        match self.sets.named(file) {
            // The files lie in one directory.
            Named::Made(directory) | Named::Directory(directory) if self.sets.made > 0 => {
                1 + directory
            }
            _ => file / self.files,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_workload_has_directories_of_its_own() {
        let mut directories = Directories::default();
        let none = NameSets::default();
        directories.add(0, 10, None, none);
        directories.add(10, 6, Some(2), none);
        directories.add(16, 0, None, none);
        directories.add(16, 1, None, none);
        let of = |file| directories.of(file);
        assert_eq!([of(0), of(9)], [0, 0]);
        assert_eq!([of(10), of(11), of(12), of(15)], [1, 1, 2, 3]);
        assert_eq!(directories.in_workload(9), (0, 0));
        assert_eq!(directories.in_workload(15), (1, 2));
        assert_eq!(of(16), 5);
    }

    #[test]
    fn names_that_are_made_in_a_directory_lie_in_it() {
        let mut directories = Directories::default();
        // Files 0 and 1; names 2 to 5, made in two directories in turn; these are 6 and 7.
        let sets = NameSets {
            first: 6,
            made: 4,
            directories: 2,
            sets: 1,
            ..NameSets::default()
        };
        directories.add(0, 8, None, sets);
        directories.add(8, 1, None, NameSets::default());
        let of = [0, 1, 2, 3, 4, 5, 6, 7].map(|file| directories.of(file));
        assert_eq!(of, [0, 0, 1, 2, 1, 2, 1, 2]);
        assert_eq!(directories.of(8), 3);
        let own = NameSets {
            own: 4,
            made: 0,
            ..sets
        };
        directories.add(9, 8, None, own);
        let shared = [8, 10, 11, 14, 15].map(|file| directories.shared(file));
        assert_eq!(shared, [Some(3), Some(4), None, None, Some(4)]);
    }
}
