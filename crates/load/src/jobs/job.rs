//! Description of a job.

use serde::Deserialize;

use crate::Error;
use crate::jobs::queue::Way;

/// Kind of a job's requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// Read and write.
    #[default]
    Transfer,
    /// Create each file.
    Create,
    /// stat(2) of each file.
    Stat,
    /// Remove each file.
    Unlink,
    /// Make a directory instead of each file.
    Mkdir,
    /// Remove a directory instead of each file.
    Rmdir,
    /// ftruncate(2) to each offset.
    Truncate,
    /// fallocate(2) of each range; reads keep the file's size.
    Allocate,
    /// fallocate(2) that makes a hole of each range.
    Punch,
    /// Processor time only.
    Compute,
}

impl Work {
    /// Returns true if requests have offsets in files.
    #[must_use]
    pub fn has_offsets(self) -> bool {
        matches!(
            self,
            Work::Transfer | Work::Truncate | Work::Allocate | Work::Punch
        )
    }

    /// Returns true if each file is one request.
    #[must_use]
    pub fn is_of_names(self) -> bool {
        !self.has_offsets() && self != Work::Compute
    }
}

/// Order in which a process uses its files.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileOrder {
    /// One after another, some requests each.
    #[default]
    RoundRobin,
    /// The next when one is done.
    Sequential,
    /// Any, for some requests each.
    Random,
}

/// Advice of posix_fadvise(2) and madvise(2).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PageAdvice {
    /// None.
    #[default]
    None,
    /// Nothing is read ahead.
    Random,
    /// More is read ahead.
    Sequential,
}

/// Distribution of random offsets.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Distribution {
    /// All blocks alike.
    #[default]
    Uniform,
    /// Zipf's law: the block of rank r with a weight of r^-theta. Ranks are scattered over the file
    /// (as are those of the others), and begin at a share of it.
    Zipf {
        /// Exponent.
        theta: f64,
        /// Share of the file at which rank 1 would be without scattering.
        center: Option<f64>,
    },
    /// Pareto's law; of h = 0.2, 80 % of the requests are for 20 % of the blocks.
    Pareto {
        /// Share of the blocks that gets a share of 1 - h of the requests.
        h: f64,
        /// As of Zipf's law.
        center: Option<f64>,
    },
    /// Mean of twelve uniform numbers, with a uniform deviation.
    Normal {
        /// Width of the deviation as a percentage of the file.
        deviation: f64,
        /// As of Zipf's law.
        center: Option<f64>,
    },
    /// Zones: share of the requests, first and last byte as shares of the file.
    Zoned {
        /// In order of their places.
        zones: Vec<(f64, f64, f64)>,
    },
}

/// Offsets of a process's requests.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Access {
    /// True if offsets are random. Otherwise they ascend.
    pub random: bool,
    /// Share of random requests among those of a random job; the rest follow the last one.
    pub random_share: f64,
    /// Requests until a new random offset.
    pub in_a_row: u32,
    /// True if these have the same offset, false if each follows the last.
    pub same_offset: bool,
    /// Bytes that are left out between two sequential requests; negative: backwards.
    pub step: i64,
    /// True if random requests visit each block once before any comes again.
    pub each_once: bool,
    /// Distribution of random offsets.
    pub distribution: Distribution,
    /// Multiple that random offsets are of; 0: the block.
    pub align: u32,
    /// Bytes that are moved in a zone of a file before the next, bytes of the zone, and bytes
    /// between two zones.
    pub zones: Option<(u64, u64, u64)>,
}

impl Default for Access {
    fn default() -> Access {
        Access {
            random: false,
            random_share: 1.0,
            in_a_row: 1,
            same_offset: false,
            step: 0,
            each_once: true,
            distribution: Distribution::Uniform,
            align: 0,
            zones: None,
        }
    }
}

