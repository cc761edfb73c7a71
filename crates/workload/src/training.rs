//! Accelerators that learn from samples which loaders read.
//!
//! ```text
//!   loader:       (room) ─▶ open ─▶ (read ─▶ decode) … ─▶ close ─▶ (room)
//!   accelerator:  (batch) ─▶ compute ─▶ meet all others ─▶ checkpoint? ─▶ (batch)
//! ```
//!
//! Steps, order of samples and utilisation are those of DLIO 2.0.0 (main.py,
//! utils/statscounter.py). Where batches are the loaders' work, loader n makes every n-th batch. All
//! run ahead by `prefetch` batches, each by one at least, as PyTorch's workers do. Where samples are
//! their work, a batch takes what comes first of all files in progress.
//!
//! Ranks: all accelerators, then the first loader of each, the second, and so on.
//!
//! Not modelled: copies between loader and accelerator; the order in which tf.data takes records
//! of several files; a shuffle buffer, which is filled before the first step; evaluation.

mod figures;

use std::collections::VecDeque;

use headrace_net::{Random, Span, Time};
use headrace_spec::{Loading, Training};
use headrace_trace::{Flags, Operation};

use self::figures::{AcceleratorSums, LoaderWork, Spent, Work};
use super::permutation::Permutation;
use super::{Application, Ask, ExistingFile, Next};

pub use figures::{AcceleratorShares, Durations, LoaderShares, TrainingFigures, TrainingReport};

/// Accelerators and their loaders.
#[derive(Debug)]
pub struct TrainingApplication {
    spec: Training,
    seed: u64,
    /// Steps of each epoch.
    steps: u64,
    accelerators: Vec<Accelerator>,
    /// Loaders of one accelerator lie as far apart as there are accelerators.
    loaders: Vec<Loader>,
    /// Accelerators that have come to the next meeting, and meetings that have ended.
    arrived: usize,
    meetings: u64,
    woken: VecDeque<u32>,
    /// Order of the samples, or of the files, in each epoch.
    orders: Vec<Permutation>,
    /// Time of the last action.
    now: Time,
}

/// State of an accelerator.
#[derive(Clone, Copy, Debug)]
enum Doing {
    Loading,
    Computing,
    /// It waits until this many meetings have ended.
    Meeting(u64),
    /// Its checkpoint is written up to this byte; none if the file is to be made.
    Saving(Option<u64>),
    Closing,
    Closed,
}

#[derive(Clone, Debug)]
struct Accelerator {
    doing: Doing,
    epoch: u64,
    /// Batches of the epoch, and in all, that it has taken.
    step: u64,
    taken: u64,
    /// Checkpoints that it has written.
    saved: u64,
    /// Samples that its loaders have read in all, where samples are their work.
    read: u64,
    waits: bool,
    sums: AcceleratorSums,
}

/// State of a loader in a piece: one sample, or a whole file.
#[derive(Clone, Copy, Debug)]
enum Stage {
    Between,
    /// Bytes that are read, and samples that are decoded.
    Reading(u64, u64),
    Closing,
    Closed,
}

#[derive(Clone, Copy, Debug)]
struct Loader {
    stage: Stage,
    /// The epoch and the batch in it; or the file, among those of its accelerator in all epochs.
    epoch: u64,
    number: u64,
    /// Samples of the batch that are done.
    done: u64,
    waits: bool,
    spent: Spent,
}

/// Range of a file that a loader opens, reads and closes.
#[derive(Clone, Copy, Debug)]
struct Piece {
    file: u32,
    offset: u64,
    size: u64,
    samples: u64,
}

impl TrainingApplication {
    /// The workload of a number of accelerators.
    #[must_use]
    pub fn new(spec: &Training, accelerators: u32, seed: u64) -> TrainingApplication {
        let ordered = match spec.loading {
            Loading::Batch => spec.samples(),
            Loading::Sample => u64::from(spec.files),
        };
        let epochs = 0..u64::from(spec.epochs);
        let accelerator = Accelerator {
            doing: Doing::Loading,
            epoch: 0,
            step: 0,
            taken: 0,
            saved: 0,
            read: 0,
            waits: false,
            sums: AcceleratorSums::new(),
        };
        let number = accelerators as usize;
        let loaders = (0..u64::from(spec.loaders)).flat_map(|first| {
            let loader = Loader {
                stage: Stage::Between,
                epoch: 0,
                number: first,
                done: 0,
                waits: false,
                spent: Spent::new(),
            };
            std::iter::repeat_n(loader, number)
        });
        TrainingApplication {
            seed,
            steps: spec.steps_of_an_epoch(accelerators),
            accelerators: vec![accelerator; number],
            loaders: loaders.collect(),
            arrived: 0,
            meetings: 0,
            woken: VecDeque::new(),
            orders: epochs
                .map(|epoch| Permutation::new(ordered, seed ^ (epoch << 32)))
                .collect(),
            now: Time::ZERO,
            spec: spec.clone(),
        }
    }

