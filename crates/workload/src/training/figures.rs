//! Figures of a training: utilisation as DLIO counts it, steps, and what everybody waits for.

use headrace_net::{Span, Time};
use serde::Serialize;

/// Work of an accelerator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Work {
    Data,
    Computing,
    Others,
    Checkpoint,
}

/// Work of a loader.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LoaderWork {
    Idle,
    Reading,
    Decoding,
}

/// Time spent on each of a few kinds of work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spent {
    since: Time,
    work: usize,
    total: [Span; 4],
}

impl Spent {
    pub fn new() -> Spent {
        Spent {
            since: Time::ZERO,
            work: 0,
            total: [Span::ZERO; 4],
        }
    }

    /// Turns to other work. Returns the time spent on the last.
    pub fn turn_to(&mut self, work: usize, now: Time) -> Span {
        let span = now.since(self.since);
        self.total[self.work] += span;
        (self.since, self.work) = (now, work);
        span
    }
}

/// Steps of an accelerator between two checkpoints, or in an epoch.
#[derive(Clone, Copy, Debug)]
struct Block {
    begun: Time,
    steps: u64,
    /// Computation and duration of the steps that count, and duration of those left out.
    computing: Span,
    left_out: Span,
}

impl Block {
    fn new(begun: Time) -> Block {
        Block {
            begun,
            steps: 0,
            computing: Span::ZERO,
            left_out: Span::ZERO,
        }
    }

    /// Share of the time in which the accelerator computed; none if no step counts.
    fn utilisation(&self, end: Time) -> Option<f64> {
        let whole = end.since(self.begun).as_seconds() - self.left_out.as_seconds();
        (self.computing > Span::ZERO).then(|| self.computing.as_seconds() / whole)
    }
}

/// Sums of an accelerator.
#[derive(Clone, Debug)]
pub(super) struct AcceleratorSums {
    pub spent: Spent,
    block: Block,
    /// Sums over the steps of the blocks that have ended: utilisation, and their number.
    utilisation: f64,
    counted: f64,
    /// When its step began, and what the ones before took, in seconds.
    step_begun: Time,
    steps: Vec<f64>,
    /// Duration of its checkpoints in seconds.
    checkpoints: Vec<f64>,
}

impl AcceleratorSums {
    pub fn new() -> AcceleratorSums {
        AcceleratorSums {
            spent: Spent::new(),
            block: Block::new(Time::ZERO),
            utilisation: 0.0,
            counted: 0.0,
            step_begun: Time::ZERO,
            steps: Vec::new(),
            checkpoints: Vec::new(),
        }
    }

    /// A computation of so much time ends.
    pub fn computed(&mut self, now: Time, computing: Span, skipped: u64) {
        let block = &mut self.block;
        block.steps += 1;
        if block.steps > skipped {
            block.computing += computing;
        } else {
            block.left_out += now.since(self.step_begun);
        }
    }

    /// All accelerators have computed.
    pub fn end_step(&mut self, now: Time) {
        self.steps.push(now.since(self.step_begun).as_seconds());
        self.step_begun = now;
    }

    /// The block ends: a checkpoint or the next epoch follows.
    pub fn end_block(&mut self, now: Time) {
        if let Some(utilisation) = self.block.utilisation(now) {
            self.utilisation += utilisation * self.block.steps as f64;
            self.counted += self.block.steps as f64;
        }
        self.begin_block(now);
    }

    fn begin_block(&mut self, now: Time) {
        self.block = Block::new(now);
        self.step_begun = now;
    }

    pub fn saved(&mut self, now: Time, took: Span) {
        self.checkpoints.push(took.as_seconds());
        self.begin_block(now);
    }

    /// Mean utilisation over its steps; with those of a block that has not ended.
    fn mean_utilisation(&self, now: Time) -> Option<f64> {
        let mut all = self.clone();
        all.end_block(now);
        (all.counted > 0.0).then(|| all.utilisation / all.counted)
    }
}

