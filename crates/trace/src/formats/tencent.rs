//! Block traces of Tencent's cloud block storage, as the IOTTA repository of SNIA has them.
//!
//! A line is `Timestamp,Offset,Size,IOType,VolumeID`: whole seconds since 1970, and sectors of 512
//! bytes. The type is 0 for a read and 1 for a write. The volume is a number. Source: the README of
//! the traces; Zhang et al., "OSCA", ATC 2020.
//!
//! A record's file is the volume (`volume 1063`), as is its process. The traces have no durations.

use super::block::SECTOR;
use super::collected::WHOLE_SECONDS;
use super::request_lines::{self, Fields, RequestFormat, RequestLine, VolumeRequest};
use crate::{Format, Kind, Level, Operation};

pub(super) static FORMAT: Format = Format {
    name: "tencent",
    description: "block traces of Tencent's cloud (SNIA)",
    extensions: &[],
    level: Level::Block,
    sniff: request_lines::sniff::<Tencent>,
    open: request_lines::open::<Tencent>,
    create: None,
};

/// Five whole numbers may be anything: the first must be a time after September 2001.
const EARLIEST_S: u64 = 1_000_000_000;
/// And one before the year 2286.
const LATEST_S: u64 = 9_999_999_999;

struct Tencent;

impl RequestFormat for Tencent {
    const EXPECTED: &'static str = "lines of a Tencent block trace, \
         `Timestamp,Offset,Size,IOType,VolumeID`, such as `1538323200,2048,128,1,1063`";
    const FIELDS: &'static [&'static str] = &["Timestamp", "Offset", "Size", "IOType", "VolumeID"];
    const HAS_EPOCH: bool = true;
    const ASSUMED_OF_EACH: Option<&'static Kind> = Some(&WHOLE_SECONDS);

    fn line<'a>(fields: &mut Fields<'a>) -> Option<RequestLine<'a>> {
        let in_range = |it: &u64| (EARLIEST_S..=LATEST_S).contains(it);
        let seconds = fields.whole().filter(in_range)?;
        let (sector, sectors) = (fields.whole()?, fields.whole()?);
        let operation = match fields.next()? {
            b"0" => Operation::Read,
            b"1" => Operation::Write,
            _ => return None,
        };
        let volume = format!("volume {}", fields.whole()?);
        Some(RequestLine::Request(VolumeRequest {
            time_ns: i128::from(seconds) * 1_000_000_000,
            duration_ns: None,
            process: volume.clone().into(),
            volume: volume.into(),
            operation,
            offset: sector.checked_mul(SECTOR)?,
            size: sectors.checked_mul(SECTOR)?,
        }))
        .filter(|_| fields.is_at_end())
    }
}
