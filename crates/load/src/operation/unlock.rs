//! fcntl(2), F_OFD_SETLK.

use headrace_workload::Ask;

use super::{FileOperation, OpContext, Target};
use crate::calls::Result;

/// A range of a file is unlocked.
pub struct Unlock;

impl FileOperation for Unlock {
    fn name(&self) -> &'static str {
        "unlock"
    }

    /// Locks a range behind all bytes first. No other process locks it, so preparation never blocks
    /// another process.
    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        let target = Target::file(context, ask, true)?;
        context.calls.lock(target.open()?, context.own_range)?;
        Ok(target)
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        context.calls.unlock(target.open()?, context.own_range)?;
        Ok(0)
    }
}
