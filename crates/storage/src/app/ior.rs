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
use super::{Application, Ask, Next};

/// An IOR-like workload.
#[derive(Debug)]
pub struct IorApplication {
    spec: Ior,
    processes: u32,
    seed: u64,
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
    /// Transfers made in this phase.
    transfer: u64,
}

impl IorApplication {
    /// The workload for so many processes.
    pub fn new(spec: &Ior, processes: u32, seed: u64) -> IorApplication {
        let per_block = spec.block.0 / spec.transfer.0;
        let per_file = per_block.saturating_mul(u64::from(spec.segments));
        IorApplication {
            spec: spec.clone(),
            processes,
            seed,
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

    fn next(&mut self, rank: u32, _: Time, random: &mut Random<'_>) -> Result<Next, String> {
        let progress = self.progress[rank as usize];
        if self.phases().is_some_and(|phases| progress.phase >= phases) {
            return Ok(Next::Finished);
        }
        if progress.transfer == self.per_phase {
            let next = Progress {
                phase: progress.phase + 1,
                transfer: 0,
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
        let transfer = match self.spec.order {
            Order::Sequential => progress.transfer,
            Order::Random => {
                let key = self.seed ^ (u64::from(rank) << 32) ^ u64::from(progress.phase);
                Permutation::new(self.per_phase, key).at(progress.transfer)
            }
        };
        let (file, offset) = self.place(rank, transfer);
        let phases = &self.spec.phases;
        Ok(Next::Ask(Ask {
            operation: match phases[progress.phase as usize % phases.len()] {
                Phase::Write => Operation::Write,
                Phase::Read => Operation::Read,
            },
            file,
            offset,
            size: self.spec.transfer.0,
            after,
            intended: None,
            phase: progress.phase,
        }))
    }

    fn total_requests(&self) -> Option<u64> {
        let per_process = u64::from(self.phases()?).checked_mul(self.per_phase)?;
        per_process.checked_mul(u64::from(self.processes))
    }
}

#[cfg(test)]
mod tests;
