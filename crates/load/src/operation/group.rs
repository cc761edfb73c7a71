//! Groups of operations: Wang 2002, section 3.3.1.

/// What kind of load an operation is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// Reads of files' content.
    Read,
    /// Changes of files' content.
    Write,
    /// Looking up attributes of files and file systems.
    FileStat,
    /// Making, finding and removing files.
    File,
}
