//! Block traces of virtual desktops of SYSTOR '17, as the IOTTA repository of SNIA has them.
//!
//! A line is `Timestamp,Response,IOType,LUN,Offset,Size`: seconds since 1970, seconds, `R` or `W`,
//! number of the logical unit, bytes. A request without a response has no type, and is counted.
//! Source: the README of the traces; Lee et al., "Understanding Storage Traffic Characteristics on
//! Enterprise Virtual Desktop Infrastructure", SYSTOR 2017.
//!
//! A record's file is the logical unit (`lun 0`), as is its process.

use super::collected::decimal;
use super::request_lines::{self, Fields, RequestFormat, RequestLine, VolumeRequest};
use crate::{Format, Kind, Level};

pub(super) static FORMAT: Format = Format {
    name: "systor17",
    description: "block traces of SYSTOR '17 (SNIA)",
    extensions: &[],
    level: Level::Block,
    sniff: request_lines::sniff::<Systor>,
    open: request_lines::open::<Systor>,
    create: None,
};

static NO_RESPONSE: Kind = Kind::left_out("request without a response: its type is unknown");

struct Systor;

impl RequestFormat for Systor {
    const EXPECTED: &'static str = "lines of a SYSTOR '17 trace, \
         `Timestamp,Response,IOType,LUN,Offset,Size`, such as \
         `1456095145.250000000,0.000800000,R,0,8192000,131072`";
    const FIELDS: &'static [&'static str] =
        &["Timestamp", "Response", "IOType", "LUN", "Offset", "Size"];
    const HAS_EPOCH: bool = true;

    fn line<'a>(fields: &mut Fields<'a>) -> Option<RequestLine<'a>> {
        let stamp = fields.next().filter(|it| it.contains(&b'.'))?;
        let time_ns = decimal(stamp, 9)?;
        let duration_ns = match fields.next()? {
            b"" => None,
            response => Some(decimal(response, 9)?),
        };
        let kind = fields.next()?;
        let unit = format!("lun {}", fields.whole()?);
        let (offset, size) = (fields.whole()?, fields.whole()?);
        if !fields.is_at_end() {
            return None;
        }
        if kind.is_empty() {
            return Some(RequestLine::Other(&NO_RESPONSE));
        }
        Some(RequestLine::Request(VolumeRequest {
            time_ns: time_ns.into(),
            duration_ns,
            process: unit.clone().into(),
            volume: unit.into(),
            operation: request_lines::read_or_write(kind)?,
            offset,
            size,
        }))
    }
}
