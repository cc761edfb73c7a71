//! Traces of IBM's cloud object storage, as the IOTTA repository of SNIA has them.
//!
//! A line is `time REST.METHOD.OBJECT object size first last`: milliseconds since the start of the
//! recording, and bytes. The size and the range, whose last byte is `last`, may be absent. Source:
//! the README of the traces; Eytan et al., "It's Time to Revisit LRU vs. FIFO", HotStorage 2020.
//!
//! A `PUT` is a write of the whole object, a `GET` a read, a `HEAD` a stat, a `DELETE` an unlink;
//! other requests are counted. A record's file is the object, its process `client`. The traces have
//! no durations.

use super::collected::{Collected, LineFormat, LineReader, whole, words};
use crate::{Flags, Format, Kind, Level, Operation, Record, text};

pub(super) static FORMAT: Format = Format {
    name: "ibm-cos",
    description: "traces of IBM's object storage (SNIA)",
    extensions: &[],
    level: Level::File,
    sniff,
    open: |input| Ok(LineReader::open(input, IbmCos)),
    create: None,
};

static OTHER: Kind = Kind::left_out("request that is no GET, PUT, HEAD or DELETE of an object");
static NO_SIZE: Kind = Kind::not_understood("GET or PUT without the object's size");

/// The process of all records.
const CLIENT: &str = "client";

fn sniff(beginning: &[u8]) -> bool {
    beginning
        .split(|byte| *byte == b'\n')
        .take(20)
        .any(|line| Line::of(line).is_some())
}

struct Line<'a> {
    time_ns: i64,
    request: &'a [u8],
    object: &'a [u8],
    size: Option<u64>,
    /// The first byte and the one behind the last.
    range: Option<(u64, u64)>,
}

impl<'a> Line<'a> {
    fn of(line: &'a [u8]) -> Option<Self> {
        let mut words = words(line);
        let time_ms = i64::try_from(whole(words.next()?)?).ok()?;
        let request = words.next().filter(|it| it.starts_with(b"REST."))?;
        let object = words.next()?;
        let size = words.next().map(whole);
        let range = match words.next() {
            Some(first) => Some((whole(first)?, end(words.next()?)?)),
            None => None,
        };
        let line = Self {
            time_ns: time_ms.checked_mul(1_000_000)?,
            request,
            object,
            size: match size {
                Some(size) => Some(size?),
                None => None,
            },
            range,
        };
        words.next().is_none().then_some(line)
    }
}

/// The byte behind the last one; an object of no bytes has the range `0 -1`.
fn end(last: &[u8]) -> Option<u64> {
    match last {
        b"-1" => Some(0),
        last => whole(last)?.checked_add(1),
    }
}

struct IbmCos;

impl LineFormat for IbmCos {
    const EXPECTED: &'static str = "lines of IBM's object storage such as \
         `61500 REST.GET.OBJECT 0123456789abcdef 8192 0 8191`";

    fn line(&mut self, line: &[u8], into: &mut Collected) -> Option<()> {
        let parts = Line::of(line)?;
        let operation = match parts.request {
            b"REST.GET.OBJECT" => Operation::Read,
            b"REST.PUT.OBJECT" => Operation::Write,
            b"REST.HEAD.OBJECT" => Operation::Stat,
            b"REST.DELETE.OBJECT" => Operation::Unlink,
            _ => {
                into.count(&OTHER, line);
                return Some(());
            }
        };
        let (offset, size) = match (operation, parts.range, parts.size) {
            (Operation::Unlink, ..) => (0, 0),
            (Operation::Read, Some((first, end)), _) => (first, end.checked_sub(first)?),
            (Operation::Stat, _, size) => (0, size.unwrap_or(0)),
            (_, _, Some(size)) => (0, size),
            (_, _, None) => {
                into.count(&NO_SIZE, line);
                return Some(());
            }
        };
        let has_length = operation == Operation::Stat && parts.size.is_some();
        let record = Record {
            time_ns: parts.time_ns,
            duration_ns: 0,
            offset,
            size,
            process: into.processes.intern(CLIENT),
            file: into.files.intern(&text(parts.object)),
            operation,
            flags: Flags::NO_DURATION | Flags::REGULAR.when(has_length),
            other: Record::NO_FILE,
        };
        into.put(record);
        Some(())
    }
}
