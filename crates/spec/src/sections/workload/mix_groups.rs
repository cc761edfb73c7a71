//! Groups of operations: Wang 2002, section 3.3.1.

use crate::values::choice;

choice! {
    /// Group of an operation.
    ///
    /// The thesis has 13 groups of 24 operations: seven of file content, and six of metadata. It
    /// names five of the latter and lists the operations of four (the list of the directory group
    /// stands under the set attribute group). As the sixth, `File` is taken here: what makes,
    /// opens, closes and renames files, which no other group has. `Windows` has what only its list
    /// for Windows, that of NetBench, adds.
    pub enum OperationGroup {
        /// Reads of files' content.
        Read = "read",
        /// Changes of files' content.
        Write = "write",
        /// Reads and writes by a ratio.
        ReadWrite = "read-write",
        /// Files in the process's memory.
        MemoryMapping = "memory-mapping",
        /// Reads of a file that all processes share.
        ReadSharing = "read-sharing",
        /// Writes to a file that all processes share.
        WriteSharing = "write-sharing",
        /// Reads and writes of a file that all processes share.
        ReadWriteSharing = "read-write-sharing",
        /// Looking up attributes of files and file systems.
        FileStat = "file-stat",
        /// Looking up permissions and extended attributes.
        GetAttribute = "get-attribute",
        /// Changing attributes.
        SetAttribute = "set-attribute",
        /// Directories.
        Directory = "directory",
        /// Symbolic links, and further names of a file.
        SymbolicLink = "symbolic-link",
        /// Making, opening, closing and renaming files.
        File = "file",
        /// Locks, and listing a directory in steps.
        Windows = "windows",
    }
}
