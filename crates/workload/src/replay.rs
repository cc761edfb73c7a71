//! Replays a recorded trace: each process's requests in their order.
//!
//! The trace is read as the run goes on. A record waits in memory only while its process is behind
//! others; nothing else grows with the trace. Each process of the trace is a process of the run,
//! and processes are assigned to the clients of the workload's group in turn.
//!
//! | field of a record | use |
//! | --- | --- |
//! | `time` | `timed`: the start; `paced`: the gap |
//! | `duration` | `paced`: the gap; durations of the replay are simulated |
//! | `size` | bytes of a read or write |
//! | `other` | a renamed file keeps its blocks and pages; the new name of a link is another file |
//! | `direct` | the read or write bypasses the page cache |
//! | `synchronous` | the write waits as with O_SYNC, with `data-only` as with O_DSYNC |
//! | `failed` | transfers, truncations and allocations are left out; other calls succeed |
//! | `data-only` | a local file system commits its journal only for a new size or new blocks |
//! | `truncate` | a file with data keeps its blocks |
//! | `untimed` | `timed` and `paced` are refused |
//!
//! `direct` and `synchronous` are those of the record itself, and of the last open of its file by
//! its process, else by any. `flags = "ignored"` takes `workload.io` alone. With `timed` a request
//! starts at its recorded time times `scale` plus `shift`, or when its process is free if that is
//! later. Operations that only change a process's own state, and everything that is simulated in
//! part, are counted.
//!
//! A process that receives from another blocks until the sender has sent. In the gaps between its
//! records a process computes or waits. Requests at recorded times wait for nothing.
//!
//! Machines and clients with a page cache have the files that are there before the run. An open
//! that may create a file creates it only if the file is not there.
//!
//! | the trace | size before the run |
//! | --- | --- |
//! | has a `stat` before it changes the file, or of more bytes than it wrote | that length |
//! | reads the file before it creates or empties it | the last byte that it reads |
//! | opens the file and writes to it, without these | the largest offset, counted |
//! | creates or empties the file first | none |
//!
//! Not modelled: processor time between requests in a `closed` replay (`paced` has it); dependences
//! between processes other than pipes, sockets, process starts and process ends; requests that
//! overlap within one process; write-back and eviction of the cached pages that a direct request
//! meets; `sync_file_range`, which waits for nothing, and transfers of no bytes, both counted; the
//! range of an allocation, a truncation at an open, the other name of a link, and the failure of
//! calls on names, all counted.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};

use headrace_net::{Random, Span, Time};
use headrace_spec::{Gaps, RecordFlags, Replay, Seconds, TraceReplay};
use headrace_trace::{Flags, Group, Operation, Reader, Record};

use super::channels::Channels;
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
    /// Gaps are required, and without durations no gap is known.
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
    /// Record of each process that comes after a gap, and the time left in it.
    in_gap: Vec<Option<(Record, Span)>>,
    channels: Channels,
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
    /// Files that are there.
    there: HashSet<u32>,
}

impl FileNames {
    /// The files that are there before the run, each under its own name.
    fn at_the_start(uses: &[Use]) -> FileNames {
        let there = uses.iter().zip(0..).filter(|(it, _)| it.is_there());
        FileNames {
            there: there.map(|(_, file)| file).collect(),
            ..FileNames::default()
        }
    }

    fn file(&mut self, name: u32) -> u32 {
        for next in self.files.len() as u32..=name {
            self.files.push(next);
            self.opened.push(Flags::NONE);
        }
        self.files[name as usize]
    }

