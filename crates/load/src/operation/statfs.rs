//! statvfs(3), by a name.

use headrace_workload::Ask;

use super::{FileOperation, OpContext, Target};
use crate::calls::Result;

/// The state of the file system is looked up: free space, among others.
pub struct Statfs;

impl FileOperation for Statfs {
    fn name(&self) -> &'static str {
        "statfs"
    }

    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        Ok(Target::named(context.absolute(ask.file)))
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        context.calls.state(&target.path)?;
        Ok(0)
    }
}
