//! Maps files to directories.

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
}

impl Directories {
    /// Adds those of a workload with `files` files from `first_file` on: all in one
    /// directory, or `in_each` in each.
    pub fn add(&mut self, first_file: u32, files: u32, in_each: Option<u32>) {
        let files = files.max(1);
        let in_each = in_each.map_or(files, |in_each| in_each.max(1));
        self.parts.push(Part {
            first_file,
            first: self.next,
            files: in_each,
        });
        self.next = self.next.saturating_add(files.div_ceil(in_each));
    }

    /// The number of each workload's first file.
    pub fn first_files(&self) -> impl Iterator<Item = u32> {
        self.parts.iter().map(|part| part.first_file)
    }

    /// The number of a file's directory.
    pub fn of(&self, file: u32) -> u32 {
        match self.part_of(file) {
            Some((_, part)) => part.first + (file - part.first_file) / part.files,
            None => 0,
        }
    }

    /// The workload of a file, and the number of its directory among the workload's.
    pub fn in_workload(&self, file: u32) -> (u32, u32) {
        match self.part_of(file) {
            Some((workload, part)) => (workload, (file - part.first_file) / part.files),
            None => (0, 0),
        }
    }

    fn part_of(&self, file: u32) -> Option<(u32, Part)> {
        let after = self.parts.partition_point(|part| part.first_file <= file);
        let index = after.checked_sub(1)?;
        Some((index as u32, self.parts[index]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_workload_has_directories_of_its_own() {
        let mut directories = Directories::default();
        directories.add(0, 10, None);
        directories.add(10, 6, Some(2));
        directories.add(16, 0, None);
        directories.add(16, 1, None);
        let of = |file| directories.of(file);
        assert_eq!([of(0), of(9)], [0, 0]);
        assert_eq!([of(10), of(11), of(12), of(15)], [1, 1, 2, 3]);
        assert_eq!(directories.in_workload(9), (0, 0));
        assert_eq!(directories.in_workload(15), (1, 2));
        assert_eq!(of(16), 5);
    }
}
