//! Reuse of files in an operation mix.

use super::OperationMix;
use crate::Error;
use crate::declare::{Place, section};
use crate::values::{AtLeastOne, Portion};

/// Files that are the last used ones, if nothing is said.
const RECENT: u32 = 8;

section! {
    /// Reuse of files. By default all files are equally likely.
    pub struct Locality {
        /// Number of groups of files, each of the same size and with files of all sizes. The choice
        /// of a group follows a Poisson distribution of its number, and within it all files are
        /// alike. Sources: LADDIS (Wittle and Keith 1993); Wang 2002, section 3.3.4.2.
        groups: u32 as AtLeastOne = default(1, "all files are alike"),
        /// Fraction of the reads from one of the client's recently read files (Wang 2002, section
        /// 3.3.4.1).
        reads: f64 as Portion = default(0.0, "all files are alike"),
        /// Fraction of the other writes that go to one of the client's recently overwritten files
        /// (Wang 2002, section 3.3.4.1).
        overwrites: f64 as Portion = default(0.0, "all files are alike"),
        /// Number of recently used files.
        recent_files: u32 as AtLeastOne = default(RECENT, "declared default: fewer than a group has"),
    }
}

impl Locality {
    /// The mean of the Poisson distribution of groups: the median group is chosen most often.
    /// Declared, as neither source gives it.
    #[must_use]
    pub fn mean_group(&self) -> f64 {
        f64::from(self.groups) / 2.0
    }

    pub(super) fn suits(mix: &OperationMix, at: &Place<'_>) -> Result<(), Error> {
        let (of, at) = (&mix.locality, at.field("locality"));
        let (some, files) = (of.groups > 1 || mix.write_files > 0.0, mix.file_count());
        if some && mix.hot_files < 1.0 {
            let message = "files are chosen either by groups and kinds of access, or as hot ones: \
                           leave hot_files or this out";
            return Err(at.error("groups", message));
        }
        // Each group has some files for reads and some for writes, if they differ.
        let fewest = match mix.write_files {
            0.0 => 1.0,
            part => part.min(1.0 - part),
        };
        if f64::from(files) * fewest < f64::from(of.groups) {
            let message = format!(
                "expected groups with a file each, at least, for reads and for writes, and there \
                 are {files} files"
            );
            return Err(at.error("groups", message));
        }
        if of.recent_files != RECENT && of.reads == 0.0 && of.overwrites == 0.0 {
            let message = "no file is used again: give reads or overwrites, or leave it out";
            return Err(at.error("recent_files", message));
        }
        Ok(())
    }
}
