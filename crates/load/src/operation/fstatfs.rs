//! fstatvfs(3).

use headrace_workload::Ask;

use super::{FileOperation, OpContext, Target};
use crate::calls::Result;

/// The state of an open file's file system is looked up.
pub struct Fstatfs;

impl FileOperation for Fstatfs {
    fn name(&self) -> &'static str {
        "fstatfs"
    }

    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        Target::file(context, ask, false)
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        context.calls.state_open(target.open()?)?;
        Ok(0)
    }
}
