//! The text that blkparse prints by default, for the events of blktrace.
//!
//! A line has device, CPU, sequence, time, process, event, RWBS, and what the event adds:
//! `8,0 3 11 0.009507758 697 C W 223490 + 8 [0]`. The records are those of `block`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Write};

use super::block::{Event, Request, Requests, SECTOR, process_name};
use super::collected::{Collected, LineFormat, LineReader, decimal, whole};
use crate::{
    Error, Flags, Format, Kind, Level, Names, Operation, Output, Record, Skipped, Writer, text,
};

pub(super) static FORMAT: Format = Format {
    name: "blkparse",
    description: "the default text of blkparse",
    extensions: &["blkparse"],
    level: Level::Block,
    sniff,
    open: |input| Ok(LineReader::open(input, Blkparse::default())),
    create: Some(create),
};

static SUMMARY: Kind = Kind::left_out("line of blkparse's summary");
static PASSTHROUGH: Kind = Kind::left_out("passthrough request");

fn sniff(beginning: &[u8]) -> bool {
    beginning
        .split(|byte| *byte == b'\n')
        .take(20)
        .any(|line| Line::of(line).is_some_and(|it| it.event().is_some()))
}

#[derive(Default)]
struct Blkparse {
    requests: Requests,
    has_events: bool,
    in_summary: bool,
}

/// An event, and its effect.
struct Parsed<'a> {
    event: Event,
    is_passthrough: bool,
    program: &'a [u8],
    is_end: bool,
}

/// The fields that all events have.
struct Line<'a> {
    device: (u32, u32),
    time_ns: i64,
    process: u32,
    action: u8,
    rwbs: &'a [u8],
    rest: &'a [u8],
}

fn number(field: &[u8]) -> Option<u32> {
    u32::try_from(whole(field).filter(|_| !field.is_empty())?).ok()
}

impl<'a> Line<'a> {
    fn of(line: &'a [u8]) -> Option<Self> {
        let mut rest = line;
        let mut word = || {
            rest = rest.trim_ascii_start();
            let end = rest.iter().position(u8::is_ascii_whitespace);
            let word;
            (word, rest) = rest.split_at(end.unwrap_or(rest.len()));
            word
        };
        let device = word();
        let comma = memchr::memchr(b',', device)?;
        // `254,0  ` or `  8,0`, with spaces only at the ends
        let device = (number(&device[..comma])?, number(&device[comma + 1..])?);
        number(word())?;
        number(word())?;
        let stamp = word();
        if !stamp.contains(&b'.') {
            return None;
        }
        let time_ns = decimal(stamp, 9)?;
        let process = number(word())?;
        let [action] = *word() else { return None };
        if !action.is_ascii_alphabetic() {
            return None;
        }
        let rwbs = word();
        Some(Self {
            device,
            time_ns,
            process,
            action,
            rwbs,
            rest: rest.trim_ascii(),
        })
    }

    /// `223490 + 8 [kjournald]`, `[kjournald]`, `223490 + 8 [0]`, `0 [0]`,
    /// `223490 + 8 ( 1234) [0]`; of a passthrough request `36 (12 00 ..) [name]`.
    fn event(&self) -> Option<Parsed<'a>> {
        let (numbers, bracket) = match memchr::memchr(b'[', self.rest) {
            Some(at) => self.rest.split_at(at),
            None => (self.rest, &b""[..]),
        };
        let name = match memchr::memrchr(b']', bracket) {
            Some(end) => &bracket[1..end],
            None => b"",
        };
        let mut words = super::collected::words(numbers);
        let is_end = matches!(self.action, b'C' | b'R');
        let (mut sector, mut count, mut is_passthrough) = (0, 0, false);
        if matches!(self.action, b'Q' | b'D' | b'C' | b'M' | b'F' | b'R') {
            if bracket.is_empty() {
                return None;
            }
            match words.next() {
                None => is_passthrough = is_end,
                // Bytes of the command, or, with -t, the time since an earlier event
                Some(first) if first.starts_with(b"(") => is_passthrough = is_end,
                Some(first) => {
                    sector = whole(first)?;
                    match words.next() {
                        Some(b"+") => count = whole(words.next()?)?,
                        _ => is_passthrough = !is_end,
                    }
                }
            }
        } else if self.rwbs.is_empty() {
            return None;
        } else if self.action == b'X' {
            // `223490 / 223498 [dd]`: what begins there is a request of its own.
            let mut next = || whole(words.next()?);
            sector = next().unwrap_or(0);
            words.next();
            let rest = words.next().and_then(whole);
            count = rest.unwrap_or(0).saturating_sub(sector);
        }
        let bytes = count.checked_mul(SECTOR)?;
        let request = match self.action {
            b'm' => Request::default(),
            _ => Request::of(self.rwbs, bytes)?,
        };
        let event = Event {
            time_ns: self.time_ns,
            device: self.device,
            action: self.action,
            request,
            sector,
            bytes,
            failed: is_end && name != b"0",
            process: 0,
        };
        let is_unnamed = is_end || name == b"(null)";
        Some(Parsed {
            event,
            is_passthrough,
            program: if is_unnamed { b"" } else { name },
            is_end,
        })
    }
}

