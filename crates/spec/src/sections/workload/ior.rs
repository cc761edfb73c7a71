//! `kind = "ior"`: the pattern of the IOR benchmark.

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::{InputOutput, Interface, Scenario};
use crate::values::{
    AtLeastOne, Bytes, Count, CountOr, NonEmpty, Portion, Seconds, SizeByRank, choice, word,
};

choice! {
    /// Files that a process accesses.
    pub enum Access {
        /// On files of its own.
        FilePerProcess = "file-per-process",
        /// On its part of files that all processes share.
        Shared = "shared",
    }
}

choice! {
    /// Order of a process's transfers.
    pub enum Order {
        /// By increasing offset.
        Sequential = "sequential",
        /// By decreasing offset.
        Backward = "backward",
        /// By increasing offset with `stride` transfers from one to the next, as often as
        /// it takes to make each transfer once.
        Strided = "strided",
        /// In a random order, each transfer once.
        Random = "random",
        /// Each at a random place; places may repeat.
        Uniform = "uniform",
    }
}

choice! {
    /// Operation on the files.
    pub enum Phase {
        /// They are written.
        Write = "write",
        /// They are read.
        Read = "read",
        /// Each transfer is a read or a write, by chance.
        Mixed = "mixed",
        /// Each process brings its writes to stable storage (fsync).
        Sync = "sync",
    }
}

choice! {
    /// Distribution of think times.
    pub enum ThinkDistribution {
        /// All the same.
        Constant = "constant",
        /// Exponentially, with the given mean.
        Exponential = "exponential",
    }
}

word! {
    /// Number of times the phases are run.
    pub enum Repeat {
        /// Until the run stops.
        Forever = "forever",
        /// A number of times.
        Times(u32),
    }
}

section! {
    /// The pattern of the IOR benchmark: files of segments, each segment one
    /// block per process, each block read or written in transfers.
    pub struct Ior {
        /// Number of files each process has; with shared access, how many there are in all.
        files: u32 as AtLeastOne = default(1, "IOR writes one file") aka ["file_count"],
        /// Contiguous bytes of one process in one segment: a size, or one by rank. A list such as
        /// `["1 MiB", "2 MiB"]` is repeated; `{ first = "1 MiB", step = "64 KiB" }` adds `step` for
        /// each rank.
        block: SizeByRank = required("1 MiB") aka ["size", "block_size", "file_size"],
        /// Bytes of one request, the same or by rank; divides the block of its rank.
        transfer: SizeByRank = same(block) aka ["transfer_size", "request", "request_size"],
        /// Number of segments a file has.
        segments: u32 as AtLeastOne = default(1, "IOR's segmentCount") aka ["segment_count"],
        /// Number of transfers a process makes in a phase, if not all.
        requests: Option<u64> = optional("every transfer of its blocks") aka ["count"],
        /// If true, each write is followed by an fsync.
        sync_per_write: bool = default(false, "IOR without its option -Y") aka ["fsync_per_write"],
        /// If true, each process opens a file before its first transfer of a phase and closes it
        /// after the last. Each opens a file that all share. In random order all files are opened
        /// before the first transfer of a phase and closed after the last.
        opens: Option<bool> = optional("true where a close sends what was written to the servers (close-to-open consistency or opportunistic locks in `clients.machine.attributes`), since IOR closes its files after each phase; elsewhere what opening and closing takes is left out") aka ["open_and_close"],
        /// One set of files for each process, or files shared by all.
        access: Access = default("file-per-process", "no two clients write the same file"),
        /// Order of a process's transfers.
        order: Order = default("sequential", "IOR without its option -z"),
        /// Number of interleaved sequential streams of a process through one open file. Its part of
        /// the file is divided into as many sections, each accessed in order; only with `order =
        /// "sequential"`.
        streams: u32 as AtLeastOne = default(1, "IOR reads and writes at one place") aka ["interleaved_streams"],
        /// Distance between successive transfers of a file, in transfers; only with `order =
        /// "strided"`.
        stride: u32 as AtLeastOne = default(Ior::STRIDE, "declared default: fio's and iozone's strides are for the user to choose"),
        /// Phases in order; all clients synchronise between phases.
        phases: Vec<Phase> as NonEmpty<Phase> = default(["write"], "the files must be written before they can be read")
            aka ["phase", "operation", "operations"],
        /// Distance between the reading and the writing process: in a read phase, rank n reads the
        /// data of rank n + this, modulo the processes. Ranks are on the clients in turn, so 1
        /// reads the data of another client (options -C and -Q).
        rank_shift: u32 as Count = default(0, "IOR without its option -C") aka ["reorder_tasks", "task_offset", "tasks_per_node_offset"],
        /// Time after which a write phase ends. Each process then goes on until it has written as
        /// many transfers as the one that had written most. Later phases access as many (option -D
        /// with stoneWallingWearOut=1). 0 is no limit.
        stonewall: Seconds = default("0 s", "IOR without its option -D") aka ["stonewall_time", "stonewalling", "deadline_for_stonewalling"],
        /// Read fraction of a mixed phase. Each transfer is drawn independently of all other events
        /// in the run.
        read_share: f64 as Portion = default(Ior::READ_SHARE, "fio's rwmixread") aka ["read_fraction"],
        /// Time between the end of a request and the next one.
        think: Seconds = default("0 s", "IOR does not wait") aka ["think_time"],
        /// Distribution of think times around that mean.
        think_distribution: ThinkDistribution = default("constant", "nothing is assumed"),
        /// Time that every process lets pass before it runs the phases again: a program
        /// computes between two checkpoints.
        interval: Seconds = default("0 s", "IOR's interTestDelay is for repetitions of its own") aka ["inter_test_delay", "pause"],
        /// Number of times the phases are run: a count, or `forever` until the run stops.
        repeat: Repeat as CountOr<Repeat> = default(1, "IOR's repetitions") aka ["repetitions"],
    }
    check transfers_fill_the_block;
}

