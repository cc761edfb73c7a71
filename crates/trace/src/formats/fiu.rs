//! Block traces of Florida International University, as the IOTTA repository of SNIA has them.
//!
//! A line is `time process program block size W|R major minor MD5`: nanoseconds, sectors of 512
//! bytes. The checksum of the content is not used. Source: the README of the traces; Koller and
//! Rangaswami, "I/O Deduplication", FAST 2010.
//!
//! A record's file is the device (`6,0`), its process `syslogd/4892`. The traces have no durations.

use super::block::{SECTOR, process_name};
use super::collected::{Collected, LineFormat, LineReader, whole, words};
use crate::{Flags, Format, Level, Operation, Record, text};

pub(super) static FORMAT: Format = Format {
    name: "fiu",
    description: "block traces of FIU (SNIA)",
    extensions: &[],
    level: Level::Block,
    sniff,
    open: |input| Ok(LineReader::open(input, Fiu::default())),
    create: None,
};

fn sniff(beginning: &[u8]) -> bool {
    beginning
        .split(|byte| *byte == b'\n')
        .take(20)
        .any(|line| Line::of(line).is_some())
}

struct Line<'a> {
    time_ns: i64,
    process: u32,
    program: &'a [u8],
    sector: u64,
    sectors: u64,
    is_read: bool,
    device: (u64, u64),
}

impl<'a> Line<'a> {
    fn of(line: &'a [u8]) -> Option<Self> {
        let mut words = words(line);
        let line = Self {
            time_ns: i64::try_from(whole(words.next()?)?).ok()?,
            process: u32::try_from(whole(words.next()?)?).ok()?,
            program: words.next()?,
            sector: whole(words.next()?)?,
            sectors: whole(words.next()?)?,
            is_read: match words.next()? {
                b"R" => true,
                b"W" => false,
                _ => return None,
            },
            device: (whole(words.next()?)?, whole(words.next()?)?),
        };
        // Some copies lack the checksum.
        let checksum = words.next().unwrap_or_default();
        let is_checksum = checksum.iter().all(u8::is_ascii_hexdigit);
        (is_checksum && words.next().is_none()).then_some(line)
    }
}

#[derive(Default)]
struct Fiu {
    start_ns: Option<i64>,
}

impl LineFormat for Fiu {
    const EXPECTED: &'static str = "lines of an FIU trace such as \
         `89967404756975 4892 syslogd 904265560 8 W 6 0 531e779136c16bf5a3e3a8b8d43e5f3c`";

    /// Its checksum, which gives no value of the record, has begun.
    fn is_surely_whole(line: &[u8]) -> bool {
        words(line).count() == 9
    }

    fn line(&mut self, line: &[u8], into: &mut Collected) -> Option<()> {
        let parts = Line::of(line)?;
        let start = *self.start_ns.get_or_insert(parts.time_ns);
        let process = process_name(&text(parts.program), parts.process);
        let record = Record {
            time_ns: parts.time_ns.checked_sub(start)?,
            duration_ns: 0,
            offset: parts.sector.checked_mul(SECTOR)?,
            size: parts.sectors.checked_mul(SECTOR)?,
            process: into.processes.intern(&process),
            file: into
                .files
                .intern(&format!("{},{}", parts.device.0, parts.device.1)),
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
