//! The iolog of fio, versions 2 and 3: `fio --write_iolog` and `fio --read_iolog`.
//!
//! Version 3 has a time in front of each line, in microseconds since the start of the job. Version
//! 2 has none; its `wait` lines give the time. fio 3.33 takes the number of a `wait` for
//! milliseconds since its start, whatever its manual says, and this reader does the same.
//!
//! Not in an iolog: durations, processes, and all operations but open, close, read, write, sync.

use std::io::{self, Write};

use super::collected::{Collected, LineFormat, LineReader, NO_TIMES, whole};
use crate::lines::Lines;
use crate::{
    Error, Flags, Format, Input, Kind, Level, Names, Operation, Output, Reader, Record, Skipped,
    Writer, text,
};

pub(super) static FORMAT: Format = Format {
    name: "fio-iolog",
    description: "iolog of fio, version 3 or 2; version 3 is written",
    extensions: &["iolog"],
    level: Level::File,
    sniff,
    open,
    create: Some(|output| Ok(IologWriter::create(output, Version::Three))),
};

/// As [`FORMAT`]; written in the version that fio before 3.31 reads.
pub(super) static FORMAT_2: Format = Format {
    name: "fio-iolog-2",
    description: "iolog of fio, version 2 or 3; version 2 is written",
    extensions: &[],
    level: Level::File,
    sniff,
    open,
    create: Some(|output| Ok(IologWriter::create(output, Version::Two))),
};

static ADDED: Kind = Kind::left_out("add: name of a file");
static TRIM: Kind = Kind::left_out("trim (discard)");
static WHOLE_SYSTEM: Kind = Kind::left_out("syncfs: sync of a whole file system");
static WAITED: Kind = Kind::left_out("wait, which gives the next line its time");
static UNIT: Kind = Kind::assumed("wait in milliseconds since the start, as fio takes it");
static NO_WAIT: Kind = Kind::not_understood("wait, which version 3 does not have");

/// The process of all records.
const PROCESS: &str = "fio";

const EXPECTED: &str = "lines of a fio iolog such as `1234 /data/file read 0 4096` \
     (version 3) or `/data/file read 0 4096` (version 2)";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    Two,
    Three,
}

impl Version {
    const fn header(self) -> &'static str {
        match self {
            Version::Two => "fio version 2 iolog",
            Version::Three => "fio version 3 iolog",
        }
    }
}

fn sniff(beginning: &[u8]) -> bool {
    beginning.starts_with(b"fio version ")
}

fn open(input: Input) -> Result<Box<dyn Reader>, Error> {
    let mut lines = Lines::new(input.name, input.bytes);
    let name = lines.name().to_string();
    let expected = "`fio version 3 iolog` or `fio version 2 iolog` in the first line";
    let Some(first) = lines.next()? else {
        return Err(Error::File {
            file: name,
            found: "is empty".into(),
            expected: expected.into(),
        });
    };
    let is = |version: Version| first.bytes.trim_ascii_end() == version.header().as_bytes();
    let version = if is(Version::Three) {
        Version::Three
    } else if is(Version::Two) {
        Version::Two
    } else {
        let shown = &first.bytes[..first.bytes.len().min(Skipped::EXAMPLE_LENGTH)];
        return Err(Error::Line {
            file: name,
            line: 1,
            found: format!("header {}", text(shown)),
            expected: expected.into(),
        });
    };
    let has_times =
        version == Version::Three || memchr::memmem::find(first.ahead, b" wait ").is_some();
    let format = Iolog {
        version,
        has_times,
        time_ns: 0,
    };
    Ok(LineReader::after_header(lines, format, true))
}

struct Iolog {
    version: Version,
    /// True of version 3, and of version 2 from the first `wait` on.
    has_times: bool,
    time_ns: i64,
}

impl LineFormat for Iolog {
    const EXPECTED: &'static str = EXPECTED;

