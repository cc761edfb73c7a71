//! Traces of virtual disks of CloudPhysics as text, as libCacheSim has them.
//!
//! A line is `version,time,op,size,lbn`: the version of vscsiStats, whole seconds, the operation
//! code of SCSI in hexadecimal, bytes, and sectors of 512 bytes. Source: `cloudPhysicsIO.csv` of
//! github.com/1a1a11a/libCacheSim, which holds the records of `vscsi` without their fractions of
//! seconds.
//!
//! File, process and operations are those of `vscsi`. The traces have no durations.

use super::block::SECTOR;
use super::collected::WHOLE_SECONDS;
use super::request_lines::{self, Fields, RequestFormat, RequestLine, VolumeRequest};
use super::vscsi::{DISK, MACHINE, OTHER_COMMAND, operation};
use crate::{Format, Kind, Level, Operation};

pub(super) static FORMAT: Format = Format {
    name: "cloudphysics",
    description: "text of CloudPhysics' virtual disks (libCacheSim)",
    extensions: &[],
    level: Level::Block,
    sniff: request_lines::sniff::<CloudPhysics>,
    open: request_lines::open::<CloudPhysics>,
    create: None,
};

struct CloudPhysics;

/// Two hexadecimal digits.
fn code(field: &[u8]) -> Option<u64> {
    let is_code = field.len() == 2 && field.iter().all(u8::is_ascii_hexdigit);
    let text = std::str::from_utf8(field).ok().filter(|_| is_code)?;
    u64::from_str_radix(text, 16).ok()
}

impl RequestFormat for CloudPhysics {
    const EXPECTED: &'static str = "lines of a CloudPhysics trace, `version,time,op,size,lbn`, \
         such as `1,86400,2a,4096,2048`";
    const FIELDS: &'static [&'static str] = &["version", "time", "op", "size", "lbn"];
    const HAS_EPOCH: bool = true;
    const ASSUMED_OF_EACH: Option<&'static Kind> = Some(&WHOLE_SECONDS);

    fn line<'a>(fields: &mut Fields<'a>) -> Option<RequestLine<'a>> {
        fields.next().filter(|it| matches!(*it, b"1" | b"2"))?;
        let seconds = fields.whole()?;
        let command = code(fields.next()?)?;
        let (size, block) = (fields.whole()?, fields.whole()?);
        if !fields.is_at_end() {
            return None;
        }
        let Some(operation) = operation(command) else {
            return Some(RequestLine::Other(&OTHER_COMMAND));
        };
        let (offset, size) = match operation {
            Operation::Sync => (0, 0),
            _ => (block.checked_mul(SECTOR)?, size),
        };
        Some(RequestLine::Request(VolumeRequest {
            time_ns: i128::from(seconds) * 1_000_000_000,
            duration_ns: None,
            process: MACHINE.into(),
            volume: DISK.into(),
            operation,
            offset,
            size,
        }))
    }
}
