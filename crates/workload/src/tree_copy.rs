//! A tree of files copied, as cp does it.
//!
//! ```text
//!   each directory:  mkdir ─▶ list ─▶ each file:
//!                                       stat ─▶ open ─▶ fstat ─▶ create ─▶ fstat
//!                                       ─▶ (read ─▶ write) … ─▶ close copy ─▶ close
//! ```
//!
//! These are the calls of `cp -r --reflink=never` of GNU coreutils 9.1 that are about files, as
//! strace shows them. File sizes are spread evenly over the directories.
//!
//! Not modelled: lookups of directories; copying within the kernel (`copy_file_range`); the last
//! read of a file, which returns nothing; trees of more than one level.

mod common;

use headrace_net::{Random, Span, Time};
use headrace_spec::{MixedOperation, TreeCopy, Trees};
use headrace_trace::{Flags, Operation};

use super::{Application, Ask, ExistingFile, Next};
pub use common::CommonTreeCopy;

/// Approximate number of names that one call lists: as many of the load engine's names as
/// 32 KiB hold (glibc's opendir.c).
pub(crate) const LISTED: u32 = 1024;

/// The workload for `processes` processes, by the trees that they copy.
pub fn application(spec: &TreeCopy, processes: u32) -> Box<dyn Application> {
    match spec.trees {
        Trees::Own => Box::new(TreeCopyApplication::new(spec, processes)),
        Trees::Common => Box::new(CommonTreeCopy::new(spec, processes)),
    }
}

/// Processes that copy a tree each. The files of a process: its tree's, then their copies.
#[derive(Debug)]
pub struct TreeCopyApplication {
    spec: TreeCopy,
    progress: Vec<Progress>,
}

/// Progress of a process.
#[derive(Clone, Copy, Default, Debug)]
struct Progress {
    /// Directories that were begun, and steps made in the last.
    directory: u32,
    listed: u32,
    /// Files of the tree that are done, and the next step of the one after them.
    file: u32,
    step: Step,
    offset: u64,
}

/// Next step on a file.
#[derive(Clone, Copy, Default, Debug)]
enum Step {
    #[default]
    Stat,
    Open,
    StatOpen,
    Create,
    StatCopy,
    Read,
    Write,
    CloseCopy,
    Close,
}

impl TreeCopyApplication {
    /// The workload for `processes` processes.
    #[must_use]
    pub fn new(spec: &TreeCopy, processes: u32) -> TreeCopyApplication {
        TreeCopyApplication {
            spec: spec.clone(),
            progress: vec![Progress::default(); processes as usize],
        }
    }

    /// The number of the first file of a process's tree.
    fn first(&self, rank: u32) -> u32 {
        rank * 2 * self.spec.in_tree()
    }

    /// Returns the next operation on a directory, before its files.
    fn directory(&self, first: u32, progress: &mut Progress) -> Option<Ask> {
        let of = progress.directory.checked_sub(1);
        // Each directory's files come behind it.
        let begun = of.map_or(0, |directory| (directory + 1) * self.spec.files);
        if progress.file == begun {
            progress.directory += 1;
            progress.listed = 0;
            let copy = first + self.spec.in_tree() + progress.file;
            return Some(ask(Operation::Mkdir, MixedOperation::Mkdir, copy));
        }
        if progress.listed == lists(&self.spec) {
            return None;
        }
        progress.listed += 1;
        Some(list(progress.listed, first + progress.file))
    }

