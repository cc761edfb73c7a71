//! Memory does not grow with the length of a trace. Alone in its program, so
//! that nothing else moves the mark.

#![cfg(target_os = "linux")]

#[path = "all/common/mod.rs"]
mod common;

use std::io::{self, Read};

use common::recorded;
use headrace_trace::{Input, Summary, open_input};

/// A trace over and over.
struct Repeated {
    trace: Vec<u8>,
    at: usize,
    left: usize,
}

impl Read for Repeated {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.at == self.trace.len() && self.left > 0 {
            self.left -= 1;
            self.at = 0;
        }
        let count = (&self.trace[self.at..]).read(into)?;
        self.at += count;
        Ok(count)
    }
}

/// The most memory that this program has had, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|it| it.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn records(name: &str, format: &str, repetitions: usize) -> u64 {
    let trace = std::fs::read(recorded(name)).unwrap();
    let bytes = Box::new(Repeated {
        trace,
        at: 0,
        left: repetitions - 1,
    });
    let input = Input {
        name: "t".into(),
        bytes,
    };
    let mut reader = open_input(input, Some(format)).unwrap();
    Summary::of(reader.as_mut()).unwrap().records
}

#[test]
fn a_trace_300_times_as_long_takes_no_more_memory() {
    let once = records("build.strace", "strace", 1);
    let before = peak();
    assert_eq!(records("build.strace", "strace", 300), 300 * once);
    let grown = peak() - before;
    assert!(grown < 2048, "{grown} KiB more for 88 MB of trace");
    // Up to a full window of records, whose times begin again here.
    for (name, format, full) in [
        ("shell.perf-trace", "perf-trace", 500),
        ("requests.blktrace", "blktrace", 15_000),
        ("requests.blkparse", "blkparse", 15_000),
        ("two-files.pfw", "dftracer", 8_000),
    ] {
        records(name, format, full);
        let before = peak();
        records(name, format, 2 * full);
        let grown = peak() - before;
        assert!(
            grown < 2048,
            "{grown} KiB more for a long trace of {format}"
        );
    }
}
