//! Files with strips on servers of their own, chosen when a file is first used.

use std::sync::Arc;

use indexmap::IndexSet;

use super::Distribution;
use super::free_space::{FreeSpace, Targets};
use super::pattern::Pattern;

/// A strip of a file: the number among the layout's targets, and its bytes.
pub type Strip = (u32, u64);

/// A placement of the caller's own: the strips of each file, which repeat to its end.
pub trait Placement: Send + Sync {
    /// The strips of a file. Called once a file in each run, in the order of first use.
    ///
    /// # Errors
    /// Why there are none.
    fn strips(&self, file: u32) -> Result<Vec<Strip>, String>;

    /// Hears why the strips of a file cannot be. Returns the error of the run.
    fn refused(&self, _file: u32, why: String) -> String {
        why
    }
}

/// Rule by which files get their servers.
#[derive(Clone)]
pub(super) enum Placer {
    FreeSpace(Arc<FreeSpace>, Distribution),
    Own {
        placement: Arc<dyn Placement>,
        targets: u32,
    },
}

impl std::fmt::Debug for Placer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Placer::FreeSpace(..) => "by free space",
            Placer::Own { .. } => "of the caller's own",
        })
    }
}

/// Where a file's strips are.
#[derive(Debug)]
pub(super) struct FilePlacement {
    /// The number among the layout's targets, by turn.
    pub targets: Vec<u32>,
    pub distribution: Distribution,
}

/// Files that have been placed, and what further ones depend on.
#[derive(Clone, Default, Debug)]
pub(super) struct Placed {
    /// By file.
    files: Vec<Option<Arc<FilePlacement>>>,
    /// Bytes that files are known to have.
    sizes: Vec<u64>,
    targets: Option<Targets>,
    /// Why a file could not be placed.
    pub failure: Option<String>,
}

impl Placed {
    pub fn get(&self, file: u32) -> Option<&Arc<FilePlacement>> {
        self.files.get(file as usize)?.as_ref()
    }

    /// Places a file, unless it is.
    pub fn place(&mut self, file: u32, placer: &Placer) -> Arc<FilePlacement> {
        if let Some(placed) = self.get(file) {
            return Arc::clone(placed);
        }
        let placement = match placer {
            Placer::FreeSpace(rule, distribution) => FilePlacement {
                targets: rule.choose(self.targets.get_or_insert_with(|| rule.start())),
                distribution: distribution.clone(),
            },
            Placer::Own { placement, targets } => {
                let checked = |it| check(it, *targets).map_err(|it| placement.refused(file, it));
                let strips = placement.strips(file).and_then(checked);
                let strips = strips.unwrap_or_else(|wrong| {
                    self.failure.get_or_insert(wrong);
                    vec![(0, 1 << 20)]
                });
                of_strips(&strips)
            }
        };
        let placement = Arc::new(placement);
        let at = file as usize;
        if self.files.len() <= at {
            self.files.resize(at + 1, None);
        }
        self.files[at] = Some(Arc::clone(&placement));
        placement
    }

    /// A file reaches to some byte, if not further.
    pub fn grows(&mut self, file: u32, end: u64, placer: &Placer) {
        let Placer::FreeSpace(rule, _) = placer else {
            return;
        };
        let placement = self.place(file, placer);
        let at = file as usize;
        if self.sizes.len() <= at {
            self.sizes.resize(at + 1, 0);
        }
        let before = self.sizes[at];
        if end <= before {
            return;
        }
        self.sizes[at] = end;
        let targets = self.targets.get_or_insert_with(|| rule.start());
        for (turn, target) in (0..).zip(&placement.targets) {
            let part = |size| placement.distribution.part(size, turn);
            rule.grows(targets, *target, part(end) - part(before));
        }
    }
}

/// The largest strip: the whole list has a number of bytes.
const LARGEST_STRIP: u64 = 1 << 40;

fn check(strips: Vec<Strip>, targets: u32) -> Result<Vec<Strip>, String> {
    if strips.is_empty() {
        return Err("there are no strips: expected at least one (target, bytes)".to_owned());
    }
    for (target, size) in &strips {
        if *target >= targets {
            return Err(format!(
                "a strip is on target {target}: expected a number from 0 to {}",
                targets - 1
            ));
        }
        if *size == 0 || *size > LARGEST_STRIP {
            return Err(format!(
                "a strip has {size} bytes: expected from 1 to {LARGEST_STRIP}"
            ));
        }
    }
    Ok(strips)
}

/// Strips that repeat; those on one target are one part of the file.
fn of_strips(strips: &[Strip]) -> FilePlacement {
    // In the order in which they first come.
    let mut targets = IndexSet::new();
    let sizes = strips.iter();
    let sizes = sizes.map(|(target, size)| (targets.insert_full(*target).0 as u64, *size));
    let sizes: Vec<(u64, u64)> = sizes.collect();
    let width = targets.len() as u64;
    FilePlacement {
        targets: targets.into_iter().collect(),
        distribution: Distribution::Pattern(Pattern::new(sizes, width)),
    }
}