    fn line(&mut self, line: &[u8], into: &mut Collected) -> Option<()> {
        let mut rest = line.trim_ascii();
        if self.version == Version::Three {
            let end = memchr::memchr(b' ', rest)?;
            self.time_ns = i64::try_from(whole(&rest[..end])?)
                .ok()?
                .checked_mul(1000)?;
            rest = &rest[end + 1..];
        }
        // From the right: a file's name may contain spaces.
        let mut words = rest.rsplitn(2, |it| *it == b' ');
        let (last, name) = (words.next()?, words.next()?);
        let operation = match last {
            b"add" => return left_out(&ADDED, line, into),
            b"open" => Some(Operation::Open),
            b"close" => Some(Operation::Close),
            _ => None,
        };
        if let Some(operation) = operation {
            return self.record(operation, name, (0, 0), Flags::NONE, line, into);
        }
        let mut words = rest.rsplitn(4, |it| *it == b' ');
        let size = whole(words.next()?)?;
        let offset = whole(words.next()?)?;
        let action = words.next()?;
        let name = words.next()?;
        let (operation, flags) = match action {
            b"read" => (Operation::Read, Flags::NONE),
            b"write" => (Operation::Write, Flags::NONE),
            b"sync" => (Operation::Sync, Flags::NONE),
            b"datasync" => (Operation::Sync, Flags::DATA_ONLY),
            b"sync_file_range" => (Operation::Sync, Flags::RANGE),
            b"trim" => return left_out(&TRIM, line, into),
            b"syncfs" => return left_out(&WHOLE_SYSTEM, line, into),
            b"wait" if self.version == Version::Three => {
                return left_out(&NO_WAIT, line, into);
            }
            b"wait" => {
                let wait_ns = i64::try_from(offset).ok()?.checked_mul(1_000_000)?;
                self.time_ns = self.time_ns.max(wait_ns);
                self.has_times = true;
                into.count(&UNIT, line);
                return left_out(&WAITED, line, into);
            }
            _ => return None,
        };
        // fio prints the offset that the next request would have had.
        let range = match operation {
            Operation::Sync if !flags.has(Flags::RANGE) => (0, 0),
            _ => (offset, size),
        };
        self.record(operation, name, range, flags, line, into)
    }
}

fn left_out(kind: &'static Kind, line: &[u8], into: &mut Collected) -> Option<()> {
    into.count(kind, line);
    Some(())
}

impl Iolog {
    fn record(
        &self,
        operation: Operation,
        name: &[u8],
        (offset, size): (u64, u64),
        flags: Flags,
        line: &[u8],
        into: &mut Collected,
    ) -> Option<()> {
        if name.is_empty() {
            return None;
        }
        if !self.has_times {
            into.count(&NO_TIMES, line);
        }
        let record = Record {
            time_ns: self.time_ns,
            duration_ns: 0,
            offset,
            size,
            process: into.processes.intern(PROCESS),
            file: into.files.intern(&text(name)),
            operation,
            flags: flags | Flags::NO_DURATION | Flags::UNTIMED.when(!self.has_times),
            other: Record::NO_FILE,
        };
        into.put(record);
        Some(())
    }
}

static NO_ACTION: Kind = Kind::left_out("operation that an iolog cannot hold");
static FAILED: Kind = Kind::left_out("failed call");
static NOTHING_MOVED: Kind = Kind::left_out("read or write of no bytes");
static SPACE: Kind =
    Kind::left_out("file whose name fio could not read: a space, or over 255 bytes");
static TOO_LARGE: Kind = Kind::left_out("read or write of more than 1 TiB");
static DIRECTORY: Kind = Kind::left_out("open or close of a directory");
static OPENED: Kind = Kind::assumed("file used before it is opened: opened then");
static NESTED: Kind =
    Kind::left_out("open of an open file, or a close that leaves it open: fio opens a file once");
static ROUNDED: Kind = Kind::assumed("time in whole units of the iolog");
static DURATION: Kind = Kind::assumed("duration, which an iolog cannot hold");
static MERGED: Kind = Kind::assumed("record of a further process: as of one process");

/// fio reads lengths of 32 bits.
const LARGEST: u64 = 1 << 30;
/// A larger request would become more than 1024 lines.
const MOST: u64 = 1 << 40;

struct IologWriter {
    name: String,
    output: io::BufWriter<Box<dyn Write + Send>>,
    version: Version,
    has_header: bool,
    /// The names so far: the caller's numbers may differ between batches.
    names: Names,
    /// By file, which was added then: how often it is open.
    open: Vec<u32>,
    process: Option<String>,
    waited_ms: u64,
    number: u64,
    skipped: Skipped,
}

impl IologWriter {
    fn create(output: Output, version: Version) -> Box<dyn Writer> {
        Box::new(Self {
            name: output.name,
            output: io::BufWriter::new(output.bytes),
            version,
            has_header: false,
            names: Names::new(),
            open: Vec::new(),
            process: None,
            waited_ms: 0,
            number: 0,
            skipped: Skipped::default(),
        })
    }

