//! The pattern of the IOR benchmark.
//!
//! Each process goes through its files; a file has segments, a segment one
//! block of every process that uses the file, a block is read or written in
//! transfers (IOR's blockSize, transferSize, segmentCount, filePerProc,
//! reorderTasksRandom left out). Phases follow each other with a barrier.

use headrace_net::{Random, Span, Time};
use headrace_spec::{Access, Ior, Order, Phase, Repeat, ThinkDistribution};
use headrace_trace::Operation;

use super::permutation::Permutation;
use super::{Application, Ask, ExistingFile, Next};

/// An IOR-like workload.
#[derive(Debug)]
pub struct IorApplication {
    spec: Ior,
    processes: u32,
    seed: u64,
    /// Processor time of the process before each request.
    compute: Span,
    /// Whether the files are there before the run.
    existing: bool,
    /// Transfers in a block, in a file of one process, in a phase of one process.
    per_block: u64,
    per_file: u64,
    per_phase: u64,
    progress: Vec<Progress>,
}

#[derive(Clone, Copy, Default, Debug)]
struct Progress {
    /// Phases finished, repetitions included.
    phase: u32,
    /// Transfers made in this phase, syncs after writes included.
    transfer: u64,
    /// Where the last one was.
    last: u64,
}

impl IorApplication {
    /// The workload for so many processes.
    pub fn new(spec: &Ior, processes: u32, seed: u64) -> IorApplication {
        IorApplication::calling(spec, processes, seed, Span::ZERO, false)
    }

    /// The same, with so much processor time before each request, on files that
    /// may be there before.
    pub fn calling(
        spec: &Ior,
        processes: u32,
        seed: u64,
        compute: Span,
        existing: bool,
    ) -> IorApplication {
        let per_block = spec.block.0 / spec.transfer.0;
        let per_file = per_block.saturating_mul(u64::from(spec.segments));
        IorApplication {
            spec: spec.clone(),
            processes,
            seed,
            compute,
            existing: existing || spec.phases.first() == Some(&Phase::Read),
            per_block,
            per_file,
            per_phase: per_file.saturating_mul(u64::from(spec.files)),
            progress: vec![Progress::default(); processes as usize],
        }
    }

    fn phases(&self) -> Option<u32> {
        match self.spec.repeat {
            Repeat::Times(times) => Some(times.saturating_mul(self.spec.phases.len() as u32)),
            Repeat::Forever => None,
        }
    }

    /// What is done in a phase.
    fn phase(&self, phase: u32) -> Phase {
        self.spec.phases[phase as usize % self.spec.phases.len()]
    }

    /// Transfers of a process in a phase.
    fn transfers(&self) -> u64 {
        match (self.spec.requests, self.spec.order) {
            (Some(requests), Order::Uniform) => requests,
            (Some(requests), _) => requests.min(self.per_phase),
            (None, _) => self.per_phase,
        }
    }

    /// Requests of a process in a phase.
    fn requests_of(&self, phase: u32) -> u64 {
        match self.phase(phase) {
            Phase::Write if self.spec.sync_per_write => 2 * self.transfers(),
            Phase::Read | Phase::Write => self.transfers(),
            Phase::Sync => u64::from(self.spec.files),
        }
    }

    fn think(&self, random: &mut Random<'_>) -> Span {
        let mean = Span::from_seconds(self.spec.think.0);
        match self.spec.think_distribution {
            _ if mean == Span::ZERO => Span::ZERO,
            ThinkDistribution::Constant => mean,
            ThinkDistribution::Exponential => random.exponential_span(mean),
        }
    }

    /// File and offset of a process's n-th transfer of a phase.
    fn place(&self, rank: u32, transfer: u64) -> (u32, u64) {
        let file = (transfer / self.per_file) as u32;
        let within = transfer % self.per_file;
        let (segment, step) = (within / self.per_block, within % self.per_block);
        let (block, size) = (self.spec.block.0, self.spec.transfer.0);
        match self.spec.access {
            Access::FilePerProcess => {
                (rank * self.spec.files + file, segment * block + step * size)
            }
            Access::Shared => {
                let blocks = segment * u64::from(self.processes) + u64::from(rank);
                (file, blocks * block + step * size)
            }
        }
    }
}

impl Application for IorApplication {
    fn processes(&self) -> u32 {
        self.processes
    }

    fn files(&self) -> u32 {
        match self.spec.access {
            Access::FilePerProcess => self.spec.files.saturating_mul(self.processes),
            Access::Shared => self.spec.files,
        }
    }

    fn existing(&self) -> Vec<ExistingFile> {
        if !self.existing {
            return Vec::new();
        }
        let blocks = match self.spec.access {
            Access::FilePerProcess => 1,
            Access::Shared => u64::from(self.processes),
        };
        let size = self.spec.block.0 * u64::from(self.spec.segments) * blocks;
        let files = 0..self.files();
        let rank = |file: u32| match self.spec.access {
            Access::FilePerProcess => Some(file / self.spec.files),
            Access::Shared => None,
        };
        files
            .map(|file| ExistingFile {
                file,
                rank: rank(file),
                size,
            })
            .collect()
    }

    fn next(&mut self, rank: u32, _: Time, random: &mut Random<'_>) -> Result<Next, String> {
        let progress = self.progress[rank as usize];
        if self.phases().is_some_and(|phases| progress.phase >= phases) {
            return Ok(Next::Finished);
        }
        if progress.transfer == self.requests_of(progress.phase) {
            let next = Progress {
                phase: progress.phase + 1,
                ..Progress::default()
            };
            self.progress[rank as usize] = next;
            let last = self.phases() == Some(next.phase);
            return Ok(if last { Next::Finished } else { Next::Barrier });
        }
        let after = match (progress.phase, progress.transfer) {
            // The first request does not come after another.
            (0, 0) => Span::ZERO,
            _ => self.think(random),
        };
        self.progress[rank as usize].transfer += 1;
        let syncs = self.spec.sync_per_write && self.phase(progress.phase) == Phase::Write;
        let (number, sync) = match syncs {
            true => (progress.transfer / 2, progress.transfer % 2 == 1),
            false => (progress.transfer, false),
        };
        let transfer = match self.spec.order {
            Order::Sequential => number,
            Order::Random => {
                let key = self.seed ^ (u64::from(rank) << 32) ^ u64::from(progress.phase);
                Permutation::new(self.per_phase, key).at(number)
            }
            Order::Uniform if sync => progress.last,
            Order::Uniform => random.below(self.per_phase),
        };
        self.progress[rank as usize].last = transfer;
        let (operation, transfer, size) = match self.phase(progress.phase) {
            Phase::Write if sync => (Operation::Sync, transfer, 0),
            Phase::Write => (Operation::Write, transfer, self.spec.transfer.0),
            Phase::Read => (Operation::Read, transfer, self.spec.transfer.0),
            // The first transfer of each file says which file it is.
            Phase::Sync => (Operation::Sync, progress.transfer * self.per_file, 0),
        };
        let (file, offset) = self.place(rank, transfer);
        Ok(Next::Ask(Ask {
            operation,
            file,
            offset,
            size,
            compute: self.compute,
            after,
            intended: None,
            phase: progress.phase,
        }))
    }

    fn total_requests(&self) -> Option<u64> {
        let each = self.spec.phases.len() as u32;
        let once: u64 = (0..each)
            .map(|phase| self.requests_of(phase))
            .try_fold(0_u64, u64::checked_add)?;
        let per_process = once.checked_mul(u64::from(self.phases()? / each))?;
        per_process.checked_mul(u64::from(self.processes))
    }
}

#[cfg(test)]
mod tests;
