//! Block traces in the format of the Storage Performance Council, such as Financial and WebSearch.
//!
//! A line is `ASU,LBA,Size,Opcode,Timestamp`, maybe with fields of the recorder's own behind. These
//! are the number of an application storage unit, block address, bytes, `R` or `W`, and seconds
//! since the start. Source: SPC Trace File Format Specification, revision 1.0.1, 2002. It leaves
//! the size of a block to the trace's description; in the UMass trace repository it is 512 bytes.
//!
//! A record's file is the unit (`asu 0`), as is its process. The traces have no durations.

use super::block::SECTOR;
use super::collected::decimal;
use super::request_lines::{self, Fields, RequestFormat, RequestLine, VolumeRequest};
use crate::{Format, Kind, Level};

pub(super) static FORMAT: Format = Format {
    name: "spc",
    description: "block traces of the Storage Performance Council: Financial, WebSearch (UMass)",
    extensions: &["spc"],
    level: Level::Block,
    sniff: request_lines::sniff::<Spc>,
    open: request_lines::open::<Spc>,
    create: None,
};

static BLOCKS: Kind = Kind::assumed("trace without the size of its blocks: 512 bytes");

struct Spc;

impl RequestFormat for Spc {
    const EXPECTED: &'static str = "lines of an SPC trace, `ASU,LBA,Size,Opcode,Timestamp`, such as \
         `3,11264,8192,W,0.551706`";
    const FIELDS: &'static [&'static str] = &["ASU", "LBA", "Size", "Opcode", "Timestamp"];
    const HAS_EPOCH: bool = false;
    const ASSUMED: Option<&'static Kind> = Some(&BLOCKS);

    fn line<'a>(fields: &mut Fields<'a>) -> Option<RequestLine<'a>> {
        let (unit, block, size) = (fields.whole()?, fields.whole()?, fields.whole()?);
        let operation = request_lines::read_or_write(fields.next()?)?;
        let time_ns = decimal(fields.next()?, 9)?;
        let unit = format!("asu {unit}");
        Some(RequestLine::Request(VolumeRequest {
            time_ns: time_ns.into(),
            duration_ns: None,
            process: unit.clone().into(),
            volume: unit.into(),
            operation,
            offset: block.checked_mul(SECTOR)?,
            size,
        }))
    }
}