    fn by_batch(&self) -> bool {
        self.spec.loading == Loading::Batch
    }

    fn batch(&self) -> u64 {
        self.spec.batch.into()
    }

    fn epochs(&self) -> u64 {
        self.spec.epochs.into()
    }

    /// Batches that the loaders of an accelerator may have begun beyond those that it has taken.
    fn ahead(&self) -> u64 {
        let (prefetch, loaders) = (u64::from(self.spec.prefetch), u64::from(self.spec.loaders));
        match self.by_batch() {
            true => prefetch.div_ceil(loaders) * loaders,
            false => prefetch,
        }
    }

    /// The sample or file at a place in an epoch's order.
    fn ordered(&self, epoch: u64, place: u64) -> u64 {
        match self.spec.shuffle {
            true => self.orders[epoch as usize].at(place),
            false => place,
        }
    }

    /// Bytes of each sample of a file.
    fn sample_size(&self, file: u32) -> u64 {
        let (mean, deviation) = (self.spec.sample.0, self.spec.sample_deviation.0);
        if deviation == 0 {
            return mean;
        }
        // More draws than one size takes, but for one in 10^66.
        let mut draws = u64::from(file) * 200;
        let mut random = Random::named(self.seed, "sizes of samples", &mut draws);
        // Two normally distributed lengths, as DLIO's generators draw them (utils/config.py:
        // dimension_stdev), by the polar form of Box and Muller 1958.
        let side = (mean as f64).sqrt();
        let spread = deviation as f64 / 2.0 / side;
        // A direction, and the square of a radius.
        let (x, y) = loop {
            let (x, y) = (2.0 * random.uniform() - 1.0, 2.0 * random.uniform() - 1.0);
            if (f64::MIN_POSITIVE..=1.0).contains(&(x * x + y * y)) {
                break (x, y);
            }
        };
        let radius = (random.exponential(2.0) / (x * x + y * y)).sqrt();
        let length = |normal: f64| (side + spread * radius * normal).max(1.0);
        (length(x) * length(y)) as u64
    }

    /// Next piece of a loader; none behind the last file.
    fn piece(&self, accelerator: usize, loader: &Loader) -> Option<Piece> {
        let number = self.accelerators.len() as u64;
        let in_a_file = u64::from(self.spec.samples_per_file);
        if self.by_batch() {
            // An accelerator's samples follow each other in the order of the epoch.
            let first = accelerator as u64 * (self.spec.samples() / number);
            let place = first + loader.number * self.batch() + loader.done;
            let sample = self.ordered(loader.epoch, place);
            let file = (sample / in_a_file) as u32;
            let size = self.sample_size(file);
            return Some(Piece {
                file,
                offset: sample % in_a_file * size,
                size,
                samples: 1,
            });
        }
        // The accelerators' files lie in turn in the order of the epoch.
        let each = u64::from(self.spec.files) / number;
        let (epoch, of_epoch) = (loader.number / each, loader.number % each);
        (epoch < self.epochs()).then(|| {
            let file = self.ordered(epoch, accelerator as u64 + of_epoch * number) as u32;
            Piece {
                file,
                offset: 0,
                size: self.sample_size(file) * in_a_file,
                samples: in_a_file,
            }
        })
    }

    /// Returns true if an accelerator can take its next batch.
    fn has_batch(&self, accelerator: usize) -> bool {
        let one = &self.accelerators[accelerator];
        if !self.by_batch() {
            return one.read >= (one.taken + 1) * self.batch();
        }
        let maker = (one.step % u64::from(self.spec.loaders)) as usize;
        let maker = &self.loaders[maker * self.accelerators.len() + accelerator];
        // Its number is the batch that it makes next.
        (maker.epoch, maker.number) > (one.epoch, one.step)
    }

    /// Returns true if a loader may go on to read.
    fn has_room(&self, accelerator: usize, loader: &Loader) -> bool {
        let one = &self.accelerators[accelerator];
        match self.by_batch() {
            true => loader.epoch == one.epoch && loader.number < one.step + self.ahead(),
            false => one.read < (one.taken + self.ahead()) * self.batch(),
        }
    }

