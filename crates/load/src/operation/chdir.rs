//! chdir(2), by a process whose current directory is its own.

use headrace_workload::Ask;

use super::{FileOperation, OpContext, Target};
use crate::calls::Result;

/// Another directory becomes the current one.
pub struct Chdir;

impl FileOperation for Chdir {
    fn name(&self) -> &'static str {
        "chdir"
    }

    /// Each begins at the same place, as its path is relative.
    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        context.calls.leave_directory()?;
        Ok(Target::named(context.names.directory(ask.file)))
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        context.calls.enter_directory(&target.path)?;
        Ok(0)
    }
}