/// Figures of a training.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TrainingFigures {
    /// Number of accelerators.
    pub accelerators: usize,
    /// Steps that each has made.
    pub steps: usize,
    /// Share of the time in which accelerators computed, as DLIO counts it: the first steps and
    /// checkpoints are left out; none if no step counts.
    pub utilisation: Option<f64>,
    /// Samples that all accelerators together took in a second, checkpoints left out.
    pub samples_per_second: Option<f64>,
    /// The same in bytes, each sample with the mean size.
    pub bytes_per_second: Option<f64>,
    /// Durations of a step, from one meeting of all accelerators to the next.
    pub step: Option<Durations>,
    /// Durations of a checkpoint, to the last accelerator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Durations>,
    /// Shares of the accelerators' time.
    pub accelerator_time: AcceleratorShares,
    /// Shares of the loaders' time.
    pub loader_time: LoaderShares,
}

/// Figures of one workload.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TrainingReport {
    /// Number of the workload.
    pub workload: usize,
    /// Its figures.
    #[serde(flatten)]
    pub figures: TrainingFigures,
}

/// Durations in seconds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Durations {
    /// Number of them.
    pub count: usize,
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Longest.
    pub max: f64,
}

/// Shares of the accelerators' time, which add up to 1.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct AcceleratorShares {
    /// They compute.
    pub computing: f64,
    /// They wait for a batch.
    pub data: f64,
    /// They wait for other accelerators.
    pub others: f64,
    /// They write checkpoints.
    pub checkpoint: f64,
}

/// Shares of the loaders' time, which add up to 1.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct LoaderShares {
    /// They open, read and close files.
    pub reading: f64,
    /// They use the processor for samples.
    pub decoding: f64,
    /// They are as far ahead as they may be, or have ended.
    pub idle: f64,
}

impl Durations {
    fn of(mut seconds: Vec<f64>) -> Option<Durations> {
        seconds.sort_by(f64::total_cmp);
        let max = *seconds.last()?;
        let count = seconds.len();
        // The smallest value that is no less than that share of them.
        let percentile = |share: usize| seconds[(count * share).div_ceil(100).max(1) - 1];
        Some(Durations {
            count,
            mean: seconds.iter().sum::<f64>() / count as f64,
            p50: percentile(50),
            p99: percentile(99),
            max,
        })
    }
}

/// Shares of the time that several spent.
fn shares<'a>(all: impl Iterator<Item = &'a Spent>, now: Time) -> [f64; 4] {
    let mut sums = [0.0; 4];
    for one in all {
        let mut one = *one;
        one.turn_to(0, now);
        for (sum, span) in sums.iter_mut().zip(one.total) {
            *sum += span.as_seconds();
        }
    }
    let whole: f64 = sums.iter().sum();
    sums.map(|sum| if whole > 0.0 { sum / whole } else { 0.0 })
}

/// Sums up what accelerators and loaders have done until now.
pub(super) fn figures<'a>(
    accelerators: &[&AcceleratorSums],
    loaders: impl Iterator<Item = &'a Spent>,
    samples_of_a_step: u64,
    bytes_of_a_sample: u64,
    now: Time,
) -> TrainingFigures {
    let utilisations: Vec<f64> = accelerators
        .iter()
        .filter_map(|it| it.mean_utilisation(now))
        .collect();
    // All accelerators meet after each step, so that their steps take as long.
    let steps = accelerators
        .first()
        .map_or(Vec::new(), |it| it.steps.clone());
    let number = steps.len();
    let seconds: f64 = steps.iter().sum();
    let samples = number as f64 * samples_of_a_step as f64;
    let rate = (seconds > 0.0).then(|| samples / seconds);
    let saved = accelerators.iter().map(|it| it.checkpoints.len()).min();
    let last = |at: usize| {
        let each = accelerators.iter().map(|it| it.checkpoints[at]);
        each.fold(0.0, f64::max)
    };
    let own = accelerators.iter().map(|it| &it.spent);
    let [data, computing, others, checkpoint] = shares(own, now);
    let [idle, reading, decoding, _] = shares(loaders, now);
    TrainingFigures {
        accelerators: accelerators.len(),
        steps: number,
        utilisation: (!utilisations.is_empty())
            .then(|| utilisations.iter().sum::<f64>() / utilisations.len() as f64),
        samples_per_second: rate,
        bytes_per_second: rate.map(|rate| rate * bytes_of_a_sample as f64),
        step: Durations::of(steps),
        checkpoint: Durations::of((0..saved.unwrap_or(0)).map(last).collect()),
        accelerator_time: AcceleratorShares {
            computing,
            data,
            others,
            checkpoint,
        },
        loader_time: LoaderShares {
            reading,
            decoding,
            idle,
        },
    }
}