impl Ior {
    /// The pattern on the clients of a scenario. Files are opened and closed if that is given, or
    /// if a close has work to do there.
    #[must_use]
    pub fn on_clients_of(&self, scenario: &Scenario) -> Ior {
        let machine = scenario.clients.machine();
        let writes_back = machine.is_some_and(|it| it.attributes.closing_writes_back());
        Ior {
            opens: Some(self.opens.unwrap_or(writes_back)),
            ..self.clone()
        }
    }

    /// Returns true if sizes depend on the rank.
    #[must_use]
    pub fn by_rank(&self) -> bool {
        self.block.same().is_none() || self.transfer.same().is_none()
    }

    const READ_SHARE: f64 = 0.5;
    /// Default distance between successive transfers, in transfers.
    pub(crate) const STRIDE: u32 = 17;

    /// Creates a pattern that accesses its files once, in order. It stands for other kinds of
    /// workload where only files and sizes matter.
    pub(super) fn in_order(files: u32, block: Bytes, transfer: Bytes, phases: Vec<Phase>) -> Self {
        Ior {
            files,
            block: block.into(),
            transfer: transfer.into(),
            segments: 1,
            requests: None,
            sync_per_write: false,
            opens: Some(false),
            access: Access::FilePerProcess,
            order: Order::Sequential,
            phases,
            rank_shift: 0,
            stonewall: Seconds(0.0),
            read_share: Ior::READ_SHARE,
            streams: 1,
            stride: Ior::STRIDE,
            think: Seconds(0.0),
            interval: Seconds(0.0),
            think_distribution: ThinkDistribution::Constant,
            repeat: Repeat::Times(1),
        }
    }

    /// Rejects options that the kernel or the model does not support for such files.
    pub(super) fn suits(&self, io: &InputOutput, at: &Place<'_>) -> Result<(), Error> {
        if io.interface == Interface::Library && self.by_rank() {
            let message = "the C library gathers calls of one size: give block and transfer one \
                           size each, or take interface = \"system-call\"";
            return Err(at.field("io").error("interface", message));
        }
        let whole_sectors = |size: &Bytes| size.0.is_multiple_of(SECTOR);
        if io.direct && !self.transfer.every().iter().all(whole_sectors) {
            let message = format!(
                "direct transfers go by sectors: expected a multiple of {SECTOR} B with {} = true",
                at.field("io").field("direct").path
            );
            return Err(at.error("transfer", message));
        }
        Ok(())
    }
}