impl LineFormat for Blkparse {
    const EXPECTED: &'static str =
        "lines of blkparse such as `8,0 3 11 0.009507758 697 D W 223490 + 8 [dd]`";

    fn is_surely_whole(line: &[u8]) -> bool {
        line.ends_with(b"]")
    }

    fn line(&mut self, line: &[u8], into: &mut Collected) -> Option<()> {
        let parts = Line::of(line);
        if let Some(parts) = parts
            && let Some(mut parsed) = parts.event()
        {
            self.has_events = true;
            if parsed.is_passthrough {
                into.count(&PASSTHROUGH, line);
                return Some(());
            }
            if !parsed.is_end {
                let name = process_name(&text(parsed.program), parts.process);
                parsed.event.process = into.processes.intern(&name);
            }
            self.requests.event(parsed.event, line, into);
            return Some(());
        }
        self.in_summary |= self.has_events
            && (line.starts_with(b"CPU") || line.starts_with(b"Total ("))
            && line.trim_ascii_end().ends_with(b":");
        if self.in_summary {
            into.count(&SUMMARY, line);
            return Some(());
        }
        None
    }

    fn finish(&mut self, into: &mut Collected) {
        self.requests.finish(into);
    }
}

static NO_REQUEST: Kind = Kind::left_out("operation that is no request of a device");
static NOTHING_MOVED: Kind = Kind::left_out("read or write of no bytes");
static NUMBERED: Kind = Kind::assumed("file that is no device: as device 0,N");
static SECTORS: Kind = Kind::assumed("range that is no whole number of sectors: widened");
static NAMED: Kind = Kind::assumed("process without a number: its place among the processes");
static NO_DURATION: Kind = Kind::assumed("request without a duration: completed at its start");
static FLUSHED: Kind = Kind::assumed("sync: a flush of the device");

/// An end of a request, earliest first.
type End = Reverse<(i64, u64, (u32, u32), String)>;

struct BlkparseWriter {
    name: String,
    output: io::BufWriter<Box<dyn Write + Send>>,
    /// The names so far: the caller's numbers may differ between batches.
    names: Names,
    programs: Names,
    /// By file.
    devices: Vec<(u32, u32)>,
    ends: BinaryHeap<End>,
    sequence: u64,
    number: u64,
    skipped: Skipped,
}

fn create(output: Output) -> Result<Box<dyn Writer>, Error> {
    Ok(Box::new(BlkparseWriter {
        name: output.name,
        output: io::BufWriter::new(output.bytes),
        names: Names::new(),
        programs: Names::new(),
        devices: Vec::new(),
        ends: BinaryHeap::new(),
        sequence: 0,
        number: 0,
        skipped: Skipped::default(),
    }))
}

fn device(name: &str) -> Option<(u32, u32)> {
    let (major, minor) = name.split_once(',')?;
    Some((number(major.as_bytes())?, number(minor.as_bytes())?))
}

impl BlkparseWriter {
    /// The most requests in progress at one time; beyond, ends are out of order.
    const LIMIT: usize = 1 << 16;

    fn line(&mut self, device: (u32, u32), time_ns: i64, rest: &str) -> io::Result<()> {
        self.sequence += 1;
        let (major, minor) = device;
        let time = time_ns.max(0).unsigned_abs();
        writeln!(
            self.output,
            "{major:3},{minor:<3} {:2} {:8} {:5}.{:09} {rest}",
            0,
            self.sequence,
            time / 1_000_000_000,
            time % 1_000_000_000,
        )
    }

