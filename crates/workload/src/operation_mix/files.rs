//! The sets of files of a mix, and how files are chosen in each.

use headrace_net::Random;
use headrace_spec::{FileSet, MixedOperation, OperationMix};

use super::choice::{Groups, Purpose};
use super::first_with;

/// All sets.
pub struct Sets(Vec<Set>);

impl Sets {
    /// Creates the file sets of an operation mix.
    pub fn new(mix: &OperationMix) -> Sets {
        let sets = mix.sets().into_iter();
        Sets(sets.map(|files| Set::new(mix, files)).collect())
    }

    /// Number of there that are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The number of the set that an operation is on.
    pub fn number_of(&self, operation: MixedOperation) -> usize {
        let group = OperationMix::file_group(operation);
        let own = self.0.iter().position(|set| set.files.group == Some(group));
        // Where all operations are on one, or the operation is on none.
        own.unwrap_or(0)
    }

    /// A set.
    pub fn set(&self, number: usize) -> &Set {
        &self.0[number]
    }

    /// The size of a file.
    pub fn size_of(&self, file: u32) -> u64 {
        let set = self.0.partition_point(|set| set.files.end() <= file);
        let files = &self.0[set.min(self.0.len() - 1)].files;
        files.size_of(file - files.first).0
    }
}

/// A set of files.
pub struct Set {
    files: FileSet,
    /// The first file of each size, counted from 0, by size.
    first_of: Vec<(u64, u32)>,
    groups: Option<Groups>,
    hot_files: f64,
    hot_share: f64,
}

impl Set {
    fn new(mix: &OperationMix, files: FileSet) -> Set {
        let first_of = mix.file_sizes.values().map(|size| {
            let first = first_with(files.files, |file| files.size_of(file) >= size);
            (size.0, first)
        });
        Set {
            first_of: first_of.collect(),
            groups: Groups::new(mix, files.files),
            hot_files: mix.hot_files,
            hot_share: mix.hot_share,
            files,
        }
    }

    /// Returns true if a file is in it.
    pub fn has(&self, file: u32) -> bool {
        (self.files.first..self.files.end()).contains(&file)
    }

    /// The largest file.
    pub fn largest(&self) -> u32 {
        self.files.end() - 1
    }

    /// Any file.
    pub fn any(&self, purpose: Purpose, random: &mut Random<'_>) -> u32 {
        self.file(0, purpose, random)
    }

    /// A file that holds `size` bytes; one of the largest, if none does.
    pub fn holding(&self, size: u64, purpose: Purpose, random: &mut Random<'_>) -> u32 {
        self.file(self.first_holding(size), purpose, random)
    }

    fn first_holding(&self, size: u64) -> u32 {
        let files = &self.files;
        let mut sizes = self.first_of.iter();
        let first = sizes.find(|(of, first)| *of >= size && *first < files.files);
        match first {
            Some(&(_, first)) => first,
            None => {
                let largest = files.largest();
                first_with(files.files, |file| files.size_of(file) >= largest)
            }
        }
    }

    /// A file from the n-th on.
    fn file(&self, from: u32, purpose: Purpose, random: &mut Random<'_>) -> u32 {
        let place = match &self.groups {
            Some(groups) => groups.file(from, purpose, random),
            None => self.hot_or_not(from, random),
        };
        self.files.first + place
    }

    /// A place from the n-th on, of files that are hot or of the others.
    fn hot_or_not(&self, from: u32, random: &mut Random<'_>) -> u32 {
        let files = self.files.files;
        let any = |random: &mut Random<'_>| from + random.below(u64::from(files - from)) as u32;
        if self.hot_files >= 1.0 {
            return any(random);
        }
        let hot = random.uniform() < self.hot_share;
        // Number of files of the kind before a file: one in every 1 / `hot_files` is hot.
        let before = |file: u32| {
            let number = (f64::from(file) * self.hot_files) as u32;
            if hot { number } else { file - number }
        };
        let (least, most) = (before(from), before(files));
        if least == most {
            return any(random);
        }
        let number = least + random.below(u64::from(most - least)) as u32;
        first_with(files, |file| before(file + 1) > number)
    }
}
