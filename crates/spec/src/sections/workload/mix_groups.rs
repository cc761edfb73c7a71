//! Groups of operations: Wang 2002, section 3.3.1.

use super::MixedOperation;
use crate::values::choice;

choice! {
    /// Group of an operation.
    ///
    /// The thesis has 13 groups of 24 operations: seven of file content, and six of metadata, of
    /// which it names five and lists the operations of four (the list of the directory group
    /// stands under the set attribute group). As the sixth, `File` is taken here: what makes,
    /// opens, closes and renames files, which no other group has. `Windows` has what only its
    /// list for Windows, that of NetBench, adds.
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

impl MixedOperation {
    /// The group that it is in.
    #[must_use]
    pub fn group(self) -> OperationGroup {
        use MixedOperation as It;
        match self {
            It::Read | It::Fread | It::DirectRead => OperationGroup::Read,
            It::Write | It::Fwrite | It::DirectWrite | It::Truncate | It::Sync => {
                OperationGroup::Write
            }
            It::ReadWrite => OperationGroup::ReadWrite,
            It::Mmap | It::Munmap => OperationGroup::MemoryMapping,
            It::SharedRead => OperationGroup::ReadSharing,
            It::SharedWrite => OperationGroup::WriteSharing,
            It::SharedReadWrite => OperationGroup::ReadWriteSharing,
            It::Stat | It::Fstat | It::Statfs | It::Fstatfs => OperationGroup::FileStat,
            It::Getxattr | It::Access => OperationGroup::GetAttribute,
            It::Setattr | It::Setxattr => OperationGroup::SetAttribute,
            It::Chdir | It::Mkdir | It::Rmdir | It::Readdir => OperationGroup::Directory,
            It::Symlink | It::Readlink | It::Link | It::Unlink => OperationGroup::SymbolicLink,
            It::Open | It::Close | It::Create | It::Rename => OperationGroup::File,
            It::Lock | It::Unlock | It::FindFirst | It::FindNext => OperationGroup::Windows,
        }
    }
}
