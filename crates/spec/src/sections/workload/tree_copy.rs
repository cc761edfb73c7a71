//! `kind = "tree-copy"`: a tree of files copied, as cp or dcp does it.

use super::mix_files::FileSizes;
use super::{Ior, Phase};
use crate::Error;
use crate::declare::{Place, section};
use crate::sections::Scenario;
use crate::values::{AtLeastOne, Bytes, Weighted, choice, table_of_weights};

/// The golden ratio's fraction: its multiples are spread evenly over a unit (Weyl 1916).
const SPREAD: f64 = 0.618_033_988_749_894_9;

/// Bytes of a chunk, if nothing is said.
const CHUNK: Bytes = Bytes(4 << 20);

choice! {
    /// Trees that processes copy.
    pub enum Trees {
        /// Each process copies a tree of its own, as `cp -r` does.
        Own = "own",
        /// All processes copy one tree, as dcp of mpiFileUtils does. Each has a part of the
        /// directories, of the files, and of the chunks of all files.
        Common = "common",
    }
}

section! {
    /// Each process copies its own tree, as `cp -r` does. It creates each directory and lists the
    /// source directory. For each file it looks up the attributes, opens it, creates the copy,
    /// reads and writes in turn, and closes both. With `trees = "common"`, all processes copy one
    /// tree together, in steps that wait for each other. Directories lie side by side. Not there:
    /// copying within the kernel (copy_file_range), which cp does where it can.
    pub struct TreeCopy {
        /// Trees that processes copy.
        trees: Trees = default("own", "cp is one process"),
        /// Bytes of a file that one process copies at the least; only of a common tree.
        chunk: Bytes = default("4 MiB", "--chunksize of dcp, mpiFileUtils 0.11"),
        /// Number of directories that are copied.
        directories: u32 as AtLeastOne = default(16, "declared default") aka ["folders"],
        /// Number of files per directory.
        files: u32 as AtLeastOne = required(100) aka ["files_per_directory"],
        /// File sizes with weights, or the name of a set, as in `kind = "operation-mix"`.
        /// Neighbours differ, and each size comes as often as it should.
        file_sizes: Weighted<Bytes> as FileSizes = default(table_of_weights([("64 KiB", 1.0)]), "declared default"),
        /// Bytes of one call that reads or writes.
        request: Bytes = default("128 KiB", "cp of GNU coreutils, where st_blksize is not larger: src/ioblksize.h")
            aka ["request_size", "buffer_size", "transfer"],
    }
    check trees_have_numbers_and_bytes;
}

impl TreeCopy {
    /// Number of trees that a number of processes copies.
    #[must_use]
    pub fn trees(&self, processes: u64) -> u64 {
        match self.trees {
            Trees::Own => processes,
            Trees::Common => 1,
        }
    }

    /// Files of one tree.
    #[must_use]
    pub fn in_tree(&self) -> u32 {
        self.directories.saturating_mul(self.files)
    }

    /// Bytes of the n-th file of a tree.
    #[must_use]
    pub fn size_of(&self, file: u32) -> Bytes {
        self.file_sizes
            .at(((f64::from(file) + 0.5) * SPREAD).fract())
    }

    /// Bytes of a tree, about.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate, which saturates"
    )]
    #[must_use]
    pub fn bytes(&self) -> u64 {
        (self.file_sizes.mean() * f64::from(self.in_tree())) as u64
    }

    /// Bytes of the largest request.
    #[must_use]
    pub fn largest_request(&self) -> Bytes {
        self.request.min(self.largest_file())
    }

    fn largest_file(&self) -> Bytes {
        self.file_sizes.values().max().unwrap_or(Bytes(1))
    }

    /// The reads and writes of a process as a pattern of the IOR benchmark.
    #[must_use]
    pub fn pattern(&self) -> Ior {
        Ior {
            opens: Some(true),
            ..Ior::in_order(
                self.in_tree().saturating_mul(2),
                self.largest_file(),
                self.largest_request(),
                vec![Phase::Read, Phase::Write],
            )
        }
    }
}

fn trees_have_numbers_and_bytes(
    copy: &TreeCopy,
    all: &Scenario,
    at: &Place<'_>,
) -> Result<(), Error> {
    if copy.request.0 == 0 {
        let message = r#"expected a size of more than 0 such as "128 KiB""#;
        return Err(at.error("request", message));
    }
    if copy.file_sizes.values().any(|size| size.0 == 0) {
        let message = r#"expected sizes of more than 0 such as "1 KiB""#;
        return Err(at.error("file_sizes", message));
    }
    if copy.chunk.0 == 0 {
        let message = r#"expected a size of more than 0 such as "4 MiB""#;
        return Err(at.error("chunk", message));
    }
    if copy.trees == Trees::Own && copy.chunk != CHUNK {
        let message = "each process copies its own files: give trees = \"common\", or leave it out";
        return Err(at.error("chunk", message));
    }
    let processes = u64::from(all.clients.count) * u64::from(all.clients.processes);
    let in_tree = u64::from(copy.directories) * u64::from(copy.files);
    let files = in_tree.saturating_mul(2 * copy.trees(processes));
    if files >= u64::from(u32::MAX) {
        let message = format!("these are {files} files in all: expected fewer than 2^32");
        return Err(at.error("files", message));
    }
    Ok(())
}
