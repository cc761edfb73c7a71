//! Binary traces of caches in libCacheSim's format oracleGeneral.
//!
//! A record has 24 bytes, little-endian and unaligned: `u32` time in seconds, `u64` object, `u32`
//! size in bytes, `i64` next. That is the number of the request that uses the object next, from
//! 1; -1 or the largest number if none does. Source: the README of github.com/1a1a11a/libCacheSim
//! and its `oracleGeneralBin.h`. Published files are compressed with zstd:
//! `zstd -dc FILE | headrace trace convert - w92.parquet --format oracle-general`.
//!
//! Each record is a read of the whole object, which is its file (`object N`), by `client`. The
//! format has no operations, clients or durations.

use super::binary_records::{RecordFormat, RecordReader, number};
use super::collected::{Collected, WHOLE_SECONDS};
use crate::{Flags, Format, Kind, Level, Operation, Record};

pub(super) static FORMAT: Format = Format {
    name: "oracle-general",
    description: "oracleGeneral, binary traces of libCacheSim",
    extensions: &["oracleGeneral"],
    level: Level::File,
    sniff,
    open: |input| Ok(RecordReader::open(input, OracleGeneral::default())),
    create: None,
};

static READ: Kind = Kind::assumed("request without an operation: a read of the whole object");

const LENGTH: usize = 24;
/// Records by which the format is recognised.
const SNIFFED_RECORDS: usize = 100;
/// No trace has more requests.
const MOST_REQUESTS: i64 = 1 << 42;

/// The process of all records.
const CLIENT: &str = "client";

#[derive(Clone, Copy)]
struct Request {
    seconds: u64,
    object: u64,
    size: u64,
    next: i64,
}

impl Request {
    fn of(bytes: &[u8]) -> Self {
        Self {
            seconds: number(bytes, 0, 4),
            object: number(bytes, 4, 8),
            size: number(bytes, 12, 4),
            next: number(bytes, 16, 8).cast_signed(),
        }
    }

    /// True if it can be the request with this number, from 1.
    fn can_be(self, number: i64) -> bool {
        // -2: not computed.
        let is_none = matches!(self.next, -2 | -1 | i64::MAX);
        is_none || (number + 1..MOST_REQUESTS).contains(&self.next)
    }
}

/// No magic number tells the format: times must not decrease, and the next use of an object must
/// come later. One record is too few.
fn sniff(beginning: &[u8]) -> bool {
    let records = beginning.chunks_exact(LENGTH).map(Request::of);
    let records: Vec<_> = records.take(SNIFFED_RECORDS).collect();
    let has_bytes = |it: &Request| it.size > 0 && it.size < u64::from(u32::MAX);
    records.len() > 1
        && records.iter().all(has_bytes)
        && records.is_sorted_by_key(|it| it.seconds)
        && (1..).zip(&records).all(|(number, it)| it.can_be(number))
}

#[derive(Default)]
struct OracleGeneral {
    start_s: Option<u64>,
}

impl RecordFormat for OracleGeneral {
    const EXPECTED: &'static str = "records of oracleGeneral, 24 bytes each, not compressed";

    fn length(&self) -> usize {
        LENGTH
    }

    fn record(&mut self, bytes: &[u8], into: &mut Collected) -> Option<()> {
        let request = Request::of(bytes);
        if !request.can_be(i64::try_from(into.line).ok()?) {
            return None;
        }
        let start = *self.start_s.get_or_insert(request.seconds);
        // Both have 32 bits.
        let seconds = request.seconds.cast_signed() - start.cast_signed();
        into.count(&READ, b"");
        into.count(&WHOLE_SECONDS, b"");
        let record = Record {
            time_ns: seconds * 1_000_000_000,
            duration_ns: 0,
            offset: 0,
            size: request.size,
            process: into.processes.intern(CLIENT),
            file: into.files.intern(&format!("object {}", request.object)),
            operation: Operation::Read,
            flags: Flags::NO_DURATION,
            other: Record::NO_FILE,
        };
        into.put(record);
        Some(())
    }
}