/// Times at which requests are made.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Pace {
    /// Reads and writes that each process makes per second; as many as it can without.
    pub requests: [Option<f64>; 2],
    /// Bytes that it reads and writes per second.
    pub bytes: [Option<f64>; 2],
    /// True if times between requests are exponential, with these rates.
    pub poisson: bool,
    /// Pause after some requests, when all are completed: seconds, those of them that are spent on
    /// the processor, and the number of requests.
    pub think: Option<(f64, f64, u32)>,
    /// Least and most seconds before the first request.
    pub delay: (f64, f64),
    /// Number of a group of jobs, and this job's part of the group's requests.
    pub flow: Option<(u32, f64)>,
    /// Search for the largest queue depth within a latency.
    pub latency_target: Option<LatencyTarget>,
}

impl Pace {
    /// Returns true if requests have times at which they are due.
    #[must_use]
    pub fn has_rates(&self) -> bool {
        let mut rates = self.requests.iter().chain(&self.bytes);
        rates.any(Option::is_some)
    }
}

/// Search for a queue depth.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatencyTarget {
    /// The largest latency, in seconds.
    pub seconds: f64,
    /// Seconds for which a depth is tried.
    pub window: f64,
    /// Share of the requests that must keep it.
    pub share: f64,
    /// True if the search goes on to the end of the job.
    pub goes_on: bool,
}

/// Requests in flight.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Batches {
    /// Requests handed over together; 0: each at once.
    pub submit: u32,
    /// Completions awaited at a time; 0: one.
    pub complete: u32,
    /// Requests in flight down to which a full queue is emptied; 0: one less than the depth.
    pub low: u32,
}

/// Content of what is written.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct JobContent {
    /// Share of each 4 KiB that is zeros.
    pub compressible: f64,
    /// Share of the blocks of 4 KiB that are the same.
    pub duplicates: f64,
    /// Bytes that are repeated.
    pub pattern: Vec<u8>,
    /// True if data depend on file and offset, so that other jobs can compare them.
    pub by_place: bool,
    /// True if reads are compared with it.
    pub verify: bool,
    /// True if a process reads all that it has written at its end, and compares it.
    pub read_back: bool,
}

/// Scheduling of a job's threads.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Scheduling {
    /// Processors that they may use; all if empty.
    pub cpus: Vec<u32>,
    /// True if each process has one of them.
    pub one_cpu_each: bool,
    /// nice(2).
    pub nice: Option<i32>,
    /// Class (1: real time, 2: best effort, 3: idle) and level of ioprio_set(2).
    pub io_priority: Option<(u8, u8)>,
}

/// Quantity of each second.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SteadyBy {
    /// Requests.
    Iops,
    /// Bytes.
    Bw,
    /// Mean latency.
    Lat,
}

/// End of a job whose rate has become steady.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SteadyState {
    /// The quantity that is to be steady.
    pub by: SteadyBy,
    /// True if the limit is of the slope of a line through the rates of each second. Otherwise it is
    /// of the largest deviation from their mean.
    pub slope: bool,
    /// Limit, as a share of the mean if `relative`.
    pub limit: f64,
    /// True if the limit is relative.
    pub relative: bool,
    /// Seconds that are checked.
    pub seconds: f64,
    /// Seconds before.
    pub ramp: f64,
}

