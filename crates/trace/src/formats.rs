mod blkparse;
mod blktrace;
mod block;
mod collected;
mod csv;
mod dbench;
mod dftracer;
mod fio_iolog;
mod fiu;
mod msr;
mod perf_trace;
mod pfssim;
mod posix;
mod recorder;
mod strace;

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