    /// Operation on a file.
    fn file(&self, first: u32, progress: &mut Progress) -> Ask {
        use MixedOperation as Call;
        let size = self.spec.size_of(progress.file).0;
        let (file, copy) = (
            first + progress.file,
            first + self.spec.in_tree() + progress.file,
        );
        let part = Ask {
            offset: progress.offset,
            size: self.spec.request.0.min(size - progress.offset),
            ..ask(Operation::Read, Call::Read, file)
        };
        let (next, asked) = match progress.step {
            Step::Stat => (Step::Open, ask(Operation::Stat, Call::Stat, file)),
            Step::Open => (Step::StatOpen, ask(Operation::Open, Call::Open, file)),
            Step::StatOpen => (Step::Create, ask(Operation::Stat, Call::Fstat, file)),
            Step::Create => (Step::StatCopy, ask(Operation::Create, Call::Create, copy)),
            Step::StatCopy => (Step::Read, ask(Operation::Stat, Call::Fstat, copy)),
            Step::Read => (Step::Write, part),
            Step::Write => {
                progress.offset += part.size;
                let next = match progress.offset < size {
                    true => Step::Read,
                    false => Step::CloseCopy,
                };
                let written = Ask {
                    operation: Operation::Write,
                    call: Some(Call::Write),
                    file: copy,
                    ..part
                };
                (next, written)
            }
            Step::CloseCopy => (Step::Close, ask(Operation::Close, Call::Close, copy)),
            Step::Close => {
                progress.offset = 0;
                progress.file += 1;
                (Step::Stat, ask(Operation::Close, Call::Close, file))
            }
        };
        progress.step = next;
        asked
    }
}

/// Calls that list a directory: one for each part, and the one that finds nothing more.
fn lists(spec: &TreeCopy) -> u32 {
    spec.files.div_ceil(LISTED) + 1
}

/// The n-th call that lists a directory, from 1.
fn list(number: u32, file: u32) -> Ask {
    let call = match number {
        1 => MixedOperation::FindFirst,
        _ => MixedOperation::FindNext,
    };
    ask(Operation::Readdir, call, file)
}

fn ask(operation: Operation, call: MixedOperation, file: u32) -> Ask {
    Ask {
        operation,
        call: Some(call),
        file,
        offset: 0,
        size: 0,
        after: Span::ZERO,
        compute: Span::ZERO,
        intended: None,
        phase: 0,
        flags: Flags::NONE,
    }
}

impl Application for TreeCopyApplication {
    fn processes(&self) -> u32 {
        self.progress.len() as u32
    }

    fn files(&self) -> u32 {
        self.first(self.processes())
    }

    fn files_in_a_directory(&self) -> Option<u32> {
        Some(self.spec.files)
    }

    /// Each copy's directory.
    fn makes_directory_of(&self, file: u32) -> bool {
        file / self.spec.in_tree() % 2 == 1
    }

    fn closes_what_it_makes(&self) -> bool {
        true
    }

    fn next(&mut self, rank: u32, _: Time, _: &mut Random<'_>) -> Result<Next, String> {
        let mut progress = self.progress[rank as usize];
        let first = self.first(rank);
        let between = matches!(progress.step, Step::Stat);
        if between && progress.file == self.spec.in_tree() {
            return Ok(Next::Finished);
        }
        let of_directory = match between {
            true => self.directory(first, &mut progress),
            false => None,
        };
        let asked = of_directory.unwrap_or_else(|| self.file(first, &mut progress));
        self.progress[rank as usize] = progress;
        Ok(Next::Ask(asked))
    }

    fn existing(&self) -> Vec<ExistingFile> {
        let of_process = |rank| {
            (0..self.spec.in_tree()).map(move |file| ExistingFile {
                file: self.first(rank) + file,
                rank: Some(rank),
                size: self.spec.size_of(file).0,
            })
        };
        (0..self.processes()).flat_map(of_process).collect()
    }

    fn total_requests(&self) -> Option<u64> {
        let files = 0..self.spec.in_tree();
        let request = self.spec.request.0;
        let parts: u64 = files
            .map(|file| self.spec.size_of(file).0.div_ceil(request))
            .sum();
        let of_directories = u64::from(self.spec.directories) * u64::from(1 + lists(&self.spec));
        let of_files = 7 * u64::from(self.spec.in_tree());
        let each = of_directories + of_files + parts.checked_mul(2)?;
        each.checked_mul(u64::from(self.processes()))
    }
}

#[cfg(test)]
mod tests;
