//! `kind = "trace"`: what a real program did.

use std::path::PathBuf;

use crate::declare::section;
use crate::values::{FilePath, NonNegative, Seconds, choice};

choice! {
    /// Start of a recorded request.
    pub enum Replay {
        /// After its process's previous request.
        Closed = "closed",
        /// At its recorded time.
        Timed = "timed",
    }
}

section! {
    /// The requests of a recorded trace.
    pub struct TraceReplay {
        /// The trace, relative to the scenario file's folder.
        file: PathBuf as FilePath = required("trace.csv") aka ["path", "trace"],
        /// `closed`: each request when its process's previous one is done; `timed`:
        /// each at its recorded time.
        replay: Replay = default("closed", "a program waits for its requests") aka ["mode"],
        /// Time before the first request.
        shift: Seconds = default("0 s", "the trace begins with the run") aka ["offset", "delay"],
        /// Factor on the recorded times of a `timed` replay: 0.5 is twice as fast.
        scale: f64 as NonNegative = default(1.0, "the recorded times") aka ["speed"],
    }
}
