//! Each workload's files with the layout of their directory.

use std::collections::BTreeMap;
use std::sync::Arc;

use headrace_spec::{Parallel, Scenario};
use headrace_workload::Directories;

use super::{FileLayout, FirstTargets, Layout, Placement};

/// Placements of the caller's own: of the scenario's layout, or of that of a workload by number.
pub type Placements<'a> = dyn Fn(Option<u32>) -> Option<Arc<dyn Placement>> + Sync + 'a;

/// The layouts of all files.
#[derive(Clone, Debug)]
pub struct Layouts {
    /// The number of each workload's first file and the layout of its files, in order. There is one
    /// for all where no workload has its own.
    parts: Vec<(u32, Layout)>,
}

impl Layouts {
    /// The layouts of a scenario; `seed` is the run's.
    pub fn new(
        scenario: &Scenario,
        parallel: &Parallel,
        directories: &Directories,
        seed: u64,
        placements: &Placements<'_>,
    ) -> Layouts {
        let own = scenario.workload.iter().any(|it| it.layout.is_some());
        if !own {
            let layout = Layout::new(
                scenario,
                parallel,
                &parallel.layout,
                seed,
                placements(None).as_ref(),
            );
            return Layouts {
                parts: vec![(0, layout)],
            };
        }
        // Files of one pool are distributed together.
        let mut pools = BTreeMap::new();
        let workloads = scenario.workload.iter();
        let parts = workloads.zip(directories.first_files());
        let parts = (0..).zip(parts).map(|(number, (workload, first_file))| {
            let spec = workload.layout(parallel);
            let own = placements(workload.layout.as_ref().map(|_| number));
            let layout = Layout::new(scenario, parallel, spec, seed, own.as_ref());
            let next = pools.len();
            let is_own = workload.layout.is_some();
            let by_file = (spec.kind.places_files() && is_own).then_some(number);
            let assigned_in = *pools.entry((&spec.pool, by_file)).or_insert(next);
            let layout = Layout {
                assigned_in,
                ..layout
            };
            (first_file, layout)
        });
        Layouts {
            parts: parts.collect(),
        }
    }

    /// A file on its targets; a new file is assigned its first one.
    pub fn file(&self, file: u32, first_targets: &mut FirstTargets) -> FileLayout<'_> {
        self.of(file).file(file, first_targets)
    }

    /// The same, if the file's first target has been assigned.
    pub fn known_file(&self, file: u32, first_targets: &FirstTargets) -> Option<FileLayout<'_>> {
        self.of(file).known_file(file, first_targets)
    }

    /// The layout of a file.
    pub fn of(&self, file: u32) -> &Layout {
        let after = self.parts.partition_point(|(first, _)| *first <= file);
        &self.parts[after.saturating_sub(1)].1
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &Layout> {
        self.parts.iter().map(|(_, layout)| layout)
    }
}