/// Reads and writes, or other requests, by several processes that do the same.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Job {
    /// Name.
    pub name: String,
    /// Kind of its requests.
    pub work: Work,
    /// Name of a way to make them.
    pub calls: String,
    /// The number of its first file, of its first process's if each has its own.
    pub file: u32,
    /// True if all processes use the same files.
    pub shared: bool,
    /// Files of a process.
    pub files: u32,
    /// Order in which they are used, and requests until the next.
    pub file_order: (FileOrder, u32),
    /// True if files are created when they are opened.
    pub creates: bool,
    /// Advice to the kernel about the pages of its files.
    pub advice: PageAdvice,
    /// True if files leave the page cache before the job, as far as the file system takes that
    /// advice.
    pub cold: bool,
    /// True if they do so before each further pass.
    pub cold_again: bool,
    /// First byte of a file that is used.
    pub offset: u64,
    /// Bytes between the first ones of two processes.
    pub offset_step: u64,
    /// Bytes of a file that are used.
    pub bytes: u64,
    /// Bytes of the smallest request.
    pub block: u32,
    /// Bytes and share of each size of reads and of writes; empty: all have a block.
    pub sizes: [Vec<(u32, f64)>; 2],
    /// Fraction of the requests that are reads.
    pub read_share: f64,
    /// Offsets.
    pub access: Access,
    /// Requests in flight per process at the most.
    pub queue_depth: u32,
    /// How they are handed over and awaited.
    pub batches: Batches,
    /// Threads that do the same.
    pub processes: u32,
    /// Bypass the page cache (`O_DIRECT`).
    pub direct: bool,
    /// A write returns when its data is on stable storage (`O_DSYNC`).
    pub stable: bool,
    /// The same of its attributes (`O_SYNC`).
    pub stable_attributes: bool,
    /// Seconds measured, at the most.
    pub seconds: Option<f64>,
    /// True if a process starts again at the end of its file until its time is over.
    pub repeated: bool,
    /// Passes, if it does not.
    pub passes: u32,
    /// Bytes that a process moves in a pass; all of its files' if none.
    pub total: Option<u64>,
    /// Requests of a process at the most.
    pub most: Option<u64>,
    /// Seconds before, which do not count.
    pub warm_up: f64,
    /// Times at which requests are made.
    pub pace: Pace,
    /// Writes after which a process waits for all of its writes and calls fsync.
    pub sync_every: Option<u32>,
    /// The same with fdatasync.
    pub sync_data_every: Option<u32>,
    /// True if each process calls fsync at its end.
    pub sync_at_end: bool,
    /// Content.
    pub content: JobContent,
    /// Scheduling.
    pub scheduling: Scheduling,
    /// Name of a job of the same stage whose end it awaits.
    pub after: Option<String>,
    /// True if all jobs of the stage end with it.
    pub ends_all: bool,
    /// Ends when its rate is steady.
    pub steady_state: Option<SteadyState>,
    /// Share of processor time, and seconds of computing at a time, of [`Work::Compute`].
    pub compute: Option<(f64, f64)>,
    /// True if each request is logged.
    pub log: bool,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl Default for Job {
    fn default() -> Job {
        Job {
            name: String::new(),
            work: Work::Transfer,
            calls: "posix".to_owned(),
            file: 0,
            shared: false,
            files: 1,
            file_order: (FileOrder::RoundRobin, 1),
            creates: false,
            advice: PageAdvice::None,
            cold: true,
            cold_again: false,
            offset: 0,
            offset_step: 0,
            bytes: 0,
            block: 4096,
            sizes: [Vec::new(), Vec::new()],
            read_share: 1.0,
            access: Access::default(),
            queue_depth: 1,
            batches: Batches::default(),
            processes: 1,
            direct: false,
            stable: false,
            stable_attributes: false,
            seconds: None,
            repeated: false,
            passes: 1,
            total: None,
            most: None,
            warm_up: 0.0,
            pace: Pace::default(),
            sync_every: None,
            sync_data_every: None,
            sync_at_end: false,
            content: JobContent::default(),
            scheduling: Scheduling::default(),
            after: None,
            ends_all: false,
            steady_state: None,
            compute: None,
            log: false,
            seed: 1,
        }
    }
}

/// The largest queue depth: what the kernel's ring takes.
const DEEPEST: u32 = 4096;

/// Processes of a job at the most.
const MOST_PROCESSES: u32 = 4096;

/// Files of a process at the most.
const MOST_FILES: u32 = 1 << 20;

/// Minimum alignment of direct requests: the smallest sector.
const SECTOR: u32 = 512;

/// Bytes of all of a process's buffers at the most.
const MOST_BUFFERED: u64 = 4 << 30;

impl Job {
    /// Returns true if it reads.
    #[must_use]
    pub fn reads(&self) -> bool {
        self.work == Work::Transfer && self.read_share > 0.0
    }

