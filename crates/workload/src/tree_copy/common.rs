//! One tree of files that several processes copy together, as dcp does it.
//!
//! ```text
//!   directories, in turn:      list ─▶ stat each file ─▶ ┐
//!   directories, in turn:      mkdir ─▶                  │ each step ends
//!   files, a part for each:    create ─▶ close ─▶        │ with a barrier
//!   chunks, a part for each:   open ─▶ open copy ─▶ (read ─▶ write) … ─▶ close both
//! ```
//!
//! These are the steps of dcp (mpiFileUtils, src/dcp and src/common/mfu_flist_copy.c): the walk of
//! the source, `mfu_create_dirs`, `mfu_create_files`, and the copy of chunks. Files and chunks are
//! lists, of which each process has a part of equal length. A process leaves a file open from one
//! chunk to the next.
//!
//! Not modelled: processes that take directories from others during the walk; trees of more than
//! one level; the truncation of each copy and the times of files (`dcp -p`) at the end; files
//! without bytes.

use headrace_net::{Random, Time};
use headrace_spec::{MixedOperation, TreeCopy};
use headrace_trace::Operation;

use super::{ask, list, lists};
use crate::{Application, Ask, ExistingFile, Next};

/// Processes that copy one tree. The files: the tree's, then their copies.
#[derive(Debug)]
pub struct CommonTreeCopy {
    spec: TreeCopy,
    /// Number of chunks before each file, and of all.
    before: Vec<u64>,
    progress: Vec<Progress>,
}

/// Progress of a process.
#[derive(Clone, Copy, Default, Debug)]
struct Progress {
    stage: Stage,
    /// Directories, files or chunks of the stage that are done.
    done: u64,
    /// Calls made for the next one, and bytes of a chunk that are copied.
    calls: u32,
    bytes: u64,
    /// True if a part of the chunk was read and is to be written.
    is_read: bool,
}

/// Step of the copy.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
enum Stage {
    #[default]
    Walk,
    MakeDirectories,
    MakeFiles,
    Copy,
    Finished,
}

/// A chunk of a file.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    file: u32,
    offset: u64,
    size: u64,
    /// True if the process begins or ends the file with it.
    is_first: bool,
    is_last: bool,
}

impl CommonTreeCopy {
    /// The workload for `processes` processes.
    #[must_use]
    pub fn new(spec: &TreeCopy, processes: u32) -> CommonTreeCopy {
        let chunks = (0..spec.in_tree()).map(|file| spec.size_of(file).0.div_ceil(spec.chunk.0));
        let mut sum = 0;
        let after = chunks.map(|count| {
            sum += count;
            sum
        });
        CommonTreeCopy {
            spec: spec.clone(),
            before: std::iter::once(0).chain(after).collect(),
            progress: vec![Progress::default(); processes as usize],
        }
    }

    /// The part of a list that a process has: from a number to before another.
    fn part(&self, rank: u32, all: u64) -> (u64, u64) {
        let first = |rank: u64| {
            let part = u128::from(all) * u128::from(rank) / self.progress.len().max(1) as u128;
            u64::try_from(part).unwrap_or(all)
        };
        (first(rank.into()), first(u64::from(rank) + 1))
    }

    fn chunks(&self) -> u64 {
        self.before.last().copied().unwrap_or(0)
    }

    /// The file of a chunk.
    fn file_of(&self, chunk: u64) -> u32 {
        self.before.partition_point(|before| *before <= chunk) as u32 - 1
    }

    fn chunk(&self, number: u64, (first, end): (u64, u64)) -> Chunk {
        let file = self.file_of(number);
        let offset = (number - self.before[file as usize]) * self.spec.chunk.0;
        Chunk {
            file,
            offset,
            size: self.spec.chunk.0.min(self.spec.size_of(file).0 - offset),
            is_first: number == first || number == self.before[file as usize],
            is_last: number + 1 == end || number + 1 == self.before[file as usize + 1],
        }
    }

    /// Number of directories that a process has, and the n-th of them.
    fn directories(&self, rank: u32) -> u64 {
        let count = self.progress.len() as u64;
        let directories = u64::from(self.spec.directories);
        directories.saturating_sub(rank.into()).div_ceil(count)
    }

    fn directory(&self, rank: u32, number: u64) -> u32 {
        (u64::from(rank) + number * self.progress.len() as u64) as u32
    }

    /// Lists a directory, and looks up its files.
    fn walk(&self, rank: u32, progress: &mut Progress) -> Option<Ask> {
        if progress.done == self.directories(rank) {
            return None;
        }
        let first = self.directory(rank, progress.done) * self.spec.files;
        progress.calls += 1;
        let asked = match progress.calls.checked_sub(lists(&self.spec) + 1) {
            None => list(progress.calls, first),
            Some(file) => ask(Operation::Stat, MixedOperation::Stat, first + file),
        };
        if progress.calls == lists(&self.spec) + self.spec.files {
            (progress.done, progress.calls) = (progress.done + 1, 0);
        }
        Some(asked)
    }

    fn make_directory(&self, rank: u32, progress: &mut Progress) -> Option<Ask> {
        if progress.done == self.directories(rank) {
            return None;
        }
        let first = self.directory(rank, progress.done) * self.spec.files;
        progress.done += 1;
        let copy = self.spec.in_tree() + first;
        Some(ask(Operation::Mkdir, MixedOperation::Mkdir, copy))
    }

