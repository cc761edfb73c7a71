//! fsync(2), and fflush(3) before it of what the C library still has.

use headrace_workload::Ask;

use super::{FileOperation, OpContext, Target};
use crate::calls::Result;

/// A file's written data is brought to stable storage.
pub struct Sync;

impl FileOperation for Sync {
    fn name(&self) -> &'static str {
        "sync"
    }

    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        Target::file(context, ask, true)
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        if let Some(stream) = context.kept.streams.get_mut(&target.number) {
            stream.flush()?;
        }
        context.calls.sync(target.open()?)?;
        Ok(0)
    }
}