    /// Returns true if it writes.
    #[must_use]
    pub fn writes(&self) -> bool {
        self.work.has_offsets() && (self.read_share < 1.0 || self.work != Work::Transfer)
    }

    /// The number of a process's first file.
    #[must_use]
    pub fn file_of(&self, process: u32) -> u32 {
        if self.shared {
            self.file
        } else {
            let before = process.saturating_mul(self.files);
            self.file.saturating_add(before)
        }
    }

    /// The numbers of all of its files.
    pub fn all_files(&self) -> std::ops::Range<u32> {
        let processes = if self.shared { 1 } else { self.processes };
        self.file
            ..self
                .file
                .saturating_add(processes.saturating_mul(self.files))
    }

    /// Returns true if its first request waits neither for a time nor for another job.
    #[must_use]
    pub fn begins_at_once(&self) -> bool {
        self.after.is_none() && self.pace.delay == (0.0, 0.0)
    }

    /// Bytes of the largest request.
    #[must_use]
    pub fn largest(&self) -> u32 {
        let sizes = self.sizes.iter().flatten().map(|it| it.0);
        sizes.max().unwrap_or(0).max(self.block)
    }

    /// Blocks that fit in a file.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.bytes / u64::from(self.block.max(1))
    }

    /// Returns the way in which its calls are made.
    pub(crate) fn way(&self) -> Result<Way, Error> {
        Way::with_word(&self.calls).ok_or_else(|| {
            let words = Way::ALL.map(|it| it.word()).join(", ");
            self.wrong(format!("calls {:?}: expected one of {words}", self.calls))
        })
    }

    /// Refuses a job that cannot run.
    ///
    /// # Errors
    /// The error states the expected value.
    pub fn check(&self) -> Result<(), Error> {
        let way = self.way()?;
        let expected = |holds: bool, what: &str| match holds {
            true => Ok(()),
            false => Err(self.wrong(what.to_owned())),
        };
        let mut sizes = self.sizes.iter().flatten().map(|it| it.0);
        let largest = self.largest();
        expected(self.block > 0, "a block of 0 bytes: expected at least 1")?;
        expected(
            sizes.clone().all(|it| it >= self.block),
            "a request is smaller than the smallest",
        )?;
        expected(
            !self.work.has_offsets() || self.blocks() > 0,
            &format!(
                "no block of {} bytes fits in the {} bytes of a file: take a smaller block or a \
                 larger file",
                self.block, self.bytes
            ),
        )?;
        let odd = (!self.block.is_multiple_of(SECTOR)).then_some(self.block);
        let odd = odd.or_else(|| sizes.find(|it| !it.is_multiple_of(SECTOR)));
        expected(
            !self.direct || odd.is_none() || way == Way::Null,
            &format!(
                "direct requests (O_DIRECT) are multiples of {SECTOR} bytes, which {} are not: take \
                 another block, or go through the page cache",
                odd.unwrap_or(0)
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
            (1..=MOST_FILES).contains(&self.files) && self.file_order.1 > 0,
            &format!("{} files: expected 1 to {MOST_FILES}", self.files),
        )?;
        expected(
            u64::from(self.queue_depth) * u64::from(largest) <= MOST_BUFFERED,
            "the buffers of a process (queue depth times block) are larger than 4 GiB: take a \
             smaller queue depth or block",
        )?;
        expected(
            way.has_queue() || self.queue_depth == 1,
            "a system call waits for its answer, so posix calls have a queue depth of 1: take \
             calls io-uring, or a queue depth of 1",
        )?;
        let rates = self.pace.requests.iter().chain(&self.pace.bytes).flatten();
        let times = rates.copied().chain(self.seconds);
        expected(
            times.into_iter().all(|it| it > 0.0 && it.is_finite())
                && self.warm_up >= 0.0
                && self.warm_up.is_finite(),
            "times and rates: expected numbers above 0",
        )?;
        expected(
            self.work != Work::Compute || self.seconds.is_some(),
            "it computes without end: expected a time",
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
