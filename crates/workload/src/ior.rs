//! The pattern of the IOR benchmark.
//!
//! Each process goes through its files. A file has segments, and a segment has
//! one block of every process that uses the file. A block is read or written in
//! transfers (IOR's blockSize, transferSize, segmentCount, filePerProc;
//! reorderTasksRandom is left out). Phases follow each other with a barrier.
//!
//! In a mixed phase each transfer is a read with the probability `read_share`,
//! else a write (fio's rwmixread). In order, reads and writes share one position,
//! so that each transfer's place is touched once; fio keeps one for each.
//!
//! All draws depend on the seed, the process, the phase and the number of the transfer alone. A
//! benchmark and its simulation thus make the same transfers, on every system.
//!
//! Not modelled: IOR's reordering of ranks between phases (`-C`, `-Z`); verification of data.

use headrace_net::{Random, Span, Time};
use headrace_spec::{Access, Ior, Order, Phase, Repeat, ThinkDistribution};
use headrace_trace::{Flags, Operation};

use super::permutation::Permutation;
use super::{Application, Ask, ExistingFile, Next, Stonewall};

/// Most draws that are made beforehand to count their results.
const MOST_DRAWN: u64 = 1_000_000_000;

/// An IOR-like workload.
#[derive(Debug)]
pub struct IorApplication {
    spec: Ior,
    processes: u32,
    seed: u64,
    /// Processor time of the process before each request.
    compute: Span,
    /// True if the files are there before the run.
    existing: bool,
    /// Sizes and numbers of transfers: those of every process, or of rank 0.
    shape: Shape,
    /// The shapes of each process, where sizes depend on the rank.
    by_rank: Vec<Shape>,
    /// Bytes of a segment of a file that all processes share.
    segment: u64,
    progress: Vec<Progress>,
    stonewall: Stonewall,
}

/// Sizes of a process, and its numbers of transfers.
#[derive(Clone, Copy, Debug)]
struct Shape {
    block: u64,
    transfer: u64,
    /// Bytes of a segment of a shared file before its block.
    before: u64,
    /// Transfers in a block, in a file of one process, in a phase of one process.
    per_block: u64,
    per_file: u64,
    per_phase: u64,
}

impl Shape {
    fn new(spec: &Ior, rank: u32, before: u64) -> Shape {
        let (block, transfer) = (
            spec.block.of(rank.into()).0,
            spec.transfer.of(rank.into()).0,
        );
        let per_block = block / transfer;
        let per_file = per_block.saturating_mul(u64::from(spec.segments));
        Shape {
            block,
            transfer,
            before,
            per_block,
            per_file,
            per_phase: per_file.saturating_mul(u64::from(spec.files)),
        }
    }
}

/// Number of calls processes that make together.
pub struct Calls {
    /// Number of the phase that reads or writes.
    pub number: u64,
    /// Such phases, repetitions included.
    pub data_phases: u64,
    /// Requests that processes make for themselves, of all of them.
    pub others: u64,
}

/// Next step of a process in a phase: on its n-th file, or the n-th transfer of the phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    Open(u64),
    Transfer(u64),
    Sync(u64),
    Close(u64),
}

#[derive(Clone, Copy, Default, Debug)]
struct Progress {
    /// Phases finished, repetitions included.
    phase: u32,
    /// Steps made in this phase: transfers, and what opens and closes files.
    step: u64,
    /// Offset of the last transfer, if a sync follows it.
    to_sync: Option<u64>,
}

impl IorApplication {
    /// The workload for `processes` processes.
    pub fn new(spec: &Ior, processes: u32, seed: u64) -> IorApplication {
        IorApplication::calling(spec, processes, seed, Span::ZERO, false)
    }

