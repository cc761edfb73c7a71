//! Replays a recorded trace: each process's requests in their order.
//!
//! The trace is read as the run goes on. A record waits in memory only while
//! its process is behind others; nothing else grows with the trace.
//!
//! Reads and writes have the open flags O_DIRECT and O_SYNC of the last open of their file by their
//! process, else by any process, or of their own record. A rename moves a file to its other name.
//!
//! Left out, and counted: what only changes a process's own state, transfers of no bytes, and
//! `sync_file_range`, which waits for nothing. Counted as simulated in part: the range
//! of an allocation, a truncation at an open, the other name of a link, and the failure of calls
//! on names.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};

use headrace_net::{Random, Span, Time};
use headrace_spec::{Gaps, RecordFlags, Replay, Seconds, TraceReplay};
use headrace_trace::{Flags, Group, Operation, Reader, Record};

use super::{Application, Ask, ExistingFile, LeftOut, Next, OffsetSpace, RecordedFlags};

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
        "{}: workload.replay = \"{}\": the trace has no recorded times; expected a trace \
         with times, as strace -ttt records, or replay = \"closed\"",
        file.display(),
        replay.word()
    )]
    Untimed {
        /// The trace.
        file: PathBuf,
        /// The replay that needs times.
        replay: Replay,
    },
    /// Gaps are to be kept, and without durations no gap is known.
    #[error(
        "{}: workload.replay = \"paced\": the trace has no durations; expected a trace with \
         durations, as strace -ttt -T records, or replay = \"closed\"",
        file.display()
    )]
    WithoutDurations {
        /// The trace.
        file: PathBuf,
    },
    /// Offsets are mapped onto less space than one request needs.
    #[error(
        "{}: workload.space = {space} bytes: the trace has a request of {size} bytes; expected at \
         least that",
        file.display()
    )]
    SpaceTooSmall {
        /// The trace.
        file: PathBuf,
        /// The space, in bytes.
        space: u64,
        /// Bytes of the request.
        size: u64,
    },
}

/// The processes of a trace.
pub struct TraceReplayApplication {
    spec: TraceReplay,
    reader: Box<dyn Reader>,
    read_all: bool,
    names: FileNames,
    /// Records read for processes that have not come to them yet.
    waiting: Vec<VecDeque<Record>>,
    batch: Vec<Record>,
    /// Recorded end of each process's last request.
    ended: Vec<Option<i64>>,
    /// Request of each process that comes after a gap, and the computing time left in it.
    computing: Vec<Option<(Record, Span)>>,
    files: u32,
    /// Volume of the files that are only written.
    output_volume: Option<u8>,
    uses: Vec<Use>,
    /// True if the files that are there before the run are listed, since they are cached.
    lists_files: bool,
    requests: u64,
    largest: u64,
    left_out: Vec<LeftOut>,
    flags: RecordedFlags,
    /// Syncs of the data alone.
    data_syncs: u64,
}

/// Files by their names, and how they were opened, at a point of a trace.
#[derive(Default)]
struct FileNames {
    /// The file of each name, as the number of the name that it had first.
    files: Vec<u32>,
    /// Flags of the last open of each file.
    opened: Vec<Flags>,
    /// Flags of each process's own last open of a file.
    opened_by: HashMap<(u32, u32), Flags>,
}

impl FileNames {
    fn file(&mut self, name: u32) -> u32 {
        for next in self.files.len() as u32..=name {
            self.files.push(next);
            self.opened.push(Flags::NONE);
        }
        self.files[name as usize]
    }