    /// Follows a record. Gives it with its file's number, and a read or write with the flags of its
    /// open file. An open that could have created an existing file becomes a plain open.
    fn follow(&mut self, record: &Record) -> Record {
        let file = self.file(record.file);
        let key = (record.process, file);
        let mut flags = record.flags;
        let mut operation = record.operation;
        match record.operation {
            Operation::Open | Operation::Create if !record.failed() => {
                let is_there = !self.there.insert(file);
                if is_there && !flags.has(Flags::TRUNCATE) {
                    operation = Operation::Open;
                }
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
                let replaced = self.files[record.file as usize];
                self.there.remove(&replaced);
            }
            Operation::Unlink if !record.failed() => {
                self.there.remove(&file);
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
            operation,
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
    /// The trace makes or empties it before it has read any byte.
    is_made: bool,
    /// Its first record opens it, so it was there.
    is_opened: bool,
    /// It was emptied, truncated, extended or removed: a stat tells no longer its size before the
    /// run.
    is_resized: bool,
    /// The size before the run, once a stat has reported it.
    told: Option<u64>,
    /// Largest offset that was read before the file was made.
    read_to: u64,
    /// Largest offset that was written.
    written_to: u64,
}

impl Use {
    fn add(&mut self, record: &Record) {
        if record.failed() {
            return;
        }
        let is_changed = self.is_written || self.is_resized;
        let is_new = !self.is_read && !is_changed && self.told.is_none();
        let opens = matches!(record.operation, Operation::Create | Operation::Open);
        let empties = record.flags.has(Flags::TRUNCATE) || record.flags.has(Flags::EXCLUSIVE);
        self.is_resized |= opens && empties;
        match record.operation {
            Operation::Create if is_new && !self.is_opened => self.is_made = true,
            Operation::Open if is_new && record.flags.has(Flags::TRUNCATE) => self.is_made = true,
            Operation::Open if is_new && !self.is_made => self.is_opened = true,
            // After writes it tells the size if the file has more than they can have added.
            Operation::Stat
                if record.flags.has(Flags::REGULAR)
                    && !self.is_resized
                    && (!self.is_written || record.size > self.written_to) =>
            {
                // An open that may create a file did not, if the file has bytes.
                self.is_made &= record.size == 0;
                self.told = self.told.or(Some(record.size));
            }
            Operation::Read => {
                self.is_read = true;
                if !is_changed && record.size > 0 {
                    self.is_made = false;
                }
                if !self.is_made {
                    self.read_to = self.read_to.max(record.end());
                }
            }
            Operation::Write => {
                // Later reads may be of written data.
                self.is_made |= !self.is_opened && is_new;
                self.is_written = true;
                self.written_to = self.written_to.max(record.end());
            }
            Operation::Truncate | Operation::Allocate | Operation::Unlink => self.is_resized = true,
            _ => {}
        }
    }

    /// Bytes that are there before the run. Where no stat reported them, an opened file has the
    /// bytes that the trace reads or rewrites.
    fn existing(&self) -> u64 {
        match self.told {
            Some(size) => size,
            None if self.size_is_assumed() => self.read_to.max(self.written_to),
            None => self.read_to,
        }
    }

    /// Returns true if a file was there and is written, and nothing tells its size.
    fn size_is_assumed(&self) -> bool {
        self.is_opened && self.is_written && self.told.is_none()
    }

    /// Returns true if the file is there before the run.
    fn is_there(&self) -> bool {
        self.is_opened || self.existing() > 0
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
        let open = |file: &Path| {
            let mut reader = headrace_trace::open(file, None)?;
            if spec.replay != Replay::Timed {
                reader.keep_messages();
            }
            Ok::<_, TraceError>(reader)
        };
        let mut reader = open(&spec.file)?;
        let mut batch = Vec::with_capacity(BATCH);
        let (mut requests, mut largest, mut data_syncs) = (0, 0, 0);
        let mut left_out = Vec::new();
        let mut has_durations = false;
        let mut uses: Vec<Use> = Vec::new();
        let mut space = OffsetSpace::new(spec);
        let mut names = FileNames::default();
        let mut flags = RecordedFlags::default();
        let mut channels = Channels::default();
        while reader.next_batch(BATCH, &mut batch)? > 0 {
            for mut record in batch.drain(..) {
                space.map(spec, &mut record)?;
                let record = names.follow(&record);
                let count = |by, reason| LeftOut::new(by, record.operation.name(), reason, 1);
                if let Some(reason) = reason_to_leave_out(&record, spec.replay) {
                    let carried = record.operation.carries_bytes();
                    let bytes = if carried { record.size } else { 0 };
                    count("replay", reason).of_bytes(bytes).add(&mut left_out);
                    continue;
                }
                has_durations |= record.duration_ns != 0;
                if record.operation.group() == Group::Process {
                    channels.count(&record);
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
        let assumed = uses.iter().filter(|it| it.size_is_assumed()).count() as u64;
        if assumed > 0 {
            let reason = "the size of the file before the run is unknown: it is taken as the \
                          largest offset";
            LeftOut::new("model", Operation::Write.name(), reason, assumed).add(&mut left_out);
        }
        let names = FileNames::at_the_start(&uses);
        let processes = reader.processes().len();
        channels.begin(processes);
        let unsent = channels.unsent();
        if unsent > 0 {
            let reason = "no process of the trace sends it: it waits for nothing";
            LeftOut::new("model", Operation::Receive.name(), reason, unsent).add(&mut left_out);
        }
        Ok(TraceReplayApplication {
            spec: spec.clone(),
            waiting: (0..processes).map(|_| VecDeque::new()).collect(),
            ended: vec![None; processes],
            in_gap: vec![None; processes],
            channels,
            output_volume: None,
            uses,
            lists_files: false,
            files: reader.files().len() as u32,
            reader: open(&spec.file)?,
            read_all: false,
            names,
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

    /// Computes before a record, in parts that a simulation takes.
    fn compute(&mut self, rank: u32, record: Record, left: Span) -> Next {
        let part = left.min(LONGEST_COMPUTATION);
        self.in_gap[rank as usize] = Some((record, Span(left.0 - part.0)));
        Next::Compute(part)
    }

    /// The action of a process at a record whose gap is over; none if it goes on with the next one.
    fn act(&mut self, rank: u32, record: &Record) -> Option<Next> {
        match record.operation {
            Operation::Send => {
                self.channels.send(record.file, record.size);
                None
            }
            Operation::Receive => {
                let goes_on = self.channels.receive(rank, record.file, record.size);
                (!goes_on).then_some(Next::Wait)
            }
            Operation::Pause if self.spec.replay == Replay::Closed => None,
            Operation::Pause => {
                let seconds = record.duration_ns as f64 * 1e-9 * self.spec.scale;
                Some(Next::Pause(Span::from_seconds(seconds)))
            }
            _ => Some(Next::Ask(self.ask(record, Span::ZERO, None))),
        }
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
                if reason_to_leave_out(&record, self.spec.replay).is_none()
                    && let Some(waiting) = self.waiting.get_mut(record.process as usize)
                {
                    waiting.push_back(record);
                }
            }
        }
    }
}

/// Returns the recorded time between the end of a process's previous request and a request. Before
/// its first one, it is the time since the start of the trace. Calls that overlap have no gap.
#[must_use]
pub fn gap_ns(previous_end_ns: Option<i64>, record: &Record) -> i64 {
    record
        .time_ns
        .saturating_sub(previous_end_ns.unwrap_or(0))
        .max(0)
}

/// The open flags of a record's read or write, if they are used, and the flag that a sync is of the
/// data alone.
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
fn reason_to_leave_out(record: &Record, replay: Replay) -> Option<&'static str> {
    match record.operation {
        operation if operation.group() == Group::Process && replay == Replay::Timed => {
            Some("it passes between processes, and requests are made at their recorded times")
        }
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
        self.computes() || !self.channels.are_unused()
    }

    fn ends_with_its_processes(&self) -> bool {
        !self.channels.are_unused()
    }

    fn woken(&mut self) -> Option<u32> {
        self.channels.woken()
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
        let files = files.map(|(it, file)| ExistingFile {
            file,
            rank: None,
            size: it.existing(),
        });
        files.filter(|it| it.size > 0).collect()
    }

    fn next(&mut self, rank: u32, now: Time, _: &mut Random<'_>) -> Result<Next, String> {
        loop {
            if let Some(next) = self.step(rank, now)? {
                return Ok(next);
            }
        }
    }

    fn recorded_flags(&self) -> Option<RecordedFlags> {
        Some(self.flags)
    }

    fn left_out(&self) -> Vec<LeftOut> {
        let mut left_out = self.left_out.clone();
        let released = self.channels.released();
        if released > 0 {
            let reason = "nothing in the trace ends the wait: it goes on when no other process can";
            let name = Operation::Receive.name();
            LeftOut::new("model", name, reason, released).add(&mut left_out);
        }
        left_out
    }

    fn total_requests(&self) -> Option<u64> {
        Some(self.requests)
    }

    fn largest_transfer(&self) -> Option<u64> {
        Some(self.largest)
    }
}

impl TraceReplayApplication {
    /// One record of a process, or a part of the gap before it; none if that takes no time.
    fn step(&mut self, rank: u32, now: Time) -> Result<Option<Next>, String> {
        if let Some((record, left)) = self.in_gap[rank as usize].take() {
            return Ok(match left {
                Span::ZERO => self.act(rank, &record),
                left => Some(self.compute(rank, record, left)),
            });
        }
        let record = self.record(rank).map_err(|error| error.to_string())?;
        let Some(record) = record else {
            self.channels.finish();
            return Ok(Some(Next::Finished));
        };
        let is_message = record.operation.group() == Group::Process;
        let previous = self.ended[rank as usize].replace(record.time_ns + record.duration_ns);
        let gap = gap_ns(previous, &record) as f64 * 1e-9 * self.spec.scale;
        let shift = self.spec.shift.0;
        let is_first = now == Time::ZERO && !is_message;
        let seconds = match self.spec.replay {
            // It begins when another process has made it.
            Replay::Paced if previous.is_none() && record.operation == Operation::Receive => 0.0,
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
        let time = Span::from_seconds(seconds);
        Ok(match self.spec.replay {
            Replay::Timed => Some(self.ask_at(&record, seconds, now)),
            Replay::Closed if is_first => Some(self.ask_at(&record, seconds, now)),
            Replay::Closed => self.act(rank, &record),
            Replay::Paced if time == Span::ZERO => self.act(rank, &record),
            Replay::Paced if self.computes() && previous.is_some() => {
                Some(self.compute(rank, record, time))
            }
            Replay::Paced if is_message => {
                self.in_gap[rank as usize] = Some((record, Span::ZERO));
                Some(Next::Pause(time))
            }
            Replay::Paced => Some(Next::Ask(self.ask(&record, time, None))),
        })
    }

    /// A request that is to be made at a time, in seconds since the start.
    fn ask_at(&self, record: &Record, seconds: f64, now: Time) -> Next {
        let intended = Time::from_seconds(seconds);
        Next::Ask(self.ask(record, intended.since(now), Some(intended)))
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

    /// Requests and computations of all processes of a trace with columns
    /// `time,process,operation,file,size,duration`, each with the time when it begins, where
    /// requests take no time.
    fn timeline(replay: Replay, lines: &[&str]) -> (Vec<String>, TraceReplayApplication) {
        let (_directory, spec) = self::replay(replay, Gaps::Compute, 1.0);
        let mut text = "time,process,operation,file,offset,size,duration\n".to_owned();
        for line in lines {
            let fields: Vec<&str> = line.split(' ').collect();
            let [time, process, operation, file, size, duration] = fields[..] else {
                panic!("{line}")
            };
            text += &format!("{time},{process},{operation},{file},0,{size},{duration}\n");
        }
        std::fs::write(&spec.file, text).expect("written");
        let mut application = TraceReplayApplication::new(&spec).expect("a trace");
        let mut draws = 0;
        let mut random = Random::named(0, "test", &mut draws);
        let mut ready: Vec<(Time, u32)> = (0..application.processes())
            .map(|rank| (Time::ZERO, rank))
            .collect();
        let mut seen = Vec::new();
        while let Some(place) = (0..ready.len()).min_by_key(|&place| ready[place]) {
            let (now, rank) = ready.swap_remove(place);
            let mut tell = |text: &str| seen.push(format!("{:.1} {rank} {text}", now.as_seconds()));
            match application.next(rank, now, &mut random).expect("readable") {
                Next::Ask(ask) => {
                    tell(ask.operation.name());
                    ready.push((now + ask.after, rank));
                }
                Next::Compute(time) => {
                    tell("computes");
                    ready.push((now + time, rank));
                }
                Next::Pause(time) => {
                    tell("pauses");
                    ready.push((now + time, rank));
                }
                Next::Wait => tell("waits"),
                Next::Finished => {}
                Next::Barrier | Next::PhaseOver | Next::Turn => panic!("a barrier"),
            }
            while let Some(woken) = application.woken() {
                ready.push((now, woken));
            }
        }
        (seen, application)
    }

    /// A parent starts a child, waits for its bytes and for its end. Recorded by a slow tracer, both
    /// waited long.
    const MESSAGES: &[&str] = &[
        "0.0 a open /f 0 0.0",
        "1.0 a send start 1 0.0",
        "2.0 a receive pipe 100 7.0",
        "5.0 b receive start 1 0.0",
        "7.0 b send pipe 60 0.0",
        "8.0 b send pipe 40 0.0",
        "9.5 a receive end 1 4.5",
        "10.0 b pause time 0 3.0",
        "13.0 b close /f 0 0.0",
        "14.0 b send end 1 0.0",
        "15.0 a close /f 0 0.0",
    ];

    #[test]
    fn a_process_begins_and_goes_on_when_another_has_sent_what_it_receives() {
        let expected = [
            "0.0 0 open",
            "0.0 0 computes",
            "0.0 1 waits",
            // It starts the child, and computes for the second between the two calls.
            "1.0 0 computes",
            "1.0 1 computes",
            "2.0 0 waits",
            "3.0 1 computes",
            "4.0 1 computes",
            "4.0 0 computes",
            "4.5 0 waits",
            "6.0 1 pauses",
            "9.0 1 close",
            "9.0 1 computes",
            "10.0 0 computes",
            "11.0 0 close",
        ];
        let (seen, application) = timeline(Replay::Paced, MESSAGES);
        assert_eq!(seen, expected);
        assert_eq!(application.total_requests(), Some(3));
        assert!(application.left_out().is_empty());
    }

    #[test]
    fn a_closed_replay_keeps_the_order_of_messages_and_passes_over_pauses() {
        let expected = [
            "0.0 0 open",
            "0.0 0 waits",
            "0.0 1 close",
            "0.0 0 waits",
            "0.0 0 close",
        ];
        let (seen, _) = timeline(Replay::Closed, MESSAGES);
        assert_eq!(seen, expected);
    }

    #[test]
    fn requests_at_their_recorded_times_wait_for_no_message() {
        let (seen, application) = timeline(Replay::Timed, MESSAGES);
        assert_eq!(seen.len(), 3);
        let left_out: u64 = application.left_out().iter().map(|entry| entry.count).sum();
        assert_eq!(left_out, 8);
    }

    #[test]
    fn a_part_of_a_trace_without_the_senders_comes_to_its_end() {
        let part = [MESSAGES[0], MESSAGES[2], MESSAGES[6], MESSAGES[10]];
        let (seen, application) = timeline(Replay::Closed, &part);
        assert_eq!(seen, ["0.0 0 open", "0.0 0 close"]);
        let [unsent] = &application.left_out()[..] else {
            panic!("{:?}", application.left_out())
        };
        assert_eq!((unsent.what.as_str(), unsent.count), ("receive", 2));
        // Each receives first what the other sends last.
        let crossed = [
            "0.0 a receive x 1 0.1",
            "1.0 a send y 1 0.0",
            "0.0 b receive y 1 0.1",
            "1.0 b send x 1 0.0",
            "2.0 b close /f 0 0.0",
        ];
        let (seen, application) = timeline(Replay::Closed, &crossed);
        assert_eq!(seen.last().map(String::as_str), Some("0.0 1 close"));
        assert_eq!(application.left_out()[0].count, 1);
    }

    /// Files before the run, operations that are asked for, and files of an assumed size, for
    /// records of process `a` on files, as `operation file offset size flags`.
    fn before_and_asked(records: &[&str]) -> (Vec<u64>, Vec<String>, u64) {
        let (_directory, spec) = replay(Replay::Closed, Gaps::Wait, 1.0);
        let mut text = "time,process,operation,file,offset,size,duration,flags,other\n".to_owned();
        for (time, record) in records.iter().enumerate() {
            let fields: Vec<&str> = record.split(' ').collect();
            let flags = fields.get(4).unwrap_or(&"");
            let [operation, file, offset, size] = fields[..4] else {
                panic!("{record}")
            };
            text += &format!("{time},a,{operation},{file},{offset},{size},0,{flags},\n");
        }
        std::fs::write(&spec.file, text).expect("written");
        let application = TraceReplayApplication::new(&spec).expect("a trace");
        let application = application.with_existing_files();
        let sizes = application.existing().iter().map(|it| it.size).collect();
        let left_out = application.left_out();
        let assumed = left_out.iter().filter(|it| it.reason.contains("unknown"));
        let assumed = assumed.map(|it| it.count).sum();
        let asked = actions(&spec);
        let asked = asked.iter().filter_map(|it| it.split(' ').next());
        (sizes, asked.map(str::to_owned).collect(), assumed)
    }

    #[test]
    fn a_file_before_the_run_has_the_size_that_the_trace_tells() {
        for (records, size, assumed) in [
            // A stat tells it, also of a file that an open could have created.
            (
                &["stat /f 0 9000 regular", "open /f 0 0", "read /f 0 4096"][..],
                9000,
                0,
            ),
            (
                &["create /f 0 0", "stat /f 0 9000 regular", "write /f 0 100"],
                9000,
                0,
            ),
            (
                &[
                    "open /f 0 0",
                    "stat /f 0 9000 regular",
                    "write /f 20000 100",
                ],
                9000,
                0,
            ),
            (
                &["create /f 0 0", "write /f 0 100", "stat /f 0 9000 regular"],
                9000,
                0,
            ),
            // The trace made the existing files.
            (
                &[
                    "create /f 0 0 exclusive",
                    "write /f 0 9",
                    "stat /f 0 90 regular",
                ],
                0,
                0,
            ),
            (
                &[
                    "create /f 0 0",
                    "stat /f 0 0 regular",
                    "write /f 0 100",
                    "read /f 0 100",
                ],
                0,
                0,
            ),
            (
                &["create /f 0 0", "write /f 0 100", "stat /f 0 100 regular"],
                0,
                0,
            ),
            (
                &["open /f 0 0 truncate", "write /f 0 100", "read /f 0 100"],
                0,
                0,
            ),
            (
                &["unlink /f 0 0", "create /f 0 0", "stat /f 0 9000 regular"],
                0,
                0,
            ),
            // Reads tell it.
            (
                &["create /f 0 0", "read /f 4096 100", "write /f 0 100"],
                4196,
                0,
            ),
            // Nothing does: a file that was opened is rewritten.
            (&["open /f 0 0", "write /f 4096 100"], 4196, 1),
            (
                &["stat /f 0 9000 failed", "open /f 0 0", "write /f 0 100"],
                100,
                1,
            ),
            // Nothing says that it was there.
            (&["write /f 4096 100", "read /f 4096 100"], 0, 0),
        ] {
            let (sizes, _, count) = before_and_asked(records);
            assert_eq!(sizes.iter().sum::<u64>(), size, "{records:?}");
            assert_eq!(count, assumed, "{records:?}");
        }
    }

    #[test]
    fn an_open_creates_only_a_file_that_is_not_there() {
        for (records, asked) in [
            (
                &["create /f 0 0", "write /f 0 9", "create /f 0 0"][..],
                "create write open",
            ),
            (
                &["create /f 0 0", "create /f 0 0 truncate"],
                "create create",
            ),
            (
                &["create /f 0 0", "unlink /f 0 0", "create /f 0 0"],
                "create unlink create",
            ),
            (&["create /f 0 0", "stat /f 0 9 regular"], "open stat"),
        ] {
            assert_eq!(before_and_asked(records).1.join(" "), asked, "{records:?}");
        }
    }

    #[test]
    fn a_file_that_a_rename_replaces_is_there_no_more() {
        let (_directory, spec) = replay(Replay::Closed, Gaps::Wait, 1.0);
        let text = "time,process,operation,file,offset,size,duration,flags,other\n\
            0,a,create,/new,0,0,0,,\n1,a,create,/old,0,0,0,,\n\
            2,a,rename,/new,0,0,0,,/old\n3,a,create,/new,0,0,0,,\n4,a,create,/old,0,0,0,,\n";
        std::fs::write(&spec.file, text).expect("written");
        let asked = actions(&spec);
        let asked: Vec<_> = asked.iter().filter_map(|it| it.split(' ').next()).collect();
        assert_eq!(asked, ["create", "create", "rename", "create", "open"]);
    }
}
