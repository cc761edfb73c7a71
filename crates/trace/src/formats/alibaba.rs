//! Block traces of Alibaba Cloud's virtual disks.
//!
//! A line is `device_id,opcode,offset,length,timestamp`: number of a virtual disk, `R` or `W`,
//! bytes, and microseconds since 1970. Source: the README of github.com/alibaba/block-traces; Li et
//! al., "An In-Depth Analysis of Cloud Block Storage Workloads", IISWC 2020.
//!
//! A record's file is the disk (`device 64`), as is its process. The traces have no durations.

use super::request_lines::{self, Fields, RequestFormat, RequestLine, VolumeRequest};
use crate::{Format, Level};

pub(super) static FORMAT: Format = Format {
    name: "alibaba",
    description: "block traces of Alibaba Cloud",
    extensions: &[],
    level: Level::Block,
    sniff: request_lines::sniff::<Alibaba>,
    open: request_lines::open::<Alibaba>,
    create: None,
};

struct Alibaba;

impl RequestFormat for Alibaba {
    const EXPECTED: &'static str = "lines of an Alibaba block trace, \
         `device_id,opcode,offset,length,timestamp`, such as \
         `64,W,1073741824,16384,1577808000000500`";
    const FIELDS: &'static [&'static str] =
        &["device_id", "opcode", "offset", "length", "timestamp"];
    const HAS_EPOCH: bool = true;

    fn line<'a>(fields: &mut Fields<'a>) -> Option<RequestLine<'a>> {
        let device = fields.whole()?;
        let operation = request_lines::read_or_write(fields.next()?)?;
        let (offset, size) = (fields.whole()?, fields.whole()?);
        let time_us = fields.whole()?;
        let device = format!("device {device}");
        Some(RequestLine::Request(VolumeRequest {
            time_ns: i128::from(time_us) * 1000,
            duration_ns: None,
            process: device.clone().into(),
            volume: device.into(),
            operation,
            offset,
            size,
        }))
        .filter(|_| fields.is_at_end())
    }
}
