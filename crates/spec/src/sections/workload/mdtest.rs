//! `kind = "mdtest"`: the pattern of the mdtest benchmark.

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::Scenario;
use crate::values::{AtLeastOne, NonEmpty, Seconds, choice};

choice! {
    /// What is done with every file.
    pub enum NamePhase {
        /// It is made, empty.
        Create = "create",
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
    }
}

section! {
    /// The pattern of the mdtest benchmark: every process makes, looks up and
    /// removes empty files of its own.
    pub struct Mdtest {
        /// How many files each process has.
        files: u32 as AtLeastOne = required(1000) aka ["items", "file_count"],
        /// What is done with all of them, one after the other; all processes wait
        /// for each other between phases.
        phases: Vec<NamePhase> as NonEmpty<NamePhase> = default(["create", "stat", "unlink"], "mdtest -F")
            aka ["phase", "operations"],
        /// Time between the end of a request and the next one.
        think: Seconds = default("0 s", "mdtest does not wait") aka ["think_time"],
    }
    check files_have_numbers;
}

fn files_have_numbers(mdtest: &Mdtest, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    let processes = u64::from(all.clients.count) * u64::from(all.clients.processes);
    let files = processes * u64::from(mdtest.files);
    if files >= u64::from(u32::MAX) {
        let message = format!("these are {files} files in all: expected fewer than 2^32");
        return Err(at.error("files", message));
    }
    Ok(())
}
