//! Binary traces of virtual disks by VMware's vscsiStats, as CloudPhysics recorded them.
//!
//! Records are little-endian, with the version in the upper byte of `ver`:
//!
//! ```text
//! version 1, 32 bytes: u32 sn, len, nSG; u16 cmd, ver; u64 lbn, ts
//! version 2, 40 bytes: u16 cmd, ver; u32 sn, len, nSG; u64 lbn, ts, rt
//! ```
//!
//! `len` is in bytes, `lbn` in sectors of 512 bytes, `ts` in microseconds; `cmd` is the operation
//! code of SCSI. Source: the reader of libCacheSim (github.com/1a1a11a/libCacheSim, `vscsi.h`);
//! Waldspurger et al., "Efficient MRC Construction with SHARDS", FAST 2015; codes of SBC-3.
//!
//! Reads and writes are records, and `SYNCHRONIZE CACHE` is a sync; other commands are counted. A
//! trace is of one disk of one virtual machine: file `disk`, process `vm`. Version 1 has no
//! durations; `rt` of version 2 is taken for microseconds, and counted.

use std::io::{self, Read};

use super::binary_records::{RecordFormat, RecordReader, number};
use super::block::SECTOR;
use super::collected::Collected;
use crate::{Error, Flags, Format, Input, Kind, Level, Operation, Reader, Record, source};

pub(super) static FORMAT: Format = Format {
    name: "vscsi",
    description: "binary traces of vscsiStats, versions 1 and 2 (CloudPhysics)",
    extensions: &["vscsi", "vscsitrace", "vscsi1", "vscsi2"],
    level: Level::Block,
    sniff: |beginning| Version::of(beginning).is_some(),
    open,
    create: None,
};

pub(super) static OTHER_COMMAND: Kind =
    Kind::left_out("SCSI command that neither reads, writes nor flushes");
static RESPONSE: Kind =
    Kind::assumed("response time of version 2, whose unit is not published: microseconds");

/// File and process of all records.
pub(super) const DISK: &str = "disk";
pub(super) const MACHINE: &str = "vm";

/// Records by which the version is recognised.
const SNIFFED_RECORDS: usize = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

impl Version {
    fn length(self) -> usize {
        match self {
            Version::One => 32,
            Version::Two => 40,
        }
    }

    /// True if a record has this version.
    fn matches(self, bytes: &[u8]) -> bool {
        let (command, version) = self.head(bytes);
        match self {
            Version::One => command <= 0xff && version == 1,
            Version::Two => command <= 0xff && version == 2,
        }
    }

    /// The command and the version.
    fn head(self, bytes: &[u8]) -> (u64, u64) {
        let at = match self {
            Version::One => 12,
            Version::Two => 0,
        };
        (number(bytes, at, 2), number(bytes, at + 2, 2) >> 8)
    }

    /// The version of a trace's first records; a few may be damaged.
    fn of(beginning: &[u8]) -> Option<Self> {
        [Version::Two, Version::One].into_iter().find(|version| {
            let records = beginning.chunks_exact(version.length());
            let records: Vec<_> = records.take(SNIFFED_RECORDS).collect();
            let known = records.iter().filter(|it| version.matches(it)).count();
            known > 0 && known * 10 >= records.len() * 9
        })
    }
}

/// The operation of a SCSI command, for all lengths of its block address.
pub(super) fn operation(command: u64) -> Option<Operation> {
    match command {
        0x08 | 0x28 | 0xa8 | 0x88 => Some(Operation::Read),
        // With the verifying ones.
        0x0a | 0x2a | 0xaa | 0x8a | 0x2e | 0xae | 0x8e => Some(Operation::Write),
        0x35 | 0x91 => Some(Operation::Sync),
        _ => None,
    }
}

fn open(input: Input) -> Result<Box<dyn Reader>, Error> {
    let Input { name, mut bytes } = input;
    let length = (SNIFFED_RECORDS * Version::Two.length()) as u64;
    let beginning = source::read_beginning(&mut bytes, &name, length)?;
    let Some(version) = Version::of(&beginning) else {
        return Err(Error::File {
            file: name,
            found: match beginning.len() {
                0 => "is empty".into(),
                _ => "its first records have neither version 1 nor version 2".into(),
            },
            expected: Vscsi::EXPECTED.into(),
        });
    };
    let bytes = Box::new(io::Cursor::new(beginning).chain(bytes));
    let format = Vscsi {
        version,
        start_us: None,
    };
    Ok(RecordReader::open(Input { name, bytes }, format))
}

struct Vscsi {
    version: Version,
    start_us: Option<i64>,
}

impl RecordFormat for Vscsi {
    const EXPECTED: &'static str = "binary records of vscsiStats, version 1 or 2";

    fn length(&self) -> usize {
        self.version.length()
    }

    fn record(&mut self, bytes: &[u8], into: &mut Collected) -> Option<()> {
        if !self.version.matches(bytes) {
            return None;
        }
        let (command, _) = self.version.head(bytes);
        let (size, response_us) = match self.version {
            Version::One => (number(bytes, 4, 4), None),
            Version::Two => (number(bytes, 8, 4), Some(number(bytes, 32, 8))),
        };
        let block = number(bytes, 16, 8);
        let time_us = i64::try_from(number(bytes, 24, 8)).ok()?;
        let Some(operation) = operation(command) else {
            into.count(&OTHER_COMMAND, format!("{command:#04x}").as_bytes());
            return Some(());
        };
        let start_us = self.start_us.unwrap_or(time_us);
        let time_ns = time_us.checked_sub(start_us)?.checked_mul(1000)?;
        let duration_ns = match response_us {
            Some(response) => Some(i64::try_from(response).ok()?.checked_mul(1000)?),
            None => None,
        };
        let range = match operation {
            Operation::Sync => (0, 0),
            _ => (block.checked_mul(SECTOR)?, size),
        };
        self.start_us = Some(start_us);
        if duration_ns.is_some() {
            into.count(&RESPONSE, b"");
        }
        let record = Record {
            time_ns,
            duration_ns: duration_ns.unwrap_or(0),
            offset: range.0,
            size: range.1,
            process: into.processes.intern(MACHINE),
            file: into.files.intern(DISK),
            operation,
            flags: Flags::NO_DURATION.when(duration_ns.is_none()),
            other: Record::NO_FILE,
        };
        into.put(record);
        Some(())
    }
}
