mod alibaba;
mod binary_records;
mod blkparse;
mod blktrace;
mod block;
mod cloudphysics;
mod collected;
mod csv;
mod dbench;
mod dftracer;
mod fio_iolog;
mod fiu;
mod ibm_cos;
mod msr;
mod oracle_general;
mod perf_trace;
mod pfssim;
mod posix;
mod recorder;
mod request_lines;
mod spc;
mod strace;
mod systor;
mod tencent;
mod vscsi;

use crate::{Error, Format, Names};

/// All trace formats, in the order in which they are tried.
pub static FORMATS: &[&Format] = &[
    &csv::FORMAT,
    &fio_iolog::FORMAT,
    &fio_iolog::FORMAT_2,
    &blktrace::FORMAT,
    &blkparse::FORMAT,
    &perf_trace::FORMAT,
    &dftracer::FORMAT,
    &recorder::FORMAT,
    &msr::FORMAT,
    &fiu::FORMAT,
    &spc::FORMAT,
    &alibaba::FORMAT,
    &tencent::FORMAT,
    &systor::FORMAT,
    &ibm_cos::FORMAT,
    &vscsi::FORMAT,
    &cloudphysics::FORMAT,
    &oracle_general::FORMAT,
    &dbench::FORMAT,
    &pfssim::FORMAT,
    &strace::FORMAT,
];

/// The name with this number, for writers.
fn named<'a>(names: &'a Names, number: u32, what: &'static str) -> Result<&'a str, Error> {
    names.get(number).ok_or_else(|| Error::Value {
        name: what,
        found: number.to_string(),
        expected: format!("a number below {}", names.len()),
    })
}
