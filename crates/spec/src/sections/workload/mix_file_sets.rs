//! Files of the operations in a mix.

use super::{MadeIn, MixedOperation, OperationGroup, OperationMix};
use crate::Error;
use crate::declare::Place;
use crate::values::{Bytes, Weighted, choice};

choice! {
    /// Files shared by all operation groups, or separate sets for each group (Wang 2002, section
    /// 3.3.3.1; the groups are those of section 3.3.1).
    pub enum FileSets {
        /// All operations are on the same files.
        Shared = "shared",
        /// Each group has its own set of files. Its fraction of the files equals its fraction of
        /// the operations on files, so that `bytes_per_rate` applies to each group's own load.
        /// Operations on a common file have one to themselves, as large as any. An operation that
        /// follows another is on that one's file.
        PerGroup = "per-group",
    }
}

/// A set of files, numbered by size.
#[derive(Clone, Debug, PartialEq)]
pub struct FileSet {
    /// The group that it belongs to, one of those that share if it is theirs; none if all
    /// operations are on it.
    pub group: Option<OperationGroup>,
    /// The number of its first file.
    pub first: u32,
    /// Number of files.
    pub files: u32,
    sizes: Weighted<Bytes>,
}

impl FileSet {
    /// The size of its n-th file, counted from 0.
    #[must_use]
    pub fn size_of(&self, place: u32) -> Bytes {
        self.sizes
            .at((f64::from(place) + 0.5) / f64::from(self.files))
    }

    /// The size of its largest file.
    #[must_use]
    pub fn largest(&self) -> Bytes {
        self.size_of(self.files.saturating_sub(1))
    }

    /// Bytes of all its files, about.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate, which saturates"
    )]
    pub fn bytes(&self) -> u64 {
        (self.sizes.mean() * f64::from(self.files)) as u64
    }

    /// The number behind its last file.
    #[must_use]
    pub fn end(&self) -> u32 {
        self.first + self.files
    }
}

impl OperationMix {
    /// The sets of files, in order of their numbers.
    #[must_use]
    pub fn sets(&self) -> Vec<FileSet> {
        let files = self.file_count();
        let set = |group, first, files| FileSet {
            group,
            first,
            files,
            sizes: self.file_sizes.clone(),
        };
        if self.file_sets == FileSets::Shared {
            return vec![set(None, 0, files)];
        }
        let (common, own): (Vec<_>, Vec<_>) = self
            .loads()
            .into_iter()
            .partition(|(group, _)| *group == COMMON);
        let alone = common.len() as u32;
        let total: f64 = own.iter().map(|(_, load)| load).sum();
        // One for each, and the others by their loads.
        let others = files.saturating_sub(alone + own.len() as u32);
        let (mut first, mut load, mut sets) = (0, 0.0, Vec::new());
        for (number, (group, part)) in own.into_iter().enumerate() {
            load += part;
            let end = number as u32 + 1 + part_of(others, load / total);
            sets.push(set(Some(group), first, end - first));
            first = end;
        }
        if alone > 0 {
            let largest = self.file_sizes.values().max().unwrap_or(Bytes(0));
            sets.push(FileSet {
                sizes: Weighted(vec![(largest, 1.0)]),
                ..set(Some(COMMON), first, 1)
            });
        }
        sets
    }

    /// The group whose files an operation is on, if groups have files of their own.
    #[must_use]
    pub fn file_group(operation: MixedOperation) -> OperationGroup {
        match operation.is_shared() {
            true => COMMON,
            false => operation.group(),
        }
    }

    /// Groups with operations on files, in order, and the weights of these.
    fn loads(&self) -> Vec<(OperationGroup, f64)> {
        let mut loads: Vec<(OperationGroup, f64)> = Vec::new();
        for &(operation, weight) in &self.weights.0 {
            if !self.is_on_a_file(operation) {
                continue;
            }
            let group = OperationMix::file_group(operation);
            match loads.iter_mut().find(|(it, _)| *it == group) {
                Some((_, load)) => *load += weight,
                None => loads.push((group, weight)),
            }
        }
        loads.sort_by_key(|(group, _)| *group);
        loads
    }

    /// Returns true if an operation is on one of the files. Operations that make or remove names,
    /// or use directories or links made for them, are not.
    fn is_on_a_file(&self, operation: MixedOperation) -> bool {
        let directories = self.names.directory_count(self.rate) > 0;
        let links = self.names.symbolic_link_count(self.rate) > 0;
        let made = self.names.made_in != MadeIn::Process && operation == MixedOperation::Stat;
        !(operation.makes_or_removes()
            || made
            || directories && operation.goes_to_a_directory()
            || links && operation == MixedOperation::Readlink)
    }
}

/// Representative of the groups that share a set.
const COMMON: OperationGroup = OperationGroup::ReadWriteSharing;

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a part of a number of files is one"
)]
fn part_of(files: u32, part: f64) -> u32 {
    (f64::from(files) * part).round() as u32
}

impl FileSets {
    /// Rejects options without effect, and fewer files than sets.
    pub(super) fn suits(mix: &OperationMix, at: &Place<'_>) -> Result<(), Error> {
        if mix.file_sets == FileSets::Shared {
            return Ok(());
        }
        let groups = mix.loads().len();
        if groups < 2 {
            let message = "fewer than two groups have operations on files: leave it out";
            return Err(at.error("file_sets", message));
        }
        if mix.write_files > 0.0 {
            let message = "groups that write have files of their own: leave it out, or file_sets";
            return Err(at.error("write_files", message));
        }
        if (mix.file_count() as usize) < groups {
            let message = format!("expected a file for each of {groups} groups, at least");
            return Err(at.error("files", message));
        }
        Ok(())
    }
}
