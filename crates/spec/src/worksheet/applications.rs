//! `[[application]]`: what accesses the data, and how.

use std::path::PathBuf;

use crate::declare::section;
use crate::values::{
    AtLeastOne, Bytes, FilePath, MoreThanZero, Name, NonEmpty, Part, PlausibleRate, Positive, Rate,
    Span, choice,
};
use crate::workloads::WorkloadPreset;

choice! {
    /// Order of accesses.
    pub enum Pattern {
        /// One byte after the other.
        Sequential = "sequential",
        /// Anywhere in a file.
        Random = "random",
    }
}

section! {
    /// An application, its hosts, its files and its accesses (Hindman 2011, section 2.6).
    pub struct Application {
        /// What is it called?
        name: String as Name = required("rendering"),
        /// On which groups of clients does it run?
        clients: Vec<String> as NonEmpty<Name> = required(["workstations"]) aka ["client"],
        /// Which zones does it access?
        zones: Vec<String> as NonEmpty<Name> = required(["A"]) aka ["zone"],
        /// In which file is a profile, a workload or a trace of it? The path is relative to the
        /// worksheet.
        profile: Option<PathBuf> as Option<FilePath> = optional("its preset, or the answers below, say what it does", "profile.json") aka ["trace"],
        /// Which preset of a workload is like it? `headrace presets` lists them.
        preset: Option<String> as Option<WorkloadPreset> = optional("its profile, or the answers below, say what it does", "checkpoint"),
        /// Is its access sequential or random?
        pattern: Option<Pattern> = optional("the classes of its data decide", "sequential") aka ["access"],
        /// How many bytes does a call transfer?
        transfer: Option<Bytes> as Option<MoreThanZero<Bytes>> = optional("1 MiB if sequential, 8 KiB if random", "1 MiB") aka ["block", "chunk"],
        /// Which part of the bytes does it read, and not write?
        read_share: Option<f64> as Option<Part> = optional("it reads as much as it writes", "70 %"),
        /// How large is a file?
        file_size: Option<Bytes> as Option<MoreThanZero<Bytes>> = optional("the classes of its data decide", "4 GiB"),
        /// How many of its processes run on each client?
        processes: Option<u32> as Option<AtLeastOne> = optional("one process on each client", 4),
        /// How many accelerators does its training have, on all its clients together?
        accelerators: Option<u32> as Option<AtLeastOne> = optional("each of its processes is an accelerator, if it is a training", 16) aka ["gpus"],
        /// In which part of the time must the accelerators of its training compute (AU)?
        au: Option<f64> as Option<Part> = optional("no design is discarded for the utilisation of accelerators", "90 %") aka ["accelerator_utilisation"],
        /// Which throughput do all its processes need together?
        throughput: Option<Rate> as Option<PlausibleRate> = optional("no design is discarded for its throughput", "800 MB/s"),
        /// How many calls a second do all its processes need together?
        operations: Option<f64> as Option<Positive> = optional("no design is discarded for its calls a second", 2000) aka ["iops"],
        /// How long may a read or a write take on average?
        latency: Option<Span> as Option<MoreThanZero<Span>> = optional("no design is discarded for its latency", "20 ms"),
        /// How long may 99 % of reads and of writes take at most?
        latency_p99: Option<Span> as Option<MoreThanZero<Span>> = optional("no design is discarded for its slowest calls", "50 ms") aka ["p99"],
        /// Does each write wait until it is on stable storage, as a database's log does?
        synchronous: Option<bool> = optional("writes may be cached", false) aka ["sync", "fsync"],
        /// Does it wait for each call, as a database does?
        latency_matters: Option<bool> = optional("the classes of its data decide", false),
    }
}
