//! Directories and symbolic links of a mix that are there before the run.

use super::{MixedOperation, OperationMix};
use crate::Error;
use crate::declare::{Place, section};
use crate::values::{AtLeastOne, Count, NonNegative};

/// Sets that directories and links are in, if nothing is said.
const SETS: u32 = 10;

/// Names of a kind at the most: with those of files they are still numbers of 32 bits.
const MOST: u32 = 1 << 29;

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
    }
}

impl NameSets {
    /// Number of directories with a load.
    #[must_use]
    pub fn directory_count(&self, rate: Option<f64>) -> u32 {
        with_load(self.directories, self.directories_per_rate, rate)
    }

    /// Number of symbolic links with a load.
    #[must_use]
    pub fn symbolic_link_count(&self, rate: Option<f64>) -> u32 {
        with_load(self.symbolic_links, self.symbolic_links_per_rate, rate)
    }

    pub(super) fn suits(mix: &OperationMix, at: &Place<'_>) -> Result<(), Error> {
        use MixedOperation::{Chdir, FindFirst, FindNext, Readdir, Readlink};
        let (of, at) = (&mix.names, at.field("names"));
        let directories = Grown {
            least: ("directories", of.directories),
            each: ("directories_per_rate", of.directories_per_rate),
            used_by: &[Chdir, Readdir, FindFirst, FindNext],
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
        if of.sets != SETS && directories == 0 {
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