/// Alignment of O_DIRECT transfers: the smallest logical block.
pub(super) const SECTOR: u64 = 512;

/// Ranks that are checked one by one: where sizes differ, no scenario has more processes.
const MOST_RANKS: u64 = 2_000_000;

/// Rejects a block that is empty or that transfers do not fill.
fn sizes_fit(ior: &Ior, processes: u64, at: &Place<'_>) -> Result<(), Error> {
    let ranks = match ior.by_rank() {
        true => processes.clamp(1, MOST_RANKS),
        false => 1,
    };
    for rank in 0..ranks {
        let (block, transfer) = (ior.block.of(rank), ior.transfer.of(rank));
        let of_rank = match ior.by_rank() {
            true => format!(" of rank {rank}"),
            false => String::new(),
        };
        if block.0 == 0 {
            let message = match of_rank.as_str() {
                "" => r#"expected a size of more than 0 such as "1 MiB""#.to_owned(),
                rank => format!("the block{rank} is empty: expected sizes of more than 0"),
            };
            return Err(at.error("block", message));
        }
        if transfer.0 == 0 || !block.0.is_multiple_of(transfer.0) {
            let path = at.field("block").path;
            let message = match of_rank.as_str() {
                "" => format!("it must divide the block: {path} = \"{block}\""),
                rank => format!(
                    "that{rank}, \"{transfer}\", must divide the block{rank}: {path} = \
                     \"{block}\""
                ),
            };
            return Err(at.error("transfer", message));
        }
    }
    Ok(())
}

fn transfers_fill_the_block(ior: &Ior, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    let processes = u64::from(all.clients.count) * u64::from(all.clients.processes);
    sizes_fit(ior, processes, at)?;
    let largest = ior.block.largest(processes);
    if largest.0.checked_mul(u64::from(ior.segments)).is_none() {
        let path = at.field("segments").path;
        let message = format!("the file is larger than 16 EiB: {path} = {}", ior.segments);
        return Err(at.error("block", message));
    }
    if ior.streams > 1 && ior.order != Order::Sequential {
        let message = format!(
            "streams are read in order: leave it out, or give {} = \"sequential\"",
            at.field("order").path
        );
        return Err(at.error("streams", message));
    }
    if ior.interval.0 > 0.0 && ior.repeat == Repeat::Times(1) {
        let message = format!(
            "the phases are run once: leave it out, or give {} more than 1",
            at.field("repeat").path
        );
        return Err(at.error("interval", message));
    }
    if ior.stride != Ior::STRIDE && ior.order != Order::Strided {
        let message = format!(
            "only strided transfers have one: leave it out, or give {} = \"strided\"",
            at.field("order").path
        );
        return Err(at.error("stride", message));
    }
    if !ior.phases.contains(&Phase::Mixed) && ior.read_share != Ior::READ_SHARE {
        let message = format!(
            "no phase is mixed: leave it out, or give {} = [\"mixed\"]",
            at.field("phases").path
        );
        return Err(at.error("read_share", message));
    }
    let drawn = matches!(ior.order, Order::Random | Order::Uniform);
    if ior.stonewall.0 > 0.0 && drawn {
        let message = format!(
            "another phase would access other transfers than those written by then: leave it out, \
             or give {} = \"sequential\"",
            at.field("order").path
        );
        return Err(at.error("stonewall", message));
    }
    if ior.stonewall.0 > 0.0 && !ior.phases.contains(&Phase::Write) {
        let message = format!(
            "no phase writes: leave it out, or give {} = [\"write\", \"read\"]",
            at.field("phases").path
        );
        return Err(at.error("stonewall", message));
    }
    if ior.phases.len() > 1 && ior.repeat != Repeat::Forever && all.run.stop.precision.is_some() {
        let message = "run.stop.precision would end the run in the first phase whose mean is \
                       known: give one phase, or leave the precision out";
        return Err(at.error("phases", message));
    }
    if ior.repeat == Repeat::Forever && !all.run.stop.is_given() {
        let message = "the run would never stop: give run.stop.time, run.stop.requests or \
                       run.stop.precision";
        return Err(at.error("repeat", message));
    }
    Ok(())
}
