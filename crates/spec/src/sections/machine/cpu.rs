//! `[machine.cpu]`: the processor, and what calls cost it.

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::Scenario;
use crate::values::{AtLeastOne, Seconds};

section! {
    /// The processor, and the time that calls take on it besides copying.
    pub struct Cpu {
        /// Number of cores.
        cores: u32 as AtLeastOne = default(1, "one core"),
        /// Entering and leaving a system call, and finding the file.
        system_call: Seconds = default("0 s", "nothing is assumed: measure it, for instance by reading single bytes")
            aka ["syscall"],
        /// Additional time of a read or write that does not continue where the file's last one
        /// ended: its metadata and data are in no processor cache yet (unless its first byte is:
        /// `copying.l3_reach`).
        discontiguous_call: Seconds = default("0 s", "nothing is assumed: measure it, by reading a cached file in order and at random"),
        /// Making a transfer and taking its completion: of each direct call, and each time that a
        /// read or an fsync waits for some.
        transfer: Seconds = default("0 s", "nothing is assumed: measure it, for instance by direct reads")
            aka ["io"],
        /// A fault on a mapped file, which maps up to 64 KiB.
        page_fault: Seconds = default("0 s", "nothing is assumed: measure it"),
        /// A fault of the first store into a clean page of a mapped file, which maps this page for
        /// writing; what the file system does for it (page_mkwrite) is counted as of a page that is
        /// written (`file_system.write_page`, `new_page`).
        write_fault: Seconds = same(page_fault),
        /// A call into the C library that finds or leaves its byte in the buffer
        /// (fgetc, fputc).
        library_call: Seconds = default("0 s", "nothing is assumed: measure it"),
        /// Processor time of a process between two calls, such as choosing the next call and
        /// recording the last. No latency includes it.
        between_calls: Seconds = default("0 s", "nothing is assumed: measure it"),
    }
    check between_calls_is_short;
}

/// Maximum computation of a process at a time, counted in 32-bit nanoseconds.
const LONGEST: f64 = 4.0;

fn between_calls_is_short(cpu: &Cpu, _: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    if cpu.between_calls.0 > LONGEST {
        let message =
            r#"expected at most "4 s": a workload's think time is what it computes or waits for"#;
        return Err(at.error("between_calls", message));
    }
    Ok(())
}