    /// Follows a record. Gives it with its file's number, and a read or write with the flags of
    /// its open file.
    fn follow(&mut self, record: &Record) -> Record {
        let file = self.file(record.file);
        let key = (record.process, file);
        let mut flags = record.flags;
        match record.operation {
            Operation::Open | Operation::Create if !record.failed() => {
                let opened = open_flags(flags);
                self.opened[file as usize] = opened;
                self.opened_by.insert(key, opened);
            }
            Operation::Close => {
                self.opened_by.remove(&key);
            }
            Operation::Rename if !record.failed() && record.other != Record::NO_FILE => {
                self.file(record.other);
                self.files.swap(record.file as usize, record.other as usize);
            }
            operation if operation.carries_bytes() => {
                let own = self.opened_by.get(&key);
                flags |= *own.unwrap_or(&self.opened[file as usize]);
            }
            _ => {}
        }
        Record {
            file,
            flags,
            ..*record
        }
    }
}

/// The open flags that decide how a read or write is made.
fn open_flags(flags: Flags) -> Flags {
    let data_only = Flags::SYNCHRONOUS | Flags::DATA_ONLY;
    Flags::DIRECT.when(flags.has(Flags::DIRECT))
        | Flags::SYNCHRONOUS.when(flags.has(Flags::SYNCHRONOUS))
        | data_only.when(flags.has(data_only))
}

/// Use of a file in a trace.
#[derive(Clone, Copy, Default)]
struct Use {
    is_read: bool,
    is_written: bool,
    is_made: bool,
    /// Bytes that are there before the run.
    existing: u64,
}

impl Use {
    fn add(&mut self, record: &Record) {
        let is_first = !self.is_read && !self.is_written;
        match record.operation {
            Operation::Create if is_first => self.is_made = true,
            Operation::Open if is_first && record.flags.has(Flags::TRUNCATE) => self.is_made = true,
            Operation::Read => {
                self.is_read = true;
                if !self.is_made {
                    self.existing = self.existing.max(record.end());
                }
            }
            Operation::Write => {
                // What is read from now on may have been written.
                self.is_made |= is_first;
                self.is_written = true;
            }
            _ => {}
        }
    }
}

