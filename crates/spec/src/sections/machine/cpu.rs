//! `[machine.cpu]`: the processor, and what calls cost it.

use crate::declare::section;
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
        /// ended. Its metadata and data are in no processor cache yet (unless its first byte is:
        /// `copying.l3_reach`).
        discontiguous_call: Seconds = default("0 s", "nothing is assumed: measure it, by reading a cached file in order and at random"),
        /// Making a transfer and taking its completion: of each direct call, and each time that a
        /// read or an fsync waits for some.
        transfer: Seconds = default("0 s", "nothing is assumed: measure it, for instance by direct reads")
            aka ["io"],
        /// A fault on a mapped file, which maps up to 64 KiB.
        page_fault: Seconds = default("0 s", "nothing is assumed: measure it"),
        /// A fault of the first store into a clean page of a mapped file, which maps this page for
        /// writing. The file system's work for it (page_mkwrite) counts as for a written page
        /// (`file_system.write_page`, `new_page`).
        write_fault: Seconds = same(page_fault),
        /// A call into the C library that finds or leaves its byte in the buffer
        /// (fgetc, fputc).
        library_call: Seconds = default("0 s", "nothing is assumed: measure it"),
    }
    removed {
        "between_calls": Seconds = default("0 s"), "take it out: the time of a program between its calls belongs to its workload";
    }
}