    fn make_file(&self, rank: u32, progress: &mut Progress) -> Option<Ask> {
        let (first, end) = self.part(rank, self.spec.in_tree().into());
        if first + progress.done == end {
            return None;
        }
        let copy = self.spec.in_tree() + (first + progress.done) as u32;
        progress.calls += 1;
        if progress.calls == 1 {
            return Some(ask(Operation::Create, MixedOperation::Create, copy));
        }
        (progress.done, progress.calls) = (progress.done + 1, 0);
        Some(ask(Operation::Close, MixedOperation::Close, copy))
    }

    fn copy(&self, rank: u32, progress: &mut Progress) -> Option<Ask> {
        use MixedOperation::{Close, Open, Read, Write};
        let part = self.part(rank, self.chunks());
        let number = part.0 + progress.done;
        if number == part.1 {
            return None;
        }
        let chunk = self.chunk(number, part);
        let copy = self.spec.in_tree() + chunk.file;
        if chunk.is_first && progress.calls < 2 {
            progress.calls += 1;
            let file = [chunk.file, copy][progress.calls as usize - 1];
            return Some(ask(Operation::Open, Open, file));
        }
        if progress.bytes < chunk.size {
            let size = self.spec.request.0.min(chunk.size - progress.bytes);
            let offset = chunk.offset + progress.bytes;
            progress.is_read = !progress.is_read;
            let asked = match progress.is_read {
                true => ask(Operation::Read, Read, chunk.file),
                false => ask(Operation::Write, Write, copy),
            };
            if !progress.is_read {
                progress.bytes += size;
            }
            if progress.bytes == chunk.size && !chunk.is_last {
                self.next_chunk(progress);
            }
            return Some(Ask {
                offset,
                size,
                ..asked
            });
        }
        // Its last chunk of a file: the copy is closed, and then the file.
        let closed = progress.calls.checked_sub(2).filter(|_| chunk.is_first);
        let closed = closed.unwrap_or(progress.calls);
        progress.calls += 1;
        if closed == 1 {
            self.next_chunk(progress);
            return Some(ask(Operation::Close, Close, chunk.file));
        }
        Some(ask(Operation::Close, Close, copy))
    }

    fn next_chunk(&self, progress: &mut Progress) {
        *progress = Progress {
            stage: progress.stage,
            done: progress.done + 1,
            ..Progress::default()
        };
    }
}

impl Application for CommonTreeCopy {
    fn processes(&self) -> u32 {
        self.progress.len() as u32
    }

    fn files(&self) -> u32 {
        2 * self.spec.in_tree()
    }

    fn files_in_a_directory(&self) -> Option<u32> {
        Some(self.spec.files)
    }

    /// Each copy's directory.
    fn makes_directory_of(&self, file: u32) -> bool {
        file >= self.spec.in_tree()
    }

    fn closes_what_it_makes(&self) -> bool {
        true
    }

    fn next(&mut self, rank: u32, _: Time, _: &mut Random<'_>) -> Result<Next, String> {
        let mut progress = self.progress[rank as usize];
        let (asked, next) = match progress.stage {
            Stage::Walk => (self.walk(rank, &mut progress), Stage::MakeDirectories),
            Stage::MakeDirectories => {
                let asked = self.make_directory(rank, &mut progress);
                (asked, Stage::MakeFiles)
            }
            Stage::MakeFiles => (self.make_file(rank, &mut progress), Stage::Copy),
            Stage::Copy => (self.copy(rank, &mut progress), Stage::Finished),
            Stage::Finished => return Ok(Next::Finished),
        };
        if asked.is_none() {
            progress = Progress {
                stage: next,
                ..Progress::default()
            };
        }
        self.progress[rank as usize] = progress;
        Ok(match asked {
            Some(ask) => Next::Ask(ask),
            None if next == Stage::Finished => Next::Finished,
            None => Next::Barrier,
        })
    }

    fn existing(&self) -> Vec<ExistingFile> {
        let files = 0..self.spec.in_tree();
        let existing = files.map(|file| ExistingFile {
            file,
            rank: None,
            size: self.spec.size_of(file).0,
        });
        existing.collect()
    }

    fn total_requests(&self) -> Option<u64> {
        let (chunk, request) = (self.spec.chunk.0, self.spec.request.0);
        let files = 0..self.spec.in_tree();
        let parts: u64 = files
            .map(|file| {
                let size = self.spec.size_of(file).0;
                size / chunk * chunk.div_ceil(request) + (size % chunk).div_ceil(request)
            })
            .sum();
        let opened: u64 = (0..self.processes())
            .map(|rank| self.part(rank, self.chunks()))
            .filter(|(first, end)| first < end)
            .map(|(first, end)| u64::from(self.file_of(end - 1) - self.file_of(first)) + 1)
            .sum();
        let of_directories = u64::from(self.spec.directories) * u64::from(1 + lists(&self.spec));
        let of_files = 3 * u64::from(self.spec.in_tree());
        Some(of_directories + of_files + 2 * parts + 4 * opened)
    }
}

#[cfg(test)]
mod tests;