    fn complete(&mut self, before_ns: i64, most: usize) -> io::Result<()> {
        while let Some(Reverse(first)) = self.ends.peek()
            && (first.0 <= before_ns || self.ends.len() > most)
            && let Some(Reverse((time_ns, _, device, rest))) = self.ends.pop()
        {
            self.line(device, time_ns, &rest)?;
        }
        Ok(())
    }

    fn count(&mut self, kind: &'static Kind, record: &Record, name: &str) {
        let text = format!("{} {name}", record.operation.name());
        self.skipped.count(kind, self.number, text.as_bytes());
    }

    fn device(&mut self, record: &Record, name: &str) -> (u32, u32) {
        let file = self.names.intern(name);
        if let Some(device) = self.devices.get(file as usize) {
            return *device;
        }
        let device = device(name).unwrap_or_else(|| {
            self.count(&NUMBERED, record, name);
            (0, file.saturating_add(1))
        });
        self.devices.push(device);
        device
    }

    fn record(&mut self, record: &Record, name: &str, process: &str) -> io::Result<()> {
        let rwbs = match record.operation {
            Operation::Read => "R",
            Operation::Write if record.flags.has(Flags::SYNCHRONOUS) => "WFS",
            Operation::Write => "W",
            Operation::Sync => "FN",
            _ => {
                self.count(&NO_REQUEST, record, name);
                return Ok(());
            }
        };
        if record.operation.carries_bytes() && record.size == 0 {
            self.count(&NOTHING_MOVED, record, name);
            return Ok(());
        }
        let device = self.device(record, name);
        let (program, id) = self.program(record, process);
        let (start, end) = if record.operation == Operation::Sync {
            if device.0 == 0 {
                self.count(&FLUSHED, record, name);
            }
            (0, 0)
        } else {
            if !record.offset.is_multiple_of(SECTOR) || !record.size.is_multiple_of(SECTOR) {
                self.count(&SECTORS, record, name);
            }
            (record.offset / SECTOR, record.end().div_ceil(SECTOR))
        };
        let range = match end - start {
            0 => String::new(),
            count => format!("{start} + {count} "),
        };
        self.complete(record.time_ns, Self::LIMIT)?;
        let issue = format!("{id:5}  D {rwbs:>3} {range}[{program}]");
        self.line(device, record.time_ns, &issue)?;
        let range = if range.is_empty() { "0 " } else { &range };
        if record.flags.has(Flags::NO_DURATION) {
            self.count(&NO_DURATION, record, name);
        }
        // The kernel's error number is unknown (-5, an I/O error).
        let error = if record.failed() { -5 } else { 0 };
        let end = format!("{:5}  C {rwbs:>3} {range}[{error}]", 0);
        let end_ns = record.time_ns.saturating_add(record.duration_ns);
        self.ends.push(Reverse((end_ns, self.number, device, end)));
        Ok(())
    }

    /// Splits `dd/697` or `697`.
    fn program(&mut self, record: &Record, process: &str) -> (String, u32) {
        if let Some(id) = number(process.as_bytes()) {
            return (String::new(), id);
        }
        let (program, id) = process
            .rsplit_once('/')
            .and_then(|(program, id)| Some((program, number(id.as_bytes())?)))
            .unwrap_or_else(|| (process, self.programs.intern(process)));
        if program == process {
            self.count(&NAMED, record, process);
        }
        let plain = |it: char| {
            if it.is_control() || it == ']' || it == '[' {
                '_'
            } else {
                it
            }
        };
        (program.chars().map(plain).collect(), id)
    }
}

impl Writer for BlkparseWriter {
    fn write(&mut self, records: &[Record], files: &Names, processes: &Names) -> Result<(), Error> {
        for record in records {
            self.number += 1;
            let process = super::named(processes, record.process, "process")?;
            let name = super::named(files, record.file, "file")?;
            let done = self.record(record, name, process);
            done.map_err(|it| self.refused(it))?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Error> {
        let done = self
            .complete(i64::MAX, 0)
            .and_then(|()| self.output.flush());
        done.map_err(|it| self.refused(it))
    }

    fn skipped(&self) -> &Skipped {
        &self.skipped
    }
}

impl BlkparseWriter {
    fn refused(&self, source: io::Error) -> Error {
        Error::System {
            file: self.name.clone(),
            source,
        }
    }
}
