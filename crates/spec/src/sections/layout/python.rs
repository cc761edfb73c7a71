//! `python = "module:Class"` or `"file.py:Class"`: a placement of one's own.

use std::path::PathBuf;

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::{ClassOptions, PythonClass};
use crate::tree::Table;
use crate::values::{Bytes, FilePath};

section! {
    /// A placement of one's own: a subclass of `headrace.Placement` in Python, which gives the
    /// strips of each file (docs/how-to/own-code.md).
    pub struct PythonLayout {
        /// The module or the file, and the class.
        python: PythonClass = required("my_placement:MyPlacement") aka ["class"],
        /// Folder of the file, relative to the scenario file's folder. A module is searched for
        /// there first, then in Python's own path.
        folder: PathBuf as FilePath = default(".", "a class stands beside the scenario that uses it") aka ["path"],
        /// Keyword arguments of the class's `__init__`.
        options: ClassOptions = default(Table::default(), "the class's own defaults") aka ["arguments", "parameters"],
        /// Size of a strip where the class gives none.
        unit: Bytes = default("1 MiB", "Lustre: the default stripe size") aka ["stripe", "stripe_size", "strip"],
    }
}

impl PythonLayout {
    /// Refuses strips of no size.
    pub(super) fn fits(&self, at: &Place<'_>) -> Result<(), Error> {
        match self.unit.0 {
            1..=0x100_0000_0000 => Ok(()),
            _ => Err(at.error(
                "unit",
                r#"expected a size from 1 B to 1 TiB such as "1 MiB""#,
            )),
        }
    }
}