    fn refused(&self, source: io::Error) -> Error {
        Error::System {
            file: self.name.clone(),
            source,
        }
    }

    fn header(&mut self) -> io::Result<()> {
        if !self.has_header {
            self.has_header = true;
            writeln!(self.output, "{}", self.version.header())?;
        }
        Ok(())
    }

    fn count(&mut self, kind: &'static Kind, record: &Record, name: &str) {
        let text = format!("{} {name}", record.operation.name());
        self.skipped.count(kind, self.number, text.as_bytes());
    }

    /// Writes a line's time and file.
    fn start(&mut self, time_ns: i64, name: &str) -> io::Result<()> {
        let time_us = time_ns.max(0).unsigned_abs() / 1000;
        match self.version {
            Version::Three => write!(self.output, "{time_us} {name} "),
            Version::Two => write!(self.output, "{name} "),
        }
    }

    fn record(&mut self, record: &Record, name: &str, process: &str) -> io::Result<()> {
        self.header()?;
        let action = match record.operation {
            Operation::Open | Operation::Create => "open",
            Operation::Close => "close",
            Operation::Read => "read",
            Operation::Write => "write",
            Operation::Sync if record.flags.has(Flags::RANGE) => "",
            Operation::Sync if record.flags.has(Flags::DATA_ONLY) => "datasync",
            Operation::Sync => "sync",
            _ => "",
        };
        let kind = if action.is_empty() {
            Some(&NO_ACTION)
        } else if record.failed() {
            Some(&FAILED)
        } else if record.operation.carries_bytes() && record.size == 0 {
            Some(&NOTHING_MOVED)
        } else if record.operation.carries_bytes() && record.size > MOST {
            Some(&TOO_LARGE)
        } else if record.flags.has(Flags::DIRECTORY) {
            Some(&DIRECTORY)
        } else if name.is_empty()
            || name.len() > 255
            || name.bytes().any(|it| it.is_ascii_whitespace() || it == 0)
        {
            Some(&SPACE)
        } else {
            None
        };
        if let Some(kind) = kind {
            self.count(kind, record, name);
            return Ok(());
        }
        if self.process.get_or_insert_with(|| process.into()) != process {
            self.count(&MERGED, record, name);
        }
        if record.duration_ns > 0 {
            self.count(&DURATION, record, name);
        }
        let unit = match self.version {
            Version::Two => 1_000_000,
            Version::Three => 1000,
        };
        if record.time_ns < 0 || record.time_ns % unit != 0 {
            self.count(&ROUNDED, record, name);
        }
        let file = self.names.intern(name) as usize;
        if file >= self.open.len() {
            self.open.resize(file + 1, 0);
            self.start(record.time_ns, name)?;
            writeln!(self.output, "add")?;
        }
        let wait_ms = record.time_ns.max(0).unsigned_abs() / 1_000_000;
        if self.version == Version::Two && wait_ms > self.waited_ms {
            self.waited_ms = wait_ms;
            writeln!(self.output, "{name} wait {wait_ms} 0")?;
        }
        match action {
            "open" => {
                self.open[file] += 1;
                if self.open[file] > 1 {
                    self.count(&NESTED, record, name);
                    return Ok(());
                }
            }
            "close" => {
                let open = &mut self.open[file];
                if *open != 1 {
                    *open = open.saturating_sub(1);
                    self.count(&NESTED, record, name);
                    return Ok(());
                }
                *open = 0;
            }
            _ if self.open[file] == 0 => {
                self.open[file] = 1;
                self.count(&OPENED, record, name);
                self.start(record.time_ns, name)?;
                writeln!(self.output, "open")?;
            }
            _ => {}
        }
        if matches!(action, "open" | "close") {
            self.start(record.time_ns, name)?;
            return writeln!(self.output, "{action}");
        }
        let (mut offset, mut left) = (record.offset, record.size);
        if !record.operation.carries_bytes() {
            (offset, left) = (0, 0);
        }
        loop {
            let size = left.min(LARGEST);
            self.start(record.time_ns, name)?;
            writeln!(self.output, "{action} {offset} {size}")?;
            offset = offset.saturating_add(size);
            left -= size;
            if left == 0 {
                return Ok(());
            }
        }
    }
}

impl Writer for IologWriter {
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
        let done = self.header().and_then(|()| self.output.flush());
        done.map_err(|it| self.refused(it))
    }

    fn skipped(&self) -> &Skipped {
        &self.skipped
    }
}
