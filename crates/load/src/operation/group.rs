//! Groups of operations: Wang 2002, section 3.3.1.

/// What kind of load an operation is.
///
/// The thesis has 13 groups of 24 operations: seven of file content, and six of metadata, of
/// which it names five and lists the operations of four (the list of the directory group
/// stands under the set attribute group). As the sixth, `File` is taken here: what makes,
/// opens, closes and renames files, which no other group has. `Windows` has what only its
/// list for Windows, that of NetBench, adds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// Reads of files' content.
    Read,
    /// Changes of files' content.
    Write,
    /// Reads and writes by a ratio.
    ReadWrite,
    /// Files in the process's memory.
    MemoryMapping,
    /// Reads of a file that all processes share.
    ReadSharing,
    /// Writes to a file that all processes share.
    WriteSharing,
    /// Reads and writes of a file that all processes share.
    ReadWriteSharing,
    /// Looking up attributes of files and file systems.
    FileStat,
    /// Looking up permissions and extended attributes.
    GetAttribute,
    /// Changing attributes.
    SetAttribute,
    /// Directories.
    Directory,
    /// Symbolic links, and further names of a file.
    SymbolicLink,
    /// Making, opening, closing and renaming files.
    File,
    /// Locks, and listing a directory in steps.
    Windows,
}
