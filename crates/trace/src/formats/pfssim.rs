//! Trace files of PFSsim 0.20, one for each process of a client.
//!
//! A line is `time file offset size read application synchronous`: seconds, a file's number, bytes,
//! and 1 or 0 for read or write and for synchronous or not. The time of a synchronous request is
//! the wait since the end of the one before; else it is the start. Source: PFSsim Tutorial v0.20.0,
//! "The Format of Traces".
//!
//! Files are `file N`, processes `application N`. The trace has no durations, so each request is
//! taken to end at its start, which is counted.

use super::collected::{Collected, LineFormat, LineReader, decimal, whole, words};
use crate::{Flags, Format, Kind, Level, Operation, Record};

pub(super) static FORMAT: Format = Format {
    name: "pfssim",
    description: "trace files of PFSsim",
    extensions: &[],
    level: Level::File,
    sniff,
    open: |input| Ok(LineReader::open(input, Pfssim::default())),
    create: None,
};

static WAITED: Kind =
    Kind::assumed("time after a request whose duration is unknown: as if it took none");

/// True if each of the first lines is of the format, as short lines of numbers are in many.
fn sniff(beginning: &[u8]) -> bool {
    let mut lines = beginning
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .filter(|it| !it.is_empty())
        .take(20)
        .peekable();
    lines.peek().is_some() && {
        let cut = beginning.len() >= 64 << 10;
        let mut lines: Vec<_> = lines.collect();
        if cut && lines.len() > 1 {
            lines.pop();
        }
        lines.iter().all(|line| Line::of(line).is_some())
    }
}

struct Line {
    time_ns: i64,
    file: u64,
    offset: u64,
    size: u64,
    is_read: bool,
    application: u64,
    is_synchronous: bool,
}

impl Line {
    fn of(line: &[u8]) -> Option<Self> {
        let mut words = words(line);
        let stamp = words.next()?;
        if !stamp.contains(&b'.') {
            return None;
        }
        let time_ns = decimal(stamp, 9)?;
        let mut next = || whole(words.next()?);
        let line = Self {
            time_ns,
            file: next()?,
            offset: next()?,
            size: next()?,
            is_read: flag(next()?)?,
            application: next()?,
            is_synchronous: flag(next()?)?,
        };
        words.next().is_none().then_some(line)
    }
}

fn flag(value: u64) -> Option<bool> {
    match value {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

#[derive(Default)]
struct Pfssim {
    /// Start of the request before.
    last_ns: i64,
}

impl LineFormat for Pfssim {
    const EXPECTED: &'static str = "lines of PFSsim, `time file offset size read application \
         synchronous`, such as `0.052 3 1048576 65536 1 0 1`";

    /// The last field has one digit.
    fn is_surely_whole(line: &[u8]) -> bool {
        Line::of(line).is_some()
    }

    fn line(&mut self, line: &[u8], into: &mut Collected) -> Option<()> {
        let parts = Line::of(line)?;
        let time_ns = if parts.is_synchronous {
            into.count(&WAITED, line);
            self.last_ns.checked_add(parts.time_ns)?
        } else {
            parts.time_ns
        };
        self.last_ns = time_ns;
        let application = format!("application {}", parts.application);
        let record = Record {
            time_ns,
            duration_ns: 0,
            offset: parts.offset,
            size: parts.size,
            process: into.processes.intern(&application),
            file: into.files.intern(&format!("file {}", parts.file)),
            operation: match parts.is_read {
                true => Operation::Read,
                false => Operation::Write,
            },
            flags: Flags::NO_DURATION,
            other: Record::NO_FILE,
        };
        into.put(record);
        Some(())
    }
}
