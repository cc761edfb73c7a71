//! Report of the file sets that belong to one operation group.

use headrace_spec::{Scenario, WorkloadKind};
use serde::Serialize;

use crate::operation::Group;

/// Files that a group of operations had to itself.
#[derive(Clone, Debug, Serialize)]
pub struct FileSetReport {
    /// The workload's number.
    pub workload: usize,
    /// The group; of those that share, one stands for all.
    pub group: Group,
    /// Count.
    pub files: u32,
    /// Number of bytes they held at the start, about.
    pub bytes: u64,
}

/// The sets of all mixes whose groups have files of their own.
pub fn file_sets(scenario: &Scenario) -> Vec<FileSetReport> {
    let mut found = Vec::new();
    for (number, workload) in scenario.workload.iter().enumerate() {
        let WorkloadKind::OperationMix(mix) = &workload.kind else {
            continue;
        };
        found.extend(mix.sets().iter().filter_map(|set| {
            Some(FileSetReport {
                workload: number,
                group: set.group?,
                files: set.files,
                bytes: set.bytes(),
            })
        }));
    }
    found
}
