//! Description of a job.

use serde::Deserialize;

use crate::Error;
use crate::calls::Backend;

/// Reads and writes of one size in files of one size.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Name.
    pub name: String,
    /// The number of its file, of its first process's if each has its own.
    pub file: u32,
    /// True if all processes use one file.
    pub shared: bool,
    /// Bytes of a file that are used.
    pub bytes: u64,
    /// Bytes of a request.
    pub block: u32,
    /// Fraction of the requests that are reads.
    pub read_share: f64,
    /// True if offsets are random: each block once, in random order, then again. Otherwise they
    /// ascend.
    pub random: bool,
    /// Requests in flight per process at the most.
    pub queue_depth: u32,
    /// Threads that do the same.
    pub processes: u32,
    /// `posix` or `io-uring`.
    pub calls: String,
    /// Bypass the page cache (`O_DIRECT`).
    pub direct: bool,
    /// A write returns when its data is on stable storage (`O_DSYNC`).
    pub stable: bool,
    /// Seconds measured, at the most.
    pub seconds: Option<f64>,
    /// True if a process starts again at the end of its file until its time is over.
    pub repeated: bool,
    /// Seconds before, which do not count.
    pub warm_up: f64,
    /// Requests that each process makes per second; as many as it can without.
    pub rate: Option<f64>,
    /// Writes after which a process waits for all of its writes and calls fsync.
    pub sync_every: Option<u32>,
    /// True if each process calls fsync at its end.
    pub sync_at_end: bool,
    /// Seed of the random numbers.
    pub seed: u64,
}

/// The largest queue depth: what the kernel's ring takes.
const DEEPEST: u32 = 4096;

/// Processes of a job at the most.
const MOST_PROCESSES: u32 = 4096;

/// Minimum alignment of direct requests: the smallest sector.
const SECTOR: u32 = 512;

/// Bytes of all of a process's buffers at the most.
const MOST_BUFFERED: u64 = 4 << 30;

impl Job {
    /// Returns true if it reads.
    #[must_use]
    pub fn reads(&self) -> bool {
        self.read_share > 0.0
    }

    /// Returns true if it writes.
    #[must_use]
    pub fn writes(&self) -> bool {
        self.read_share < 1.0
    }

    /// The number of a process's file.
    #[must_use]
    pub fn file_of(&self, process: u32) -> u32 {
        if self.shared {
            self.file
        } else {
            self.file.saturating_add(process)
        }
    }

    /// Blocks that fit in a file.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.bytes / u64::from(self.block.max(1))
    }

    /// Returns the backend that makes the calls.
    pub(crate) fn backend(&self) -> Result<Backend, Error> {
        match Backend::with_word(&self.calls)? {
            Backend::Null | Backend::Stalling => Err(self.wrong(format!(
                "calls {:?}: expected posix or io-uring",
                self.calls
            ))),
            backend => Ok(backend),
        }
    }

    /// Refuses a job that cannot run.
    ///
    /// # Errors
    /// The error states the expected value.
    pub fn check(&self) -> Result<(), Error> {
        let backend = self.backend()?;
        let expected = |holds: bool, what: &str| match holds {
            true => Ok(()),
            false => Err(self.wrong(what.to_owned())),
        };
        expected(self.block > 0, "a block of 0 bytes: expected at least 1")?;
        expected(
            self.blocks() > 0,
            &format!(
                "no block of {} bytes fits in the {} bytes of a file: take a smaller block or a \
                 larger file",
                self.block, self.bytes
            ),
        )?;
        expected(
            !self.direct || self.block.is_multiple_of(SECTOR),
            &format!(
                "direct requests (O_DIRECT) are multiples of {SECTOR} bytes, which {} are not: take \
                 another block, or go through the page cache",
                self.block
            ),
        )?;
        expected(
            (0.0..=1.0).contains(&self.read_share),
            "the share of reads: expected 0 to 1",
        )?;
        expected(
            (1..=DEEPEST).contains(&self.queue_depth),
            &format!(
                "a queue depth of {}: expected 1 to {DEEPEST}",
                self.queue_depth
            ),
        )?;
        expected(
            (1..=MOST_PROCESSES).contains(&self.processes),
            &format!(
                "{} processes: expected 1 to {MOST_PROCESSES}",
                self.processes
            ),
        )?;
        expected(
            u64::from(self.queue_depth) * u64::from(self.block) <= MOST_BUFFERED,
            "the buffers of a process (queue depth times block) are larger than 4 GiB: take a \
             smaller queue depth or block",
        )?;
        expected(
            backend == Backend::Uring || self.queue_depth == 1,
            "a system call waits for its answer, so posix calls have a queue depth of 1: take \
             calls io-uring, or a queue depth of 1",
        )?;
        let times = [self.seconds.unwrap_or(1.0), self.rate.unwrap_or(1.0)];
        expected(
            times.iter().all(|it| *it > 0.0 && it.is_finite())
                && self.warm_up >= 0.0
                && self.warm_up.is_finite(),
            "times and rates: expected numbers above 0",
        )?;
        expected(
            self.seconds.is_some() || !self.repeated,
            "it is repeated without end: expected a time",
        )
    }

    fn wrong(&self, what: String) -> Error {
        Error::Unsuitable(format!("job {:?}: {what}", self.name))
    }
}
