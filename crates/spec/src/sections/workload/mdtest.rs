//! `kind = "mdtest"`: the pattern of the mdtest benchmark.

use super::{Ior, Phase};
use crate::Error;
use crate::declare::{Place, section};
use crate::sections::Scenario;
use crate::values::{AtLeastOne, Bytes, Count, NonEmpty, Seconds, SizeByRank, choice};

choice! {
    /// Operation on every file.
    pub enum NamePhase {
        /// It is made, and its bytes are written.
        Create = "create",
        /// Its bytes are read.
        Read = "read",
        /// Its attributes are looked up.
        Stat = "stat",
        /// It is removed.
        Unlink = "unlink",
        /// A directory is made.
        Mkdir = "mkdir",
        /// A directory is removed.
        Rmdir = "rmdir",
        /// Its name is changed.
        Rename = "rename",
        /// A part of a directory is listed.
        Readdir = "readdir",
        /// Directories are listed, and files whose names contain "01" are looked up, as IO500's
        /// `find` does: names are those of mdtest, file.mdtest.RANK.NUMBER.
        Find = "find",
    }
}

choice! {
    /// Directories of the files.
    pub enum Directory {
        /// All in one.
        Shared = "shared",
        /// A directory for each process.
        Own = "own",
    }
}

section! {
    /// The pattern of the mdtest benchmark: every process creates, looks up and removes small or
    /// empty files, its own or those of another process.
    pub struct Mdtest {
        /// Number of files each process has.
        files: u32 as AtLeastOne = required(1000) aka ["items", "file_count"],
        /// Bytes written to each file at its creation, and read in the phase "read", in one request
        /// (options -w and -e). It is a size, or one by rank, as `block` of `kind = "ior"`.
        bytes: SizeByRank = default("0 B", "mdtest without its option -w") aka ["size", "write_bytes"],
        /// Phases of operations on all files, in order; all processes synchronise between phases.
        phases: Vec<NamePhase> as NonEmpty<NamePhase> = default(["create", "stat", "unlink"], "mdtest -F")
            aka ["phase", "operations"],
        /// One directory for all files, or one for each process (option -u).
        directory: Directory = default("shared", "mdtest without its option -u") aka ["unique_dir"],
        /// Distance between processes that use the same files (option -N). Rank n looks up the
        /// files of rank n + this, reads those of n + 2 times this, and removes those of n + 3
        /// times this. Ranks are on the clients in turn.
        rank_shift: u32 as Count = default(0, "mdtest without its option -N") aka ["stride", "neighbour_stride", "nstride"],
        /// Time after which a phase that creates files ends. Each process then goes on until it has
        /// created as many as the one that had created most. Later phases use as many (option -W).
        /// 0 is no limit.
        stonewall: Seconds = default("0 s", "mdtest without its option -W") aka ["stonewall_time", "stonewalling", "stone_wall_timer"],
        /// If true, each process calls syncfs behind the last file that it creates (option -Y, with
        /// which mdtest does so behind every phase).
        sync_created: bool = default(false, "mdtest without its option -Y") aka ["call_sync", "sync"],
        /// If true, each process accesses its files in a random order, another in each phase.
        /// mdtest's option -R does so when it looks them up.
        random: bool = default(false, "mdtest without its option -R") aka ["random_order", "shuffle"],
        /// Time between the end of a request and the next one.
        think: Seconds = default("0 s", "mdtest does not wait") aka ["think_time"],
    }
    check files_have_numbers_and_bytes;
}

impl Mdtest {
    /// The reads and writes of a process as a pattern of the IOR benchmark; none if
    /// its files are empty.
    #[must_use]
    pub fn pattern(&self) -> Option<Ior> {
        self.has_bytes().then(|| Ior {
            block: self.bytes.clone(),
            transfer: self.bytes.clone(),
            ..Ior::in_order(
                self.files,
                Bytes(1),
                Bytes(1),
                vec![Phase::Write, Phase::Read],
            )
        })
    }

    /// Returns true if its files are not empty.
    #[must_use]
    pub fn has_bytes(&self) -> bool {
        self.bytes.of(0).0 > 0
    }
}

/// A rank whose files are empty where those of others are not, if there is one.
fn empty_among_others(mdtest: &Mdtest, all: &Scenario) -> Option<u64> {
    let processes = u64::from(all.clients.count) * u64::from(all.clients.processes);
    let some = mdtest.bytes.largest(processes).0 > 0;
    let ranks = match mdtest.bytes.same() {
        Some(_) => 0..0,
        None => 0..processes,
    };
    let mut ranks = ranks;
    ranks.find(|rank| some && mdtest.bytes.of(*rank).0 == 0)
}

fn files_have_numbers_and_bytes(
    mdtest: &Mdtest,
    all: &Scenario,
    at: &Place<'_>,
) -> Result<(), Error> {
    if let Some(rank) = empty_among_others(mdtest, all) {
        let message = format!(
            "the files of rank {rank} are empty, and those of others are not: expected sizes of \
             more than 0"
        );
        return Err(at.error("bytes", message));
    }
    if !mdtest.has_bytes() && mdtest.phases.contains(&NamePhase::Read) {
        let message = r#"the files are empty: give bytes = "3901 B" or leave "read" out"#;
        return Err(at.error("phases", message));
    }
    if mdtest.stonewall.0 > 0.0 && !mdtest.phases.contains(&NamePhase::Create) {
        let message = format!(
            "no phase creates files: leave it out, or give {} = [\"create\", \"stat\"]",
            at.field("phases").path
        );
        return Err(at.error("stonewall", message));
    }
    if mdtest.stonewall.0 > 0.0 && mdtest.random {
        let message = "with random = true another phase would use other files than those created \
                       by then: leave one of them out";
        return Err(at.error("stonewall", message));
    }
    let processes = u64::from(all.clients.count) * u64::from(all.clients.processes);
    let files = processes * u64::from(mdtest.files);
    if files >= u64::from(u32::MAX) {
        let message = format!("these are {files} files in all: expected fewer than 2^32");
        return Err(at.error("files", message));
    }
    Ok(())
}