    /// Returns true if no sample is missing.
    fn has_all(&self, accelerator: usize, loader: &Loader) -> bool {
        match self.by_batch() {
            true => loader.epoch == self.epochs(),
            false => {
                let all = self.epochs() * self.steps * self.batch();
                self.accelerators[accelerator].read >= all
            }
        }
    }

    fn wake_accelerator(&mut self, at: usize) {
        if std::mem::take(&mut self.accelerators[at].waits) {
            self.woken.push_back(at as u32);
        }
    }

    /// Wakes the loaders of an accelerator.
    fn wake_loaders(&mut self, accelerator: usize) {
        let number = self.accelerators.len();
        for at in (accelerator..self.loaders.len()).step_by(number) {
            if std::mem::take(&mut self.loaders[at].waits) {
                self.woken.push_back((number + at) as u32);
            }
        }
    }

    fn wake_for_batch(&mut self, accelerator: usize) {
        if matches!(self.accelerators[accelerator].doing, Doing::Loading)
            && self.has_batch(accelerator)
        {
            self.wake_accelerator(accelerator);
        }
    }

    /// Next action of an accelerator.
    fn accelerate(&mut self, at: usize, now: Time) -> Next {
        loop {
            match self.accelerators[at].doing {
                Doing::Loading => {
                    if self.accelerators[at].epoch == self.epochs() {
                        return Next::Finished;
                    }
                    if !self.has_batch(at) {
                        self.accelerators[at].waits = true;
                        return Next::Wait;
                    }
                    let one = &mut self.accelerators[at];
                    one.sums.spent.turn_to(Work::Computing as usize, now);
                    one.taken += 1;
                    one.step += 1;
                    one.doing = Doing::Computing;
                    self.wake_loaders(at);
                    return Next::Pause(Span::from_seconds(self.spec.computation.0));
                }
                Doing::Computing => self.arrive(at, now),
                Doing::Meeting(end) if self.meetings < end => {
                    self.accelerators[at].waits = true;
                    return Next::Wait;
                }
                Doing::Meeting(_) => self.depart(at, now),
                Doing::Saving(done) => return Next::Ask(self.save(at, done)),
                Doing::Closing => {
                    self.accelerators[at].doing = Doing::Closed;
                    return Next::Ask(ask(Operation::Close, self.checkpoint_file(at)));
                }
                Doing::Closed => {
                    let one = &mut self.accelerators[at];
                    let took = one.sums.spent.turn_to(Work::Data as usize, now);
                    one.sums.saved(now, took);
                    one.saved += 1;
                    self.begin_step(at);
                }
            }
        }
    }

    /// An accelerator has computed, and comes to the meeting.
    fn arrive(&mut self, at: usize, now: Time) {
        let one = &mut self.accelerators[at];
        let computing = one.sums.spent.turn_to(Work::Others as usize, now);
        let skipped = self.spec.skipped_steps.into();
        one.sums.computed(now, computing, skipped);
        one.doing = Doing::Meeting(self.meetings + 1);
        self.arrived += 1;
        if self.arrived == self.accelerators.len() {
            self.arrived = 0;
            self.meetings += 1;
            for other in 0..self.accelerators.len() {
                self.wake_accelerator(other);
            }
        }
    }

    /// An accelerator leaves the meeting, for a checkpoint or its next step.
    fn depart(&mut self, at: usize, now: Time) {
        let every = u64::from(self.spec.checkpoint_steps);
        let steps = self.steps;
        let one = &mut self.accelerators[at];
        one.sums.end_step(now);
        let ends = one.step == steps;
        let saves = self.spec.checkpoint.0 > 0
            && match every {
                0 => ends,
                every => one.taken.is_multiple_of(every),
            };
        if ends || saves {
            one.sums.end_block(now);
        }
        if saves {
            one.sums.spent.turn_to(Work::Checkpoint as usize, now);
            one.doing = Doing::Saving(None);
        } else {
            one.sums.spent.turn_to(Work::Data as usize, now);
            self.begin_step(at);
        }
    }

    fn begin_step(&mut self, at: usize) {
        let steps = self.steps;
        let one = &mut self.accelerators[at];
        one.doing = Doing::Loading;
        if one.step == steps {
            one.epoch += 1;
            one.step = 0;
            // Some wait for the epoch, and some to end with the last.
            self.wake_loaders(at);
        }
    }

    /// The file of an accelerator's next checkpoint.
    fn checkpoint_file(&self, at: usize) -> u32 {
        let before = self.accelerators[at].saved as usize * self.accelerators.len() + at;
        self.spec.files.saturating_add(before as u32)
    }

