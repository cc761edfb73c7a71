//! syncfs(2).

use headrace_workload::Ask;

use super::{FileOperation, OpContext, Target};
use crate::calls::Result;

/// All written data of an open file's file system is brought to stable storage.
pub struct Syncfs;

impl FileOperation for Syncfs {
    fn name(&self) -> &'static str {
        "syncfs"
    }

    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        Target::file(context, ask, true)
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        context.calls.sync_all(target.open()?)?;
        Ok(0)
    }
}
