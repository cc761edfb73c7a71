//! Block traces of Microsoft Research Cambridge, as the IOTTA repository of SNIA has them.
//!
//! A line is `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`. Times are in units of
//! 100 ns, the first since the year 1601; `Type` is `Read` or `Write`. Source: the README of the
//! traces; Narayanan, Donnelly and Rowstron, "Write Off-Loading", FAST 2008.
//!
//! A record's file is the disk (`usr_0`), its process the host.

use super::collected::{Collected, LineFormat, LineReader, whole};
use crate::{Flags, Format, Kind, Operation, Record, text};

pub(super) static FORMAT: Format = Format {
    name: "msr",
    description: "block traces of MSR Cambridge (SNIA)",
    extensions: &[],
    sniff,
    open: |input| Ok(LineReader::open(input, Msr::default())),
    create: None,
};

static HEADER: Kind = Kind::left_out("header");

fn sniff(beginning: &[u8]) -> bool {
    beginning
        .split(|byte| *byte == b'\n')
        .take(2)
        .any(|line| Line::of(line).is_some() || is_header(line))
}

fn is_header(line: &[u8]) -> bool {
    const HEADER: &[u8] = b"Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime";
    line.trim_ascii().eq_ignore_ascii_case(HEADER)
}

struct Line<'a> {
    /// In units of 100 ns.
    ticks: i64,
    host: &'a [u8],
    disk: u64,
    is_read: bool,
    offset: u64,
    size: u64,
    duration_ns: i64,
}

impl<'a> Line<'a> {
    fn of(line: &'a [u8]) -> Option<Self> {
        let mut fields = line.trim_ascii().split(|it| *it == b',');
        let ticks = i64::try_from(number(fields.next()?)?).ok()?;
        let host = fields.next()?.trim_ascii();
        let disk = number(fields.next()?)?;
        let kind = fields.next()?.trim_ascii();
        let is_read = kind.eq_ignore_ascii_case(b"read");
        if host.is_empty() || !is_read && !kind.eq_ignore_ascii_case(b"write") {
            return None;
        }
        let line = Self {
            ticks,
            host,
            disk,
            is_read,
            offset: number(fields.next()?)?,
            size: number(fields.next()?)?,
            duration_ns: i64::try_from(number(fields.next()?)?)
                .ok()?
                .checked_mul(100)?,
        };
        fields.next().is_none().then_some(line)
    }
}

fn number(field: &[u8]) -> Option<u64> {
    whole(field.trim_ascii())
}

#[derive(Default)]
struct Msr {
    start_ticks: Option<i64>,
}

impl LineFormat for Msr {
    const EXPECTED: &'static str = "lines of an MSR Cambridge trace such as \
         `128166372003061629,usr,0,Read,7014609920,24576,41286`";

    fn line(&mut self, line: &[u8], into: &mut Collected) -> Option<()> {
        let Some(parts) = Line::of(line) else {
            return is_header(line).then(|| into.count(&HEADER, line));
        };
        let start = *self.start_ticks.get_or_insert(parts.ticks);
        let host = text(parts.host);
        let record = Record {
            time_ns: parts.ticks.checked_sub(start)?.checked_mul(100)?,
            duration_ns: parts.duration_ns,
            offset: parts.offset,
            size: parts.size,
            process: into.processes.intern(&host),
            file: into.files.intern(&format!("{host}_{}", parts.disk)),
            operation: match parts.is_read {
                true => Operation::Read,
                false => Operation::Write,
            },
            flags: Flags::NONE,
            other: Record::NO_FILE,
        };
        into.put(record);
        Some(())
    }
}
