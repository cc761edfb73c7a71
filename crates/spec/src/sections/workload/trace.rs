//! `kind = "trace"`: what a real program did.

use std::path::PathBuf;

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::{Scenario, volume_exists};
use crate::values::{Bytes, FilePath, NonNegative, Seconds, choice};

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
    /// Activity of a process in a recorded gap between two requests.
    pub enum Gaps {
        /// It waits.
        Wait = "wait",
        /// It computes: on a modelled machine it occupies a core.
        Compute = "compute",
    }
}

choice! {
    /// Use of the open flags O_DIRECT and O_SYNC of a trace's records.
    pub enum RecordFlags {
        /// Each read and write is made as its file was opened.
        Kept = "kept",
        /// Files are opened as `workload.io` says.
        Ignored = "ignored",
    }
}

section! {
    /// The requests of a recorded trace.
    pub struct TraceReplay {
        /// The trace, relative to the scenario file's folder.
        file: PathBuf as FilePath = required("trace.csv") aka ["path", "trace"],
        /// `closed`: each request when its process's previous one is done. `timed`: each at its
        /// recorded time. `paced`: each after the previous one and the recorded gap between the
        /// two, in which the program computed or waited. This is a closed replay with the recorded
        /// compute time.
        replay: Replay = default("closed", "a program waits for its requests") aka ["mode"],
        /// Time before the first request.
        shift: Seconds = default("0 s", "the trace begins with the run") aka ["offset"],
        /// Gaps of a `paced` replay.
        gaps: Gaps = default("wait", "a gap occupies no core"),
        /// Factor on the recorded times of a `timed` replay and on the gaps of a `paced` one:
        /// 0.5 is twice as fast.
        scale: f64 as NonNegative = default(1.0, "the recorded times") aka ["speed"],
        /// Bytes of each file to which offsets are mapped, a multiple of 4 KiB: an offset becomes its
        /// remainder by them. The result counts the mapped requests.
        space: Option<Bytes> = optional("the recorded offsets"),
        /// `kept`: reads and writes whose file was opened with O_DIRECT bypass the page cache, as
        /// with `io.direct`. Writes to a file opened with O_SYNC or O_DSYNC wait for the device, as
        /// with `io.synchronous`. All requests of a block trace are direct, and its writes with FUA
        /// synchronous. `ignored`: only `io.direct` and `io.synchronous` count.
        flags: RecordFlags = default("kept", "files are opened as the traced program opened them; a block trace has requests below the page cache"),
        /// The machine's volume of the files that are written and never read, by its name.
        output_volume: Option<String> = optional("all files lie where the workload's do"),
    }
    check volume_and_space_fit;
}

/// The largest block of a device that direct requests must be aligned to.
const ALIGNMENT: u64 = 4096;

fn volume_and_space_fit(replay: &TraceReplay, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    let is_aligned = |space: u64| space > 0 && space.is_multiple_of(ALIGNMENT);
    if replay.space.is_some_and(|it| !is_aligned(it.0)) {
        return Err(at.error("space", r#"expected a multiple of 4 KiB such as "10 GiB""#));
    }
    volume_exists(replay.output_volume.as_ref(), "output_volume", all, at)
}