    /// The same, with `compute` processor time before each request, on files that may exist
    /// before the run.
    pub fn calling(
        spec: &Ior,
        processes: u32,
        seed: u64,
        compute: Span,
        existing: bool,
    ) -> IorApplication {
        let mut by_rank = Vec::new();
        let mut segment = 0_u64;
        if spec.by_rank() {
            for rank in 0..processes {
                let shape = Shape::new(spec, rank, segment);
                segment = segment.saturating_add(shape.block);
                by_rank.push(shape);
            }
        } else {
            segment = spec.block.sum(processes.into());
        }
        IorApplication {
            spec: spec.clone(),
            processes,
            seed,
            compute,
            existing: existing || matches!(spec.phases.first(), Some(Phase::Read | Phase::Mixed)),
            shape: Shape::new(spec, 0, 0),
            by_rank,
            segment,
            progress: vec![Progress::default(); processes as usize],
            stonewall: Stonewall::new(spec.stonewall, processes),
        }
    }

    fn phases(&self) -> Option<u32> {
        match self.spec.repeat {
            Repeat::Times(times) => Some(times.saturating_mul(self.spec.phases.len() as u32)),
            Repeat::Forever => None,
        }
    }

    /// Returns the action of a phase.
    fn phase(&self, phase: u32) -> Phase {
        self.spec.phases[phase as usize % self.spec.phases.len()]
    }

    /// The process whose data a process reads or writes in a phase (IOR, ior.c: rankOffset).
    fn owner(&self, rank: u32, phase: u32) -> u32 {
        match self.phase(phase) {
            Phase::Read => {
                let shifted = u64::from(rank) + u64::from(self.spec.rank_shift);
                (shifted % u64::from(self.processes.max(1))) as u32
            }
            Phase::Write | Phase::Mixed | Phase::Sync => rank,
        }
    }

    fn shape(&self, rank: u32) -> &Shape {
        self.by_rank.get(rank as usize).unwrap_or(&self.shape)
    }

    /// Transfers of a process in a phase.
    fn transfers(&self, rank: u32) -> u64 {
        let all = self.shape(rank).per_phase;
        match (self.spec.requests, self.spec.order) {
            (Some(requests), Order::Uniform) => requests,
            (Some(requests), _) => requests.min(all),
            (None, _) => all,
        }
    }

    /// Transfers of a process in a phase, `limit` at the most, or the syncs that stand for them.
    fn steps(&self, rank: u32, phase: Phase, limit: u64) -> u64 {
        match phase {
            Phase::Read | Phase::Write | Phase::Mixed => self.transfers(rank).min(limit),
            Phase::Sync => self.files_within(rank, limit),
        }
    }

    /// Files that a process comes to in `limit` transfers.
    fn files_within(&self, rank: u32, limit: u64) -> u64 {
        let files = u64::from(self.spec.files);
        match self.file_by_file() {
            true => files.min(limit.div_ceil(self.shape(rank).per_file)),
            false => files,
        }
    }

    /// Files that a process opens in a phase, and closes.
    fn opened(&self, rank: u32, phase: Phase, limit: u64) -> u64 {
        match self.spec.opens.unwrap_or(false) {
            false => 0,
            // A phase may end before it has come to all of them.
            true if self.file_by_file() && phase != Phase::Sync => {
                let transfers = self.transfers(rank).min(limit);
                transfers.div_ceil(self.shape(rank).per_file)
            }
            true => self.files_within(rank, limit),
        }
    }

    /// Returns true if a process is done with a file before it comes to the next.
    fn file_by_file(&self) -> bool {
        !matches!(self.spec.order, Order::Random | Order::Uniform)
    }

    /// Returns the action at a step of a phase. File by file, a process opens, transfers and closes
    /// each file; otherwise it opens all before the first transfer and closes all after the last.
    fn step(&self, rank: u32, phase: Phase, step: u64, limit: u64) -> Step {
        let (opened, steps) = (
            self.opened(rank, phase, limit),
            self.steps(rank, phase, limit),
        );
        let inner = |number| match phase {
            Phase::Sync => Step::Sync(number),
            _ => Step::Transfer(number),
        };
        if opened == 0 {
            return inner(step);
        }
        if !self.file_by_file() {
            return match step {
                _ if step < opened => Step::Open(step),
                _ if step < opened + steps => inner(step - opened),
                _ => Step::Close(step - opened - steps),
            };
        }
        let each = match phase {
            Phase::Sync => 1,
            _ => self.shape(rank).per_file,
        };
        let (file, within) = (step / (each + 2), step % (each + 2));
        match within {
            0 => Step::Open(file),
            within if within <= each && file * each + within <= steps => {
                inner(file * each + within - 1)
            }
            _ => Step::Close(file),
        }
    }

