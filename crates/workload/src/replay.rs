//! Replays a recorded trace: each process's requests in their order.
//!
//! The trace is read as the run goes on. A record waits in memory only while
//! its process is behind others; nothing else grows with the trace.
//!
//! Left out, and counted: what only changes a process's own state, transfers of no bytes, and
//! `sync_file_range`, which waits for nothing.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use headrace_net::{Random, Span, Time};
use headrace_spec::{Replay, Seconds, TraceReplay};
use headrace_trace::{Flags, Group, Operation, Reader, Record};

use super::{Application, Ask, LeftOut, Next};

/// Error in a trace.
#[derive(thiserror::Error, Debug)]
pub enum TraceError {
    /// It cannot be read.
    #[error(transparent)]
    Unreadable(#[from] headrace_trace::Error),
    /// It can, but has nothing to replay.
    #[error("{}: nothing to replay: the trace has no operation on a file", file.display())]
    Empty {
        /// The trace.
        file: PathBuf,
    },
    /// Requests are to be made at their recorded times, and none were recorded.
    #[error(
        "{}: workload.replay = \"timed\": the trace has no recorded times; expected a trace with \
         times, as strace -ttt records, or replay = \"closed\"",
        file.display()
    )]
    Untimed {
        /// The trace.
        file: PathBuf,
    },
}

/// The processes of a trace.
pub struct TraceReplayApplication {
    spec: TraceReplay,
    reader: Box<dyn Reader>,
    read_all: bool,
    /// Records read for processes that have not come to them yet.
    waiting: Vec<VecDeque<Record>>,
    batch: Vec<Record>,
    files: u32,
    requests: u64,
    largest: u64,
    left_out: Vec<LeftOut>,
}

const BATCH: usize = 4096;

impl TraceReplayApplication {
    /// Reads the trace once to check it and to count processes, files and
    /// requests, then starts over.
    ///
    /// # Errors
    /// If it cannot be read to its end, has nothing to replay, or has no recorded times for a
    /// replay that keeps them.
    pub fn new(spec: &TraceReplay) -> Result<TraceReplayApplication, TraceError> {
        let open = |file: &Path| headrace_trace::open(file, None);
        let mut reader = open(&spec.file)?;
        let mut batch = Vec::with_capacity(BATCH);
        let (mut requests, mut largest) = (0, 0);
        let mut left_out = Vec::new();
        while reader.next_batch(BATCH, &mut batch)? > 0 {
            for record in batch.drain(..) {
                if let Some(reason) = reason_to_leave_out(&record) {
                    LeftOut::new("replay", record.operation.name(), reason, 1).add(&mut left_out);
                    continue;
                }
                if spec.replay == Replay::Timed && record.flags.has(Flags::UNTIMED) {
                    return Err(TraceError::Untimed {
                        file: spec.file.clone(),
                    });
                }
                requests += 1;
                if record.operation.carries_bytes() {
                    largest = record.size.max(largest);
                }
            }
        }
        if requests == 0 {
            return Err(TraceError::Empty {
                file: spec.file.clone(),
            });
        }
        left_out.extend(LeftOut::by_reader(reader.skipped()));
        Ok(TraceReplayApplication {
            spec: spec.clone(),
            waiting: (0..reader.processes().len())
                .map(|_| VecDeque::new())
                .collect(),
            files: reader.files().len() as u32,
            reader: open(&spec.file)?,
            read_all: false,
            batch,
            requests,
            largest,
            left_out,
        })
    }

    /// The next record of a process.
    fn record(&mut self, rank: u32) -> Result<Option<Record>, headrace_trace::Error> {
        loop {
            let waiting = self.waiting.get_mut(rank as usize);
            if let Some(record) = waiting.and_then(VecDeque::pop_front) {
                return Ok(Some(record));
            }
            if self.read_all {
                return Ok(None);
            }
            self.batch.clear();
            self.read_all = self.reader.next_batch(BATCH, &mut self.batch)? == 0;
            let asked = |record: &&Record| reason_to_leave_out(record).is_none();
            for record in self.batch.iter().filter(asked) {
                // The trace has not changed since it was counted, or its new
                // processes are left out.
                if let Some(waiting) = self.waiting.get_mut(record.process as usize) {
                    waiting.push_back(*record);
                }
            }
        }
    }
}

/// Why no process asks for a record, if none does.
fn reason_to_leave_out(record: &Record) -> Option<&'static str> {
    match record.operation {
        Operation::Read | Operation::Write if record.size == 0 => Some("it moved no bytes"),
        Operation::Sync if record.flags.has(Flags::RANGE) => {
            Some("sync_file_range, which waits for nothing")
        }
        operation if record.failed() && operation.group() == Group::Data => {
            Some("it failed when it was recorded")
        }
        operation if operation.group() == Group::Local => {
            Some("it changes the state of the process alone")
        }
        _ => None,
    }
}

impl Application for TraceReplayApplication {
    fn processes(&self) -> u32 {
        self.waiting.len() as u32
    }

    fn files(&self) -> u32 {
        self.files
    }

    fn next(&mut self, rank: u32, now: Time, _: &mut Random<'_>) -> Result<Next, String> {
        let record = self.record(rank).map_err(|error| error.to_string())?;
        let Some(record) = record else {
            return Ok(Next::Finished);
        };
        let shift = self.spec.shift.0;
        let recorded = match self.spec.replay {
            Replay::Timed => record.time_ns as f64 * 1e-9,
            Replay::Closed => 0.0,
        };
        let seconds = recorded * self.spec.scale + shift;
        if seconds > Seconds::LONGEST.0 {
            return Err(format!(
                "{}: a request recorded at {recorded} s is to be made at {seconds} s, and simulated \
                 time ends after 213 days; look at workload.scale and workload.shift",
                self.spec.file.display()
            ));
        }
        let intended = match self.spec.replay {
            Replay::Timed => Some(Time::from_seconds(seconds)),
            Replay::Closed if now == Time::ZERO => Some(Time::from_seconds(shift)),
            Replay::Closed => None,
        };
        Ok(Next::Ask(Ask {
            operation: record.operation,
            call: None,
            compute: Span::ZERO,
            file: record.file,
            offset: record.offset,
            size: if record.operation.carries_bytes() {
                record.size
            } else {
                0
            },
            after: intended.map_or(Span::ZERO, |time| time.since(now)),
            intended,
            phase: 0,
        }))
    }

    fn left_out(&self) -> Vec<LeftOut> {
        self.left_out.clone()
    }

    fn total_requests(&self) -> Option<u64> {
        Some(self.requests)
    }

    fn largest_transfer(&self) -> Option<u64> {
        Some(self.largest)
    }
}
