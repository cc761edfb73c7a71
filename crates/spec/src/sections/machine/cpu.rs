//! `[machine.cpu]`: the processor, and what calls cost it.

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::Scenario;
use crate::values::{AtLeastOne, Seconds};

section! {
    /// The processor, and the time that calls take on it besides copying.
    pub struct Cpu {
        /// How many cores.
        cores: u32 as AtLeastOne = default(1, "one core"),
        /// Entering and leaving a system call, and finding the file.
        system_call: Seconds = default("0 s", "nothing is assumed: measure it, for instance by reading single bytes")
            aka ["syscall"],
        /// What a read or write takes besides that does not go on where the last one of the file
        /// ended: what it looks up and copies is in no cache of the processor yet (unless its first
        /// byte is: `copying.l3_reach`).
        discontiguous_call: Seconds = default("0 s", "nothing is assumed: measure it, by reading a cached file in order and at random"),
        /// Making a transfer and taking its completion: of each direct call, and each time that a
        /// read or an fsync waits for some.
        transfer: Seconds = default("0 s", "nothing is assumed: measure it, for instance by direct reads")
            aka ["io"],
        /// A fault on a mapped file, which maps up to 64 KiB.
        page_fault: Seconds = default("0 s", "nothing is assumed: measure it"),
        /// A call into the C library that finds or leaves its byte in the buffer
        /// (fgetc, fputc).
        library_call: Seconds = default("0 s", "nothing is assumed: measure it"),
        /// What a process itself does between two calls: choosing the next, noting how long the last
        /// took. It is in no call's latency.
        between_calls: Seconds = default("0 s", "nothing is assumed: measure it"),
    }
    check between_calls_is_short;
}

/// What a process computes at once is counted in nanoseconds of 32 bits.
const LONGEST: f64 = 4.0;

fn between_calls_is_short(cpu: &Cpu, _: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    if cpu.between_calls.0 > LONGEST {
        let message =
            r#"expected at most "4 s": a workload's think time is what it computes or waits for"#;
        return Err(at.error("between_calls", message));
    }
    Ok(())
}
