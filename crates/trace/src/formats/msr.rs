//! Block traces of Microsoft Research Cambridge, as the IOTTA repository of SNIA has them.
//!
//! A line is `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`. Times are in units of
//! 100 ns, the first since the year 1601; `Type` is `Read` or `Write`. Source: the README of the
//! traces; Narayanan, Donnelly and Rowstron, "Write Off-Loading", FAST 2008.
//!
//! A record's file is the disk (`usr_0`), its process the host (`usr`).

use super::request_lines::{self, Fields, RequestFormat, RequestLine, VolumeRequest};
use crate::{Format, Level, Operation, text};

pub(super) static FORMAT: Format = Format {
    name: "msr",
    description: "block traces of MSR Cambridge (SNIA)",
    extensions: &[],
    level: Level::Block,
    sniff: request_lines::sniff::<Msr>,
    open: request_lines::open::<Msr>,
    create: None,
};

/// Nanoseconds in a unit of the times.
const TICK_NS: i128 = 100;

struct Msr;

impl RequestFormat for Msr {
    const EXPECTED: &'static str = "lines of an MSR Cambridge trace such as \
         `128166372003061629,usr,0,Read,7014609920,24576,41286`";
    const FIELDS: &'static [&'static str] = &[
        "Timestamp",
        "Hostname",
        "DiskNumber",
        "Type",
        "Offset",
        "Size",
        "ResponseTime",
    ];
    const HAS_EPOCH: bool = true;

    fn line<'a>(fields: &mut Fields<'a>) -> Option<RequestLine<'a>> {
        let ticks = fields.whole()?;
        let host = fields.next().filter(|it| !it.is_empty())?;
        let disk = fields.whole()?;
        let operation = match fields.next()? {
            kind if kind.eq_ignore_ascii_case(b"read") => Operation::Read,
            kind if kind.eq_ignore_ascii_case(b"write") => Operation::Write,
            _ => return None,
        };
        let (offset, size) = (fields.whole()?, fields.whole()?);
        let response = i64::try_from(fields.whole()?).ok()?;
        let host = text(host);
        Some(RequestLine::Request(VolumeRequest {
            time_ns: i128::from(ticks) * TICK_NS,
            duration_ns: Some(response.checked_mul(TICK_NS as i64)?),
            volume: format!("{host}_{disk}").into(),
            process: host,
            operation,
            offset,
            size,
        }))
        .filter(|_| fields.is_at_end())
    }
}
