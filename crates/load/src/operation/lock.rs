//! fcntl(2), F_OFD_SETLKW: a lock of the open file, so that threads conflict as processes do.

use headrace_workload::Ask;

use super::{FileOperation, OpContext, Target};
use crate::calls::{END_OF_FILES, Range, Result};

/// All bytes that a file has.
const WHOLE: Range = Range {
    start: 0,
    length: END_OF_FILES,
};

/// A file is locked for writing.
pub struct Lock;

impl FileOperation for Lock {
    fn name(&self) -> &'static str {
        "lock"
    }

    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        Target::file(context, ask, true)
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        context.calls.lock(target.open()?, WHOLE)?;
        Ok(0)
    }

    /// It is unlocked at once: no process waits for another's next operation.
    fn verify(
        &self,
        context: &mut OpContext,
        _: &Ask,
        target: Target,
        _: u64,
    ) -> std::result::Result<(), String> {
        let unlocked = target
            .open()
            .and_then(|file| context.calls.unlock(file, WHOLE));
        unlocked.map_err(|errno| format!("unlocking: {errno}"))
    }
}