    /// Returns true if a process's n-th transfer of a phase writes.
    fn writes(&self, rank: u32, phase: u32, number: u64) -> bool {
        match self.phase(phase) {
            Phase::Read | Phase::Sync => false,
            Phase::Write => true,
            Phase::Mixed => {
                let mut number = number;
                let mut random = Random::named(self.key(rank, phase), "mixed", &mut number);
                random.uniform() >= self.spec.read_share
            }
        }
    }

    /// The place of a process's n-th transfer of a phase, if each is drawn.
    ///
    /// Like permutations, but not like think times, it follows from the workload's seed alone, so
    /// simulation and measurement have the same places.
    fn drawn(&self, rank: u32, phase: u32, mut number: u64) -> u64 {
        // Drawn from the seed, since a seed and the next, of another replication, differ as two
        // phases do.
        let mut of_phase = (u64::from(rank) << 32) | u64::from(phase);
        let key = Random::named(self.seed, "places", &mut of_phase).bits();
        Random::named(key, "place", &mut number).below(self.shape(rank).per_phase)
    }

    /// The calls of all processes, if they make them together and in order, which all have the same
    /// sizes; none if they do so forever.
    pub fn calls(&self) -> Option<Calls> {
        let phases = &self.spec.phases;
        let repeats = u64::from(self.phases()? / phases.len() as u32);
        let count = |wanted| phases.iter().filter(|&&phase| phase == wanted).count() as u64;
        let data_phases = (count(Phase::Write) + count(Phase::Read)) * repeats;
        let number = self.transfers(0);
        let transfers = number.checked_mul(data_phases)?;
        let transfers = transfers.checked_mul(u64::from(self.processes))?;
        Some(Calls {
            number,
            data_phases,
            others: self.total_requests()?.checked_sub(transfers)?,
        })
    }

    /// File, first byte and bytes of a process's n-th transfer of a phase, in order.
    pub fn part(&self, rank: u32, number: u64) -> (u32, u64, u64) {
        let (file, offset) = self.place(rank, self.in_streams(rank, number));
        (file, offset, self.shape(rank).transfer)
    }

    /// Returns the random key of a process in a phase.
    fn key(&self, rank: u32, phase: u32) -> u64 {
        self.seed ^ (u64::from(rank) << 32) ^ u64::from(phase)
    }

    /// The place, among a file's transfers in order, of the n-th: in streams, each
    /// goes through a section of the file.
    fn in_streams(&self, rank: u32, number: u64) -> u64 {
        let streams = u64::from(self.spec.streams);
        if streams == 1 {
            return number;
        }
        let per_file = self.shape(rank).per_file;
        let (file, within) = (number / per_file, number % per_file);
        let (round, stream) = (within / streams, within % streams);
        // The first sections have the transfers that are left over.
        let (length, over) = (per_file / streams, per_file % streams);
        file * per_file + stream * length + stream.min(over) + round
    }

    /// The place of the n-th transfer, where each file is gone through from its end.
    fn backward(&self, rank: u32, number: u64) -> u64 {
        let per_file = self.shape(rank).per_file;
        let (file, within) = (number / per_file, number % per_file);
        file * per_file + per_file - 1 - within
    }

