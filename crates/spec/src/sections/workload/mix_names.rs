//! Directories and symbolic links of a mix that are there before the run.

use super::{MixedOperation, OperationMix};
use crate::Error;
use crate::declare::{Place, section};
use crate::values::{AtLeastOne, Count, NonNegative, choice};

/// Sets that directories and links are in, if nothing is said.
const SETS: u32 = 10;

/// Names of a kind at the most: with those of files they are still numbers of 32 bits.
const MOST: u32 = 1 << 29;

choice! {
    /// Directories of the names that a mix makes and removes.
    pub enum MadeIn {
        /// Each process has one of its own, and meets no other there.
        Process = "process",
        /// All processes of a client make names in the same directories.
        Client = "client",
        /// All processes of all clients make names in the same directories.
        Clients = "clients",
    }
}

choice! {
    /// Names among those made that an operation goes to.
    pub enum Taken {
        /// Names that the process has made.
        Own = "own",
        /// Names that any process has made in the directory; of several hosts, on this one.
        Any = "any",
    }
}

section! {
    /// Directories and symbolic links that are there before the run, for the operations that
    /// go to one: Wang 2002, sections 3.3.3.3 and 3.3.3.4. The links are spread evenly over the
    /// directories, so that these have something to be listed.
    pub struct NameSets {
        /// Number of directories, at the least: `chdir`, `readdir`, `find-first` and `find-next` go
        /// to one of them, chosen as files are (`locality.groups`).
        directories: u32 as Count = default(0, "those operations go to the directory that a file lies in"),
        /// Number of directories for each operation a second of `rate`: 10 in Wang 2002, section
        /// 3.3.3.4.
        directories_per_rate: f64 as NonNegative = default(0.0, "there are no more with the load"),
        /// Number of symbolic links, at the least: `readlink` goes to one of them.
        symbolic_links: u32 as Count = default(0, "each file has one beside it"),
        /// Number of symbolic links for each operation a second of `rate`: 100 in Wang 2002,
        /// section 3.3.3.4.
        symbolic_links_per_rate: f64 as NonNegative = default(0.0, "there are no more with the load"),
        /// Number of sets the directories are in, each a directory of its own.
        sets: u32 as AtLeastOne = default(SETS, "Wang 2002, section 3.3.3.3"),
        /// Directories of the names that are made and removed. Shared ones are the `directories`,
        /// one for each client or for all at the least, and `stat` goes to a name made there.
        made_in: MadeIn = default("process", "no process waits for another's directory"),
        /// Made names that `unlink`, `rename`, `rmdir`, `link` and `stat` go to: the one used
        /// longest ago.
        taken: Taken = default("own", "mdtest without -N: each process has its own files"),
    }
}

impl NameSets {
    /// Number of directories with a load.
    #[must_use]
    pub fn directory_count(&self, rate: Option<f64>) -> u32 {
        with_load(self.directories, self.directories_per_rate, rate)
    }

    /// Number of directories with a load that names are made in or operations go to.
    #[must_use]
    pub fn common_directories(&self, rate: Option<f64>, clients: u32) -> u32 {
        let least = match self.made_in {
            MadeIn::Process => 0,
            MadeIn::Client => clients,
            MadeIn::Clients => 1,
        };
        // As many for each client.
        self.directory_count(rate)
            .next_multiple_of(least.max(1))
            .max(least)
    }

    /// Number of symbolic links with a load.
    #[must_use]
    pub fn symbolic_link_count(&self, rate: Option<f64>) -> u32 {
        with_load(self.symbolic_links, self.symbolic_links_per_rate, rate)
    }

    pub(super) fn suits(mix: &OperationMix, at: &Place<'_>) -> Result<(), Error> {
        use MixedOperation::{Chdir, FindFirst, FindNext, Readdir, Readlink};
        let (of, at) = (&mix.names, at.field("names"));
        let makes = |operation: MixedOperation| operation.makes_or_removes();
        let shared = of.made_in != MadeIn::Process;
        if shared && !mix.weights.values().any(makes) {
            let message = "no operation makes or removes names: give create a weight, or leave it \
                           out";
            return Err(at.error("made_in", message));
        }
        if of.taken != Taken::Own && !shared {
            let message = "each process has a directory of its own: give made_in, or leave it out";
            return Err(at.error("taken", message));
        }
        let directories = Grown {
            least: ("directories", of.directories),
            each: ("directories_per_rate", of.directories_per_rate),
            used_by: match shared {
                true => MixedOperation::ALL,
                false => &[Chdir, Readdir, FindFirst, FindNext],
            },
        };
        let links = Grown {
            least: ("symbolic_links", of.symbolic_links),
            each: ("symbolic_links_per_rate", of.symbolic_links_per_rate),
            used_by: &[Readlink],
        };
        directories.suits(mix, &at)?;
        links.suits(mix, &at)?;
        let (directories, links) = (
            of.directory_count(mix.rate),
            of.symbolic_link_count(mix.rate),
        );
        if directories > MOST || links > MOST {
            let (field, names) = match directories > MOST {
                true => ("directories", "directories"),
                false => ("symbolic_links", "symbolic links"),
            };
            let message = format!("expected no more than 2^29 {names}");
            return Err(at.error(field, message));
        }
        if of.sets != SETS && directories == 0 && !shared {
            return Err(at.error(
                "sets",
                "there are no directories: give directories, or leave it out",
            ));
        }
        Ok(())
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it saturates, and too many names are refused"
)]
fn with_load(least: u32, each: f64, rate: Option<f64>) -> u32 {
    least.max((each * rate.unwrap_or(0.0)).ceil() as u32)
}

/// A number of names, by the fields that determine it.
struct Grown {
    least: (&'static str, u32),
    each: (&'static str, f64),
    used_by: &'static [MixedOperation],
}

impl Grown {
    fn suits(&self, mix: &OperationMix, at: &Place<'_>) -> Result<(), Error> {
        let given = match (self.each.1 > 0.0, self.least.1 > 0) {
            (true, _) => self.each.0,
            (_, true) => self.least.0,
            (false, false) => return Ok(()),
        };
        if self.each.1 > 0.0 && mix.rate.is_none() {
            let message = format!(
                "they grow with the load, and no load is given: give rate, or {} instead of it",
                self.least.0
            );
            return Err(at.error(given, message));
        }
        if !mix.weights.values().any(|it| self.used_by.contains(&it)) {
            let names: Vec<_> = self.used_by.iter().map(|it| it.word()).collect();
            let message = format!(
                "no operation uses them: give {} a weight, or leave it out",
                names.join(" or ")
            );
            return Err(at.error(given, message));
        }
        Ok(())
    }
}