    /// Bytes of an accelerator's part of a checkpoint.
    fn part(&self) -> u64 {
        let number = self.accelerators.len() as u64;
        self.spec.checkpoint.0.div_ceil(number)
    }

    /// Next request of a checkpoint, up to its close.
    fn save(&mut self, at: usize, done: Option<u64>) -> Ask {
        let file = self.checkpoint_file(at);
        let left = self.part() - done.unwrap_or(0);
        let doing = &mut self.accelerators[at].doing;
        let Some(done) = done else {
            *doing = Doing::Saving(Some(0));
            return ask(Operation::Create, file);
        };
        if left > 0 {
            let size = left.min(self.spec.transfer.0);
            *doing = Doing::Saving(Some(done + size));
            return Ask {
                offset: done,
                size,
                ..ask(Operation::Write, file)
            };
        }
        if self.spec.checkpoint_sync {
            *doing = Doing::Closing;
            return ask(Operation::Sync, file);
        }
        *doing = Doing::Closed;
        ask(Operation::Close, file)
    }

    /// Next action of a loader.
    fn load(&mut self, at: usize, now: Time) -> Next {
        let accelerator = at % self.accelerators.len();
        let (next, work) = self.action(at, accelerator);
        self.loaders[at].spent.turn_to(work as usize, now);
        next
    }

    /// Next action of a loader, and the work that it is.
    fn action(&mut self, at: usize, accelerator: usize) -> (Next, LoaderWork) {
        loop {
            let loader = self.loaders[at];
            match loader.stage {
                Stage::Between => {
                    if self.has_all(accelerator, &loader) {
                        return (Next::Finished, LoaderWork::Idle);
                    }
                    if self.by_batch() && loader.number >= self.steps {
                        self.begin_epoch(at);
                        self.wake_for_batch(accelerator);
                        continue;
                    }
                    if loader.done == 0 && !self.has_room(accelerator, &loader) {
                        self.loaders[at].waits = true;
                        return (Next::Wait, LoaderWork::Idle);
                    }
                    let Some(piece) = self.piece(accelerator, &loader) else {
                        return (Next::Finished, LoaderWork::Idle);
                    };
                    self.loaders[at].stage = Stage::Reading(0, 0);
                    let open = ask(Operation::Open, piece.file);
                    return (Next::Ask(open), LoaderWork::Reading);
                }
                Stage::Reading(read, decoded) => {
                    let Some(piece) = self.piece(accelerator, &loader) else {
                        return (Next::Finished, LoaderWork::Idle);
                    };
                    let sample = piece.size / piece.samples;
                    let complete = read / sample - decoded;
                    if complete > 0 {
                        self.loaders[at].stage = Stage::Reading(read, decoded + complete);
                        if let Some(time) = self.time_to_decode(complete, sample * complete) {
                            return (Next::Compute(time), LoaderWork::Decoding);
                        }
                        continue;
                    }
                    match self.read_on(at, accelerator, piece, read, decoded) {
                        Some(action) => return action,
                        None => self.loaders[at].stage = Stage::Closing,
                    }
                }
                Stage::Closing => {
                    let file = self.piece(accelerator, &loader).map_or(0, |it| it.file);
                    self.loaders[at].stage = Stage::Closed;
                    let close = ask(Operation::Close, file);
                    return (Next::Ask(close), LoaderWork::Reading);
                }
                Stage::Closed => self.end_piece(at, accelerator),
            }
        }
    }

    /// Reads the next part of a piece; none if it ends.
    fn read_on(
        &mut self,
        at: usize,
        accelerator: usize,
        piece: Piece,
        read: u64,
        decoded: u64,
    ) -> Option<(Next, LoaderWork)> {
        let loader = self.loaders[at];
        if !self.by_batch() {
            // Samples count as soon as they are decoded.
            let counted = decoded - loader.done;
            if counted > 0 {
                self.loaders[at].done = decoded;
                self.accelerators[accelerator].read += counted;
                self.wake_for_batch(accelerator);
            }
            if self.has_all(accelerator, &loader) {
                self.wake_loaders(accelerator);
                return None;
            }
        }
        if read == piece.size {
            return None;
        }
        if !self.by_batch() && !self.has_room(accelerator, &loader) {
            self.loaders[at].waits = true;
            return Some((Next::Wait, LoaderWork::Idle));
        }
        let size = (piece.size - read).min(self.spec.transfer.0);
        self.loaders[at].stage = Stage::Reading(read + size, decoded);
        let part = Ask {
            offset: piece.offset + read,
            size,
            ..ask(Operation::Read, piece.file)
        };
        Some((Next::Ask(part), LoaderWork::Reading))
    }