    /// The position of the n-th transfer. A round makes every `stride`-th transfer of a file,
    /// the next round the transfers beside them.
    fn strided(&self, rank: u32, number: u64) -> u64 {
        let per_file = self.shape(rank).per_file;
        let (file, within) = (number / per_file, number % per_file);
        let stride = u64::from(self.spec.stride).min(per_file);
        // The first rounds have one more, if the stride does not divide the file.
        let (length, longer) = (per_file / stride, per_file % stride);
        let of_longer = longer * (length + 1);
        let (round, step) = match within < of_longer {
            true => (within / (length + 1), within % (length + 1)),
            false => {
                let after = within - of_longer;
                (longer + after / length, after % length)
            }
        };
        file * per_file + step * stride + round
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
        let &Shape {
            block,
            transfer: size,
            before,
            per_block,
            per_file,
            ..
        } = self.shape(rank);
        let file = (transfer / per_file) as u32;
        let within = transfer % per_file;
        let (segment, step) = (within / per_block, within % per_block);
        match self.spec.access {
            Access::FilePerProcess => {
                (rank * self.spec.files + file, segment * block + step * size)
            }
            Access::Shared => {
                let first = match self.by_rank.is_empty() {
                    true => block * u64::from(rank),
                    false => before,
                };
                (file, segment * self.segment + first + step * size)
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
        let segments = u64::from(self.spec.segments);
        let size = |file: u32| match self.spec.access {
            Access::FilePerProcess => self.shape(file / self.spec.files).block * segments,
            Access::Shared => self.segment * segments,
        };
        let files = 0..self.files();
        let rank = |file: u32| match self.spec.access {
            Access::FilePerProcess => Some(file / self.spec.files),
            Access::Shared => None,
        };
        files
            .map(|file| ExistingFile {
                file,
                rank: rank(file),
                size: size(file),
            })
            .collect()
    }

    fn next(&mut self, rank: u32, now: Time, random: &mut Random<'_>) -> Result<Next, String> {
        let progress = self.progress[rank as usize];
        if self.phases().is_some_and(|phases| progress.phase >= phases) {
            return Ok(Next::Finished);
        }
        let phase = self.phase(progress.phase);
        let owner = self.owner(rank, progress.phase);
        if phase == Phase::Write && progress.to_sync.is_none() && self.stops(rank, progress, now) {
            return Ok(Next::Barrier);
        }
        let limit = self
            .stonewall
            .limit(rank, progress.phase, phase == Phase::Write);
        let all = self.steps(owner, phase, limit) + 2 * self.opened(owner, phase, limit);
        if progress.to_sync.is_none() && progress.step == all {
            let next = Progress {
                phase: progress.phase + 1,
                ..Progress::default()
            };
            self.progress[rank as usize] = next;
            let last = self.phases() == Some(next.phase);
            return Ok(if last {
                Next::Finished
            } else {
                Next::PhaseOver
            });
        }
        let first = progress.step == 0 && progress.to_sync.is_none();
        let after = match progress.phase {
            // The first request does not come after another.
            0 if first => Span::ZERO,
            phase if first && phase.is_multiple_of(self.spec.phases.len() as u32) => {
                self.think(random) + Span::from_seconds(self.spec.interval.0)
            }
            _ => self.think(random),
        };
        let step = progress.step;
        if progress.to_sync.is_none() {
            self.progress[rank as usize].step += 1;
        }
        // The first transfer of each file says which file it is.
        let Shape {
            transfer: size,
            per_file,
            per_phase,
            ..
        } = *self.shape(owner);
        let first_of = |file: u64| file * per_file;
        let (operation, transfer, size) =
            match (progress.to_sync, self.step(owner, phase, step, limit)) {
                (Some(last), _) => {
                    self.progress[rank as usize].to_sync = None;
                    (Operation::Sync, last, 0)
                }
                (None, Step::Open(file)) => (Operation::Open, first_of(file), 0),
                (None, Step::Close(file)) => (Operation::Close, first_of(file), 0),
                (None, Step::Sync(file)) => (Operation::Sync, first_of(file), 0),
                (None, Step::Transfer(number)) => {
                    let transfer = match self.spec.order {
                        Order::Sequential => self.in_streams(owner, number),
                        Order::Backward => self.backward(owner, number),
                        Order::Strided => self.strided(owner, number),
                        Order::Random => {
                            let key = self.key(owner, progress.phase);
                            Permutation::new(per_phase, key).at(number)
                        }
                        Order::Uniform => self.drawn(owner, progress.phase, number),
                    };
                    let writes = self.writes(rank, progress.phase, number);
                    let progress = &mut self.progress[rank as usize];
                    progress.to_sync = (writes && self.spec.sync_per_write).then_some(transfer);
                    let operation = match writes {
                        true => Operation::Write,
                        false => Operation::Read,
                    };
                    (operation, transfer, size)
                }
            };
        let (file, offset) = self.place(owner, transfer);
        Ok(Next::Ask(Ask {
            operation,
            call: None,
            file,
            offset,
            size,
            compute: self.compute,
            after,
            intended: None,
            phase: progress.phase,
            flags: Flags::NONE,
        }))
    }

    fn missed_stonewall(&self) -> bool {
        self.stonewall.is_missed()
    }

    fn farthest(&mut self, elsewhere: u64) -> u64 {
        self.stonewall.farthest(elsewhere)
    }

    fn needs_all_processes(&self) -> bool {
        self.stonewall.is_given()
    }

    fn total_requests(&self) -> Option<u64> {
        if self.stonewall.is_given() {
            return None;
        }
        if self.by_rank.is_empty() {
            return self.requests_of(0, u64::from(self.processes));
        }
        let mut drawn_before = 0;
        (0..self.processes).try_fold(0_u64, |sum, rank| {
            drawn_before += self.drawn_transfers(rank)?;
            let few = drawn_before <= MOST_DRAWN;
            few.then(|| self.requests_of(rank, 1))
                .flatten()?
                .checked_add(sum)
        })
    }
}

impl IorApplication {
    /// Returns true if a process that writes waits here for the others, at the deadline or behind
    /// its last transfer.
    fn stops(&mut self, rank: u32, progress: Progress, now: Time) -> bool {
        if !self.stonewall.is_given() {
            return false;
        }
        let all = self.transfers(rank);
        let limit = self.stonewall.limit(rank, progress.phase, true);
        let steps = all + 2 * self.opened(rank, Phase::Write, u64::MAX);
        let done = match progress.step {
            step if step == steps => all,
            step => match self.step(rank, Phase::Write, step, limit) {
                Step::Transfer(number) => number,
                Step::Open(file) if self.file_by_file() => file * self.shape(rank).per_file,
                Step::Open(_) => 0,
                Step::Close(_) | Step::Sync(_) => return false,
            },
        };
        self.stonewall.stops(rank, progress.phase, done, all, now)
    }

    /// Transfers of a process in all mixed phases, of which it is drawn whether they write.
    fn drawn_transfers(&self, rank: u32) -> Option<u64> {
        let each = self.spec.phases.len() as u32;
        let phases = self.spec.phases.iter();
        let mixed = phases.filter(|&&it| it == Phase::Mixed).count() as u64;
        let drawn = mixed.checked_mul(self.transfers(rank))?;
        drawn.checked_mul(u64::from(self.phases()? / each))
    }

    /// Requests of `processes` processes from a rank on, which have the same sizes.
    fn requests_of(&self, rank: u32, processes: u64) -> Option<u64> {
        let each = self.spec.phases.len() as u32;
        let once: u64 = self
            .spec
            .phases
            .iter()
            .map(|&phase| {
                let opened = self.opened(rank, phase, u64::MAX);
                let steps = self.steps(rank, phase, u64::MAX);
                steps.saturating_add(2 * opened)
            })
            .try_fold(0_u64, u64::checked_add)?;
        let phases = self.phases()?;
        let per_process = once.checked_mul(u64::from(phases / each))?;
        let steps = per_process.checked_mul(processes)?;
        if !self.spec.sync_per_write {
            return Some(steps);
        }
        let count = |phase| self.spec.phases.iter().filter(|&&it| it == phase).count() as u64;
        let runs = u64::from(phases / each) * processes;
        let writes = count(Phase::Write).checked_mul(self.transfers(rank))?;
        let mut syncs = writes.checked_mul(runs)?;
        // The writing transfers of a mixed phase are drawn. They are counted, unless that would
        // take too long.
        let drawn = self.drawn_transfers(rank)?.checked_mul(processes)?;
        if drawn > MOST_DRAWN {
            return None;
        }
        let mixed = (0..phases).filter(|&phase| self.phase(phase) == Phase::Mixed);
        for phase in mixed {
            for rank in rank..rank + processes as u32 {
                let all = 0..self.transfers(rank);
                syncs += all
                    .filter(|&number| self.writes(rank, phase, number))
                    .count() as u64;
            }
        }
        steps.checked_add(syncs)
    }
}

#[cfg(test)]
mod tests;
