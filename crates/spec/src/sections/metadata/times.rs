//! `[metadata.times]`: what single operations take.

use crate::declare::section;
use crate::values::Seconds;

section! {
    /// Times that a thread of a metadata server takes for single operations.
    pub struct OperationTimes {
        /// To find a file's layout, or to open it.
        open: Option<Seconds> = optional("metadata.time_per_operation") aka ["lookup"],
        /// To make a file.
        create: Option<Seconds> = optional("metadata.time_per_operation"),
        /// To look up its attributes.
        stat: Option<Seconds> = optional("metadata.time_per_operation") aka ["getattr"],
        /// To remove a file.
        unlink: Option<Seconds> = optional("metadata.time_per_operation") aka ["remove"],
        /// To rename it.
        rename: Option<Seconds> = optional("metadata.time_per_operation"),
        /// To make a directory.
        mkdir: Option<Seconds> = optional("metadata.time_per_operation"),
        /// To remove a directory.
        rmdir: Option<Seconds> = optional("metadata.time_per_operation"),
        /// To list a directory.
        readdir: Option<Seconds> = optional("metadata.time_per_operation") aka ["list"],
    }
}

impl OperationTimes {
    /// Returns true if any operation has a time of its own.
    pub(super) fn any(&self) -> bool {
        let times = [
            self.open,
            self.create,
            self.stat,
            self.unlink,
            self.rename,
            self.mkdir,
            self.rmdir,
            self.readdir,
        ];
        times.iter().flatten().any(|time| time.0 > 0.0)
    }
}
