//! `kind = "operation-mix"`: operations drawn by weight.

use headrace_trace::Operation;

use super::mix_file_sets::{FileSet, FileSets};
use super::mix_files::FileSizes;
use super::mix_locality::Locality;
use super::mix_names::NameSets;
use super::mix_order::{Bursts, ByOperation, Followers, nothing_follows};
use super::{Access, Ior, OperationGroup, Phase, Sharing, ThinkDistribution};
use crate::Error;
use crate::declare::{Place, section};
use crate::sections::Scenario;
use crate::values::{
    AtLeastOne, ByWeight, Bytes, CountOr, Portion, Positive, Seconds, Share, Weighted, choice,
    table_of_weights, word,
};

/// Declares the operations of mixes: word in scenarios, group, and the operation that a simulation
/// models in its place. To add one, add a line.
macro_rules! mixed_operations {
    ($($(#[doc = $doc:literal])+ $variant:ident = $word:literal, $group:ident, $modelled:ident;)+) => {
        choice! {
            /// An operation of a mix: those of Wang 2002, section 3.3.1, by the names of the calls.
            /// A simulation distinguishes fewer: operations that it treats as one cost the same
            /// there.
            pub enum MixedOperation {
                $($(#[doc = $doc])+ $variant = $word),+
            }
        }

        impl MixedOperation {
            /// Returns its group.
            #[must_use]
            pub fn group(self) -> OperationGroup {
                match self { $(MixedOperation::$variant => OperationGroup::$group),+ }
            }

            /// Returns the operation that a simulation models in its place; for one that reads or
            /// writes by turns, the first of the two.
            #[must_use]
            pub fn simulated_as(self) -> Operation {
                match self { $(MixedOperation::$variant => Operation::$modelled),+ }
            }
        }
    };
}

mixed_operations! {
    /// A part of a file is read.
    Read = "read", Read, Read;
    /// A part of a file is read by the C library, with its buffer; simulated as `read`.
    Fread = "fread", Read, Read;
    /// A part of a file is read past the page cache, in multiples of 4 KiB; simulated as
    /// `read`.
    DirectRead = "direct-read", Read, Read;
    /// A part of a file is written.
    Write = "write", Write, Write;
    /// A part of a file is written by the C library, with its buffer; simulated as `write`.
    Fwrite = "fwrite", Write, Write;
    /// A part of a file is written past the page cache, in multiples of 4 KiB; simulated as
    /// `write`.
    DirectWrite = "direct-write", Write, Write;
    /// A file gets the length that it had at the start.
    Truncate = "truncate", Write, Truncate;
    /// A file's written data is brought to stable storage.
    Sync = "sync", Write, Sync;
    /// All written data of a file system is brought to stable storage, with one of its files
    /// open; simulated as `sync` of that file.
    Syncfs = "syncfs", Write, Sync;
    /// A part of a file is read or written, each as often: simulated as `read` or `write`.
    ReadWrite = "read-write", ReadWrite, Read;
    /// A part of a file is mapped and a byte of each page loaded; simulated as `read`.
    Mmap = "mmap", MemoryMapping, Read;
    /// Unmap the mapped part of a file; simulated as `close`.
    Munmap = "munmap", MemoryMapping, Close;
    /// A part of the largest file, which all share, is read; simulated as `read`.
    SharedRead = "shared-read", ReadSharing, Read;
    /// A part of the largest file, which all share, is written; simulated as `write`.
    SharedWrite = "shared-write", WriteSharing, Write;
    /// A part of the largest file, which all share, is read or written, each as often:
    /// simulated as `read` or `write`.
    SharedReadWrite = "shared-read-write", ReadWriteSharing, Read;
    /// A name is looked up and the file behind it found.
    Open = "open", File, Open;
    /// An open file is closed.
    Close = "close", File, Close;
    /// Attributes or permissions are looked up.
    Stat = "stat", FileStat, Stat;
    /// Attributes of an open file are looked up; simulated as `stat`.
    Fstat = "fstat", FileStat, Stat;
    /// The state of the file system is looked up.
    Statfs = "statfs", FileStat, Statfs;
    /// The state of an open file's file system is looked up; simulated as `statfs`.
    Fstatfs = "fstatfs", FileStat, Statfs;
    /// An extended attribute, such as an access control list, is looked up.
    Getxattr = "getxattr", GetAttribute, Getxattr;
    /// Permissions are checked; simulated as `stat`.
    Access = "access", GetAttribute, Stat;
    /// Attributes are changed.
    Setattr = "setattr", SetAttribute, Setattr;
    /// An extended attribute is set.
    Setxattr = "setxattr", SetAttribute, Setxattr;
    /// Another directory becomes the current one; simulated as `stat`.
    Chdir = "chdir", Directory, Stat;
    /// A symbolic link's target is read.
    Readlink = "readlink", SymbolicLink, Readlink;
    /// A part of a directory is listed.
    Readdir = "readdir", Directory, Readdir;
    /// A directory is opened and its first part listed; simulated as `readdir`.
    FindFirst = "find-first", Windows, Readdir;
    /// The next part of an open directory is listed; simulated as `readdir`.
    FindNext = "find-next", Windows, Readdir;
    /// A range of a file is locked.
    Lock = "lock", Windows, Lock;
    /// A range of a file is unlocked.
    Unlock = "unlock", Windows, Unlock;
    /// A file is made.
    Create = "create", File, Create;
    /// A file is removed.
    Unlink = "unlink", SymbolicLink, Unlink;
    /// A file's name is changed.
    Rename = "rename", File, Rename;
    /// A file gets another name.
    Link = "link", SymbolicLink, Link;
    /// A directory is made.
    Mkdir = "mkdir", Directory, Mkdir;
    /// A directory is removed.
    Rmdir = "rmdir", Directory, Rmdir;
    /// A symbolic link is made.
    Symlink = "symlink", SymbolicLink, Symlink;
}

impl MixedOperation {
    /// Returns true if parts of files are read by it.
    #[must_use]
    pub fn reads(self) -> bool {
        use MixedOperation::{
            DirectRead, Fread, Mmap, Read, ReadWrite, SharedRead, SharedReadWrite,
        };
        matches!(
            self,
            Read | Fread | DirectRead | ReadWrite | Mmap | SharedRead | SharedReadWrite
        )
    }

    /// Returns true if parts of files are written by it.
    #[must_use]
    pub fn writes(self) -> bool {
        use MixedOperation::{DirectWrite, Fwrite, ReadWrite, SharedReadWrite, SharedWrite, Write};
        matches!(
            self,
            Write | Fwrite | DirectWrite | ReadWrite | SharedWrite | SharedReadWrite
        )
    }

    /// Returns true if it is on the file that all share.
    #[must_use]
    pub fn is_shared(self) -> bool {
        use MixedOperation::{SharedRead, SharedReadWrite, SharedWrite};
        matches!(self, SharedRead | SharedWrite | SharedReadWrite)
    }

    /// Returns true if it goes to a directory.
    #[must_use]
    pub fn goes_to_a_directory(self) -> bool {
        use MixedOperation::{Chdir, FindFirst, FindNext, Readdir};
        matches!(self, Chdir | FindFirst | FindNext | Readdir)
    }

    /// Returns true if it makes or removes a name: not one of a file that is there before the run.
    #[must_use]
    pub fn makes_or_removes(self) -> bool {
        use MixedOperation::{Create, Link, Mkdir, Rename, Rmdir, Symlink, Unlink};
        matches!(
            self,
            Create | Unlink | Rename | Link | Mkdir | Rmdir | Symlink
        )
    }

    /// Returns true if it passes the page cache by, in multiples of [`DIRECT_UNIT`].
    #[must_use]
    pub fn is_direct(self) -> bool {
        matches!(
            self,
            MixedOperation::DirectRead | MixedOperation::DirectWrite
        )
    }
}

/// Alignment of offsets and sizes of direct transfers: the largest logical block of usual devices
/// (open(2), O_DIRECT).
pub const DIRECT_UNIT: u64 = 4096;

word! {
    /// Number of operations.
    pub enum Amount {
        /// Until the run stops.
        Forever = "forever",
        /// A number.
        Count(u32),
    }
}

section! {
    /// Operations drawn by weight, over files that are there before the run: the load
    /// of the SPEC SFS benchmarks.
    pub struct OperationMix {
        /// Weight of each operation.
        weights: Weighted<MixedOperation> as ByWeight<MixedOperation> = required(table_of_weights([("read", 2.0), ("write", 1.0), ("stat", 4.0)]))
            aka ["mix", "operations"],
        /// Number of operations each client asks, by all its processes together: a count, or
        /// `forever` until the run stops.
        amount: Amount as CountOr<Amount> = default(1000, "declared default: enough to see rates and means") aka ["count", "requests"],
        /// Operations a second of all clients together, at times that come from a Poisson
        /// process whatever the system does (an open loop). Each client has an equal part:
        /// its processes take what comes in turn, and what finds all of them busy is late.
        rate: Option<f64> as Option<Positive> = optional("each process asks again when it has its answer and has thought (a closed loop)")
            aka ["load", "arrival_rate"],
        /// Time between the end of an operation and the next one of the process; only
        /// without `rate`.
        think: Seconds = default("0 s", "nothing is assumed") aka ["think_time"],
        /// Distribution of think times around that mean.
        think_distribution: ThinkDistribution = default("constant", "nothing is assumed"),
        /// Number of files in all, for all processes.
        files: u32 as AtLeastOne = default(1000, "declared default: it counts where there are caches") aka ["file_count"],
        /// File sizes with weights, the smallest first. Where the weights add up to 100, a size of
        /// weight 33 is that of 33 files in 100. `small`, `medium` and `large` are the sets of Wang
        /// 2002, tables 3.1 to 3.3; a list of them has as many files of each. Section 3.3.3.2 has
        /// files to be read or written in these three subsets, without their numbers.
        file_sizes: Weighted<Bytes> as FileSizes = default(table_of_weights([("1 MiB", 1.0)]), "declared default: large enough for what is read and written"),
        /// Bytes of files per operation per second of `rate`; 10 MB in SPEC SFS and Wang 2002,
        /// section 3.3.3.4. It determines the number of files, which is at least `files`.
        bytes_per_rate: Option<Bytes> = optional("the files do not grow with the load"),
        /// Files shared by all operation groups, or separate sets for each group.
        file_sets: FileSets = default("shared", "SPEC SFS 2.0 has the same files for every operation (Wang 2002, chapter 2); the MPFS benchmark has `per-group`"),
        /// Fraction of the files that is written and not read, spread evenly over all sizes; reads
        /// use the others. Groups that read and groups that write have files of their own (Wang
        /// 2002, section 3.3.3.2). Operations that neither read nor write are on all files.
        write_files: f64 as Portion = default(0.0, "all files are read and written"),
        /// Read sizes with weights. Reads choose a file of at least that size, if there is one. The
        /// offset is a multiple of the size.
        read_sizes: Weighted<Bytes> as ByWeight<Bytes> = default(table_of_weights([("8 KiB", 1.0)]), "the block of SPEC SFS")
            aka ["read_size", "transfer"],
        /// Write sizes, like `read_sizes`.
        write_sizes: Weighted<Bytes> as ByWeight<Bytes> = default(table_of_weights([("8 KiB", 1.0)]), "the block of SPEC SFS")
            aka ["write_size"],
        /// Fraction of the writes that append to a file.
        append_share: f64 as Portion = default(0.0, "files keep their size"),
        /// Maximum growth of a file: then appends begin again where it ended at the start.
        append_limit: Option<Bytes> = optional("files that are appended to grow without end"),
        /// From which size on files are read and written at random places; smaller ones from their
        /// beginning to their end, and again. Small files tend to be accessed in sequence and large
        /// ones at random. Neither Roselli et al. 2000 nor Wang 2002, section 3.3.4.1, gives a
        /// size.
        random_from: Option<Bytes> = optional("all are, at random places"),
        /// Directories and symbolic links that are there before the run.
        names: NameSets = section(),
        /// Reuse of files.
        locality: Locality = section(),
        /// Writes that come one after the other.
        bursts: Bursts = section(),
        /// Follow-up operations, on the same file where both have one: `{ readdir = "stat", open =
        /// "read" }`. An operation that follows others is drawn correspondingly less often, so that
        /// the shares of the mix are preserved. One whose share is too small to follow every time
        /// follows as often as possible.
        followed_by: Followers as ByOperation = default(nothing_follows(), "each operation is drawn for itself"),
        /// Processes that execute operations on the common file together, at the same moment. Each
        /// of them counts in the shares of the mix.
        sharing: Sharing = default("none", "each process is by itself"),
        /// Fraction of hot files, spread evenly over all sizes.
        hot_files: f64 as Share = default(1.0, "all files are alike"),
        /// Fraction of the operations on hot files; the others use the rest.
        hot_share: f64 as Portion = default(1.0, "all files are alike"),
    }
    check files_and_times_fit;
}

impl OperationMix {
    /// The largest reads and writes as a pattern of the IOR benchmark; none if there are
    /// neither.
    #[must_use]
    pub(crate) fn pattern(&self) -> Option<Ior> {
        let reads = self.weights.values().any(MixedOperation::reads);
        let writes = self.weights.values().any(MixedOperation::writes);
        let sizes = |given: bool, sizes: &Weighted<Bytes>| {
            sizes.values().filter(|_| given).max().unwrap_or(Bytes(0))
        };
        let largest = sizes(reads, &self.read_sizes).max(sizes(writes, &self.write_sizes));
        let phases = [(reads, Phase::Read), (writes, Phase::Write)];
        let phases = phases.into_iter().filter(|(given, _)| *given);
        (largest.0 > 0).then(|| Ior {
            access: Access::Shared,
            ..Ior::in_order(
                self.file_count(),
                largest,
                largest,
                phases.map(|(_, phase)| phase).collect(),
            )
        })
    }

    /// Number of files in all: with `bytes_per_rate`, as many as hold that.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it saturates, and too many files are refused"
    )]
    pub fn file_count(&self) -> u32 {
        match (self.bytes_per_rate, self.rate) {
            (Some(Bytes(each)), Some(rate)) => {
                let files = each as f64 * rate / self.file_sizes.mean();
                self.files.max(files.ceil() as u32)
            }
            _ => self.files,
        }
    }

    /// Returns true if every set of files that direct transfers are on has one that holds a unit.
    fn holds_direct_transfers(&self) -> bool {
        let direct = self.weights.values().filter(|it| it.is_direct());
        let groups: Vec<_> = direct.map(OperationMix::file_group).collect();
        let concerned = |set: &FileSet| match set.group {
            None => !groups.is_empty(),
            Some(group) => groups.contains(&group),
        };
        let sets = self.sets();
        let mut concerned = sets.iter().filter(|set| concerned(set));
        concerned.all(|set| set.largest().0 >= DIRECT_UNIT)
    }

    /// Bytes of all files, about.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let sets = self.sets();
        sets.iter()
            .fold(0, |sum, set| sum.saturating_add(set.bytes()))
    }
}

/// The most bytes of a file.
const LARGEST: Bytes = Bytes(1 << 60);

fn files_and_times_fit(mix: &OperationMix, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    let sizes = [
        ("file_sizes", &mix.file_sizes),
        ("read_sizes", &mix.read_sizes),
        ("write_sizes", &mix.write_sizes),
    ];
    for (field, sizes) in sizes {
        if let Some(size) = sizes.values().find(|size| size.0 == 0 || *size > LARGEST) {
            let message = format!("expected sizes from 1 B to 1 EiB, and one is \"{size}\"");
            return Err(at.error(field, message));
        }
    }
    let ordered = mix
        .file_sizes
        .0
        .windows(2)
        .all(|pair| pair[0].0 < pair[1].0);
    if !ordered {
        let message = "expected the sizes in order, the smallest first";
        return Err(at.error("file_sizes", message));
    }
    FileSets::suits(mix, at)?;
    if !mix.holds_direct_transfers() {
        let message = "direct transfers are of 4 KiB at least, and no file of those that they are \
                       on is as large";
        return Err(at.error("file_sizes", message));
    }
    if mix.bytes_per_rate.is_some() && mix.rate.is_none() {
        let message = "the files grow with the load, and no load is given: give rate, or files \
                       instead of it";
        return Err(at.error("bytes_per_rate", message));
    }
    if mix.append_limit.is_some() && mix.append_share == 0.0 {
        let message = "no write appends: give append_share, or leave it out";
        return Err(at.error("append_limit", message));
    }
    if mix.write_files >= 1.0 {
        return Err(at.error(
            "write_files",
            "expected less than 1: reads are of the other files",
        ));
    }
    if mix.file_count() > u32::MAX / 4 {
        let message = "expected fewer than 2^30: there are as many names that are made and removed";
        return Err(at.error("files", message));
    }
    if mix.rate.is_some() && mix.think.0 > 0.0 {
        let message = "operations come at a rate, whatever processes do: leave one of them out";
        return Err(at.error("think", message));
    }
    if mix.hot_files >= 1.0 && mix.hot_share < 1.0 {
        let path = at.field("hot_files").path;
        let message = format!("all files are hot: give {path} less than 1");
        return Err(at.error("hot_share", message));
    }
    NameSets::suits(mix, at)?;
    Locality::suits(mix, at)?;
    Bursts::suits(mix, at)?;
    Followers::suits(mix, at)?;
    Sharing::suits(mix, at)?;
    if mix.amount == Amount::Forever && !all.run.stop.is_given() {
        let message = "the run would never stop: give run.stop.time, run.stop.requests or \
                       run.stop.precision";
        return Err(at.error("amount", message));
    }
    Ok(())
}