    /// A loader has closed its piece.
    fn end_piece(&mut self, at: usize, accelerator: usize) {
        let (by_batch, batch) = (self.by_batch(), self.batch());
        let loader = &mut self.loaders[at];
        loader.stage = Stage::Between;
        loader.done += u64::from(by_batch);
        if !by_batch || loader.done == batch {
            loader.done = 0;
            loader.number += u64::from(self.spec.loaders);
            self.wake_for_batch(accelerator);
        }
    }

    /// A loader goes to its first batch of the next epoch.
    fn begin_epoch(&mut self, at: usize) {
        let first = at / self.accelerators.len();
        let loader = &mut self.loaders[at];
        loader.epoch += 1;
        loader.number = first as u64;
    }

    /// Processor time for samples and their bytes; none if they take none.
    fn time_to_decode(&self, samples: u64, bytes: u64) -> Option<Span> {
        let of_bytes = self.spec.time_per_byte.0 * bytes as f64;
        let seconds = of_bytes + self.spec.time_per_sample.0 * samples as f64;
        (seconds > 0.0).then(|| Span::from_seconds(seconds))
    }
}

fn ask(operation: Operation, file: u32) -> Ask {
    Ask {
        operation,
        call: None,
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

impl Application for TrainingApplication {
    fn processes(&self) -> u32 {
        (self.accelerators.len() + self.loaders.len()) as u32
    }

    /// The dataset, then each checkpoint's.
    fn files(&self) -> u32 {
        let every = u64::from(self.spec.checkpoint_steps);
        let checkpoints = match (self.spec.checkpoint.0, every) {
            (0, _) => 0,
            (_, 0) => self.epochs(),
            (_, every) => self.epochs() * self.steps / every,
        };
        let files = checkpoints.saturating_mul(self.accelerators.len() as u64);
        let files = u32::try_from(files).unwrap_or(u32::MAX);
        self.spec.files.saturating_add(files)
    }

    fn threads(&self) -> bool {
        true
    }

    /// Loaders start with their accelerator.
    fn starts_with(&self, rank: u32) -> u32 {
        rank % self.accelerators.len() as u32
    }

    fn closes_what_it_makes(&self) -> bool {
        true
    }

    fn ends_with_its_processes(&self) -> bool {
        true
    }

    fn woken(&mut self) -> Option<u32> {
        self.woken.pop_front()
    }

    fn next(&mut self, rank: u32, now: Time, _: &mut Random<'_>) -> Result<Next, String> {
        self.now = now;
        let number = self.accelerators.len();
        Ok(match (rank as usize).checked_sub(number) {
            None => self.accelerate(rank as usize, now),
            Some(loader) => self.load(loader, now),
        })
    }

    fn existing(&self) -> Vec<ExistingFile> {
        let in_a_file = u64::from(self.spec.samples_per_file);
        let files = (0..self.spec.files).map(|file| ExistingFile {
            file,
            rank: None,
            size: self.sample_size(file) * in_a_file,
        });
        files.collect()
    }

    fn training(&self) -> Option<TrainingFigures> {
        let accelerators: Vec<&AcceleratorSums> =
            self.accelerators.iter().map(|it| &it.sums).collect();
        let samples = self.batch() * accelerators.len() as u64;
        let loaders = self.loaders.iter().map(|it| &it.spent);
        let bytes = self.spec.sample.0;
        Some(figures::figures(
            &accelerators,
            loaders,
            samples,
            bytes,
            self.now,
        ))
    }

    fn largest_transfer(&self) -> Option<u64> {
        Some(self.spec.transfer.0)
    }

    /// As many as samples of the mean size need.
    fn total_requests(&self) -> Option<u64> {
        let transfer = self.spec.transfer.0;
        let number = self.accelerators.len() as u64;
        let samples = self.epochs() * self.steps * self.batch();
        let (pieces, size) = match self.by_batch() {
            true => (samples, self.spec.sample.0),
            false => {
                let in_a_file = u64::from(self.spec.samples_per_file);
                (samples.div_ceil(in_a_file), self.spec.sample.0 * in_a_file)
            }
        };
        let reads = pieces.checked_mul(2 + size.div_ceil(transfer))?;
        let of_files = u64::from(self.files() - self.spec.files);
        let writes = of_files.checked_mul(3 + self.part().div_ceil(transfer))?;
        reads.checked_mul(number)?.checked_add(writes)
    }
}

#[cfg(test)]
mod tests;
