//! A program that reads a file, computes, and writes another.
//!
//! With one thread a buffer is read, worked on and written, then the next. With a
//! thread for each stage they hand buffers on in a ring:
//!
//! ```text
//!   (empty) ─▶ [read] ─▶ (full) ─▶ [compute] ─▶ (done) ─▶ [write] ─▶ (empty)
//! ```
//!
//! A buffer is held during the call that fills or empties it, as the seqprocessor
//! 3 of Hindman 2011, appendix E, holds the buffer's mutex. A thread whose next
//! buffer is not ready sleeps and is woken by the thread that makes it ready.
//!
//! Not modelled: the time to lock, sleep and wake; more than one thread a stage; positions out of
//! order; files of different buffers in the C library.

use std::collections::VecDeque;

use headrace_net::{Random, Span, Time};
use headrace_spec::{Pipeline, Threads};
use headrace_trace::{Flags, Operation};

use super::{Application, Ask, ExistingFile, Next};

/// A stage of a pipeline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Read,
    Compute,
    Write,
}

/// The processes of pipelines side by side: rank = stage × pipelines + pipeline.
#[derive(Debug)]
pub struct PipelineApplication {
    input: u64,
    output: u64,
    /// Bytes of a buffer, and how many of them the file read makes.
    buffer: u64,
    total: u64,
    /// Buffers in the ring.
    ring: u64,
    /// Stage of each thread; a single thread executes all three in turn.
    stages: Vec<Stage>,
    one: bool,
    sync: bool,
    in_place: bool,
    existing: bool,
    /// Processor time in the library for each buffer, and of the computation for
    /// each buffer and each byte, in picoseconds.
    library: Span,
    per_buffer: f64,
    per_byte: f64,
    /// True if processor time is modelled; if not it passes before the request.
    machine: bool,
    output_volume: Option<u8>,
    pipelines: Vec<Progress>,
    woken: VecDeque<u32>,
}

/// Translation of a pipeline's requests to calls on a modelled machine.
#[derive(Clone, Copy, Default, Debug)]
pub struct Calling {
    /// Bytes of a call.
    pub buffer: u64,
    /// Processor time in the C library for each.
    pub library: Span,
    /// True if processor time is modelled; if not it passes before the request.
    pub machine: bool,
    /// The machine's volume that the output lies on, if not the workload's.
    pub output_volume: Option<u8>,
}

/// Progress of a pipeline's threads.
#[derive(Clone, Copy, Default, Debug)]
struct Progress {
    /// Requests that each thread has made, and how many of them are done.
    begun: [u64; 3],
    done: [u64; 3],
    waiting: [bool; 3],
}

impl PipelineApplication {
    /// The workload for `pipelines` pipelines, on files that may be there before.
    #[must_use]
    pub fn new(spec: &Pipeline, pipelines: u32, existing: bool) -> PipelineApplication {
        let calls = Calling {
            buffer: spec.request.0,
            ..Calling::default()
        };
        PipelineApplication::calling(spec, pipelines, existing, calls)
    }

    /// The same, calling the system as a modelled machine has it.
    #[must_use]
    pub fn calling(
        spec: &Pipeline,
        pipelines: u32,
        existing: bool,
        calls: Calling,
    ) -> PipelineApplication {
        let per_buffer = spec.compute_per_request.0 * 1e12;
        let per_byte = spec.compute_per_byte.0 * 1e12;
        let one = spec.threads == Threads::One;
        let stages = match per_buffer + per_byte > 0.0 {
            true => vec![Stage::Read, Stage::Compute, Stage::Write],
            false => vec![Stage::Read, Stage::Write],
        };
        PipelineApplication {
            input: spec.input.0,
            output: spec.output.0,
            buffer: calls.buffer,
            total: spec.input.0.div_ceil(calls.buffer),
            ring: u64::from(spec.buffers),
            stages,
            one,
            sync: spec.sync,
            in_place: spec.in_place,
            existing,
            library: calls.library,
            per_buffer,
            per_byte,
            machine: calls.machine,
            output_volume: calls.output_volume,
            pipelines: vec![Progress::default(); pipelines as usize],
            woken: VecDeque::new(),
        }
    }

    /// Bytes of a buffer that are read, and where its part of the output begins
    /// and ends.
    fn part(&self, index: u64) -> (u64, u64, u64) {
        let read = self.buffer.min(self.input - index * self.buffer);
        let border = |index: u64| {
            let part = u128::from(self.output) * u128::from(index) / u128::from(self.total);
            // No more than the output.
            u64::try_from(part).unwrap_or(self.output)
        };
        (read, border(index), border(index + 1))
    }

    /// Requests of a thread besides a sync at the end.
    fn requests(&self) -> u64 {
        if self.one {
            self.total * self.stages.len() as u64
        } else {
            self.total
        }
    }

