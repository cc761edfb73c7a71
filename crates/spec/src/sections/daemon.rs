//! `[servers.daemon]`: the process that serves the jobs.

use crate::declare::section;
use crate::values::{AtLeastOne, Seconds};

section! {
    /// The server process.
    pub struct Daemon {
        /// How many jobs it handles at once.
        threads: u32 as AtLeastOne = default(1, "one job is handled after the other"),
        /// Processor time for each job.
        time_per_job: Seconds = default("0 s", "nothing is assumed: measure it"),
    }
}
