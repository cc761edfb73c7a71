//! File operations, one file each: the preconditions, the call itself, and the postconditions. Only
//! the call is timed.
//!
//! To add one, write a file with a type that implements [`FileOperation`]. Name the type in
//! [`ALL`], and in [`MixedOperation`], which states its group and its simulated operation.

mod access;
mod attribute;
mod buffer;
mod chdir;
mod close;
mod content;
mod create;
mod direct_read;
mod direct_write;
mod find_first;
mod find_next;
mod fread;
mod fstat;
mod fstatfs;
mod fwrite;
mod getxattr;
mod link;
mod lock;
mod mapped;
mod mkdir;
mod mmap;
mod munmap;
mod op_context;
mod open;
mod private_names;
mod read;
mod read_write;
mod readdir;
mod readlink;
mod rename;
mod rmdir;
mod setattr;
mod setxattr;
mod shared_read;
mod shared_read_write;
mod shared_write;
mod stat;
mod statfs;
mod symlink;
mod sync;
mod syncfs;
mod target;
mod truncate;
mod unlink;
mod unlock;
mod write;

pub use buffer::Buffer;
pub use content::Content;
pub use headrace_spec::OperationGroup as Group;
pub use op_context::{OpContext, PendingState};
pub use private_names::{Pool, PrivateNames};
pub use symlink::LEADS_TO;
pub use target::Target;

use headrace_spec::{Interface, MixedOperation};
use headrace_workload::Ask;

use crate::calls::Result;

/// Every operation; its number is its place.
pub static ALL: &[&dyn FileOperation] = &[
    &read::Read,
    &fread::Fread,
    &direct_read::DirectRead,
    &write::Write,
    &fwrite::Fwrite,
    &direct_write::DirectWrite,
    &truncate::Truncate,
    &sync::Sync,
    &syncfs::Syncfs,
    &read_write::ReadWrite,
    &mmap::Mmap,
    &munmap::Munmap,
    &shared_read::SharedRead,
    &shared_write::SharedWrite,
    &shared_read_write::SharedReadWrite,
    &open::Open,
    &close::Close,
    &create::Create,
    &stat::Stat,
    &fstat::Fstat,
    &statfs::Statfs,
    &fstatfs::Fstatfs,
    &access::Access,
    &getxattr::Getxattr,
    &setattr::Setattr,
    &setxattr::Setxattr,
    &chdir::Chdir,
    &mkdir::Mkdir,
    &rmdir::Rmdir,
    &readdir::Readdir,
    &find_first::FindFirst,
    &find_next::FindNext,
    &symlink::Symlink,
    &readlink::Readlink,
    &link::Link,
    &unlink::Unlink,
    &rename::Rename,
    &lock::Lock,
    &unlock::Unlock,
];

/// The implementation of an operation for an interface.
#[must_use]
pub fn implementation(number: usize, interface: Interface) -> &'static dyn FileOperation {
    let operation = ALL[number];
    match (interface, operation.name()) {
        (Interface::Library, "read") => &fread::Fread,
        (Interface::Library, "write") => &fwrite::Fwrite,
        (Interface::Mapped, "read") => &mapped::MappedRead,
        _ => operation,
    }
}

/// Method by which bytes of a file are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReadMethod {
    /// From the page cache, if they are there.
    ThroughCache,
    /// From the file system, with O_DIRECT.
    PastCache,
}

/// An operation on files.
pub trait FileOperation: Sync {
    /// Its name in scenarios, tables and results.
    fn name(&self) -> &'static str;

    /// Default weight of the operation in a mix, relative to the others.
    fn weight(&self) -> f64 {
        1.0
    }

    /// Returns true if it moves the requested bytes.
    fn moves_bytes(&self) -> bool {
        false
    }

    /// Returns the method by which the operation reads, if it reads.
    fn reads(&self, _: &Target) -> Option<ReadMethod> {
        None
    }

    /// Sees to it that the operation can succeed. Not timed.
    ///
    /// # Errors
    /// The error of a preparatory call.
    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target>;

    /// The operation. Gives the bytes that it moved. Timed.
    ///
    /// # Errors
    /// The error of the call.
    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64>;

    /// Records the changes that the operation made, and verifies its result. Not timed.
    ///
    /// # Errors
    /// The actual and the expected result.
    fn verify(
        &self,
        context: &mut OpContext,
        ask: &Ask,
        target: Target,
        moved: u64,
    ) -> std::result::Result<(), String> {
        if !self.moves_bytes() {
            return Ok(());
        }
        if moved != ask.size {
            return Err(format!(
                "{moved} of {} bytes at {} were moved",
                ask.size, ask.offset
            ));
        }
        // The written data is still in the buffer, and was verified.
        context.check(ask.file, ask.offset, target.size)
    }
}

impl dyn FileOperation {
    /// Returns the operation's group, as mixes declare it.
    ///
    /// # Panics
    /// The operation is none of mixes, which a test rules out.
    #[must_use]
    pub fn group(&self) -> Group {
        let operations = MixedOperation::ALL.iter();
        let declared = operations.copied().find(|it| it.word() == self.name());
        declared.expect("an operation of mixes").group()
    }
}

/// The number of the operation with a name.
#[must_use]
pub fn number(name: &str) -> Option<usize> {
    ALL.iter().position(|it| it.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_a_mix_is_an_operation_and_every_operation_has_one() {
        let mut ours: Vec<_> = ALL.iter().map(|it| it.name()).collect();
        let mut named: Vec<_> = MixedOperation::ALL.iter().map(|it| it.word()).collect();
        ours.sort_unstable();
        named.sort_unstable();
        assert_eq!(ours, named);
        // All operations of traces but those that only change a process's state, act between
        // processes or reserve space.
        for operation in headrace_trace::Operation::ALL {
            let is_message = operation.group() == headrace_trace::Group::Process;
            let left_out = is_message || ["seek", "allocate"].contains(&operation.name());
            assert_eq!(
                number(operation.name()).is_none(),
                left_out,
                "{operation:?}"
            );
        }
    }

    #[test]
    fn names_are_unique_and_lead_back_to_the_operation() {
        for (place, operation) in ALL.iter().enumerate() {
            assert_eq!(number(operation.name()), Some(place));
            assert!(operation.weight() > 0.0);
        }
    }
}