    /// The stage and the buffer of a thread's n-th request.
    fn work(&self, thread: usize, request: u64) -> (Stage, u64) {
        if self.one {
            let stages = self.stages.len() as u64;
            (self.stages[(request % stages) as usize], request / stages)
        } else {
            (self.stages[thread], request)
        }
    }

    fn threads(&self) -> usize {
        if self.one { 1 } else { self.stages.len() }
    }

    /// Returns true if a thread's next buffer is ready for it.
    fn is_ready(&self, progress: &Progress, thread: usize) -> bool {
        if self.one {
            return true;
        }
        let next = progress.begun[thread];
        match thread {
            0 => next < progress.done[self.threads() - 1] + self.ring,
            _ => next < progress.done[thread - 1],
        }
    }

    /// A thread's request is done: threads that wait for the buffer go on.
    fn finished(&mut self, pipeline: usize, thread: usize) {
        let threads = self.threads();
        let next = (thread + 1) % threads;
        let mut progress = self.pipelines[pipeline];
        progress.done[thread] = progress.begun[thread];
        if progress.waiting[next] && self.is_ready(&progress, next) {
            progress.waiting[next] = false;
            let rank = next * self.pipelines.len() + pipeline;
            self.woken.push_back(rank as u32);
        }
        self.pipelines[pipeline] = progress;
    }

    /// The number of a pipeline's output: all inputs come before all outputs, since files that are
    /// in use together lie on servers in turn.
    fn output_file(&self, pipeline: u32) -> u32 {
        self.pipelines.len() as u32 + pipeline
    }

    fn ask(&self, pipeline: u32, operation: Operation, offset: u64, size: u64) -> Ask {
        let carries = operation.carries_bytes();
        let time = if carries { self.library } else { Span::ZERO };
        let (after, compute) = match self.machine {
            true => (Span::ZERO, time),
            false => (time, Span::ZERO),
        };
        Ask {
            operation,
            call: None,
            file: match operation == Operation::Read || self.in_place {
                true => pipeline,
                false => self.output_file(pipeline),
            },
            offset,
            size,
            after,
            compute,
            intended: None,
            phase: 0,
            flags: Flags::NONE,
        }
    }
}

impl Application for PipelineApplication {
    fn processes(&self) -> u32 {
        (self.pipelines.len() * self.threads()) as u32
    }

    fn files(&self) -> u32 {
        2 * self.pipelines.len() as u32
    }

    fn volume(&self, file: u32) -> Option<u8> {
        let first_output = self.output_file(0);
        self.output_volume.filter(|_| file >= first_output)
    }

    fn threads(&self) -> bool {
        true
    }

    fn woken(&mut self) -> Option<u32> {
        self.woken.pop_front()
    }

    fn next(&mut self, rank: u32, _: Time, _: &mut Random<'_>) -> Result<Next, String> {
        let (number, at) = (self.pipelines.len() as u32, rank as usize);
        let (thread, pipeline) = (at / number as usize, at % number as usize);
        let progress = self.pipelines[pipeline];
        if progress.done[thread] < progress.begun[thread] {
            self.finished(pipeline, thread);
        }
        let progress = self.pipelines[pipeline];
        let request = progress.begun[thread];
        let last = thread + 1 == self.threads();
        let syncs = u64::from(self.sync && last);
        if request >= self.requests() + syncs {
            return Ok(Next::Finished);
        }
        if request == self.requests() {
            self.pipelines[pipeline].begun[thread] += 1;
            return Ok(Next::Ask(self.ask(rank % number, Operation::Sync, 0, 0)));
        }
        if !self.is_ready(&progress, thread) {
            self.pipelines[pipeline].waiting[thread] = true;
            return Ok(Next::Wait);
        }
        self.pipelines[pipeline].begun[thread] += 1;
        let (stage, index) = self.work(thread, request);
        let (read, start, end) = self.part(index);
        Ok(match stage {
            Stage::Read => {
                let offset = index * self.buffer;
                Next::Ask(self.ask(rank % number, Operation::Read, offset, read))
            }
            Stage::Compute => {
                let time = self.per_buffer + self.per_byte * read as f64;
                Next::Compute(Span(time as u64))
            }
            Stage::Write => {
                Next::Ask(self.ask(rank % number, Operation::Write, start, end - start))
            }
        })
    }

    fn existing(&self) -> Vec<ExistingFile> {
        let pipelines = 0..self.pipelines.len() as u32;
        let input = pipelines.clone().map(|pipeline| ExistingFile {
            file: pipeline,
            rank: Some(pipeline),
            size: self.input,
        });
        let output = pipelines.map(|pipeline| ExistingFile {
            file: self.output_file(pipeline),
            rank: Some(pipeline),
            size: self.output,
        });
        if self.existing && !self.in_place {
            input.chain(output).collect()
        } else {
            input.collect()
        }
    }

    fn total_requests(&self) -> Option<u64> {
        let each = (2 * self.total).checked_add(u64::from(self.sync))?;
        each.checked_mul(self.pipelines.len() as u64)
    }
}
