//! `kind = "trace"`: what a real program did.

use std::path::PathBuf;

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::{Scenario, volume_exists};
use crate::values::{FilePath, NonNegative, Seconds, choice};

choice! {
    /// Start of a recorded request.
    pub enum Replay {
        /// After its process's previous request.
        Closed = "closed",
        /// At its recorded time.
        Timed = "timed",
        /// After its process's previous request and the recorded gap between the two.
        Paced = "paced",
    }
}

choice! {
    /// What a process does in a recorded gap between two requests.
    pub enum Gaps {
        /// It waits.
        Wait = "wait",
        /// It computes: on a modelled machine it occupies a core.
        Compute = "compute",
    }
}

section! {
    /// The requests of a recorded trace.
    pub struct TraceReplay {
        /// The trace, relative to the scenario file's folder.
        file: PathBuf as FilePath = required("trace.csv") aka ["path", "trace"],
        /// `closed`: each request when its process's previous one is done; `timed`:
        /// each at its recorded time; `paced`: each after the previous one and the recorded
        /// gap between the two, in which the program computed or waited: a closed replay with the
        /// recorded compute time.
        replay: Replay = default("closed", "a program waits for its requests") aka ["mode"],
        /// Time before the first request.
        shift: Seconds = default("0 s", "the trace begins with the run") aka ["offset"],
        /// Gaps of a `paced` replay.
        gaps: Gaps = default("wait", "a gap occupies no core"),
        /// Factor on the recorded times of a `timed` replay and on the gaps of a `paced` one:
        /// 0.5 is twice as fast.
        scale: f64 as NonNegative = default(1.0, "the recorded times") aka ["speed"],
        /// The machine's volume of the files that are written and never read, by its name.
        output_volume: Option<String> = optional("all files lie where the workload's do"),
    }
    check output_volume_exists;
}

fn output_volume_exists(replay: &TraceReplay, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    volume_exists(replay.output_volume.as_ref(), "output_volume", all, at)
}
