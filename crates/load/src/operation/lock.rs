//! fcntl(2), F_OFD_SETLKW: a lock of the open file, so that threads conflict as processes do.

use headrace_workload::Ask;

use super::{FileOperation, Group, Hands, Target};
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

    fn group(&self) -> Group {
        Group::Windows
    }

    fn prepare(&self, hands: &mut Hands, ask: &Ask) -> Result<Target> {
        Target::file(hands, ask, true)
    }

    fn execute(&self, hands: &mut Hands, target: &mut Target) -> Result<u64> {
        hands.calls.lock(target.open()?, WHOLE)?;
        Ok(0)
    }

    /// It is unlocked at once: nobody waits for another's next operation.
    fn verify(
        &self,
        hands: &mut Hands,
        _: &Ask,
        target: Target,
        _: u64,
    ) -> std::result::Result<(), String> {
        let unlocked = target
            .open()
            .and_then(|file| hands.calls.unlock(file, WHOLE));
        unlocked.map_err(|errno| format!("unlocking: {errno}"))
    }
}