const BATCH: usize = 4096;
/// A computation is counted in 32 bits of nanoseconds.
const LONGEST_COMPUTATION: Span = Span(4_000_000_000_000);

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
        let (mut requests, mut largest, mut data_syncs) = (0, 0, 0);
        let mut left_out = Vec::new();
        let mut has_durations = false;
        let mut uses: Vec<Use> = Vec::new();
        let mut space = OffsetSpace::new(spec);
        let mut names = FileNames::default();
        let mut flags = RecordedFlags::default();
        while reader.next_batch(BATCH, &mut batch)? > 0 {
            for mut record in batch.drain(..) {
                space.map(spec, &mut record)?;
                let record = names.follow(&record);
                let count = |by, reason| LeftOut::new(by, record.operation.name(), reason, 1);
                if let Some(reason) = reason_to_leave_out(&record) {
                    let carried = record.operation.carries_bytes();
                    let bytes = if carried { record.size } else { 0 };
                    count("replay", reason).of_bytes(bytes).add(&mut left_out);
                    continue;
                }
                let known = uses.get(record.file as usize).copied().unwrap_or_default();
                for reason in served_in_part(&record, spec.flags, known) {
                    count("model", reason).add(&mut left_out);
                }
                if spec.replay != Replay::Closed && record.flags.has(Flags::UNTIMED) {
                    return Err(TraceError::Untimed {
                        file: spec.file.clone(),
                        replay: spec.replay,
                    });
                }
                if uses.len() <= record.file as usize {
                    uses.resize(record.file as usize + 1, Use::default());
                }
                uses[record.file as usize].add(&record);
                has_durations |= record.duration_ns != 0;
                requests += 1;
                let is_sync = record.operation == Operation::Sync;
                data_syncs += u64::from(is_sync && record.flags.has(Flags::DATA_ONLY));
                if record.operation.carries_bytes() {
                    largest = record.size.max(largest);
                    let is_write = record.operation == Operation::Write;
                    let kept = asked_flags(&record, spec.flags);
                    flags.requests += 1;
                    flags.writes += u64::from(is_write);
                    flags.direct += u64::from(kept.has(Flags::DIRECT));
                    flags.synchronous += u64::from(kept.has(Flags::SYNCHRONOUS));
                }
            }
        }
        if requests == 0 {
            return Err(TraceError::Empty {
                file: spec.file.clone(),
            });
        }
        if spec.replay == Replay::Paced && !has_durations {
            return Err(TraceError::WithoutDurations {
                file: spec.file.clone(),
            });
        }
        left_out.extend(LeftOut::by_reader(reader.skipped()));
        left_out.extend(space.mapped());
        let processes = reader.processes().len();
        Ok(TraceReplayApplication {
            spec: spec.clone(),
            waiting: (0..processes).map(|_| VecDeque::new()).collect(),
            ended: vec![None; processes],
            computing: vec![None; processes],
            output_volume: None,
            uses,
            lists_files: false,
            files: reader.files().len() as u32,
            reader: open(&spec.file)?,
            read_all: false,
            names: FileNames::default(),
            batch,
            requests,
            largest,
            left_out,
            flags,
            data_syncs,
        })
    }

    /// Puts the files that are written and never read on a volume of the machine.
    #[must_use]
    pub fn with_output_volume(mut self, volume: Option<u8>) -> Self {
        self.output_volume = volume;
        self
    }

    /// Lists the files that the trace reads before it makes them as there before the run, with the
    /// bytes that it reads.
    #[must_use]
    pub fn with_existing_files(mut self) -> Self {
        self.lists_files = true;
        self
    }

    /// Counts synchronous writes as left out, because the model returns before the device has them.
    #[must_use]
    pub fn without_synchronous_writes(mut self, reason: &str) -> Self {
        let count = std::mem::take(&mut self.flags.synchronous);
        if count > 0 {
            LeftOut::new("model", Operation::Write.name(), reason, count).add(&mut self.left_out);
        }
        self
    }

    /// Counts each `fdatasync` as served in part, because the model does not tell it from `fsync`.
    #[must_use]
    pub fn with_whole_syncs(mut self) -> Self {
        if self.data_syncs > 0 {
            let reason = "fdatasync takes what fsync does";
            let entry = LeftOut::new("model", Operation::Sync.name(), reason, self.data_syncs);
            entry.add(&mut self.left_out);
        }
        self
    }

    fn ask(&self, record: &Record, after: Span, intended: Option<Time>) -> Ask {
        let carries_bytes = record.operation.carries_bytes();
        Ask {
            operation: record.operation,
            call: None,
            compute: Span::ZERO,
            file: record.file,
            offset: record.offset,
            size: if carries_bytes { record.size } else { 0 },
            after,
            intended,
            phase: 0,
            flags: asked_flags(record, self.spec.flags),
        }
    }

    fn computes(&self) -> bool {
        self.spec.replay == Replay::Paced && self.spec.gaps == Gaps::Compute
    }

    /// Computes before a request, in parts that a simulation takes.
    fn compute(&mut self, rank: u32, record: Record, left: Span) -> Next {
        if left == Span::ZERO {
            return Next::Ask(self.ask(&record, Span::ZERO, None));
        }
        let part = left.min(LONGEST_COMPUTATION);
        self.computing[rank as usize] = Some((record, Span(left.0 - part.0)));
        Next::Compute(part)
    }

    /// The next record of a process.
    fn record(&mut self, rank: u32) -> Result<Option<Record>, TraceError> {
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
            // The mapped records were counted before the run.
            let mut space = OffsetSpace::new(&self.spec);
            for record in &mut self.batch {
                space.map(&self.spec, record)?;
                let record = self.names.follow(record);
                // The trace has not changed since it was counted, or its new
                // processes are left out.
                if reason_to_leave_out(&record).is_none()
                    && let Some(waiting) = self.waiting.get_mut(record.process as usize)
                {
                    waiting.push_back(record);
                }
            }
        }
    }
}

