//! rmdir(2).

use headrace_workload::Ask;

use super::private_names::Kind;
use super::{FileOperation, OpContext, Target};
use crate::calls::Result;

/// An empty directory is removed.
pub struct Rmdir;

impl FileOperation for Rmdir {
    fn name(&self) -> &'static str {
        "rmdir"
    }

    /// In an operation mix, removes a directory that an earlier operation created; creates one
    /// first if none is left.
    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        if let Some(path) = context.old_name(Kind::Directory, ask.file) {
            return Ok(Target::named(path));
        }
        let path = context.passing_name(Kind::Directory, ask.file);
        context.calls.make_directory(&path)?;
        Ok(Target::named(path))
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        context.calls.remove_directory(&target.path)?;
        Ok(0)
    }
}