/// Returns the recorded time between the end of a process's previous request and a request; before
/// its first one, the time since the start of the trace. Calls that overlap have no gap.
#[must_use]
pub fn gap_ns(previous_end_ns: Option<i64>, record: &Record) -> i64 {
    record
        .time_ns
        .saturating_sub(previous_end_ns.unwrap_or(0))
        .max(0)
}

/// The open flags of a record's read or write, if they are kept, and whether a sync is of the data
/// alone.
fn asked_flags(record: &Record, use_of_flags: RecordFlags) -> Flags {
    match (use_of_flags, record.operation) {
        (RecordFlags::Kept, Operation::Read) => Flags::DIRECT.when(record.flags.has(Flags::DIRECT)),
        (RecordFlags::Kept, Operation::Write) => open_flags(record.flags),
        (_, Operation::Sync) => Flags::DATA_ONLY.when(record.flags.has(Flags::DATA_ONLY)),
        _ => Flags::NONE,
    }
}

/// Why a record is served only in part; `known` is the use of its file before it.
fn served_in_part(
    record: &Record,
    use_of_flags: RecordFlags,
    known: Use,
) -> impl Iterator<Item = &'static str> {
    let Record {
        operation, flags, ..
    } = *record;
    let ignored = use_of_flags == RecordFlags::Ignored && operation.carries_bytes();
    let empties = flags.has(Flags::TRUNCATE) && (known.is_read || known.is_written);
    let reasons = [
        (
            ignored && flags.has(Flags::DIRECT),
            "O_DIRECT, as workload.flags = \"ignored\"",
        ),
        (
            ignored && operation == Operation::Write && flags.has(Flags::SYNCHRONOUS),
            "O_SYNC, as workload.flags = \"ignored\"",
        ),
        (
            matches!(operation, Operation::Open | Operation::Create) && empties,
            "O_TRUNC: the file keeps its blocks and cached pages",
        ),
        (
            operation == Operation::Link && !record.failed(),
            "the new name is another file",
        ),
        (
            operation == Operation::Allocate && record.size > 0,
            "the range keeps its blocks",
        ),
        (
            record.failed(),
            "it failed when it was recorded, and takes what its success does",
        ),
    ];
    let holding = reasons.into_iter().filter(|(holds, _)| *holds);
    holding.map(|(_, reason)| reason)
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

    fn threads(&self) -> bool {
        self.computes()
    }

    fn volume(&self, file: u32) -> Option<u8> {
        let found = self.uses.get(file as usize)?;
        self.output_volume
            .filter(|_| found.is_written && !found.is_read)
    }

    fn existing(&self) -> Vec<ExistingFile> {
        if !self.lists_files {
            return Vec::new();
        }
        let files = self.uses.iter().zip(0..);
        files
            .filter(|(it, _)| it.existing > 0)
            .map(|(it, file)| ExistingFile {
                file,
                rank: None,
                size: it.existing,
            })
            .collect()
    }

    fn next(&mut self, rank: u32, now: Time, _: &mut Random<'_>) -> Result<Next, String> {
        if let Some((record, left)) = self.computing[rank as usize].take() {
            return Ok(self.compute(rank, record, left));
        }
        let record = self.record(rank).map_err(|error| error.to_string())?;
        let Some(record) = record else {
            return Ok(Next::Finished);
        };
        let previous = self.ended[rank as usize].replace(record.time_ns + record.duration_ns);
        let gap = gap_ns(previous, &record) as f64 * 1e-9 * self.spec.scale;
        let shift = self.spec.shift.0;
        let is_first = now == Time::ZERO;
        let seconds = match self.spec.replay {
            Replay::Timed => record.time_ns as f64 * 1e-9 * self.spec.scale + shift,
            Replay::Closed if is_first => shift,
            Replay::Closed => 0.0,
            Replay::Paced if previous.is_none() => gap + shift,
            Replay::Paced => gap,
        };
        if seconds > Seconds::LONGEST.0 {
            return Err(format!(
                "{}: a request recorded at {} s is to be made at {seconds} s, and simulated time \
                 ends after 213 days; look at workload.scale and workload.shift",
                self.spec.file.display(),
                record.time_ns as f64 * 1e-9,
            ));
        }
        Ok(match self.spec.replay {
            Replay::Timed => {
                let intended = Time::from_seconds(seconds);
                Next::Ask(self.ask(&record, intended.since(now), Some(intended)))
            }
            Replay::Closed if is_first => {
                let intended = Time::from_seconds(seconds);
                Next::Ask(self.ask(&record, intended.since(now), Some(intended)))
            }
            Replay::Closed => Next::Ask(self.ask(&record, Span::ZERO, None)),
            Replay::Paced if self.computes() && previous.is_some() => {
                self.compute(rank, record, Span::from_seconds(seconds))
            }
            Replay::Paced => Next::Ask(self.ask(&record, Span::from_seconds(seconds), None)),
        })
    }

    fn recorded_flags(&self) -> Option<RecordedFlags> {
        Some(self.flags)
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

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "time,process,operation,file,offset,size,duration\n\
        1.0,a,open,/f,0,0,0.5\n\
        3.0,a,read,/f,0,4096,0.25\n\
        3.1,a,read,/f,4096,4096,0.1\n\
        10.0,a,close,/f,0,0,0.0\n";

    fn replay(replay: Replay, gaps: Gaps, scale: f64) -> (tempfile::TempDir, TraceReplay) {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("t.csv");
        std::fs::write(&file, TRACE).expect("written");
        let shift = Seconds(0.0);
        (
            directory,
            TraceReplay {
                file,
                replay,
                gaps,
                shift,
                scale,
                space: None,
                flags: RecordFlags::Kept,
                output_volume: None,
            },
        )
    }

    /// Everything that process 0 does, as text.
    fn actions(spec: &TraceReplay) -> Vec<String> {
        let mut application = TraceReplayApplication::new(spec).expect("a trace");
        let mut draws = 0;
        let mut random = Random::named(0, "test", &mut draws);
        let mut found = Vec::new();
        let mut now = Time::ZERO;
        loop {
            match application.next(0, now, &mut random).expect("readable") {
                Next::Ask(ask) => found.push(format!(
                    "{} after {:.2}",
                    ask.operation.name(),
                    ask.after.as_seconds()
                )),
                Next::Compute(time) => found.push(format!("compute {:.2}", time.as_seconds())),
                Next::Finished => return found,
                other => panic!("{other:?}"),
            }
            // Another duration than the recorded ones.
            now = now + Span::from_seconds(100.0);
        }
    }

    #[test]
    fn a_paced_replay_waits_for_the_recorded_gaps() {
        let (_directory, spec) = replay(Replay::Paced, Gaps::Wait, 1.0);
        let expected = [
            "open after 1.00",
            "read after 1.50",
            // It overlaps its predecessor.
            "read after 0.00",
            "close after 6.80",
        ];
        assert_eq!(actions(&spec), expected);
    }

    #[test]
    fn a_paced_replay_computes_in_the_recorded_gaps() {
        let (_directory, spec) = replay(Replay::Paced, Gaps::Compute, 2.0);
        let expected = [
            "open after 2.00",
            "compute 3.00",
            "read after 0.00",
            "read after 0.00",
            "compute 4.00",
            "compute 4.00",
            "compute 4.00",
            "compute 1.60",
            "close after 0.00",
        ];
        assert_eq!(actions(&spec), expected);
    }

    #[test]
    fn a_paced_replay_needs_durations() {
        let (_directory, spec) = replay(Replay::Paced, Gaps::Wait, 1.0);
        let without = "time,process,operation,file,offset,size,duration\n1,a,stat,/f,0,0,0\n";
        std::fs::write(&spec.file, without).expect("written");
        let error = TraceReplayApplication::new(&spec).err().expect("refused");
        assert!(error.to_string().contains("has no durations"), "{error}");
    }
}
